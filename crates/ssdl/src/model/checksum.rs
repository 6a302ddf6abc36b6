//! The checksum of a model file: SHA-256 over all of it, the place of the checksum itself as zeros.

use std::path::Path;

use serde_json::{Map, Value, json};
use sha2::{Digest, Sha256};

use super::header::refuse;
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

/// Puts the checksum into the head of a file that is followed by these bytes.
pub(super) fn sign<'a>(head: &mut [u8], bodies: impl Iterator<Item = &'a [u8]>) {
    let sum = hexadecimal(&of(head, bodies));
    if let Some(place) = head.get_mut(AT..AT + LENGTH) {
        place.copy_from_slice(sum.as_bytes());
    }
}

/// Refuses a file whose content is not what its checksum was taken of.
pub(super) fn verify(path: &Path, claimed: &str, bytes: &[u8]) -> Result<()> {
    let is_in_place =
        bytes.get(8..AT) == Some(BEFORE) && bytes.get(AT..AT + LENGTH) == Some(claimed.as_bytes());
    if is_in_place && hexadecimal(&of(bytes, std::iter::empty())) == claimed {
        return Ok(());
    }
    let reason = "its checksum does not match: it was damaged after it was written; copy it again, \
                  or fit again";
    Err(refuse(path, &reason))
}

fn of<'a>(head: &[u8], bodies: impl Iterator<Item = &'a [u8]>) -> [u8; 32] {
    let mut sum = Sha256::new();
    sum.update(head.get(..AT).unwrap_or_default());
    sum.update(BLANK);
    sum.update(head.get(AT + LENGTH..).unwrap_or_default());
    bodies.for_each(|body| sum.update(body));
    sum.finalize().into()
}

fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
