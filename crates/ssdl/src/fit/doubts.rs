//! What a fit should make its user doubt, each in one sentence with the remedy.

use crate::classifier::best;
use crate::matrix::Matrix;
use crate::samples::Labels;
use crate::samples::prepare::StepChoice;
use crate::wide::wide;
use crate::{Real, order};

/// Spreads of features further apart than this leave the choice to the largest.
const FAR_APART: f64 = 10.0;
/// Samples whose features are looked at.
const MANY: usize = 20_000;
/// Unlabelled samples from which shares say something.
const MIN_OPEN: usize = 30;
/// A class swallows the others where these have less than this part of the share that is expected.
const SWALLOWED: f64 = 0.25;
/// A class is missing where this many unlabelled samples were expected of it and there is none.
const MIN_EXPECTED: f64 = 20.0;
/// Hidden labels from which it can be said how many of them are predicted.
const MIN_HIDDEN: usize = 10;

/// Raw features whose spreads differ so much that few of them decide alone, where no step of the
/// preparation looks at single features. Cost: two passes over 20,000 samples.
pub(crate) fn scale_of_features<T: Real>(
    raw: &Matrix<T>,
    steps: &[StepChoice],
    is_image: bool,
) -> Option<String> {
    if is_image || steps.iter().any(|step| step.name() != "scale") {
        return None;
    }
    // Some samples tell the spread of all.
    let some = || raw.iter_columns().step_by(raw.columns() / MANY + 1);
    let n = some().count() as f64;
    let mut means = vec![0.0; raw.rows()];
    let mut squares = vec![0.0; raw.rows()];
    wide(
        #[inline(always)]
        || {
            for column in some() {
                means.iter_mut().zip(column).for_each(|(mean, x)| *mean += x.wide());
            }
            means.iter_mut().for_each(|mean| *mean /= n);
            for column in some() {
                let terms = squares.iter_mut().zip(column).zip(&means);
                terms.for_each(|((sum, x), mean)| *sum += (x.wide() - mean).powi(2));
            }
        },
    );
    let mut spreads: Vec<f64> =
        squares.into_iter().map(f64::sqrt).filter(|&spread| spread > 0.0).collect();
    order::ascending(&mut spreads);
    let (median, largest) = (*spreads.get(spreads.len().saturating_sub(1) / 2)?, *spreads.last()?);
    (largest > FAR_APART * median).then(|| {
        format!(
            "features have very different scales (the largest spread is {:.0} times the middle one), \
             so few decide alone: prepare with standardise, then scale=5",
            largest / median
        )
    })
}

/// A class that takes almost all unlabelled samples, or one that takes none: far from its share of the
/// labels and from an even share. `found` is the class of each sample; `has_prior`: whether the method has a knob of that name.
pub(crate) fn swallowed(found: &[usize], labels: &Labels, has_prior: bool) -> Option<String> {
    let open = labels.unlabelled();
    if open.len() < MIN_OPEN {
        return None;
    }
    let known = labels.counts();
    let mut counts = vec![0usize; known.len()];
    open.iter().for_each(|&place| counts[found[place]] += 1);
    let n_present = known.iter().filter(|&&count| count > 0).count();
    let even = 1.0 / n_present.max(1) as f64;
    let of_labels = |class: usize| known[class] as f64 / labels.n_labelled() as f64;
    let of_open = |class: usize| counts[class] as f64 / open.len() as f64;
    let remedy = if has_prior {
        "set `prior` if the classes are not even, lower `unlabelled_weight`, or label more samples"
    } else {
        "label more samples of the classes that lose, or weigh them with class weights"
    };
    let percent = |share: f64| format!("{:.1} %", 100.0 * share);
    for class in (0..known.len()).filter(|&class| known[class] > 0) {
        let name = &labels.classes()[class];
        let (share, own) = (of_open(class), of_labels(class));
        if 1.0 - share < SWALLOWED * (1.0 - own.max(even)) {
            return Some(format!(
                "class `{name}` takes {} of the unlabelled samples and has {} of the labels: {remedy}",
                percent(share),
                percent(own)
            ));
        }
        if counts[class] == 0 && own.min(even) * open.len() as f64 >= MIN_EXPECTED {
            return Some(format!(
                "no unlabelled sample is of class `{name}`, which has {} of the labels: {remedy}",
                percent(own)
            ));
        }
    }
    None
}

/// Labelled samples that equal one with another label. Cost: $O(N_l\log N_l)$ comparisons of samples.
pub(crate) fn contradictions<T: Real>(raw: &Matrix<T>, labels: &Labels) -> Option<String> {
    let mut known = labels.labelled();
    let compared = |a: usize, b: usize| {
        let pairs = raw.column(a).iter().zip(raw.column(b));
        pairs.map(|(x, y)| x.wide().total_cmp(&y.wide())).find(|found| found.is_ne())
    };
    known.sort_by(|&a, &b| compared(a, b).unwrap_or(a.cmp(&b)));
    let class = |place: usize| labels.assigned()[place];
    let (mut count, mut pair) = (0usize, None);
    for same in known.chunk_by(|&a, &b| compared(a, b).is_none()) {
        if let Some(&other) = same.iter().find(|&&place| class(place) != class(same[0])) {
            count += same.len();
            pair = pair.or(class(same[0]).zip(class(other)));
        }
    }
    let name = |class: usize| &labels.classes()[class];
    pair.map(|(one, other)| {
        format!(
            "{count} labelled samples are equal to others with another label (`{}` and `{}`): mend the labels, or \
             add features that tell them apart",
            name(one),
            name(other)
        )
    })
}

