//! Class shares that are recounted: they find uneven classes from even and uneven labels, leave even classes even,
//! and depend neither on the order of samples nor on that of the classes.

use crate::common::{clouds, label_first, noise};
use ssdl::classifier::{MarginKnobs, Outlook, Prior};
use ssdl::{Labels, Matrix, Real};

/// Samples of clouds, so many of each class, of which the first few are labelled.
fn problem<T: Real>(sizes: &[usize], labelled: &[usize]) -> (Matrix<T>, Labels) {
    let most = sizes.iter().max().copied().unwrap_or(0);
    let (features, truth) = clouds::<T>(sizes.len(), 12, most * sizes.len(), 31);
    let mut seen = vec![0; sizes.len()];
    let (mut chosen, mut assigned) = (Vec::new(), Vec::new());
    for (j, &class) in truth.iter().enumerate() {
        if seen[class] < sizes[class] {
            chosen.push(j);
            assigned.push((seen[class] < labelled[class]).then_some(class));
            seen[class] += 1;
        }
    }
    let names = (0..sizes.len()).map(|class| format!("class {class}")).collect();
    (features.select_columns(&chosen), Labels::new(names, assigned).unwrap())
}

fn shares<T: Real>(samples: &Matrix<T>, labels: &Labels) -> Vec<f64> {
    let knobs = MarginKnobs { prior: Prior::Recounted, ..MarginKnobs::new() };
    Outlook::new(&knobs, samples, labels).unwrap().prior
}

fn found_in<T: Real>() {
    for labelled in [[10, 10], [20, 10], [10, 20]] {
        let (samples, labels) = problem::<T>(&[325, 175], &labelled);
        let found = shares(&samples, &labels);
        let truth = (325 - labelled[0]) as f64 / (500 - labelled[0] - labelled[1]) as f64;
        assert!((found[0] - truth).abs() < 0.06, "{labelled:?}: {found:?}, {truth}");
    }
    let (samples, labels) = problem::<T>(&[450, 50], &[10, 10]);
    assert!(shares(&samples, &labels)[0] > 0.8);
    let (samples, labels) = problem::<T>(&[60; 8], &[10; 8]);
    assert!(shares(&samples, &labels).iter().all(|share| (share * 8.0 - 1.0).abs() < 0.1));
}

#[test]
fn shares_are_found_whatever_the_labels_are() {
    found_in::<f32>();
    found_in::<f64>();
}

#[test]
fn order_and_names_do_not_matter() {
    let (samples, labels) = problem::<f64>(&[200, 90, 60], &[12, 6, 8]);
    let found = shares(&samples, &labels);
    let n = labels.len();
    let order: Vec<usize> = (0..n).map(|j| (j * 17 + 5) % n).collect();
    assert!(n % 17 != 0, "every sample once");
    let turned = order.iter().map(|&j| labels.assigned()[j].map(|class| 2 - class)).collect();
    let names = ["x", "y", "z"].map(String::from).to_vec();
    let again = shares(&samples.select_columns(&order), &Labels::new(names, turned).unwrap());
    for class in 0..3 {
        assert!((found[class] - again[2 - class]).abs() < 1e-9, "{found:?} {again:?}");
    }
}

/// Clouds in five dimensions, so many samples of each class, and the class of each.
fn in_a_line<T: Real>(centres: &[f64], sizes: &[usize]) -> (Matrix<T>, Vec<usize>) {
    let mut truth: Vec<usize> = Vec::new();
    let most = sizes.iter().max().copied().unwrap_or(0);
    (0..most).for_each(|at| truth.extend((0..sizes.len()).filter(|&class| at < sizes[class])));
    let wide = noise::<T>(5, truth.len(), 41);
    let place = |i: usize| if i.is_multiple_of(2) { 1.0 } else { -0.5 };
    let features = Matrix::from_fn(5, truth.len(), |i, j| {
        wide.column(j)[i] + T::of(place(i) * centres[truth[j]])
    });
    (features, truth)
}

#[test]
fn a_class_between_two_others_keeps_its_share() {
    let (samples, truth) = in_a_line::<f64>(&[0.0, 2.0, 4.0], &[300; 3]);
    let labels = label_first(&truth, 3, 20);
    let estimated = MarginKnobs::new();
    let found = Outlook::new(&estimated, &samples, &labels).unwrap().prior;
    assert!(found.iter().all(|share| (share - 1.0 / 3.0).abs() < 0.1), "{found:?}");
}

#[test]
fn labels_that_were_drawn_from_all_samples_stand_for_them() {
    let (samples, truth) = in_a_line::<f64>(&[0.0, 2.0], &[950, 50]);
    // One in fifteen, whatever its class.
    let assigned = truth.iter().enumerate().map(|(j, &class)| (j % 15 == 3).then_some(class));
    let names = ["many", "few"].map(String::from).to_vec();
    let labels = Labels::new(names, assigned.collect()).unwrap();
    let counts = labels.counts();
    assert!(counts[1] >= 2 && counts[0] > 4 * counts[1], "{counts:?}");
    let found = Outlook::new(&MarginKnobs::new(), &samples, &labels).unwrap().prior;
    assert!((found[1] - 0.05).abs() < 0.04, "{found:?} from {counts:?}");
}
