//! Model files put together wrongly.

use std::path::{Path, PathBuf};

use serde_json::Value;
use ssdl::{Error, Model};

/// A saved model, taken apart so that it can be put together wrongly.
pub struct Parts {
    pub folder: tempfile::TempDir,
    /// The safetensors header: tensors by name, and `__metadata__`.
    pub tensors: Value,
    /// Our own header inside it.
    pub header: Value,
    pub data: Vec<u8>,
}

impl Parts {
    /// The file of this model.
    pub fn of(model: &Model<f64>) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("model");
        model.save(&path).unwrap();
        let bytes = std::fs::read(&path).unwrap();
        let length = u64::from_le_bytes(bytes[..8].try_into().unwrap()) as usize;
        let mut tensors: Value = serde_json::from_slice(&bytes[8..8 + length]).unwrap();
        // What is put together wrongly claims no checksum, so that all other checks are reached.
        let metadata = tensors["__metadata__"].as_object_mut().unwrap();
        assert!(metadata.remove("checksum").is_some(), "saved models have a checksum");
        let text = tensors["__metadata__"]["ssdl"].as_str().unwrap();
        let header = serde_json::from_str(text).unwrap();
        Self { tensors, header, data: bytes[8 + length..].to_vec(), folder }
    }

    pub fn write(&self) -> PathBuf {
        let path = self.folder.path().join("model");
        let mut tensors = self.tensors.clone();
        tensors["__metadata__"]["ssdl"] = Value::String(self.header.to_string());
        let text = tensors.to_string();
        let mut bytes = (text.len() as u64).to_le_bytes().to_vec();
        bytes.extend(text.as_bytes());
        bytes.extend(&self.data);
        std::fs::write(&path, bytes).unwrap();
        path
    }

    /// Overwrites the first bytes of a tensor.
    pub fn poke(&mut self, tensor: &str, bytes: &[u8]) {
        let at = self.tensors[tensor]["data_offsets"][0].as_u64().unwrap() as usize;
        self.data[at..at + bytes.len()].copy_from_slice(bytes);
    }
}

/// Refused as a file of the wrong form, with its path in the message.
#[track_caller]
pub fn assert_refused(path: &Path, reason: &str, what: &str) {
    let Err(error) = Model::<f64>::load(path) else { panic!("{what} was accepted") };
    assert!(matches!(error, Error::Format { .. }), "{what}: {error}");
    let text = error.to_string();
    assert!(text.contains(&*path.to_string_lossy()), "{what}: {text}");
    assert!(text.contains(reason), "{what}: {text}");
}
