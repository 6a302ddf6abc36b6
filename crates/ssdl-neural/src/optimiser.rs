//! Steps downhill: Adam and Adadelta, on arrays in memory or on a card.

use burn_tensor::Tensor;
use rayon::prelude::*;

use crate::weights::Weight;

ssdl::choice! {
    /// How weights follow the derivatives.
    pub enum Descent {
        /// Adam (Kingma and Ba 2015).
        Adam = "adam",
        /// Adadelta (Zeiler 2012), as in old Keras.
        Adadelta = "adadelta",
    }
}

/// Weights of one part; parts run side by side.
const PART: usize = 1 << 14;

/// What a rule computes with: single numbers in memory, or whole arrays on a card.
pub(crate) trait Number: Clone {
    fn plus(self, other: Self) -> Self;
    fn times(self, other: Self) -> Self;
    fn over(self, other: Self) -> Self;
    fn shifted(self, by: f32) -> Self;
    fn scaled(self, by: f32) -> Self;
    fn root(self) -> Self;
}

impl Number for f32 {
    fn plus(self, other: Self) -> Self {
        self + other
    }

    fn times(self, other: Self) -> Self {
        self * other
    }

    fn over(self, other: Self) -> Self {
        self / other
    }

    fn shifted(self, by: f32) -> Self {
        self + by
    }

    fn scaled(self, by: f32) -> Self {
        self * by
    }

    fn root(self) -> Self {
        self.sqrt()
    }
}

impl Number for Tensor<1> {
    fn plus(self, other: Self) -> Self {
        self + other
    }

    fn times(self, other: Self) -> Self {
        self * other
    }

    fn over(self, other: Self) -> Self {
        self / other
    }

    fn shifted(self, by: f32) -> Self {
        self.add_scalar(by)
    }

    fn scaled(self, by: f32) -> Self {
        self.mul_scalar(by)
    }

    fn root(self) -> Self {
        self.sqrt()
    }
}

/// The rule of one step.
#[derive(Clone, Copy)]
pub(crate) enum Rule {
    Adam { rate: f32, correct: f32, correct_square: f32 },
    Adadelta { rate: f32 },
}

impl Rule {
    /// The rule of a step, counted from 1, of this rate.
    pub fn new(descent: Descent, step: i32, rate: f64) -> Self {
        let rate = rate as f32;
        match descent {
            Descent::Adam => {
                let (correct, correct_square) =
                    (1.0 - 0.9_f32.powi(step), 1.0 - 0.999_f32.powi(step));
                Self::Adam { rate, correct, correct_square }
            }
            Descent::Adadelta => Self::Adadelta { rate },
        }
    }

    /// What is taken from a weight for its derivative and its two numbers of state, and these after it.
    #[inline]
    pub fn update<N: Number>(self, g: N, first: N, second: N) -> (N, N, N) {
        match self {
            Self::Adam { rate, correct, correct_square } => {
                let (keep, keep_square) = (0.9_f32, 0.999_f32);
                let m = first.scaled(keep).plus(g.clone().scaled(1.0 - keep));
                let square = g.clone().scaled(1.0 - keep_square).times(g);
                let v = second.scaled(keep_square).plus(square);
                let root = v.clone().scaled(1.0 / correct_square).root().shifted(1e-8);
                (m.clone().scaled(rate / correct).over(root), m, v)
            }
            Self::Adadelta { rate } => {
                let (keep, small) = (0.95_f32, 1e-7_f32);
                let square = g.clone().scaled(1.0 - keep).times(g.clone());
                let squares = first.scaled(keep).plus(square);
                let ratio = second.clone().shifted(small).over(squares.clone().shifted(small));
                let step = g.times(ratio.root());
                let square = step.clone().scaled(1.0 - keep).times(step.clone());
                (step.scaled(rate), squares, second.scaled(keep).plus(square))
            }
        }
    }
}

/// The state of a descent, in memory.
pub(crate) struct Optimiser {
    descent: Descent,
    steps: i32,
    first: Vec<Vec<f32>>,
    second: Vec<Vec<f32>>,
}

