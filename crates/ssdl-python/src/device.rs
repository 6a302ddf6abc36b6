//! The device of a fit: a graphics card, where this package was built with it.

use std::sync::Arc;

use ssdl::device::Device;
use ssdl::{Error, Result};

/// The device of this name; `None` computes on the processor.
pub fn open(name: &str) -> Result<Option<Arc<dyn Device>>> {
    match name {
        "gpu" => card().map(Some),
        "auto" => Ok(card().ok()),
        _ => Ok(None),
    }
}

#[cfg(feature = "gpu")]
fn card() -> Result<Arc<dyn Device>> {
    static CARD: std::sync::Mutex<Option<Arc<dyn Device>>> = std::sync::Mutex::new(None);
    let mut card = CARD.lock().map_err(|_| Error::Device("an earlier call failed".into()))?;
    if let Some(open) = &*card {
        return Ok(open.clone());
    }
    let opened = ssdl_gpu::open(0)?;
    *card = Some(opened.clone());
    Ok(opened)
}

#[cfg(not(feature = "gpu"))]
fn card() -> Result<Arc<dyn Device>> {
    Err(Error::Device(
        "this package was built without graphics cards; build it with MATURIN_PEP517_ARGS='--features \
         gpu' pip install . in the project's folder, or leave device=\"cpu\""
            .into(),
    ))
}
