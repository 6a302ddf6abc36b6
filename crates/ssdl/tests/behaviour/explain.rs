//! Explanations: of every method, on every graph, they add up to the prediction.

use crate::common::{clouds, fit, small_problem};
use ssdl::graph::{GraphChoice, Rule};
use ssdl::methods;
use ssdl::model::Explanation;
use ssdl::{Model, Prediction, Real};

fn check<T: Real>(
    what: &str,
    model: &Model<T>,
    all: &[Explanation<T>],
    prediction: &Prediction<T>,
) {
    let n_classes = model.classes().len();
    for (j, explained) in all.iter().enumerate() {
        let what = format!("{what}, {}, sample {j}", T::NAME);
        assert_eq!(explained.class, prediction.classes[j], "{what}");
        assert_ne!(explained.second, Some(explained.class), "{what}");
        assert_eq!(explained.scores, prediction.scores.column(j), "{what}");
        assert_eq!(explained.probabilities, prediction.probabilities.column(j), "{what}");
        let code = prediction.codes.column(j);
        assert!(explained.parts.iter().all(|part| part.amount == code[part.index]), "{what}");
        let used = code.iter().filter(|value| **value != T::zero()).count();
        assert_eq!(explained.parts.len(), used, "{what}");
        if let Some(classifier) = model.classifier() {
            for class in 0..n_classes {
                let votes = explained.parts.iter().map(|part| part.votes[class].wide());
                let sum = classifier.bias[class].wide() + votes.sum::<f64>();
                let (score, allowed) = (explained.scores[class].wide(), 1e3 * T::epsilon().wide());
                assert!(
                    (sum - score).abs() <= allowed * (1.0 + score.abs()),
                    "{what}: {sum} {score}"
                );
            }
        }
        let weights: f64 = explained.neighbours.iter().map(|near| near.weight.wide()).sum();
        let none = explained.neighbours.is_empty();
        // What a sample is written with need not sum to one.
        let rule = model.attachment().map(|attachment| attachment.rule);
        let free = matches!(rule, Some(Rule::Expressive { .. }));
        assert!(none || free || (weights - 1.0).abs() < 1e-4, "{what}: {weights}");
        let sorted = explained.neighbours.windows(2).all(|pair| pair[0].weight >= pair[1].weight);
        assert!(sorted, "{what}");
    }
}

fn of_method<T: Real>(name: &str, knobs: &[(&str, &str)]) {
    let (samples, _) = small_problem::<T>(1);
    let n = samples.n_samples();
    let method = methods::find(name).expect("a method");
    let iterates = method.knobs().iter().any(|knob| knob.name == "max_iterations");
    let mut all = if iterates { vec![("max_iterations", "2")] } else { vec![] };
    all.extend_from_slice(knobs);
    let model = fit(method, &all, samples).expect("fits");
    let what = format!("{name} {knobs:?}");
    let training: Vec<usize> = (0..n).collect();
    let explained = model.explain(&training).expect("training samples");
    check(&what, &model, &explained, &model.transduction());
    let itself =
        |(j, e): (usize, &Explanation<T>)| e.neighbours.iter().any(|near| near.sample == j);
    assert!(!explained.iter().enumerate().any(itself), "{what}");
    let tied = model.attachment().is_some() || model.decision().trees().is_some();
    assert_eq!(explained.iter().any(|e| !e.neighbours.is_empty()), tied, "{what}");
    let (new, _) = clouds::<T>(3, 12, 20, 2);
    let explained = model.explain_new(new.clone()).expect("new samples");
    check(&what, &model, &explained, &model.predict(new).expect("predicts"));
    let refused = model.explain(&[0, n]).expect_err("there is no such sample").to_string();
    assert!(refused.contains(&format!("no training sample {n}")), "{refused}");
}

#[test]
fn explanations_of_every_method_add_up() {
    for method in methods::all::<f64>() {
        of_method::<f64>(method.describe().name, &[]);
        of_method::<f32>(method.describe().name, &[]);
    }
}

#[test]
fn explanations_on_every_graph_leave_the_sample_itself_out() {
    for graph in GraphChoice::WORDS {
        for denoise in ["0", "2"] {
            of_method::<f64>("ssdl-ga", &[("graph", *graph), ("denoise", denoise)]);
        }
    }
}

#[test]
fn only_the_nearest_neighbour_votes() {
    let (samples, _) = small_problem::<f64>(1);
    let labels = samples.labels().clone();
    let model = fit(methods::find("nearest").expect("a method"), &[("n_neighbors", "1")], samples)
        .expect("fits");
    let (new, _) = clouds::<f64>(3, 12, 20, 2);
    for explained in model.explain_new(new).expect("new samples") {
        let nearest = explained.neighbours[0].sample;
        assert_eq!(labels.assigned()[nearest], Some(explained.class));
    }
}
