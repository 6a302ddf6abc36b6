//! `ssdl demo`.
use crate::args::{Common, Demo};
use crate::failure::Outcome;
/// Runs the command.
pub fn run(_args: &Demo, _common: &Common) -> Outcome { Ok(()) }
