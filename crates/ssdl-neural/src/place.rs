//! Where a net is trained: on the processor or on a graphics card.

use burn_tensor::Device;

use crate::{Error, Result};

/// Where the steps of a fit are computed.
///
/// Random numbers are drawn by the processor, the same for both: nets differ by rounding alone.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Place {
    /// The processor.
    #[default]
    Processor,
    /// The first NVIDIA card. Needs the feature `gpu`, the driver, and CUDA's toolkit in its usual place or in
    /// CUDA_PATH.
    Card,
}

impl Place {
    /// Whether a fit can be computed there.
    ///
    /// # Errors
    /// If there is no card, or it does not compute; the message says what was looked for.
    pub fn check(self) -> Result<()> {
        self.open().map(drop)
    }

    /// The tensors' name of this place.
    pub(crate) fn open(self) -> Result<Device> {
        match self {
            Self::Processor => Ok(Device::flex()),
            Self::Card => card(),
        }
    }

    /// Steps between two looks at the loss: a look waits for the card, which otherwise works behind.
    pub(crate) fn steps_between_looks(self) -> usize {
        match self {
            Self::Processor => 1,
            Self::Card => 50,
        }
    }
}

#[cfg(feature = "gpu")]
fn card() -> Result<Device> {
    use burn_tensor::DeviceType;
    let refused = |reason: String| Err(Error::NoCard { reason });
    if Device::enumerate(DeviceType::Cuda).into_vec().is_empty() {
        return refused("looked for NVIDIA's driver (libcuda) and a card that it knows".into());
    }
    // What is missing shows when the first kernels are made, as a panic of the library in a thread of its own.
    match std::thread::spawn(trial).join() {
        Ok(Ok(())) => Ok(Device::cuda(0)),
        Ok(Err(reason)) => refused(reason),
        Err(panic) => {
            let text = panic.downcast_ref::<String>().map(String::as_str);
            let text = text.or_else(|| panic.downcast_ref::<&str>().copied());
            refused(format!("the card does not compute: {}", text.unwrap_or("no reason is given")))
        }
    }
}

/// A small computation that needs what fits need: a product of matrices and a curve.
#[cfg(feature = "gpu")]
fn trial() -> std::result::Result<(), String> {
    use burn_tensor::{Tensor, TensorData, activation};
    let device = Device::cuda(0);
    let matrix = Tensor::<2>::from_data(TensorData::new(vec![0.5_f32; 64], [8, 8]), &device);
    let found = activation::sigmoid(matrix.clone().matmul(matrix)).try_into_data();
    let found = found.map_err(|error| format!("the card does not compute: {error:?}"))?;
    let found: Vec<f32> = found.try_into_vec().map_err(|error| format!("{error:?}"))?;
    let expected = 1.0 / (1.0 + (-2.0_f32).exp());
    match found.iter().all(|value| (value - expected).abs() < 1e-3) {
        true => Ok(()),
        false => Err(format!("the card computes {} instead of {expected}", found[0])),
    }
}

#[cfg(not(feature = "gpu"))]
fn card() -> Result<Device> {
    Err(Error::NoCard {
        reason: "this program was built without graphics cards; build it with \
                 `cargo install --path crates/ssdl-neural --features gpu`"
            .into(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_processor_is_always_there_and_a_missing_card_is_explained() {
        assert!(Place::Processor.check().is_ok());
        if let Err(error) = Place::Card.check() {
            let text = error.to_string();
            assert!(text.contains("card") && text.contains("--device"), "{text}");
        }
    }
}
