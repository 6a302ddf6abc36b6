//! The baselines: what each promises, whatever the data; how votes are saved and what is refused.

use std::path::Path;

use crate::common::{
    agreement, assert_distributions, clouds, fit, fit_with, label_first, noise, options,
    small_problem,
};
use serde_json::{Value, json};
use ssdl::classifier::best;
use ssdl::fit::Silent;
use ssdl::methods::{self, FitOptions};
use ssdl::{Error, Labels, Matrix, Model, Real, Samples};

const BASELINES: [&str; 4] = ["nearest", "ridge", "label-spreading", "self-training"];

fn fitted<T: Real>(name: &str, knobs: &[(&str, &str)], samples: Samples<T>) -> Model<T> {
    fit(methods::find(name).unwrap(), knobs, samples).unwrap()
}

fn same_bits<T: Real>() {
    let (features, truth) = clouds::<T>(3, 12, 300, 4);
    let samples = Samples::new(features, label_first(&truth, 3, 4)).unwrap();
    let (new, _) = clouds::<T>(3, 12, 50, 5);
    for name in BASELINES {
        let run = |threads: usize| {
            let options = FitOptions { threads, ..options() };
            let method = methods::find(name).unwrap();
            fit_with(method, &[], samples.clone(), &options, &mut Silent).unwrap()
        };
        let (one, two) = (run(1), run(2));
        assert_eq!(one.decision(), two.decision(), "{name}");
        let all = one.predict(new.clone()).unwrap();
        let again = ssdl::threads::run(2, || two.predict(new.clone()).unwrap());
        assert_eq!((&all.scores, &all.labels), (&again.scores, &again.labels), "{name}");
        assert_distributions(&all.probabilities);
        assert_distributions(&one.transduction().probabilities);
        for (j, class) in all.classes.iter().enumerate() {
            assert_eq!(best(all.scores.column(j)), *class, "{name}");
            let alone = one.predict(new.select_columns(&[j])).unwrap();
            assert_eq!(
                alone.scores.column(0),
                all.scores.column(j),
                "{name}: alone and in company"
            );
        }
    }
}

#[test]
fn neither_threads_nor_other_samples_change_a_bit() {
    same_bits::<f64>();
    same_bits::<f32>();
}

fn nearest_knows_its_samples<T: Real>() {
    let (features, truth) = clouds::<T>(4, 6, 80, 2);
    let labels = label_first(&truth, 4, 20);
    let samples = Samples::new(features.clone(), labels).unwrap();
    let model = fitted("nearest", &[("n_neighbors", "1")], samples);
    assert_eq!(model.predict(features.clone()).unwrap().classes, truth);
    assert_eq!(model.transduction().classes, truth);
    assert!(model.classifier().is_none());
    // With labels for some, the others are judged as new samples are.
    let labels = label_first(&truth, 4, 3);
    let samples = Samples::new(features.clone(), labels.clone()).unwrap();
    for k in ["1", "3", "1000"] {
        let model = fitted("nearest", &[("n_neighbors", k)], samples.clone());
        let (known, new) = (model.transduction(), model.predict(features.clone()).unwrap());
        for (i, given) in labels.assigned().iter().enumerate() {
            match given {
                Some(given) => assert_eq!(known.classes[i], *given),
                None => assert_eq!(known.probabilities.column(i), new.probabilities.column(i)),
            }
        }
    }
}

#[test]
fn the_nearest_neighbour_of_a_labelled_sample_is_itself() {
    nearest_knows_its_samples::<f64>();
    nearest_knows_its_samples::<f32>();
}

