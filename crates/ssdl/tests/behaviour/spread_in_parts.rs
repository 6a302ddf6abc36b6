//! Labels that spread over samples in several parts: the same shares as over all samples together, within rounding.

use std::sync::Arc;

use crate::common::{apart, assert_close, clouds, label_first, options, pairs};
use ssdl::fit::Silent;
use ssdl::fit::parts::{Crew, Cuts, InProcess};
use ssdl::graph::{Neighbours, Search};
use ssdl::methods::{self, FitOptions};
use ssdl::samples::weights::ClassWeight;
use ssdl::{Labels, Matrix, Model, Real, Result, Samples};

const COUNT: usize = 900;
const K: usize = 5;

/// Three clouds that touch, and one far away without a label.
fn problem<T: Real>() -> (Matrix<T>, Labels) {
    let (mut features, truth) = clouds::<T>(3, 6, COUNT, 5);
    for j in COUNT - 40..COUNT {
        features.column_mut(j).iter_mut().for_each(|value| *value += T::of(500.0));
    }
    (features, label_first(&truth, 3, 4))
}

fn crew<T: Real>(n_parts: usize, at_random: bool) -> Arc<dyn Crew> {
    let (features, labels) = problem::<T>();
    let (near, _) = Neighbours::search(&features, K, Search::Exact);
    let part_of: Vec<usize> = match at_random {
        true => (0..COUNT).map(|j| j * 7 % n_parts).collect(),
        false => Cuts::new(&features, n_parts).parts_of(&features),
    };
    Arc::new(InProcess::of_neighbours(&features, labels.assigned(), &near, &part_of).unwrap())
}

fn fitted<T: Real>(
    method: &str,
    knobs: &[(&str, &str)],
    crew: Option<Arc<dyn Crew>>,
    class_weight: Option<ClassWeight>,
) -> Result<Model<T>> {
    let (features, labels) = problem::<T>();
    let samples = Samples::new(features, labels)?;
    let options =
        FitOptions { crew, class_weight, prepare: Vec::new(), calibrate: false, ..options() };
    methods::find::<T>(method)?.fit(&pairs(knobs), samples, &options, &mut Silent)
}

fn parts_spread_as_one<T: Real>(tolerance: f64) {
    let cases: [&[(&str, &str)]; 5] = [
        &[],
        &[("kernel", "neighbours"), ("spreading", "0.95")],
        &[("clamp", "true")],
        &[("clamp", "true"), ("kernel", "neighbours")],
        &[("balance", "0.7"), ("width", "1.5")],
    ];
    let (new, _) = clouds::<T>(3, 6, 50, 77);
    for knobs in cases {
        let whole = fitted::<T>("label-spreading", knobs, None, None).unwrap();
        for (n_parts, at_random) in [(1, false), (3, false), (4, true)] {
            let what = format!("{knobs:?}, {n_parts} parts");
            let crew = Some(crew::<T>(n_parts, at_random));
            let parts = fitted::<T>("label-spreading", knobs, crew, None).unwrap();
            let (here, there) = (whole.transduction(), parts.transduction());
            let far = apart(there.scores.as_slice(), here.scores.as_slice());
            assert!(far < tolerance, "{what}: {far}");
            let (here, there) =
                (whole.predict(new.clone()).unwrap(), parts.predict(new.clone()).unwrap());
            let far = apart(there.scores.as_slice(), here.scores.as_slice());
            assert!(far < tolerance, "{what}, new samples: {far}");
            let terms = |model: &Model<T>| model.report().objective.total();
            assert_close(terms(&parts), terms(&whole), 1e-6);
        }
    }
}

#[test]
fn parts_spread_as_one_in_both_precisions() {
    parts_spread_as_one::<f32>(1e-5);
    parts_spread_as_one::<f64>(1e-8);
}

#[test]
fn labels_count_by_class_in_parts_too() {
    let knobs = [];
    let named = fitted::<f64>("label-spreading", &knobs, None, None).unwrap();
    let first = named.classes()[0].clone();
    let weight = || Some(ClassWeight::Given(vec![(first.clone(), 3.0)]));
    let whole = fitted::<f64>("label-spreading", &knobs, None, weight()).unwrap();
    let crew = Some(crew::<f64>(3, false));
    let parts = fitted::<f64>("label-spreading", &knobs, crew, weight()).unwrap();
    let (here, there) = (whole.transduction().scores, parts.transduction().scores);
    assert!(apart(there.as_slice(), here.as_slice()) < 1e-8);
    let even = named.transduction().scores;
    assert!(apart(even.as_slice(), here.as_slice()) > 1e-3, "the weight counts");
}

#[test]
fn the_same_parts_spread_to_the_same_bits() {
    let scores = || {
        let crew = Some(crew::<f32>(3, false));
        fitted::<f32>("label-spreading", &[], crew, None).unwrap().transduction().scores
    };
    assert!(scores() == scores());
}

#[test]
fn parts_for_labels_are_not_parts_for_codes() {
    let crew = Some(crew::<f64>(2, false));
    let error = fitted::<f64>("ssdl-ga", &[("n_atoms", "20")], crew, None).map(drop);
    assert!(error.expect_err("another kind").to_string().contains("between parts"));
}
