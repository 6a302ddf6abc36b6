//! The JSON header of a model file: read and checked before the rest of it.

use std::path::Path;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use super::framing::Framed;
use super::{FitReport, Naming};
use crate::classifier::{Calibration, SavedDecision};
use crate::codes::Coder;
use crate::graph::Rule;
use crate::{Error, Result};

/// The name of the format in the header.
pub(super) const FORMAT: &str = "ssdl-model";
/// Versions that this library reads. It writes the third, or the last where large arrays are written
/// small (half precision, landmarks, sparse codes).
pub(super) const VERSIONS: &[u32] = &[2, 3, 4];

#[derive(Serialize, Deserialize)]
pub(super) struct Header {
    pub format: String,
    pub version: u32,
    pub precision: String,
    pub method: String,
    pub knobs: Vec<(String, String)>,
    pub classes: Vec<String>,
    pub prepare: Vec<String>,
    pub n_features: usize,
    /// 0 where the method classifies the prepared samples as they are.
    pub n_atoms: usize,
    pub image: Option<[usize; 2]>,
    /// How new samples are coded; `None` without atoms.
    pub coder: Option<Coder>,
    /// How the graph pulls on new samples; `None` without one.
    pub tie: Option<SavedTie>,
    /// How new samples join the training samples: by the graph, or to be voted on.
    pub attachment: Option<SavedAttachment>,
    pub decision: SavedDecision,
    /// How scores become probabilities; `None` leaves that to the decision.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub calibration: Option<Calibration>,
    #[serde(flatten)]
    pub naming: Naming,
    pub report: FitReport,
}

/// The graph's pull on new samples; the attachment and the training samples are stored elsewhere.
#[derive(Clone, Copy, Serialize, Deserialize)]
pub(super) struct SavedTie {
    pub manifold: f64,
    pub denoise: bool,
}

/// An attachment without its numbers about the training samples, which are a tensor.
#[derive(Clone, Copy, Serialize, Deserialize)]
pub(super) struct SavedAttachment {
    #[serde(flatten)]
    pub rule: Rule,
    pub scale: f64,
    /// Where neighbours were searched approximately.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub recall: Option<f64>,
}

/// Only what must be known before the rest is read.
#[derive(Deserialize)]
struct Version {
    format: String,
    version: u32,
}

/// The number type inside a model file.
pub(super) enum Precision {
    Single,
    Double,
}

impl Header {
    pub fn precision(&self, path: &Path) -> Result<Precision> {
        match self.precision.as_str() {
            "f32" => Ok(Precision::Single),
            "f64" => Ok(Precision::Double),
            other => Err(refuse(path, &format!("its numbers are `{other}`, not f32 or f64"))),
        }
    }
}

pub(super) fn refuse(path: &Path, reason: &dyn std::fmt::Display) -> Error {
    Error::Format { path: path.to_owned(), reason: reason.to_string() }
}

/// What errors show in place of a path, for a model that has none.
pub(super) fn in_memory() -> &'static Path {
    Path::new("model in memory")
}

/// Reads and checks our header in a file.
pub(super) fn of(file: &Framed<'_>) -> Result<Header> {
    let (path, text) = (file.path, file.text.as_str());
    let version: Version = serde_json::from_str(text)
        .map_err(|e| refuse(path, &format!("its header cannot be read: {e}")))?;
    if version.format != FORMAT {
        return Err(refuse(path, &format!("its header says `{}`", version.format)));
    }
    if !VERSIONS.contains(&version.version) {
        return Err(refuse(
            path,
            &format!(
                "format version {}; this program reads {VERSIONS:?}: update it, or fit again",
                version.version
            ),
        ));
    }
    let unreadable = |e| refuse(path, &format!("its header cannot be read: {e}"));
    if version.version == 2 {
        // The version alone could be read from a list, too.
        let old: Map<String, Value> = serde_json::from_str(text).map_err(unreadable)?;
        return serde_json::from_value(from_version_2(old.into())).map_err(unreadable);
    }
    serde_json::from_str(text).map_err(unreadable)
}

/// A header of version 2, an object, in the form of version 3: one rule for new samples became a coder,
/// a tie and a decision.
fn from_version_2(mut header: Value) -> Value {
    let rule = header["out_of_sample"].take();
    let voters = header["voters"].take();
    let has_atoms = header["n_atoms"].as_u64().is_some_and(|count| count > 0);
    let is_tied = rule["manifold"].as_f64() != Some(0.0);
    header["coder"] = if has_atoms {
        json!({"pursuit": "lasso", "sparsity": rule["sparsity"]})
    } else {
        Value::Null
    };
    header["tie"] = if is_tied {
        json!({"manifold": rule["manifold"], "denoise": rule["denoise"]})
    } else {
        Value::Null
    };
    header["decision"] = if voters.is_null() {
        json!({"by": "linear", "sharpness": rule["sharpness"]})
    } else {
        json!({"by": "vote", "voters": voters})
    };
    header
}
