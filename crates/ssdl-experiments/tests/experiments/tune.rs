//! A search never uses the labels that score it, keeps to its budget, and never gets worse.

use crate::common::{Counter, write_clouds};
use ssdl::methods::{self, FitOptions};
use ssdl::{Labels, Samples};
use ssdl_experiments::tune::{Aim, Budget, Configuration, Criterion, tune};

pub fn samples(labels_of_class: usize) -> Samples<f32> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("clouds.txt");
    write_clouds(&path, 45, 3);
    let options = ssdl_data::ReadOptions {
        label_column: Some(ssdl_data::Column::Index(0)),
        ..ssdl_data::ReadOptions::default()
    };
    let table = ssdl_data::read(&path, &options).unwrap();
    let names: Vec<Option<String>> = table
        .labels
        .unwrap()
        .into_iter()
        .enumerate()
        .map(|(line, name)| name.filter(|_| line < 3 * labels_of_class))
        .collect();
    Samples::new(table.features.cast(), Labels::from_names(&names)).unwrap()
}

pub fn options() -> FitOptions<f32> {
    FitOptions { threads: 1, calibrate: false, ..FitOptions::default() }
}

pub fn fixed() -> Vec<(String, String)> {
    let knobs = [("n_atoms", "12"), ("max_iterations", "3"), ("n_neighbors", "3")];
    knobs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
}

#[test]
fn the_search_keeps_fixed_knobs_and_never_ends_below_its_start() {
    let method = methods::find::<f32>("ssdl-ga").unwrap();
    let budget = Budget { fits: 60, ..Budget::default() };
    let monitor = Counter::new(usize::MAX);
    let found =
        tune(method, &fixed(), &samples(4), &options(), &Aim::default(), budget, &monitor).unwrap();
    assert!(found.accuracy >= found.before, "{found:?}");
    // Clouds that are easy to tell apart: whatever is better by a label or two is chance.
    if !found.is_better {
        assert_eq!((found.accuracy, &found.knobs), (found.before, &fixed()));
    }
    assert_eq!(found.folds, 4, "as many folds as the smallest class has labels");
    for knob in fixed() {
        assert!(found.knobs.contains(&knob), "{knob:?} in {:?}", found.knobs);
    }
    assert!(found.fits <= 60, "{}", found.fits);
    assert!(found.tried.len() > 5);
    let again =
        tune(method, &fixed(), &samples(4), &options(), &Aim::default(), budget, &monitor).unwrap();
    assert_eq!(again.knobs, found.knobs);
}

#[test]
fn settings_beyond_those_of_the_stages_are_drawn() {
    let method = methods::find::<f32>("ussdl").unwrap();
    let budget = Budget { fits: 400, ..Budget::default() };
    let monitor = Counter::new(usize::MAX);
    let (samples, fixed) = (samples(3), &fixed()[..2]);
    let search = |settings| {
        let aim = Aim { settings, ..Aim::default() };
        tune(method, fixed, &samples, &options(), &aim, budget, &monitor).unwrap()
    };
    let (few, many) = (search(0), search(40));
    assert!(few.tried.len() < 40, "{}", few.tried.len());
    assert_eq!(many.tried.len(), 40);
    assert_eq!(many.tried[..few.tried.len()], few.tried[..], "the stages come first, as without");
    assert!(many.accuracy >= many.before);
    assert_eq!(search(40), many);
}

#[test]
fn budgets_end_the_search() {
    let method = methods::find::<f32>("ussdl").unwrap();
    let budget = Budget { fits: 5, ..Budget::default() };
    let fixed = &fixed()[..2];
    let monitor = Counter::new(usize::MAX);
    let found =
        tune(method, fixed, &samples(5), &options(), &Aim::default(), budget, &monitor).unwrap();
    assert!(found.cut_short && found.fits <= 10, "{}", found.fits);
    let stopped = Counter::new(3);
    let found =
        tune(method, fixed, &samples(5), &options(), &Aim::default(), Budget::default(), &stopped)
            .unwrap();
    assert!(found.cut_short, "a monitor ends it with the best so far");
}

