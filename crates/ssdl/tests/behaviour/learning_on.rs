//! Going on from an earlier fit, and asking for labels.

use crate::common::{Recorder, agreement, fit, label_first, noise, options, small_problem};
use ssdl::fit::Silent;
use ssdl::methods::{self, FitOptions, SsdlGa, Ussdl};
use ssdl::prelude::*;
use ssdl::{Error, Labels, Matrix, Model, Samples};

fn knobs() -> SsdlGa {
    SsdlGa::new().n_atoms(20).n_neighbors(4)
}

fn fitted(samples: &Samples<f64>, options: &FitOptions<f64>) -> Model<f64> {
    knobs().fit_with(samples.clone(), options, &mut Silent).unwrap()
}

fn from(model: &Model<f64>, samples: &Samples<f64>) -> FitOptions<f64> {
    FitOptions {
        start: model.start(samples.features()).unwrap(),
        preparation: Some(model.preparation().clone()),
        ..options()
    }
}

#[test]
fn a_fit_that_begins_where_one_ended_ends_no_higher() {
    let (samples, _) = small_problem::<f64>(3);
    let first = fitted(&samples, &options());
    let again = fitted(&samples, &from(&first, &samples));
    let (before, after) = (first.report().objective.total(), again.report().objective.total());
    assert!(after <= before * 1.001, "{after} after {before}");
    assert!(again.report().iterations <= first.report().iterations);
}

#[test]
fn further_samples_are_coded_as_new_and_the_preparation_stays() {
    let (samples, truth) = small_problem::<f64>(4);
    let n = samples.n_samples();
    let part: Vec<usize> = (0..n * 2 / 3).collect();
    let (features, labels) = samples.clone().into_parts();
    let assigned = part.iter().map(|&j| labels.assigned()[j]).collect();
    let some = Labels::new(labels.classes().to_vec(), assigned).unwrap();
    let few = Samples::new(features.select_columns(&part), some).unwrap();
    let plans = vec!["pca=4".parse().unwrap(), "scale=5".parse().unwrap()];
    let first = fitted(&few, &FitOptions { prepare: plans, ..options() });
    let more = from(&first, &samples);
    let start = more.start.clone().expect("atoms");
    assert_eq!((start.codes.rows(), start.codes.columns()), (start.atoms.columns(), n));
    let further: Vec<usize> = (part.len()..n).collect();
    let coded = first.code(features.select_columns(&further)).unwrap();
    assert_eq!(start.codes.select_columns(&further), coded);
    let all = fitted(&samples, &more);
    assert_eq!(all.preparation().tensors(), first.preparation().tensors());
    assert!(agreement(&all.transduction().classes, &truth) > 0.9);
}

#[test]
fn fewer_samples_than_before_are_refused_and_methods_without_atoms_have_no_start() {
    let (samples, _) = small_problem::<f64>(5);
    let model = fitted(&samples, &options());
    let fewer = samples.features().select_columns(&[0, 1, 2]);
    assert!(matches!(model.start(&fewer), Err(Error::Shape { .. })));
    let ridge = methods::find::<f64>("ridge").unwrap();
    let model = fit(ridge, &[], samples.clone()).unwrap();
    assert!(model.start(samples.features()).unwrap().is_none());
}

#[test]
fn every_method_queries_each_unlabelled_sample_once() {
    for method in methods::all::<f64>() {
        let (samples, _) = small_problem::<f64>(6);
        let model = fit(method, &[], samples.clone()).unwrap();
        let assigned = samples.labels().assigned();
        let open = assigned.iter().filter(|label| label.is_none()).count();
        let chosen = model.query(10_000).unwrap();
        let mut sorted = chosen.clone();
        sorted.sort_unstable();
        sorted.dedup();
        assert_eq!((sorted.len(), chosen.len()), (open, open), "{}", model.method());
        assert!(chosen.iter().all(|&j| assigned[j].is_none()));
        assert_eq!(model.query(3).unwrap(), chosen[..3]);
        let pool = model.query_among(samples.features().clone(), 5).unwrap();
        assert_eq!(pool.len(), 5);
    }
}

#[test]
fn a_classifier_that_misclassifies_its_own_samples_as_new_ones_is_fitted_again() {
    // Three clouds in the plane, one in the midst of the others, all labelled, and 200 atoms: the
    // loss bends codes further than plain coding can follow.
    let truth: Vec<usize> = (0..300).map(|j| j % 3).collect();
    let spread = noise::<f64>(2, 300, 1);
    let features = Matrix::from_fn(2, 300, |i, j| {
        let along = truth[j] as f64 - 1.0;
        [-0.9 * along, 1.2 * along][i] + 0.3 * spread.column(j)[i]
    });
    let samples = Samples::new(features.clone(), label_first(&truth, 3, 100)).unwrap();
    let mut recorder = Recorder::default();
    let method = Ussdl::new().n_atoms(200);
    let model = method.fit_with(samples, &options(), &mut recorder).unwrap();
    assert!(recorder.notices.iter().any(|notice| notice.contains("fitted again")));
    let predicted = model.predict(features).unwrap().classes;
    assert!(agreement(&predicted, &truth) > 0.83, "{}", agreement(&predicted, &truth));
    assert!(agreement(&model.transduction().classes, &truth) > 0.83);
}
