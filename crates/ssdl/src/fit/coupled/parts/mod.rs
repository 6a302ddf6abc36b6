//! The alternation over samples that lie in several parts, in this process or in many.
//!
//! Parts are cuts of the data. Each has its samples, their codes and the rows of the graph that touch them; the codes
//! of foreign samples in these rows, its halo, are exchanged before every pass over the codes. What travels
//! otherwise is small: atoms and classifier out, sums back.

mod crew;
mod cuts;
mod holder;
mod message;
mod part;
mod points;
mod rows;
mod state;
mod step;
mod wire;

pub use crew::{Crew, InProcess, Round};
pub use cuts::Cuts;
pub(super) use holder::{Parts, earlier, elect};
pub use part::{Part, PartGraph, Place};
pub use rows::Rows;
pub(crate) use rows::number_locally;
pub(crate) use wire::{Reader, Writer, damaged};
