//! How a command fails: with a sentence for the person who ran it.

use std::error::Error;
use std::fmt::Display;

/// The result of everything in this program that can fail.
pub type Outcome<T> = Result<T, Box<dyn Error>>;

/// Puts what was being done before the cause.
pub trait While<T> {
    /// `doing` is called only on failure, and reads as the start of the sentence.
    fn during<D: Display>(self, doing: impl FnOnce() -> D) -> Outcome<T>;
}

impl<T, E: Display> While<T> for Result<T, E> {
    fn during<D: Display>(self, doing: impl FnOnce() -> D) -> Outcome<T> {
        self.map_err(|cause| format!("{}: {cause}", doing()).into())
    }
}
