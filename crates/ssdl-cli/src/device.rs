//! `--device`: the graphics card, where this program was built with it.

use std::sync::Arc;

use ssdl::device::Device;

use crate::args::{Common, DeviceChoice};
use crate::failure::{Failure, Outcome};
use crate::print;

/// The device that is chosen; `None` computes on the processor.
pub fn open(choice: DeviceChoice, common: &Common) -> Outcome<Option<Arc<dyn Device>>> {
    if choice == DeviceChoice::Cpu {
        return Ok(None);
    }
    match (choice, card()) {
        (_, Ok(device)) => Ok(Some(device)),
        (DeviceChoice::Cpu | DeviceChoice::Gpu, Err(why)) => Err(Failure::Failed(why)),
        (DeviceChoice::Auto, Err(why)) => {
            if !common.quiet {
                print::to_stderr(&format!("note: computing on the processor: {why}"));
            }
            Ok(None)
        }
    }
}

#[cfg(feature = "gpu")]
fn card() -> Result<Arc<dyn Device>, String> {
    ssdl_gpu::open(0).map_err(|error| error.to_string())
}

#[cfg(not(feature = "gpu"))]
fn card() -> Result<Arc<dyn Device>, String> {
    Err("this program was built without graphics cards; build it with \
         `cargo install --path crates/ssdl-cli --features gpu`, or omit --device"
        .into())
}
