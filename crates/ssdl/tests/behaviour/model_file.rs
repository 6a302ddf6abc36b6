//! Contracts of the model file: what is written comes back to the bit, and nothing that is read is
//! trusted.

use crate::common::{clouds, fit, fit_with, options, small_problem};
use ssdl::fit::Silent;
use ssdl::methods::{self, FitOptions};
use ssdl::model::{Cells, FitReport, Naming, SourceColumn};
use ssdl::{AnyModel, Error, Matrix, Model, Real, Samples};

pub fn fitted<T: Real>(method: &str, prepare: &[&str]) -> Model<T> {
    let (samples, _) = small_problem::<T>(1);
    let prepare = prepare.iter().map(|text| text.parse().unwrap()).collect();
    let options = FitOptions { prepare, image: Some([3, 4]), ..options() };
    let knobs = [("max_iterations", "2"), ("n_atoms", "9")];
    fit_with(methods::find(method).unwrap(), &knobs, samples, &options, &mut Silent).unwrap()
}

/// A report as a file keeps it.
fn without_times(report: &FitReport) -> FitReport {
    let mut report = FitReport { seconds: 0.0, graph_seconds: 0.0, ..report.clone() };
    report.trace.iter_mut().for_each(|row| row.seconds = 0.0);
    report
}

#[test]
fn the_same_seed_gives_the_same_bytes() {
    for method in methods::all::<f64>() {
        let made = || {
            let (samples, _) = small_problem::<f64>(1);
            fit_with(method, &[], samples, &options(), &mut Silent).unwrap().to_bytes().unwrap()
        };
        assert!(made() == made(), "{}", method.describe().name);
    }
}

#[test]
fn names_and_the_type_of_labels_come_back() {
    let names = (0..12).map(|i| format!("column {i}\u{1b}")).collect::<Vec<_>>();
    let naming = Naming { features: Some(names), label_type: Some("<U3".into()), columns: None };
    let model = fitted::<f64>("ridge", &[]).named(naming.clone()).unwrap();
    let again = Model::<f64>::from_bytes(&model.to_bytes().unwrap()).unwrap();
    assert_eq!(again.naming(), &naming);
    let few = Naming { features: Some(vec!["one".into()]), ..Naming::default() };
    assert!(matches!(model.named(few), Err(Error::Shape { got: 1, expected: 12, .. })));
}

#[test]
fn columns_of_a_table_come_back_and_must_fit() {
    let numbers = |gap| Cells::Numbers { gap };
    let words = |all: &[&str], base: Option<&str>| Cells::Words {
        words: all.iter().map(|&word| word.to_owned()).collect(),
        base: base.map(str::to_owned),
    };
    let naming = |cells: Vec<Cells>| {
        let name = |at: usize| Some(format!("c{at}"));
        let columns = cells.into_iter().enumerate();
        let columns: Vec<_> =
            columns.map(|(at, cells)| SourceColumn { name: name(at), cells }).collect();
        let features = columns.iter().filter_map(SourceColumn::feature_names).flatten().collect();
        Naming { features: Some(features), columns: Some(columns), label_type: None }
    };
    let rest = |n: usize| vec![numbers(None); n];
    let sound = naming([vec![words(&["a", "b"], None), numbers(Some(2.5))], rest(9)].concat());
    let model = fitted::<f64>("ridge", &[]).named(sound.clone()).unwrap();
    let again = Model::<f64>::from_bytes(&model.to_bytes().unwrap()).unwrap();
    assert_eq!(again.naming(), &sound);
    assert_eq!(sound.features.as_ref().unwrap()[..3], ["c0=a", "c0=b", "c1"]);
    assert_eq!(sound.of_columns().unwrap()[..2], ["c0", "c1"]);
    let one = |cells: Cells, n: usize| naming([vec![cells], rest(n)].concat());
    let other_names = Naming { features: one(numbers(None), 11).features, ..sound };
    for wrong in [
        one(words(&["a", "a"], None), 10),
        one(words(&["a"], Some("a")), 11),
        one(numbers(Some(f64::NAN)), 11),
        one(words(&["a", "b"], None), 11),
        other_names,
    ] {
        assert!(fitted::<f64>("ridge", &[]).named(wrong).is_err());
    }
}

