//! The weights in training: arrays in memory for the processor, tensors that stay on a card.

use burn_tensor::{Device, Tensor};

use crate::Result;
use crate::optimiser::{Descent, Optimiser, Rule, clip};
use crate::place::Place;
use crate::weights::{Leaves, Weight, read, vector};

/// Arrays that are shorter are joined on a card: a step of many short arrays would be mostly waiting.
const SHORT: usize = 1 << 14;

/// The weights of a net and the state of their descent.
pub(crate) struct Parameters {
    /// Names and shapes; the numbers are those of now in memory, and those of the beginning on a card.
    weights: Vec<Weight>,
    device: Device,
    state: State,
}

enum State {
    /// The processor's tensors are made of the arrays for each step, which costs a copy.
    Memory(Optimiser),
    Card(Held),
}

impl Parameters {
    pub fn new(weights: Vec<Weight>, descent: Descent, place: Place) -> Result<Self> {
        let device = place.open()?;
        let state = match place {
            Place::Processor => State::Memory(Optimiser::new(descent, &weights)),
            Place::Card => State::Card(Held::new(descent, &weights, &device)),
        };
        Ok(Self { weights, device: device.autodiff(), state })
    }

    /// What derivatives are taken of.
    pub fn leaves(&self) -> Leaves<'_> {
        match &self.state {
            State::Memory(_) => Leaves::new(&self.weights, &self.device),
            State::Card(held) => {
                Leaves::held(&self.weights, held.arrays(&self.weights), &self.device)
            }
        }
    }

    /// One step downhill; derivatives that are longer than `longest` all together are shortened.
    ///
    /// # Errors
    /// If the device failed.
    pub fn step(&mut self, gradients: Vec<Tensor<1>>, rate: f64, longest: f64) -> Result<()> {
        match &mut self.state {
            State::Memory(optimiser) => {
                let gradients: Result<Vec<Vec<f32>>> = gradients.into_iter().map(read).collect();
                let mut gradients = gradients?;
                clip(&mut gradients, longest);
                optimiser.step(&mut self.weights, &gradients, rate);
            }
            State::Card(held) => held.step(&gradients, rate, longest),
        }
        Ok(())
    }

    /// The weights of now.
    ///
    /// # Errors
    /// If the device failed.
    pub fn weights(&self) -> Result<Vec<Weight>> {
        let State::Card(held) = &self.state else { return Ok(self.weights.clone()) };
        let mut weights = self.weights.clone();
        for group in &held.groups {
            let values = read(group.weights.clone())?;
            let mut rest = values.as_slice();
            for &place in &group.places {
                let (own, after) = rest.split_at(weights[place].values.len());
                weights[place].values.copy_from_slice(own);
                rest = after;
            }
        }
        Ok(weights)
    }
}

/// Weights and the state of their descent as tensors.
struct Held {
    descent: Descent,
    steps: i32,
    groups: Vec<Group>,
}

/// A long array, or all short ones, one after another.
struct Group {
    /// The places of its arrays among all.
    places: Vec<usize>,
    weights: Tensor<1>,
    first: Tensor<1>,
    second: Tensor<1>,
}

impl Held {
    fn new(descent: Descent, weights: &[Weight], device: &Device) -> Self {
        let is_short = |place: &usize| weights[*place].values.len() < SHORT;
        let (short, long): (Vec<usize>, Vec<usize>) = (0..weights.len()).partition(is_short);
        let groups = long.into_iter().map(|place| vec![place]).chain([short]);
        let group = |places: Vec<usize>| {
            let values: Vec<f32> =
                places.iter().flat_map(|&place| &weights[place].values).copied().collect();
            let weights = vector(&values, device);
            let zeros = weights.zeros_like();
            Group { places, weights, first: zeros.clone(), second: zeros }
        };
        let groups = groups.filter(|places| !places.is_empty()).map(group).collect();
        Self { descent, steps: 0, groups }
    }

    /// Every array by itself, in the order of all.
    fn arrays(&self, weights: &[Weight]) -> Vec<Tensor<1>> {
        let mut arrays = Vec::with_capacity(weights.len());
        for group in &self.groups {
            let mut from = 0;
            for &place in &group.places {
                let count = weights[place].values.len();
                arrays.push((place, group.weights.clone().narrow(0, from, count)));
                from += count;
            }
        }
        arrays.sort_unstable_by_key(|(place, _)| *place);
        arrays.into_iter().map(|(_, array)| array).collect()
    }

    fn step(&mut self, gradients: &[Tensor<1>], rate: f64, longest: f64) {
        self.steps += 1;
        let rule = Rule::new(self.descent, self.steps, rate);
        let joined = |group: &Group| {
            Tensor::cat(group.places.iter().map(|&place| gradients[place].clone()).collect(), 0)
        };
        let mut joined: Vec<Tensor<1>> = self.groups.iter().map(joined).collect();
        if longest > 0.0 {
            let squares = joined.iter().map(|gradient| gradient.clone().square().sum());
            if let Some(square) = squares.reduce(|sum, own| sum + own) {
                // A length of zero gives an infinite factor, of which one is left.
                let factor = square.sqrt().recip().mul_scalar(longest).clamp_max(1.0);
                joined = joined.into_iter().map(|gradient| gradient * factor.clone()).collect();
            }
        }
        for (group, gradient) in self.groups.iter_mut().zip(joined) {
            let (first, second) = (group.first.clone(), group.second.clone());
            let (step, first, second) = rule.update(gradient, first, second);
            group.weights = group.weights.clone() - step;
            (group.first, group.second) = (first, second);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What a card does, done by the processor's tensors: the same weights as in memory, but for rounding.
    #[test]
    fn both_places_take_the_same_steps() -> Result<()> {
        let weight = |name: &str, count: usize| Weight {
            name: name.into(),
            shape: vec![count],
            values: (0..count).map(|k| (k as f32 * 0.3).sin()).collect(),
        };
        let weights = vec![weight("a", 5), weight("long", SHORT), weight("b", 3)];
        for (descent, longest) in
            [(Descent::Adam, 0.0), (Descent::Adam, 0.5), (Descent::Adadelta, 2.0)]
        {
            let mut memory = Parameters::new(weights.clone(), descent, Place::Processor)?;
            let held = Held::new(descent, &weights, &Device::flex());
            let state = State::Card(held);
            let device = Device::flex().autodiff();
            let mut card = Parameters { weights: weights.clone(), device, state };
            for _ in 0..20 {
                for parameters in [&mut memory, &mut card] {
                    let leaves = parameters.leaves();
                    let bowl = |name| (leaves.of::<1>(name) - 0.5).square().sum();
                    let cost = bowl("a") + bowl("long") + bowl("b");
                    let gradients = leaves.gradients(&mut cost.backward());
                    drop(leaves);
                    parameters.step(gradients, 0.05, longest)?;
                }
            }
            for (a, b) in memory.weights()?.iter().zip(card.weights()?) {
                assert_eq!(a.name, b.name);
                for (a, b) in a.values.iter().zip(b.values) {
                    assert!((a - b).abs() < 1e-4, "{descent:?}: {a} and {b}");
                }
            }
            assert_ne!(memory.weights()?[0].values, weights[0].values);
        }
        Ok(())
    }
}
