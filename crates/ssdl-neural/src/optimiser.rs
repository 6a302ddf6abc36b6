//! Steps downhill: Adam and Adadelta, on plain arrays.

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

/// From a derivative and two numbers of state to a step.
type Update = Box<dyn Fn(f32, &mut f32, &mut f32) -> f32 + Sync>;

/// The state of a descent.
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
        let update = self.update(rate as f32);
        let state = self.first.iter_mut().zip(&mut self.second);
        for ((weight, gradient), (first, second)) in weights.iter_mut().zip(gradients).zip(state) {
            let parts = weight.values.par_chunks_mut(PART).zip(gradient.par_chunks(PART));
            let parts = parts.zip(first.par_chunks_mut(PART).zip(second.par_chunks_mut(PART)));
            parts.for_each(|((weights, gradient), (first, second))| {
                let state = first.iter_mut().zip(second);
                for ((w, g), (m, v)) in weights.iter_mut().zip(gradient).zip(state) {
                    *w -= update(*g, m, v);
                }
            });
        }
    }

    /// What is taken from a weight for its derivative and its two numbers of state.
    fn update(&self, rate: f32) -> Update {
        match self.descent {
            Descent::Adam => {
                let (keep, keep_square) = (0.9_f32, 0.999_f32);
                let correct = 1.0 - keep.powi(self.steps);
                let correct_square = 1.0 - keep_square.powi(self.steps);
                Box::new(move |g, m, v| {
                    *m = keep * *m + (1.0 - keep) * g;
                    *v = keep_square * *v + (1.0 - keep_square) * g * g;
                    rate * (*m / correct) / ((*v / correct_square).sqrt() + 1e-8)
                })
            }
            Descent::Adadelta => {
                let (keep, small) = (0.95_f32, 1e-7_f32);
                Box::new(move |g, squares, steps| {
                    *squares = keep * *squares + (1.0 - keep) * g * g;
                    let step = g * ((*steps + small) / (*squares + small)).sqrt();
                    *steps = keep * *steps + (1.0 - keep) * step * step;
                    rate * step
                })
            }
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
