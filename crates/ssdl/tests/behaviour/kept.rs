//! What large models keep of their training samples: half precision, landmarks, codes without zeros.

use crate::common::{agreement, clouds, fit, label_first};
use ssdl::methods;
use ssdl::{Matrix, Model, Samples};

/// More samples than landmarks.
const MANY: usize = 10_400;

fn fitted(kept: &str, n_samples: usize, more: &[(&str, &str)]) -> Model<f32> {
    let (features, truth) = clouds::<f32>(3, 6, n_samples, 4);
    let samples = Samples::new(features, label_first(&truth, 3, 10)).unwrap();
    let mut knobs = vec![
        ("max_iterations", "1"),
        ("n_atoms", "12"),
        ("sparsity", "1"),
        ("kept_samples", kept),
        ("neighbours", "approximate"),
    ];
    knobs.extend(more);
    fit(methods::find("ssdl-ga").unwrap(), &knobs, samples).unwrap()
}

fn new_samples() -> Matrix<f32> {
    clouds::<f32>(3, 6, 60, 4).0
}

#[test]
fn a_small_model_predicts_the_same_before_and_after_it_is_saved() {
    for (kept, n_samples) in [("half", 300), ("landmarks", 300), ("landmarks", MANY)] {
        let model = fitted(kept, n_samples, &[]);
        let bytes = model.to_bytes().unwrap();
        let again = Model::<f32>::from_bytes(&bytes).unwrap();
        assert_eq!(again.to_bytes().unwrap(), bytes, "{kept}");
        assert_eq!(again.codes(), model.codes(), "{kept}");
        assert_eq!(again.landmarks(), model.landmarks(), "{kept}");
        let (one, other) =
            (model.predict(new_samples()).unwrap(), again.predict(new_samples()).unwrap());
        assert_eq!(one.scores, other.scores, "{kept}");
    }
}

#[test]
fn landmarks_stand_for_all_samples() {
    let all = fitted("all", MANY, &[]);
    let few = fitted("landmarks", MANY, &[]);
    assert_eq!((all.landmarks(), few.landmarks().map(<[u32]>::len)), (None, Some(10_000)));
    assert!(few.training().is_none() && all.training().is_some());
    let (of_all, of_few) = (all.to_bytes().unwrap().len(), few.to_bytes().unwrap().len());
    assert!(of_few * 10 < of_all * 8, "{of_few} of {of_all}");
    let (one, other) = (all.predict(new_samples()).unwrap(), few.predict(new_samples()).unwrap());
    assert!(agreement(&one.labels, &other.labels) > 0.95);
    // Neighbours are named by their places among all training samples.
    let explained = few.explain_new(new_samples()).unwrap();
    let landmarks = few.landmarks().unwrap();
    assert!(explained.iter().all(|e| !e.neighbours.is_empty()
        && e.neighbours.iter().all(|near| landmarks.contains(&(near.sample as u32)))));
    assert!(few.explain(&[0, MANY - 1]).unwrap().iter().all(|e| !e.parts.is_empty()));
}

#[test]
fn small_fits_keep_what_they_kept() {
    let plain = fitted("auto", 300, &[("neighbours", "auto")]);
    assert_eq!((plain.landmarks(), plain.attachment().unwrap().recall), (None, None));
    assert!(plain.training().is_some());
    // A heat graph counts how densely samples lie: it keeps all.
    let heat = fitted("landmarks", MANY, &[("graph", "heat"), ("width", "1")]);
    assert_eq!(heat.landmarks(), None);
    assert!(heat.attachment().unwrap().recall.is_some_and(|recall| recall > 0.95));
}

#[test]
fn lists_that_do_not_fit_are_refused() {
    let bytes = fitted("landmarks", MANY, &[]).to_bytes().unwrap();
    let length = u64::from_le_bytes(bytes[..8].try_into().unwrap()) as usize;
    let head = std::str::from_utf8(&bytes[8..8 + length]).unwrap();
    for name in ["landmarks", "codes_atoms", "codes_counts"] {
        let entry = &head[head.find(&format!("\"{name}\"")).unwrap()..];
        let offsets = &entry[entry.find("data_offsets\":[").unwrap() + 15..];
        let start: usize = offsets.split(',').next().unwrap().parse().unwrap();
        let mut damaged = bytes.clone();
        damaged[8 + length + start + 3] = 0xff;
        let error = Model::<f32>::from_bytes(&damaged).unwrap_err().to_string();
        assert!(error.contains("model in memory"), "{name}: {error}");
    }
}
