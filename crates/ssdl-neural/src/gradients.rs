//! A check for tests: derivatives beside differences.

use burn_tensor::{Device, Tensor};

use crate::weights::{Begin, Leaves, Planned, Weight, begin, numbers};

/// Compares the derivatives of a function of some arrays with central differences.
///
/// # Panics
/// Where they differ by more than single precision explains.
pub(crate) fn agree(arrays: &[(&str, &[usize])], function: impl Fn(&Leaves<'_>) -> Tensor<1>) {
    let planned: Vec<Planned> =
        arrays.iter().map(|(name, shape)| Planned::new(*name, shape, Begin::Normal(0.8))).collect();
    let mut weights = begin(&planned, 11);
    let device = Device::flex().autodiff();
    let leaves = Leaves::new(&weights, &device);
    let found = leaves.gradients(&mut function(&leaves).backward());
    let found: Vec<Vec<f32>> = found.into_iter().map(numbers).collect();
    drop(leaves);
    let value = |term: Tensor<1>| f64::from(numbers(term.inner())[0]);
    let at = |weights: &[Weight]| value(function(&Leaves::new(weights, &device)));
    for array in 0..weights.len() {
        for place in 0..weights[array].values.len() {
            let derivative = f64::from(found[array][place]);
            let mut difference = |step: f32| {
                let middle = weights[array].values[place];
                weights[array].values[place] = middle + step;
                let above = at(&weights);
                weights[array].values[place] = middle - step;
                let below = at(&weights);
                weights[array].values[place] = middle;
                (above - below) / (2.0 * f64::from(step))
            };
            // Long steps cross the kinks of a ReLU, short ones drown in rounding.
            let differences = [4e-3, 1e-3, 3e-4].map(&mut difference);
            let is_near = |found: &f64| (derivative - found).abs() < 2e-2 * (1.0 + found.abs());
            assert!(
                differences.iter().any(is_near),
                "`{}` at {place}: {derivative} and {differences:?}",
                weights[array].name
            );
        }
    }
}