#[test]
fn impossible_searches_are_refused() {
    let monitor = Counter::new(usize::MAX);
    let svm = methods::find::<f32>("linear-svm").unwrap();
    let error =
        tune(svm, &[], &samples(4), &options(), &Aim::default(), Budget::default(), &monitor)
            .unwrap_err();
    assert!(error.to_string().contains("linear-svm"), "{error}");
    let method = methods::find::<f32>("ssdl-ga").unwrap();
    let error =
        tune(method, &[], &samples(1), &options(), &Aim::default(), Budget::default(), &monitor)
            .unwrap_err();
    assert!(error.to_string().contains("two labels"), "{error}");
    let bad = [("sparsity".to_owned(), "-1".to_owned())];
    assert!(
        tune(method, &bad, &samples(4), &options(), &Aim::default(), Budget::default(), &monitor)
            .is_err()
    );
}

#[test]
fn settings_survive_their_file() {
    let knobs = [("sparsity", "0.3"), ("n_atoms", "20"), ("graph", "heat"), ("revive", "false")];
    let knobs: Vec<(String, String)> =
        knobs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
    let setting = Configuration::new("ssdl-ga", vec!["scale=5".into()], &knobs);
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("knobs.toml");
    std::fs::write(&path, setting.text().unwrap()).unwrap();
    let again = Configuration::read(&path).unwrap();
    assert_eq!(again, setting);
    let mut pairs = again.pairs();
    pairs.sort();
    let mut expected = knobs;
    expected.sort();
    assert_eq!(pairs, expected);
    std::fs::write(&path, "nonsense = 1").unwrap();
    assert!(Configuration::read(&path).unwrap_err().to_string().contains("knobs.toml"));
}

#[test]
fn noise_is_no_gain_and_a_preparation_that_helps_is_one() {
    let method = methods::find::<f32>("ussdl").unwrap();
    let monitor = Counter::new(usize::MAX);
    let plain = samples(12);
    let prepare = vec!["scale=5".parse().unwrap()];
    let options = || FitOptions { prepare: prepare.clone(), ..options() };
    let aim = |by: Criterion, steps: &[&str]| {
        let steps: Vec<_> = steps.iter().map(|step| step.parse().unwrap()).collect();
        Aim { by, preparations: vec![steps], settings: 0 }
    };
    // One feature drowns all others unless they are standardised.
    let mut spoilt = plain.features().clone();
    for j in 0..spoilt.columns() {
        spoilt.column_mut(j)[0] = ((j * 7919) % 101) as f32 * 50.0;
    }
    let spoilt = Samples::new(spoilt, plain.labels().clone()).unwrap();
    for by in [Criterion::Accuracy, Criterion::LogLoss] {
        let budget = Budget { fits: 80, ..Budget::default() };
        let aim = aim(by, &["standardise", "scale=5"]);
        let found =
            tune(method, &fixed()[..2], &spoilt, &options(), &aim, budget, &monitor).unwrap();
        assert!(found.is_better && found.accuracy > found.before, "{found:?}");
        assert_eq!(found.prepare, aim.preparations[0], "{:?}", found.prepare);
        assert!(found.log_loss < found.log_loss_before, "{found:?}");
    }
    // Labels that say nothing: no setting is better beyond chance.
    let names: Vec<Option<String>> = (0..plain.n_samples())
        .map(|j| (j < 36).then(|| ["x", "y"][(j * 7919 / 13) % 2].to_owned()))
        .collect();
    let noise = Samples::new(plain.features().clone(), Labels::from_names(&names)).unwrap();
    let budget = Budget { fits: 60, ..Budget::default() };
    let found =
        tune(method, &fixed()[..2], &noise, &options(), &Aim::default(), budget, &monitor).unwrap();
    assert!(!found.is_better && found.accuracy == found.before, "{found:?}");
    assert_eq!(found.knobs, fixed()[..2]);
    assert!(found.nearest.is_some());
}
