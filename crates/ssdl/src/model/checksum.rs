//! The checksum of a model file: SHA-256 over all of it, the place of the checksum itself as zeros.

use std::path::Path;

use serde_json::{Map, Value, json};
use sha2::{Digest, Sha256};

use super::header::refuse;
use super::tensor::Tensor;
use crate::Result;

/// What a file with a checksum begins with, after the eight bytes of its length.
const BEFORE: &[u8] = br#"{"__metadata__":{"checksum":""#;
/// Where the checksum is.
const AT: usize = 8 + BEFORE.len();
/// Its length, in hexadecimal digits.
const LENGTH: usize = 64;
/// What stands there while it is computed.
const BLANK: [u8; LENGTH] = [b'0'; LENGTH];

/// The start of a safetensors header with our own header and room for the checksum.
pub(super) fn unsigned(header: &str) -> Map<String, Value> {
    let blank = String::from_utf8_lossy(&BLANK);
    let metadata = json!({"checksum": blank, "ssdl": header});
    Map::from_iter([("__metadata__".to_owned(), metadata)])
}

/// A checksum in the making.
pub(super) struct Sum(Sha256);

impl Sum {
    /// Begins with what stands before the arrays.
    pub fn of_head(head: &[u8]) -> Self {
        let mut sum = Sha256::new();
        sum.update(head.get(..AT).unwrap_or_default());
        sum.update(BLANK);
        sum.update(head.get(AT + LENGTH..).unwrap_or_default());
        Self(sum)
    }

    /// Adds the next array of the file.
    pub fn add(&mut self, array: &Tensor<'_>) {
        self.0.update(array.numbers.little_endian());
    }

    /// Puts the checksum into the head of the file.
    pub fn sign(self, head: &mut [u8]) {
        let sum = self.hexadecimal();
        if let Some(place) = head.get_mut(AT..AT + LENGTH) {
            place.copy_from_slice(sum.as_bytes());
        }
    }

    /// Refuses a file whose content is not what its checksum was taken of.
    pub fn verify(self, path: &Path, head: &[u8], claimed: &str) -> Result<()> {
        let is_in_place = head.get(8..AT) == Some(BEFORE)
            && head.get(AT..AT + LENGTH) == Some(claimed.as_bytes());
        if is_in_place && self.hexadecimal() == claimed {
            return Ok(());
        }
        let reason = "its checksum does not match: it was damaged after it was written; copy it \
                      again, or fit again";
        Err(refuse(path, &reason))
    }

    fn hexadecimal(self) -> String {
        self.0.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
    }
}
