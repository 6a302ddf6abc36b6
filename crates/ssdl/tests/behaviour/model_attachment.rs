//! Model files with every kind of graph, and attachments that are not to be trusted.

use crate::common::parts::{Parts, assert_refused};
use crate::common::{clouds, fit, small_problem};
use serde_json::{Value, json};
use ssdl::graph::GraphChoice;
use ssdl::methods;
use ssdl::{Model, Real};

fn fitted<T: Real>(method: &str, knobs: &[(&str, &str)]) -> Model<T> {
    let (samples, _) = small_problem::<T>(1);
    let mut all = vec![("max_iterations", "2"), ("n_atoms", "9")];
    all.extend_from_slice(knobs);
    fit(methods::find(method).unwrap(), &all, samples).unwrap()
}

fn round_trip<T: Real>(method: &str, knobs: &[(&str, &str)]) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("model");
    let model = fitted::<T>(method, knobs);
    model.save(&path).unwrap();
    let again = Model::<T>::load(&path).unwrap();
    let what = format!("{method}, {knobs:?}, {}", T::NAME);
    assert_eq!(again.attachment(), model.attachment(), "{what}");
    assert_eq!(again.out_of_sample(), model.out_of_sample(), "{what}");
    assert_eq!((again.atoms(), again.codes()), (model.atoms(), model.codes()), "{what}");
    let (new, _) = clouds::<T>(3, 12, 20, 2);
    let (p, q) = (model.predict(new.clone()).unwrap(), again.predict(new).unwrap());
    assert_eq!((p.scores, p.codes, p.labels), (q.scores, q.codes, q.labels), "{what}");
}

#[test]
fn every_graph_comes_back_to_the_bit() {
    for method in ["graph-sc", "ssdl-ga"] {
        for graph in GraphChoice::WORDS {
            for denoise in ["0", "2"] {
                let knobs = [("graph", *graph), ("denoise", denoise), ("halve_new", "false")];
                round_trip::<f64>(method, &knobs);
                round_trip::<f32>(method, &knobs);
            }
        }
    }
}

#[test]
fn a_model_without_atoms_comes_back_to_the_bit() {
    for loss in ["hinge", "squared-hinge"] {
        round_trip::<f64>("linear-svm", &[("loss", loss)]);
        round_trip::<f32>("linear-svm", &[("loss", loss)]);
    }
    let parts = Parts::of(&fitted("linear-svm", &[]));
    assert_eq!(parts.header["n_atoms"], 0);
    assert_eq!(parts.header["attachment"], Value::Null);
    for name in ["atoms", "training", "attachment"] {
        assert!(parts.tensors.get(name).is_none(), "{name}");
    }
    let model = Model::<f64>::load(&parts.write()).unwrap();
    assert!(model.atoms().is_none() && model.attachment().is_none());
}

#[test]
fn a_file_without_atoms_cannot_claim_any() {
    let mut parts = Parts::of(&fitted("linear-svm", &[]));
    parts.header["n_atoms"] = json!(9);
    assert_refused(&parts.write(), "no way to code", "atoms out of nothing");
    let mut parts = Parts::of(&fitted("linear-svm", &[]));
    parts.header["tie"] = json!({"manifold": 1.0, "denoise": false});
    assert_refused(&parts.write(), "no atoms", "a graph between nothing");
}

#[test]
fn hostile_attachments_are_refused_by_path_and_reason() {
    type Change = fn(&mut Value);
    // A number that JSON cannot hold arrives as null.
    let any: &[(&str, &str, Change)] = &[
        ("no attachment", "how new samples join", |a| *a = Value::Null),
        ("an unknown rule", "header", |a| a["graph"] = json!("magic")),
        ("no rule", "header", |a| {
            a.as_object_mut().unwrap().remove("graph");
        }),
        ("a negative scale", "invalid", |a| a["scale"] = json!(-1.0)),
        ("a scale that is no number", "header", |a| a["scale"] = Value::Null),
        ("an infinite scale", "header", |a| a["scale"] = json!("inf")),
    ];
    let heat: &[(&str, &str, Change)] = &[
        ("a negative width", "invalid", |a| a["width"] = json!(-1.0)),
        ("no width", "invalid", |a| a["width"] = json!(0.0)),
        ("a width that is no number", "header", |a| a["width"] = Value::Null),
        ("a negative shift", "invalid", |a| a["shift"] = json!(-1e-9)),
        ("no neighbours", "invalid", |a| a["n_neighbors"] = json!(0)),
        ("half of another rule", "header", |a| {
            *a = json!({"graph": "threshold", "scale": 1.0, "shift": 0.0, "width": 1.0})
        }),
    ];
    let threshold: &[(&str, &str, Change)] = &[
        ("a negative radius", "invalid", |a| a["radius"] = json!(-1.0)),
        ("no width", "invalid", |a| a["width"] = json!(0.0)),
        ("a rule whose memory is missing", "`attachment` is missing", |a| {
            *a = json!({"graph": "learnt", "scale": 1.0, "smoothness": 1.0, "level": 1.0})
        }),
    ];
    let learnt: &[(&str, &str, Change)] = &[
        ("no smoothness", "invalid", |a| a["smoothness"] = json!(0.0)),
        ("negative smoothness", "invalid", |a| a["smoothness"] = json!(-1.0)),
        ("no level", "header", |a| a["level"] = Value::Null),
    ];
    for (graph, own) in
        [("lle", &[][..]), ("heat", heat), ("threshold", threshold), ("learnt", learnt)]
    {
        let model = fitted("graph-sc", &[("graph", graph)]);
        assert!(Model::<f64>::load(&Parts::of(&model).write()).is_ok(), "{graph}");
        for (what, reason, change) in any.iter().chain(own) {
            let mut parts = Parts::of(&model);
            change(&mut parts.header["attachment"]);
            assert_refused(&parts.write(), reason, &format!("{graph}: {what}"));
        }
    }
}

#[test]
fn the_memory_of_an_attachment_must_fit_the_samples() {
    for graph in ["heat", "learnt"] {
        let model = fitted("graph-sc", &[("graph", graph)]);
        let mut parts = Parts::of(&model);
        parts.tensors["attachment"]["shape"] = json!([45, 2]);
        assert_refused(&parts.write(), "attachment", "another shape");
        let mut parts = Parts::of(&model);
        parts.poke("attachment", &f64::NAN.to_le_bytes());
        assert_refused(&parts.write(), "not finite", "NaN");
        // Half the tensor: the framing is kept sound by a stranger who takes the rest.
        let mut parts = Parts::of(&model);
        let offsets = parts.tensors["attachment"]["data_offsets"].clone();
        let (from, to) = (offsets[0].as_u64().unwrap(), offsets[1].as_u64().unwrap());
        let half = (from + to) / 2;
        parts.tensors["attachment"] =
            json!({"dtype": "F64", "shape": [45], "data_offsets": [from, half]});
        parts.tensors["stranger"] =
            json!({"dtype": "F64", "shape": [45], "data_offsets": [half, to]});
        assert_refused(&parts.write(), "attachment", "half the length");
    }
}
