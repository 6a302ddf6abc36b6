//! `ssdl` on an NVIDIA graphics card.
//!
//! [`open`] gives a [`Device`] that a fit can be lent ([`FitOptions::device`]): exact neighbours, the graph's
//! mixtures, codes, sums, votes and the loop's samples are then on the card; small systems are solved by the
//! processor in double precision. The loop itself is the library's.
//!
//! Nothing is linked: driver, cuBLAS and NVRTC are looked for when a card is opened, and what is missing is
//! named. Kernels are compiled for the card at first use and kept in the user's cache folder.
//!
//! The same card gives the same bits in every run.
//!
//! [`FitOptions::device`]: ssdl::methods::FitOptions::device

mod arrays;
mod card;
mod compiled;
mod copies;
mod engine;
mod groups;
mod holder;
mod mixtures;
mod neighbours;
mod new_samples;
mod number;
mod tied;
mod votes;

use std::sync::Arc;

use ssdl::Result;
use ssdl::device::{Device, Engine};

use self::card::Card;

/// A graphics card as a device.
struct Gpu(Arc<Card>);

/// Opens a graphics card, counted from 0.
///
/// # Errors
/// If there is no driver, no such card, no cuBLAS or no NVRTC; the message says what was looked for.
pub fn open(ordinal: usize) -> Result<Arc<dyn Device>> {
    Ok(Arc::new(Gpu(Arc::new(Card::open(ordinal)?))))
}

impl Device for Gpu {
    fn name(&self) -> String {
        self.0.name.clone()
    }

    fn single(&self) -> &dyn Engine<f32> {
        self
    }

    fn double(&self) -> &dyn Engine<f64> {
        self
    }
}
