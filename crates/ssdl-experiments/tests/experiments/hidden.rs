//! Cross-validation on the labels: each is predicted once by every method, hidden from it.

use crate::common::Counter;
use crate::tune::{fixed, options, samples};
use ssdl::methods;
use ssdl_experiments::hidden::{BESIDE, Trial, cross_validate, table};

#[test]
fn every_label_is_predicted_once_and_the_best_method_is_marked() {
    let (samples, options, fixed) = (samples(4), options(), fixed());
    let method = methods::find::<f32>("ssdl-ga").unwrap();
    let trial = Trial { method, knobs: &fixed, options: &options };
    let monitor = Counter::new(usize::MAX);
    let found = cross_validate(&trial, &samples, &monitor).unwrap();
    let names: Vec<&str> = found.iter().map(|one| one.method.as_str()).collect();
    assert_eq!(names[0], "ssdl-ga");
    assert_eq!(names[1..], BESIDE);
    assert_eq!(monitor.seen.load(std::sync::atomic::Ordering::SeqCst), 4 * 4, "four folds each");
    let labels = samples.labels();
    for one in &found {
        for (predicted, truth) in one.predicted.iter().zip(labels.assigned()) {
            assert_eq!(predicted.is_some(), truth.is_some(), "{}", one.method);
        }
        assert!(one.accuracy(labels) > 0.5 && one.accuracy(labels) <= 1.0, "{one:?}");
        assert!((one.measures.accuracy - 100.0 * one.accuracy(labels)).abs() < 1e-9, "{one:?}");
        assert!(one.measures.log_loss.is_finite() && one.measures.calibration_error < 0.5);
    }
    let shown = table(&found, labels);
    assert_eq!((shown.lines.len(), shown.heading.as_str()), (4, "Cross-validation on 12 labels"));
    assert_eq!(shown.columns[1..3], ["log-loss", "calibration error"]);
    let best = found.iter().map(|one| one.accuracy(labels)).fold(0.0, f64::max);
    for ((_, cells), one) in shown.lines.iter().zip(&found) {
        assert_eq!(cells[0].number.better, one.accuracy(labels) == best, "{}", one.method);
    }
}

#[test]
fn a_hidden_label_is_not_used() {
    // A labelled sample is its own nearest neighbour: with its label, no prediction would be wrong.
    let (samples, options) = (samples(4), options());
    let labels = samples.labels().clone();
    let shuffled: Vec<Option<usize>> = (0..labels.len())
        .map(|at| labels.assigned()[at].map(|class| (class + at / 3) % 3))
        .collect();
    let wrong = ssdl::Labels::new(labels.classes().to_vec(), shuffled).unwrap();
    let samples = ssdl::Samples::new(samples.features().clone(), wrong).unwrap();
    let method = methods::find::<f32>("nearest").unwrap();
    let trial = Trial { method, knobs: &[], options: &options };
    let found = cross_validate(&trial, &samples, &Counter::new(usize::MAX)).unwrap();
    assert_eq!(found.len(), BESIDE.len(), "it is not compared with itself");
    assert!(found[0].accuracy(samples.labels()) < 0.8, "{}", found[0].accuracy(samples.labels()));
}

#[test]
fn nothing_is_found_if_no_label_can_be_hidden_or_the_monitor_stops_it() {
    let (options, fixed) = (options(), fixed());
    let method = methods::find::<f32>("ssdl-ga").unwrap();
    let trial = Trial { method, knobs: &fixed, options: &options };
    assert!(cross_validate(&trial, &samples(1), &Counter::new(usize::MAX)).unwrap().is_empty());
    assert!(cross_validate(&trial, &samples(4), &Counter::new(1)).unwrap().is_empty());
    let some = cross_validate(&trial, &samples(4), &Counter::new(6)).unwrap();
    assert_eq!(some.len(), 1, "the method itself was done, the others were not");
}