#[test]
fn self_training_keeps_given_labels_and_is_no_worse_than_its_base() {
    let mut gained = [0.0, 0.0];
    for seed in 0..6 {
        // Long thin clouds: unlabelled samples show where the border runs, three labels do not.
        let (mut features, truth) = clouds::<f64>(3, 12, 240, seed);
        for j in 0..240 {
            features.column_mut(j)[0] *= 3.0;
        }
        let mut labels = label_first(&truth, 3, 3);
        // Two labels are wrong, and stay what they are.
        let mut assigned = labels.assigned().to_vec();
        assigned[0] = Some((truth[0] + 1) % 3);
        labels = Labels::new(labels.classes().to_vec(), assigned).unwrap();
        let samples = Samples::new(features, labels.clone()).unwrap();
        for (at, (base, alone)) in [("svm", "linear-svm"), ("ridge", "ridge")].iter().enumerate() {
            let own = fitted("self-training", &[("base", base)], samples.clone());
            assert_eq!(own.training_labels(), &labels);
            assert!(own.report().iterations > 0 && own.classifier().is_some());
            let before = fitted(alone, &[], samples.clone());
            let right = |model: &Model<f64>| agreement(&model.transduction().classes, &truth);
            gained[at] += right(&own) - right(&before);
        }
    }
    assert!(gained.iter().all(|gain| *gain >= 0.0), "{gained:?}");
}

#[test]
fn self_training_labels_nothing_where_nothing_is_sure_and_all_where_everything_may() {
    let (samples, _) = small_problem::<f64>(3);
    for base in ["svm", "ridge"] {
        let strict = [("base", base), ("threshold", "0.999999999")];
        let model = fitted("self-training", &strict, samples.clone());
        let alone = if base == "svm" { "linear-svm" } else { "ridge" };
        let plain = fitted(alone, &[], samples.clone());
        if model.report().iterations == 0 {
            assert_eq!(model.classifier(), plain.classifier());
        }
        let loose = [("base", base), ("threshold", "0.0000001"), ("per_round", "7")];
        let model = fitted("self-training", &loose, samples.clone());
        assert_eq!(model.report().iterations, 1, "all at once, then nothing is left");
        let every = Samples::new(samples.features().clone(), {
            let found = plain.transduction().classes;
            let given = samples.labels().assigned().iter();
            let all = given.zip(found).map(|(given, found)| given.or(Some(found)));
            Labels::new(samples.labels().classes().to_vec(), all.collect()).unwrap()
        });
        let fixed = plain.knobs().iter().find(|(name, _)| name == "ridge").map(|(_, v)| v.clone());
        if let Some(ridge) = fixed {
            let same = fitted::<f64>("ridge", &[("ridge", &ridge)], every.unwrap());
            assert_eq!(model.classifier(), same.classifier());
        }
    }
}

fn absent_class<T: Real>() {
    let (features, truth) = clouds::<T>(3, 6, 60, 8);
    let assigned = truth.iter().enumerate().map(|(i, &c)| (c != 1 && i < 20).then_some(c));
    let labels = Labels::new(crate::common::class_names(3), assigned.collect()).unwrap();
    for name in BASELINES {
        let samples = Samples::new(features.clone(), labels.clone()).unwrap();
        let model = fitted(name, &[], samples);
        let (far, _) = clouds::<T>(3, 6, 60, 99);
        for prediction in [model.transduction(), model.predict(far).unwrap()] {
            assert!(prediction.classes.iter().all(|class| *class != 1), "{name} in {}", T::NAME);
            assert_distributions(&prediction.probabilities);
        }
    }
}

#[test]
fn a_class_without_labels_is_never_chosen() {
    absent_class::<f64>();
    absent_class::<f32>();
}

fn twins<T: Real>() {
    // Zero samples, duplicates with different labels, and two samples only.
    let features = Matrix::from_fn(3, 9, |i, j| T::of(((j / 3) * i) as f64));
    let names = [Some("a"), Some("b"), None, Some("a"), None, None, Some("b"), None, None];
    let pair = Matrix::from_fn(3, 2, |i, j| T::of((i * j) as f64));
    for name in BASELINES {
        let samples = Samples::new(features.clone(), Labels::from_names(&names)).unwrap();
        let model = fitted(name, &[], samples);
        assert_distributions(&model.predict(features.clone()).unwrap().probabilities);
        let labels = Labels::from_names(&[Some("a"), Some("b")]);
        let model = fitted(name, &[], Samples::new(pair.clone(), labels).unwrap());
        assert_eq!(model.transduction().classes, [0, 1], "{name}");
    }
}

