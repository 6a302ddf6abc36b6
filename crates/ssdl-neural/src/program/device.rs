//! `--device`: the graphics card, where this program was built with it.

use ssdl_neural::Place;

use super::args::{Common, DeviceChoice};
use super::{Outcome, print};

/// The place that is chosen.
pub fn open(choice: DeviceChoice, common: &Common) -> Outcome<Place> {
    if choice == DeviceChoice::Cpu {
        return Ok(Place::Processor);
    }
    match Place::Card.check() {
        Ok(()) => Ok(Place::Card),
        Err(why) if choice == DeviceChoice::Auto => {
            if !common.quiet {
                print::to_stderr(&format!("note: training on the processor: {why}"));
            }
            Ok(Place::Processor)
        }
        Err(why) => Err(why.into()),
    }
}
