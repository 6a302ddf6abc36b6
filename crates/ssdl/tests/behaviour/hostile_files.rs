//! Model files that are damaged or made up: refused with a reason, never a panic, never much memory.

use std::sync::OnceLock;

use crate::common::clouds;
use crate::common::parts::{Parts, assert_refused};
use crate::model_file::fitted;
use serde_json::json;
use ssdl::{AnyModel, Error, Model};

/// A sound file, with graph and principal components.
fn sound() -> Parts {
    static MODEL: OnceLock<Model<f64>> = OnceLock::new();
    Parts::of(MODEL.get_or_init(|| fitted("ssdl-ga", &["pca=5"])))
}

#[test]
fn hostile_headers_are_refused_by_path_and_reason() {
    type Change = fn(&mut Parts);
    let cases: &[(&str, &str, Change)] = &[
        ("another format", "other", |p| p.header["format"] = json!("other")),
        ("a later version", "version 5", |p| p.header["version"] = json!(5)),
        ("an earlier version", "version 1", |p| p.header["version"] = json!(1)),
        ("no version", "header", |p| p.header["version"] = json!("one")),
        // Lists, too, can be read as a format and a version.
        ("a list of version 2", "header", |p| p.header = json!(["ssdl-model", 2])),
        ("a list of version 3", "header", |p| p.header = json!(["ssdl-model", 3])),
        ("another precision", "f32", |p| p.header["precision"] = json!("f32")),
        ("no precision at all", "f16", |p| p.header["precision"] = json!("f16")),
        ("no header", "`ssdl`", |p| {
            p.tensors["__metadata__"] = json!({ "other": "text" });
        }),
        ("one class", "two classes", |p| p.header["classes"] = json!(["a"])),
        ("no class", "two classes", |p| p.header["classes"] = json!([])),
        ("a class twice", "twice", |p| p.header["classes"] = json!(["a", "b", "a"])),
        ("another number of classes", "weights", |p| {
            p.header["classes"] = json!(["a", "b", "c", "d"])
        }),
        ("a label out of range", "class index", |p| p.poke("labels", &77i32.to_le_bytes())),
        ("NaN in the atoms", "not finite", |p| p.poke("atoms", &f64::NAN.to_le_bytes())),
        ("infinity in the codes", "not finite", |p| p.poke("codes", &f64::INFINITY.to_le_bytes())),
        ("NaN in the bias", "not finite", |p| p.poke("bias", &f64::NAN.to_le_bytes())),
        ("NaN in the training samples", "not finite", |p| {
            p.poke("training", &f64::NAN.to_le_bytes());
        }),
        ("NaN in the preparation", "not finite", |p| {
            p.poke("prepare.0.mean", &f64::NAN.to_le_bytes());
        }),
        ("more features than there are", "", |p| p.header["n_features"] = json!(13)),
        ("no features", "", |p| p.header["n_features"] = json!(0)),
        ("absurdly many features", "", |p| p.header["n_features"] = json!(u64::MAX)),
        ("absurdly many features and components", "", |p| {
            p.header["n_features"] = json!(1u64 << 60);
            p.header["prepare"] = json!(["pca=1152921504606846976"]);
        }),
        ("a preparation of another size", "prepare.0", |p| p.header["prepare"] = json!(["pca=6"])),
        ("an unknown preparation", "magic", |p| p.header["prepare"] = json!(["magic=3"])),
        ("a preparation that lost its tensors", "", |p| {
            p.header["prepare"] = json!(["standardise", "pca=5"]);
        }),
        ("a graph without atoms", "no atoms", |p| p.header["n_atoms"] = json!(0)),
        ("more atoms than there are", "`atoms`", |p| p.header["n_atoms"] = json!(10)),
        ("absurdly many atoms", "`atoms`", |p| p.header["n_atoms"] = json!(u64::MAX)),
        ("no number of atoms", "n_atoms", |p| {
            p.header.as_object_mut().unwrap().remove("n_atoms");
        }),
        ("negative sparsity", "rule", |p| p.header["coder"]["sparsity"] = json!(-1.0)),
        ("an unknown coder", "header", |p| p.header["coder"]["pursuit"] = json!("magic")),
        ("atoms without a coder", "no way", |p| p.header["coder"] = json!(null)),
        ("negative manifold", "rule", |p| p.header["tie"]["manifold"] = json!(-1.0)),
        ("sharpness below one", "sharpness", |p| p.header["decision"]["sharpness"] = json!(0.5)),
        ("an unknown decision", "header", |p| p.header["decision"]["by"] = json!("dice")),
        ("votes beside atoms", "vote", |p| {
            p.header["decision"] = json!({"by": "vote", "voters": "all"});
        }),
        ("atoms of fewer classes", "do not match its atoms", |p| {
            p.header["decision"] =
                json!({"by": "residual", "sharpness": 2.0, "class_of_atoms": [0]});
        }),
        ("an atom of no class", "does not name", |p| {
            let n_atoms = p.header["n_atoms"].as_u64().unwrap() as usize;
            p.header["decision"] =
                json!({"by": "residual", "sharpness": 2.0, "class_of_atoms": vec![3; n_atoms]});
        }),
        ("a rule without a number", "header", |p| p.header["coder"]["sparsity"] = json!(null)),
    ];
    for (what, reason, change) in cases {
        let mut parts = sound();
        change(&mut parts);
        let path = if *what == "no header" {
            // `write` would put the header back.
            let path = parts.folder.path().join("model");
            let text = parts.tensors.to_string();
            let length = (text.len() as u64).to_le_bytes();
            std::fs::write(&path, [&length[..], text.as_bytes(), &parts.data[..]].concat())
                .unwrap();
            path
        } else {
            parts.write()
        };
        assert_refused(&path, reason, what);
    }
}