/// What no file could hold is refused by the fit itself, so that no file is replaced by it.
#[test]
fn a_fit_whose_model_could_not_be_loaded_fails() {
    let (samples, _) = small_problem::<f32>(1);
    let (features, labels) = samples.into_parts();
    let scaled = |factor: f32, rows: usize| {
        let mut features = features.clone();
        for j in 0..rows {
            features.column_mut(j).iter_mut().for_each(|value| *value *= factor);
        }
        Samples::new(features, labels.clone()).unwrap()
    };
    let n = features.columns();
    let cases = [("label-spreading", 1e20, 1), ("graph-sc", 1e-40, n)];
    for (name, factor, rows) in cases {
        let options = FitOptions { prepare: Vec::new(), ..options() };
        let method = methods::find(name).unwrap();
        let model = fit_with(method, &[], scaled(factor, rows), &options, &mut Silent);
        match model {
            Ok(model) => assert!(Model::<f32>::from_bytes(&model.to_bytes().unwrap()).is_ok()),
            Err(error) => {
                let text = error.to_string();
                assert!(text.contains("rescale the samples"), "{name}: {text}");
            }
        }
    }
}

fn round_trip<T: Real>(method: &str, prepare: &[&str]) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("model");
    let model = fitted::<T>(method, prepare);
    model.save(&path).unwrap();
    let again = Model::<T>::load(&path).unwrap();
    let what = format!("{method}, {prepare:?}, {}", T::NAME);
    assert_eq!(again.method(), model.method(), "{what}");
    assert_eq!(again.knobs(), model.knobs(), "{what}");
    assert_eq!(again.training_labels(), model.training_labels(), "{what}");
    assert_eq!(again.preparation().plans(), model.preparation().plans(), "{what}");
    assert_eq!(again.preparation().tensors(), model.preparation().tensors(), "{what}");
    assert_eq!((again.atoms(), again.codes()), (model.atoms(), model.codes()), "{what}");
    assert_eq!(again.classifier(), model.classifier(), "{what}");
    assert_eq!(again.out_of_sample(), model.out_of_sample(), "{what}");
    assert_eq!(again.image(), Some([3, 4]), "{what}");
    let (was, is) = (model.report(), again.report());
    assert_eq!((is.iterations, is.stop, is.seed), (was.iterations, was.stop, was.seed), "{what}");
    assert_eq!((is.trace.len(), &is.version), (was.trace.len(), &was.version), "{what}");
    let (new, _) = clouds::<T>(3, 12, 20, 2);
    let (p, q) = (model.predict(new.clone()).unwrap(), again.predict(new).unwrap());
    assert_eq!((p.scores, p.labels), (q.scores, q.labels), "{what}");
}

#[test]
fn a_model_in_memory_is_its_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("model");
    for method in methods::all::<f32>() {
        let name = method.describe().name;
        let (samples, _) = small_problem::<f32>(1);
        let model = fit_with(method, &[], samples, &options(), &mut Silent).unwrap();
        model.save(&path).unwrap();
        let bytes = model.to_bytes().unwrap();
        assert!(bytes == std::fs::read(&path).unwrap(), "{name}");
        assert!(matches!(AnyModel::from_bytes(&bytes), Ok(AnyModel::Single(_))), "{name}");
        let again = Model::<f32>::from_bytes(&bytes).unwrap();
        assert!(again.to_bytes().unwrap() == bytes, "{name}");

        let error = Model::<f64>::from_bytes(&bytes).unwrap_err().to_string();
        assert!(error.starts_with("model in memory: "), "{name}: {error}");
        for cut in [0, 7, 8, 100, bytes.len() - 1] {
            assert!(Model::<f32>::from_bytes(&bytes[..cut]).is_err(), "{name}, {cut} bytes");
        }
    }
}

