//! A page on which people label samples while a model learns from every answer.
//!
//! [`Server::start`] takes what is to be labelled ([`Material`]) and where the labels go, and serves a
//! page on this machine. Everything that is answered stands in a [`journal`] before the page hears that
//! it is saved; all else follows from the journal. Fits run in a thread of their own ([`learn`]), so that
//! labelling never waits.

mod again;
mod background;
pub mod entry;
mod error;
mod guard;
mod http;
pub mod journal;
pub mod learn;
pub mod leave;
mod material;
pub mod measure;
mod opening;
mod routes;
mod said;
mod server;
mod session;
pub mod state;

pub use error::{Error, Result};
pub use material::{Feature, Material, digest_of_file, digest_of_row};
pub use opening::{Labelled, journal_beside, labels_of_journal};
pub use server::{Options, Server};