#[test]
fn duplicates_and_two_samples_are_enough() {
    twins::<f64>();
    twins::<f32>();
}

#[test]
fn a_memory_limit_is_kept_and_an_absurd_size_does_not_wrap() {
    for name in BASELINES {
        let method = methods::find::<f32>(name).unwrap();
        let (samples, _) = small_problem::<f32>(1);
        let tight = FitOptions { memory_limit: Some(100), ..options() };
        let error = fit_with(method, &[], samples, &tight, &mut Silent).unwrap_err();
        assert!(matches!(error, Error::Memory { .. }), "{name}: {error}");
        let absurd = method.memory_needed(&[], usize::MAX / 4, usize::MAX / 4, 1 << 40).unwrap();
        assert_eq!(absurd, u64::MAX, "{name}");
    }
}

fn round_trip<T: Real>() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("model");
    let (new, _) = clouds::<T>(3, 12, 20, 2);
    for name in BASELINES {
        for knobs in [[("kernel", "heat")], [("kernel", "neighbours")]] {
            let model = fitted::<T>(name, &knobs, small_problem(1).0);
            model.save(&path).unwrap();
            let again = Model::<T>::load(&path).unwrap();
            assert_eq!(again.decision(), model.decision(), "{name}");
            assert_eq!((again.atoms(), again.codes()), (model.atoms(), model.codes()), "{name}");
            assert_eq!(again.attachment(), model.attachment(), "{name}");
            let (p, q) = (model.predict(new.clone()).unwrap(), again.predict(new.clone()).unwrap());
            assert_eq!((p.scores, p.labels), (q.scores, q.labels), "{name}");
            assert_eq!(model.transduction().scores, again.transduction().scores, "{name}");
        }
    }
}

#[test]
fn every_baseline_comes_back_from_its_file_to_the_bit() {
    round_trip::<f64>();
    round_trip::<f32>();
}

/// The two headers of a file and the rest of it.
fn open(path: &Path) -> (Value, Value, Vec<u8>) {
    let bytes = std::fs::read(path).unwrap();
    let length = u64::from_le_bytes(bytes[..8].try_into().unwrap()) as usize;
    let tensors: Value = serde_json::from_slice(&bytes[8..8 + length]).unwrap();
    let text = tensors["__metadata__"]["ssdl"].as_str().unwrap();
    (serde_json::from_str(text).unwrap(), tensors, bytes[8 + length..].to_vec())
}

fn close(path: &Path, header: &Value, mut tensors: Value, data: &[u8]) {
    tensors["__metadata__"]["ssdl"] = header.to_string().into();
    let text = tensors.to_string();
    let text = format!("{text}{}", " ".repeat(text.len().next_multiple_of(8) - text.len()));
    let length = (text.len() as u64).to_le_bytes();
    std::fs::write(path, [&length[..], text.as_bytes(), data].concat()).unwrap();
}