#[test]
fn every_number_of_the_header_comes_back_to_the_bit() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("model");
    for seed in 0..20 {
        // Knobs as a search over them draws them: all digits in use.
        let draw = crate::common::noise::<f64>(3, 1, seed);
        let digit = |k: usize| (0.3 + 0.1 * draw.as_slice()[k].abs()).to_string();
        let (sparsity, manifold, spread) = (digit(0), digit(1), digit(2));
        let sharpness = format!("1{}", &spread[1..]);
        let knobs = [
            ("sparsity", sparsity.as_str()),
            ("manifold", manifold.as_str()),
            ("sharpness", sharpness.as_str()),
            ("max_iterations", "1"),
        ];
        let (samples, _) = small_problem::<f64>(seed);
        let ssdl_ga = methods::find("ssdl-ga").unwrap();
        let model = fit_with(ssdl_ga, &knobs, samples, &options(), &mut Silent).unwrap();
        model.save(&path).unwrap();
        let again = Model::<f64>::load(&path).unwrap();
        assert_eq!(again.out_of_sample(), model.out_of_sample(), "seed {seed}");
        let (new, _) = clouds::<f64>(3, 12, 8, seed);
        let (p, q) = (model.predict(new.clone()).unwrap(), again.predict(new).unwrap());
        assert_eq!(p.scores, q.scores, "seed {seed}");
        assert_eq!(again.report(), &without_times(model.report()), "seed {seed}");
    }
}

#[test]
fn a_model_comes_back_to_the_bit_with_every_preparation() {
    let preparations: [&[&str]; 6] = [
        &[],
        &["scale=5"],
        &["standardise"],
        &["pca=5"],
        &["projection=6"],
        &["standardise", "projection=8", "pca=4", "scale=5"],
    ];
    for prepare in preparations {
        round_trip::<f64>("ssdl-ga", prepare);
        round_trip::<f32>("ussdl", prepare);
    }
    for method in methods::all::<f64>() {
        round_trip::<f32>(method.describe().name, &["scale=5"]);
        round_trip::<f64>(method.describe().name, &["standardise", "pca=6"]);
    }
}

#[test]
fn the_precision_is_known_from_the_header_and_must_match() {
    let folder = tempfile::tempdir().unwrap();
    let (single, double) = (folder.path().join("single"), folder.path().join("double"));
    fitted::<f32>("ussdl", &[]).save(&single).unwrap();
    fitted::<f64>("ussdl", &[]).save(&double).unwrap();
    assert!(matches!(AnyModel::load(&single), Ok(AnyModel::Single(_))));
    assert!(matches!(AnyModel::load(&double), Ok(AnyModel::Double(_))));
    for error in
        [Model::<f64>::load(&single).unwrap_err(), Model::<f32>::load(&double).unwrap_err()]
    {
        assert!(matches!(error, Error::Format { .. }), "{error}");
    }
    let missing = folder.path().join("missing");
    assert!(matches!(AnyModel::load(&missing), Err(Error::Io { .. })));
    assert!(matches!(Model::<f64>::load(&missing), Err(Error::Io { .. })));
    assert!(Model::<f64>::load(folder.path()).is_err(), "a folder is not a model");
}

/// Models that version 0.1 wrote, beside its predictions.
#[test]
fn files_of_version_2_are_read_and_predict_the_same() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/version2");
    let numbers = |name: &str, skip: usize| -> Vec<Vec<f64>> {
        let text = std::fs::read_to_string(folder.join(name)).unwrap();
        let line = |line: &str| line.split(',').skip(skip).map(|v| v.parse().unwrap()).collect();
        text.lines().skip(1).map(line).collect()
    };
    let new = numbers("new.csv", 0);
    for name in ["ssdl-ga", "label-spreading"] {
        let model = AnyModel::load(&folder.join(format!("{name}.ssdl"))).unwrap();
        let expected = numbers(&format!("{name}-predictions.csv"), 1);
        ssdl::each_precision!(&model, model => {
            assert_eq!(model.method(), name);
            let raw = Matrix::from_fn(4, new.len(), |i, j| new[j][i]);
            let found = model.predict(raw.cast()).unwrap().probabilities;
            for (column, expected) in found.iter_columns().zip(&expected) {
                let pairs = column.iter().zip(expected);
                assert!(pairs.clone().all(|(p, q)| (p.wide() - q).abs() < 1e-6), "{name}");
            }
            let trace = &model.report().trace;
            assert_eq!(trace.last().unwrap().objective, model.report().objective);
            assert_eq!(model.report().objective.terms().len(), 5, "the five terms of version 2");
            let again = model.to_bytes().unwrap();
            assert!(AnyModel::from_bytes(&again).is_ok(), "{name}: written as version 3");
        });
    }
}

