//! `--device`: the graphics card, where this program was built with it.

use std::sync::Arc;

use ssdl::Real;
use ssdl::device::Device;

use crate::args::{Common, DeviceChoice};
use crate::failure::{Failure, Outcome};
use crate::print;

/// What comes of opening a card, or why there is none.
type Opened = Result<Arc<dyn Device>, String>;

/// A device that is opened while samples are read: a card takes half a second to begin.
pub struct Opening {
    choice: DeviceChoice,
    card: Option<std::thread::JoinHandle<Opened>>,
}

impl Opening {
    /// Begins to open the device that is chosen, for numbers of type `T`.
    pub fn begin<T: Real>(choice: DeviceChoice) -> Outcome<Self> {
        // What this program cannot do at all is said before anything is read.
        if choice == DeviceChoice::Gpu && !cfg!(feature = "gpu") {
            return Err(Failure::Failed(MISSING.into()));
        }
        let card = (choice != DeviceChoice::Cpu).then(|| std::thread::spawn(card::<T>));
        Ok(Self { choice, card })
    }

    /// The device when it is open; `None` computes on the processor.
    pub fn wait(self, common: &Common) -> Outcome<Option<Arc<dyn Device>>> {
        let Some(card) = self.card else { return Ok(None) };
        let opened = card.join().unwrap_or_else(|_| Err("opening the card failed".into()));
        match (self.choice, opened) {
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
}

const MISSING: &str = "this program was built without graphics cards; build it with \
                       `cargo install --path crates/ssdl-cli --features gpu`, or omit --device";

#[cfg(feature = "gpu")]
fn card<T: Real>() -> Opened {
    let open = || {
        let device = ssdl_gpu::open(0)?;
        T::engine(&*device).prepare()?;
        Ok(device)
    };
    open().map(kept).map_err(|error: ssdl::Error| error.to_string())
}

/// The end of the program closes the card sooner than its destructor.
#[cfg(feature = "gpu")]
fn kept(device: Arc<dyn Device>) -> Arc<dyn Device> {
    std::mem::forget(Arc::clone(&device));
    device
}

#[cfg(not(feature = "gpu"))]
#[expect(clippy::extra_unused_type_parameters, reason = "with a card there is a precision")]
fn card<T: Real>() -> Opened {
    Err(MISSING.into())
}