impl Optimiser {
    pub fn new(descent: Descent, weights: &[Weight]) -> Self {
        let zeros: Vec<Vec<f32>> = weights.iter().map(|w| vec![0.0; w.values.len()]).collect();
        Self { descent, steps: 0, first: zeros.clone(), second: zeros }
    }

    /// One step of this rate.
    pub fn step(&mut self, weights: &mut [Weight], gradients: &[Vec<f32>], rate: f64) {
        self.steps += 1;
        let rule = Rule::new(self.descent, self.steps, rate);
        let state = self.first.iter_mut().zip(&mut self.second);
        for ((weight, gradient), (first, second)) in weights.iter_mut().zip(gradients).zip(state) {
            let parts = weight.values.par_chunks_mut(PART).zip(gradient.par_chunks(PART));
            let parts = parts.zip(first.par_chunks_mut(PART).zip(second.par_chunks_mut(PART)));
            parts.for_each(|((weights, gradient), (first, second))| {
                let state = first.iter_mut().zip(second);
                for ((w, g), (m, v)) in weights.iter_mut().zip(gradient).zip(state) {
                    let (step, first, second) = rule.update(*g, *m, *v);
                    (*m, *v) = (first, second);
                    *w -= step;
                }
            });
        }
    }
}

/// Shortens derivatives that are longer than this all together; 0 leaves them.
pub(crate) fn clip(gradients: &mut [Vec<f32>], longest: f64) {
    if longest == 0.0 {
        return;
    }
    let square = |of: &Vec<f32>| of.iter().map(|g| f64::from(*g) * f64::from(*g)).sum::<f64>();
    let length = gradients.iter().map(square).sum::<f64>().sqrt();
    if length > longest {
        let factor = (longest / length) as f32;
        gradients.iter_mut().flatten().for_each(|g| *g *= factor);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn weight(value: f32) -> Vec<Weight> {
        vec![Weight { name: "w".into(), shape: vec![1], values: vec![value] }]
    }

    #[test]
    fn both_find_the_bottom_of_a_bowl() {
        for (descent, rate, steps) in [(Descent::Adam, 0.05, 600), (Descent::Adadelta, 1.0, 6000)] {
            let mut found = weight(3.0);
            let mut optimiser = Optimiser::new(descent, &found);
            for _ in 0..steps {
                let gradient = vec![vec![2.0 * (found[0].values[0] - 1.0)]];
                optimiser.step(&mut found, &gradient, rate);
            }
            assert!((found[0].values[0] - 1.0).abs() < 0.02, "{descent:?} {found:?}");
        }
    }

    #[test]
    fn the_first_steps_are_as_by_hand() {
        let mut adam = weight(0.0);
        Optimiser::new(Descent::Adam, &adam).step(&mut adam, &[vec![0.3]], 0.01);
        // Whatever the derivative, the first step has the length of the rate.
        assert!((adam[0].values[0] + 0.01).abs() < 1e-6, "{adam:?}");
        let mut adadelta = weight(0.0);
        Optimiser::new(Descent::Adadelta, &adadelta).step(&mut adadelta, &[vec![2.0]], 1.0);
        let expected = -2.0 * (1e-7_f32 / (0.05 * 4.0 + 1e-7)).sqrt();
        assert!((adadelta[0].values[0] - expected).abs() < 1e-8, "{adadelta:?}");
    }

    #[test]
    fn long_derivatives_are_shortened_and_short_ones_left() {
        let mut gradients = vec![vec![3.0], vec![4.0]];
        clip(&mut gradients, 10.0);
        assert_eq!(gradients, [[3.0], [4.0]]);
        clip(&mut gradients, 1.0);
        assert!((gradients[0][0] - 0.6).abs() < 1e-6 && (gradients[1][0] - 0.8).abs() < 1e-6);
        clip(&mut gradients, 0.0);
        assert!((gradients[1][0] - 0.8).abs() < 1e-6);
    }
}