#[test]
fn a_failed_save_leaves_everything_as_it_was() {
    let folder = tempfile::tempdir().unwrap();
    let model = fitted::<f64>("ussdl", &[]);
    let nowhere = folder.path().join("no such folder").join("model");
    let error = model.save(&nowhere).unwrap_err();
    assert!(matches!(&error, Error::Io { path, .. } if *path == nowhere), "{error}");
    // A file in the place of the folder.
    let file = folder.path().join("file");
    std::fs::write(&file, "mine").unwrap();
    assert!(matches!(model.save(&file.join("model")), Err(Error::Io { .. })));
    assert_eq!(std::fs::read_to_string(&file).unwrap(), "mine");
    // A folder in the place of the file: the write itself succeeds, only the last step cannot.
    let taken = folder.path().join("taken");
    std::fs::create_dir(&taken).unwrap();
    std::fs::write(taken.join("inside"), "mine").unwrap();
    assert!(matches!(model.save(&taken), Err(Error::Io { .. })));
    assert_eq!(std::fs::read_to_string(taken.join("inside")).unwrap(), "mine");
    let left: Vec<_> =
        std::fs::read_dir(folder.path()).unwrap().map(|e| e.unwrap().path()).collect();
    assert_eq!(left.len(), 2, "nothing half-written stays: {left:?}");
}

#[cfg(unix)]
#[test]
fn a_folder_without_write_permission_keeps_the_old_file() {
    use std::os::unix::fs::PermissionsExt;
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("model");
    fitted::<f64>("ussdl", &[]).save(&path).unwrap();
    let old = std::fs::read(&path).unwrap();
    let allow = |mode| {
        std::fs::set_permissions(folder.path(), std::fs::Permissions::from_mode(mode)).unwrap();
    };
    allow(0o555);
    // The superuser writes anywhere; then there is nothing to see.
    if std::fs::write(folder.path().join("probe"), "").is_err() {
        assert!(matches!(fitted::<f64>("ssdl-ga", &[]).save(&path), Err(Error::Io { .. })));
        assert_eq!(std::fs::read(&path).unwrap(), old);
    }
    allow(0o755);
}

#[test]
fn an_old_file_is_replaced_as_a_whole() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("model");
    fitted::<f64>("ussdl", &[]).save(&path).unwrap();
    // A reader that opened the old file goes on reading the old one.
    let mut reader = std::fs::File::open(&path).unwrap();
    let old = std::fs::read(&path).unwrap();
    fitted::<f64>("ssdl-ga", &["scale=5"]).save(&path).unwrap();
    let mut seen = Vec::new();
    std::io::Read::read_to_end(&mut reader, &mut seen).unwrap();
    assert_eq!(seen, old);
    assert_eq!(Model::<f64>::load(&path).unwrap().method(), "ssdl-ga");
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1, "no temporary file stays");
}

#[cfg(unix)]
#[test]
fn a_saved_model_follows_the_umask_and_a_private_one_stays_private() {
    use std::os::unix::fs::PermissionsExt;
    let (samples, _) = small_problem::<f64>(1);
    let model = fit(ssdl::methods::find("ridge").unwrap(), &[], samples).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let (path, any) = (folder.path().join("model"), folder.path().join("any"));
    let mode =
        |path: &std::path::Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
    std::fs::write(&any, "").unwrap();
    model.save(&path).unwrap();
    assert_eq!(mode(&path), mode(&any), "as any new file");
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o600)).unwrap();
    model.save(&path).unwrap();
    assert_eq!(mode(&path), 0o600);
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 2, "nothing is left beside it");
}