#[test]
fn votes_of_a_damaged_file_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let (sound, broken) = (folder.path().join("sound"), folder.path().join("broken"));
    for name in ["nearest", "label-spreading"] {
        fitted::<f64>(name, &[], small_problem(1).0).save(&sound).unwrap();
        let (header, tensors, data) = open(&sound);
        close(&broken, &header, tensors.clone(), &data);
        assert!(Model::<f64>::load(&broken).is_ok(), "{name}: put together as it was");
        let refused = |header: &Value, tensors: &Value, data: &[u8], what: &str| {
            close(&broken, header, tensors.clone(), data);
            let error = Model::<f64>::load(&broken).err();
            assert!(matches!(error, Some(Error::Format { .. })), "{name}, {what}: {error:?}");
        };
        let at = tensors["shares"]["data_offsets"][0].as_u64().unwrap() as usize;
        for value in [f64::NAN, f64::INFINITY, -1.0, 2.0] {
            let mut data = data.clone();
            data[at..at + 8].copy_from_slice(&value.to_le_bytes());
            refused(&header, &tensors, &data, &format!("a share of {value}"));
        }
        let mut other = tensors.clone();
        other.as_object_mut().unwrap().remove("shares");
        refused(&header, &other, &data, "no shares");
        let mut other = tensors.clone();
        other["shares"]["shape"] = json!([3, 90]);
        refused(&header, &other, &data, "shares on their side");
        let changes = [
            ("decision", json!({"by": "vote", "voters": "nobody"})),
            ("decision", json!({"by": "linear", "sharpness": 1.7})),
            ("attachment", Value::Null),
            ("attachment", json!({"graph": "neighbours", "scale": 1.0})),
            ("attachment", json!({"graph": "lle", "n_neighbors": 0, "scale": 1.0})),
            ("attachment", json!({"graph": "lle", "n_neighbors": 2, "scale": -1.0})),
        ];
        for (field, value) in changes {
            let mut header = header.clone();
            header[field] = value.clone();
            refused(&header, &tensors, &data, &format!("{field} {value}"));
        }
        let mut unlabelled = data.clone();
        let labels = tensors["labels"]["data_offsets"].as_array().unwrap();
        let range = labels[0].as_u64().unwrap() as usize..labels[1].as_u64().unwrap() as usize;
        unlabelled[range].fill(0xff);
        let mut elected = header.clone();
        elected["decision"]["voters"] = json!("labelled");
        refused(&elected, &tensors, &unlabelled, "no sample is labelled");
    }
}

#[test]
fn a_vote_and_a_linear_decision_are_told_apart() {
    let model = fitted::<f32>("label-spreading", &[], small_problem(1).0);
    let vote = model.decision().voting().expect("samples vote");
    assert_eq!(model.transduction().probabilities, vote.shares);
    assert_eq!(model.attachment(), Some(&vote.attachment));
    let model = fitted::<f32>("ridge", &[], small_problem(1).0);
    assert!(model.classifier().is_some() && model.attachment().is_none());
}

/// The mean of what `auto` says of unlabelled samples, and the share of them that is right, over a few
/// draws of clouds with this much noise and five labels each.
fn sure_and_right(blur: f64) -> Vec<(f64, f64)> {
    let draw = |seed: u64| {
        let (mut features, truth) = clouds::<f64>(2, 6, 200, seed);
        let noise = noise::<f64>(6, 200, seed + 100);
        let both = features.as_mut_slice().iter_mut().zip(noise.as_slice());
        both.for_each(|(x, e)| *x += blur * e);
        let samples = Samples::new(features, label_first(&truth, 2, 5)).unwrap();
        let options = FitOptions { calibrate: true, ..options() };
        let auto = methods::find("auto").unwrap();
        let model = fit_with(auto, &[], samples, &options, &mut Silent).unwrap();
        let found = model.transduction();
        assert_distributions(&found.probabilities);
        let tops = found.classes.iter().enumerate().skip(10);
        let sure: f64 = tops.map(|(j, &c)| found.probabilities.column(j)[c]).sum();
        (sure / 190.0, agreement(&found.classes[10..], &truth[10..]))
    };
    (0..4).map(draw).collect()
}

#[test]
fn auto_is_about_as_sure_as_it_is_right() {
    let mean = |pairs: &[(f64, f64)], of: fn(&(f64, f64)) -> f64| {
        pairs.iter().map(of).sum::<f64>() / pairs.len() as f64
    };
    let (clear, blurred) = (sure_and_right(0.0), sure_and_right(2.5));
    assert!(mean(&clear, |p| p.0) > mean(&blurred, |p| p.0) + 0.05, "{clear:?} {blurred:?}");
    for pairs in [&clear, &blurred] {
        assert!((mean(pairs, |p| p.0) - mean(pairs, |p| p.1)).abs() < 0.1, "{pairs:?}");
    }
}