/// Hidden labels that are predicted no better than by naming one class always, or, with all classes counting alike, than
/// by chance. `scores` ($C\times M$) are those of fits that did not see the labels, `truth` the class of each column.
pub(crate) fn guessing(scores: &Matrix<f64>, truth: &[usize]) -> Option<String> {
    if truth.len() < MIN_HIDDEN {
        return None;
    }
    let mut counts = vec![0usize; scores.rows()];
    let mut right = vec![0usize; scores.rows()];
    for (column, &class) in scores.iter_columns().zip(truth) {
        counts[class] += 1;
        right[class] += usize::from(best(column) == class);
    }
    let present: Vec<usize> = (0..counts.len()).filter(|&class| counts[class] > 0).collect();
    let chance = 1.0 / present.len() as f64;
    let mean_of = |term: &dyn Fn(usize) -> f64| {
        chance * present.iter().map(|&class| term(class)).sum::<f64>()
    };
    let recall = mean_of(&|class| right[class] as f64 / counts[class] as f64);
    // The deviation of that mean if every prediction were a guess.
    let variance = mean_of(&|class| chance * (1.0 - chance) / counts[class] as f64);
    let by_luck = chance + (chance * variance).sqrt();
    let (sum, most) = (right.iter().sum::<usize>(), counts.iter().copied().max()?);
    (sum <= most || recall <= by_luck).then(|| {
        format!(
            "of {} labels, each hidden once, {sum} were predicted; always naming the most frequent class would \
             get {most}: the features may say little about the classes, or there are too few labels",
            truth.len()
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_samples_with_different_labels_are_counted() {
        let names = ["a", "b", "a", "a", "b"].map(Some);
        let labels = Labels::from_names(&names);
        let raw = |twin: usize| {
            Matrix::from_fn(2, 5, |i, j| {
                f64::from([3u8, 3, 1, 2, 5][if j == 4 { twin } else { j }]) + i as f64
            })
        };
        let doubt = contradictions(&raw(0), &labels).expect("samples 0, 1 and 4 are equal");
        assert!(
            doubt.starts_with("3 labelled samples") && doubt.contains("(`a` and `b`)"),
            "{doubt}"
        );
        let same = Labels::from_names(&["a", "a", "b", "a", "a"].map(Some));
        assert_eq!(contradictions(&raw(0), &same), None);
        let open = Labels::from_names(&[Some("a"), None, Some("b"), None, None]);
        assert_eq!(contradictions(&raw(2), &open), None);
    }

    #[test]
    fn guesses_are_doubted_and_knowledge_is_not() {
        let truth: Vec<usize> = (0..30).map(|j| j % 3).collect();
        let scores = |class_of: &dyn Fn(usize) -> usize| {
            Matrix::from_fn(3, 30, |k, j| f64::from(u8::from(class_of(j) == k)))
        };
        assert_eq!(guessing(&scores(&|j| if j < 20 { j % 3 } else { 0 }), &truth), None);
        let doubt = guessing(&scores(&|j| (j / 3) % 3), &truth).expect("it knows nothing");
        assert!(doubt.contains("of 30 labels, each hidden once, 10 were predicted"), "{doubt}");
        assert!(doubt.contains("would get 10"), "{doubt}");
        // Too few to tell.
        assert_eq!(guessing(&scores(&|_| 0).select_columns(&[0, 1, 2]), &truth[..3]), None);
        // One class has nearly all labels: to be right is no art, unless the others are found, too.
        let uneven: Vec<usize> = (0..30).map(|j| usize::from(j < 4)).collect();
        assert!(guessing(&scores(&|_| 0), &uneven).is_some());
        assert_eq!(guessing(&scores(&|j| usize::from(j < 3)), &uneven), None);
    }

    #[test]
    fn a_class_that_takes_all_is_named_and_a_fair_one_is_not() {
        let mut names = vec![None; 104];
        (0..4).for_each(|j| names[j] = Some(["a", "b"][j % 2]));
        let labels = Labels::from_names(&names);
        let shares =
            |of_b: usize| -> Vec<usize> { (0..104).map(|j| usize::from(j < of_b)).collect() };
        let doubt = |of_b: usize| swallowed(&shares(of_b), &labels, true);
        assert!(doubt(100).expect("nearly all are b").contains("class `b` takes 96.0 %"));
        assert!(doubt(4).expect("none is b").contains("class `a` takes 100.0 %"));
        assert_eq!((doubt(50), doubt(30), doubt(80)), (None, None, None));
        // Labels that are as uneven as the predictions give no doubt.
        names.iter_mut().take(20).for_each(|name| *name = Some("a"));
        names[3] = Some("b");
        let mut found = shares(0);
        (20..26).for_each(|j| found[j] = 1);
        assert_eq!(swallowed(&found, &Labels::from_names(&names), true), None);
    }

    #[test]
    fn scales_are_compared_only_where_nothing_evens_them() {
        let raw =
            Matrix::from_fn(3, 20, |i, j| [1.0, 2.0, 500.0][i] * ((i * 7 + j * 5) % 11) as f64);
        let even = Matrix::from_fn(3, 20, |i, j| ((i * 7 + j * 5) % 11) as f64);
        let steps = |text: &str| -> Vec<StepChoice> {
            text.split(',').map(|step| step.parse().expect("a step")).collect()
        };
        assert!(scale_of_features(&raw, &steps("scale=5"), false).is_some());
        assert!(scale_of_features(&raw, &[], false).expect("a doubt").contains("standardise"));
        assert!(scale_of_features(&raw, &steps("standardise,scale=5"), false).is_none());
        assert!(scale_of_features(&raw, &steps("scale=5"), true).is_none());
        assert!(scale_of_features(&even, &steps("scale=5"), false).is_none());
        assert!(scale_of_features(&Matrix::<f64>::zeros(3, 5), &[], false).is_none());
    }
}