#[test]
fn tensors_that_are_missing_or_of_another_shape_or_type_are_refused() {
    let whole = sound();
    assert!(Model::<f64>::load(&whole.write()).is_ok(), "the parts themselves are sound");
    let names: Vec<String> = whole.tensors.as_object().unwrap().keys().cloned().collect();
    for name in names.iter().filter(|name| *name != "__metadata__") {
        let mut lost = sound();
        // Renamed rather than removed: the framing stays sound.
        let tensor = lost.tensors.as_object_mut().unwrap().remove(name).unwrap();
        lost.tensors["stranger"] = tensor.clone();
        assert_refused(&lost.write(), name, &format!("without {name}"));
        let shape: Vec<u64> =
            tensor["shape"].as_array().unwrap().iter().map(|v| v.as_u64().unwrap()).collect();
        let entries: u64 = shape.iter().product();
        let wrong =
            [vec![entries, 1, 1], vec![1, 1, entries], vec![entries * 2], vec![u64::MAX, 2]];
        for shape in wrong {
            let mut bent = sound();
            bent.tensors[name]["shape"] = json!(shape);
            assert_refused(&bent.write(), "", &format!("{name} of shape {shape:?}"));
        }
        let mut other = sound();
        other.tensors[name]["dtype"] = json!("I64");
        assert_refused(&other.write(), "", &format!("{name} of another type"));
        let mut outside = sound();
        outside.tensors[name]["data_offsets"] = json!([0u64, u64::MAX]);
        assert_refused(&outside.write(), "", &format!("{name} beyond the end"));
    }
}

#[test]
fn a_header_that_claims_too_much_is_refused_before_it_is_read() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("model");
    for claim in [u64::MAX, 1 << 62, 1 << 40, 100_000_000, 64, 9] {
        let mut bytes = claim.to_le_bytes().to_vec();
        bytes.extend(b"{}");
        std::fs::write(&path, bytes).unwrap();
        assert_refused(&path, "header", &format!("{claim} bytes claimed"));
        assert!(matches!(AnyModel::load(&path), Err(Error::Format { .. })));
    }
    for text in ["", "x", "not a model at all, just some text", "{}"] {
        std::fs::write(&path, text).unwrap();
        assert_refused(&path, "", text);
    }
}

