//! The weights of a net: plain arrays with names, that become tensors for each step.

use burn_tensor::{Device, Gradients, Tensor, TensorData};
use ssdl::random::Purpose;

use crate::draws;
use crate::{Error, Result};

/// One array of weights.
pub(crate) use ssdl::model::Array as Weight;

/// How an array begins.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Begin {
    /// All have this value.
    Constant(f32),
    /// Uniform, scaled by the connections in and out (Glorot).
    Uniform { from: usize, to: usize },
    /// Normal with this standard deviation.
    Normal(f64),
}

/// An array that a net needs.
pub(crate) struct Planned {
    pub name: String,
    pub shape: Vec<usize>,
    pub begin: Begin,
}

impl Planned {
    pub fn new(name: impl Into<String>, shape: &[usize], begin: Begin) -> Self {
        Self { name: name.into(), shape: shape.to_vec(), begin }
    }

    /// Number of weights.
    pub fn count(&self) -> usize {
        self.shape.iter().product()
    }
}

/// First weights: each array from a stream of its own.
pub(crate) fn begin(planned: &[Planned], seed: u64) -> Vec<Weight> {
    let values = |turn: usize, planned: &Planned| match planned.begin {
        Begin::Constant(value) => vec![value; planned.count()],
        Begin::Uniform { from, to } => {
            let bound = (6.0 / (from + to) as f64).sqrt();
            draws::uniforms(seed, Purpose::Weights, turn as u32, planned.count(), bound)
        }
        Begin::Normal(deviation) => {
            draws::normals(seed, Purpose::Weights, turn as u32, planned.count(), deviation)
        }
    };
    let made = planned.iter().enumerate().map(|(turn, planned)| Weight {
        name: planned.name.clone(),
        shape: planned.shape.clone(),
        values: values(turn, planned),
    });
    made.collect()
}

/// The weights as tensors; on a device with derivatives, what they are taken of.
pub(crate) struct Leaves<'a> {
    weights: &'a [Weight],
    tensors: Vec<Tensor<1>>,
    device: Device,
}

impl<'a> Leaves<'a> {
    /// Copies of the arrays on a device.
    pub fn new(weights: &'a [Weight], device: &Device) -> Self {
        let tensors = weights.iter().map(|weight| vector(&weight.values, device)).collect();
        Self::held(weights, tensors, device)
    }

    /// Tensors that are on a device already; names and shapes are those of the arrays.
    pub fn held(weights: &'a [Weight], tensors: Vec<Tensor<1>>, device: &Device) -> Self {
        let leaf = |tensor: Tensor<1>| match device.is_autodiff() {
            true => tensor.autodiff().require_grad(),
            false => tensor,
        };
        let tensors = tensors.into_iter().map(leaf).collect();
        Self { weights, tensors, device: device.clone() }
    }

    /// Where they are.
    pub fn device(&self) -> &Device {
        &self.device
    }

    /// The array of this name in its shape.
    ///
    /// # Panics
    /// If the net has no such array of this rank, which is a mistake in the net.
    pub fn of<const D: usize>(&self, name: &str) -> Tensor<D> {
        let place = self.weights.iter().position(|weight| weight.name == name);
        let place = place.unwrap_or_else(|| unreachable!("no weights `{name}`"));
        let shape: [usize; D] =
            std::array::from_fn(|dimension| self.weights[place].shape[dimension]);
        self.tensors[place].clone().reshape(shape)
    }

    /// The derivatives of all arrays, in order; zeros where there is none.
    pub fn gradients(&self, found: &mut Gradients) -> Vec<Tensor<1>> {
        let of = |tensor: &Tensor<1>| {
            let zeros = || tensor.clone().inner().zeros_like();
            tensor.grad_remove(found).unwrap_or_else(zeros)
        };
        self.tensors.iter().map(of).collect()
    }
}

/// The numbers of a tensor of the processor.
pub(crate) fn numbers<const D: usize>(tensor: Tensor<D>) -> Vec<f32> {
    read(tensor).unwrap_or_else(|error| unreachable!("{error}"))
}

/// The numbers of a tensor; waits for the device.
///
/// # Errors
/// If the device failed at anything before.
pub(crate) fn read<const D: usize>(tensor: Tensor<D>) -> Result<Vec<f32>> {
    let failed = |reason: String| Error::Device { reason };
    let data = tensor.try_into_data().map_err(|error| failed(format!("{error:?}")))?;
    // Tensors here are of single precision throughout; another type would be a mistake.
    data.try_into_vec().map_err(|error| failed(format!("{error:?}")))
}

/// An array as a tensor.
pub(crate) fn vector(values: &[f32], device: &Device) -> Tensor<1> {
    Tensor::from_data(TensorData::new(values.to_vec(), [values.len()]), device)
}

/// A matrix of this many rows.
pub(crate) fn rows(values: Vec<f32>, n_rows: usize, device: &Device) -> Tensor<2> {
    let width = values.len() / n_rows.max(1);
    Tensor::from_data(TensorData::new(values, [n_rows, width]), device)
}

/// A matrix in memory, row by row.
pub(crate) struct Rows {
    pub values: Vec<f32>,
    pub count: usize,
}

impl Rows {
    /// The matrix on a device.
    pub fn on(self, device: &Device) -> Tensor<2> {
        rows(self.values, self.count, device)
    }
}