#[test]
fn a_file_cut_short_anywhere_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("model");
    fitted::<f64>("ssdl-ga", &["pca=5"]).save(&path).unwrap();
    let bytes = std::fs::read(&path).unwrap();
    for length in (0..bytes.len()).step_by(97).chain([bytes.len() - 1]) {
        std::fs::write(&path, &bytes[..length]).unwrap();
        assert_refused(&path, "", &format!("{length} of {} bytes", bytes.len()));
    }
    let longer = [&bytes[..], b"tail"].concat();
    std::fs::write(&path, longer).unwrap();
    assert_refused(&path, "", "bytes after the end");
}

#[test]
fn every_flipped_bit_is_noticed() {
    let bytes = fitted::<f64>("ssdl-ga", &["pca=5"]).to_bytes().unwrap();
    assert!(Model::<f64>::from_bytes(&bytes).is_ok());
    let length = u64::from_le_bytes(bytes[..8].try_into().unwrap()) as usize;
    // Every byte of the framing and of the checksum, then some of the header and of the numbers.
    let places = (0..200).chain((200..length).step_by(31)).chain((length..bytes.len()).step_by(13));
    let mut bent = bytes.clone();
    for at in places {
        let bit = 1 << (at % 8);
        bent[at] ^= bit;
        let refused = Model::<f64>::from_bytes(&bent);
        assert!(
            matches!(refused, Err(Error::Format { .. })),
            "bit {bit} of byte {at}: {refused:?}"
        );
        bent[at] ^= bit;
    }
    assert!(bent == bytes);
}

#[test]
fn a_file_without_a_checksum_is_read_with_no_claim() {
    let parts = sound();
    assert!(Model::<f64>::load(&parts.write()).is_ok());
    let mut renamed = sound();
    renamed.tensors["__metadata__"]["checksul"] = json!("00");
    assert_refused(&renamed.write(), "strange entry `checksul`", "a damaged name");
    let mut false_claim = sound();
    false_claim.tensors["__metadata__"]["checksum"] = json!("0".repeat(64));
    assert_refused(&false_claim.write(), "checksum", "a checksum out of place");
}

/// Peak memory of this process in bytes, where the system tells.
fn peak() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|line| line.starts_with("VmHWM"))?;
    line.split_whitespace().nth(1)?.parse::<u64>().ok().map(|kilobytes| kilobytes * 1024)
}

#[test]
fn flipped_bytes_never_panic_and_never_allocate_wildly() {
    use rand::RngExt;
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("model");
    // Without its checksum, as version 2 wrote files: with one, no flip is accepted.
    let bytes = std::fs::read(Parts::of(&fitted("ssdl-ga", &["standardise", "pca=5"])).write());
    let bytes = bytes.unwrap();
    let length = u64::from_le_bytes(bytes[..8].try_into().unwrap()) as usize;
    let mut rng = ssdl::random::stream(5, ssdl::random::Purpose::Split);
    let (new, _) = clouds::<f64>(3, 12, 3, 2);
    let before = peak();
    let mut survived = 0;
    for round in 0..300 {
        let mut bent = bytes.clone();
        // Two in three rounds hit the header, where a flip does the most harm.
        let reach = if round % 3 == 0 { bytes.len() } else { 8 + length };
        for _ in 0..1 + round % 4 {
            let at = rng.random_range(0..reach);
            bent[at] ^= 1 << rng.random_range(0..8);
        }
        std::fs::write(&path, bent).unwrap();
        let _ = AnyModel::load(&path);
        if let Ok(model) = Model::<f64>::load(&path) {
            survived += 1;
            let _ = model.predict(new.clone());
            let _ = model.transduction();
        }
    }
    assert!(survived > 0, "flips in the numbers go unnoticed, so some files are read");
    if let (Some(before), Some(after)) = (before, peak()) {
        let more = after.saturating_sub(before);
        // Tests beside this one count, too; a size that is believed would be gigabytes.
        assert!(more < 512 << 20, "{more} bytes more at the peak");
    }
}
