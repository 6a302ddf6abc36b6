//! The loop that trains any net: epochs of steps downhill, the best net kept, stopped in good order.

use std::sync::atomic::Ordering;

use burn_tensor::{Device, Tensor};
use ssdl::Signal;
use ssdl::fit::{Flow, Objective, Progress, Step, Watch};

use crate::optimiser::{Descent, Optimiser, clip};
use crate::weights::{Leaves, Planned, Weight, begin, numbers};
use crate::{Error, Result};

/// A net that can be trained.
pub(crate) trait Trainable {
    /// Its arrays of weights.
    fn planned(&self) -> Vec<Planned>;

    /// Steps of an epoch, at least one.
    fn n_steps(&self) -> usize;

    /// The terms of the objective on the samples of a step; `turn` counts the steps of all epochs.
    fn terms(&self, leaves: &Leaves<'_>, turn: usize) -> Vec<(&'static str, Tensor<1>)>;
}

/// How long and how fast.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Schedule {
    pub descent: Descent,
    pub epochs: usize,
    pub learning_rate: f64,
    /// Share of the steps, at the end, in which the rate falls to zero.
    pub decay: f64,
    /// Longest derivative; 0 for any length.
    pub clip: f64,
    pub seed: u64,
}

impl Schedule {
    /// The rate of a step of so many.
    fn rate(&self, turn: usize, all: usize) -> f64 {
        let left = (all - turn) as f64 / (self.decay * all as f64).max(1.0);
        self.learning_rate * left.min(1.0)
    }
}

/// Why training stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stop {
    /// All epochs were run.
    Limit,
    /// The observer stopped it; the best net so far was kept.
    Cancelled,
    /// The loss was not finite; the best net before was kept.
    NotFinite,
}

impl std::fmt::Display for Stop {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Limit => "limit of iterations",
            Self::Cancelled => "cancelled",
            Self::NotFinite => "loss not finite",
        })
    }
}

/// What training gives.
pub(crate) struct Trained {
    pub weights: Vec<Weight>,
    /// The mean of the objective in each epoch.
    pub trace: Vec<Objective>,
    pub stop: Stop,
}

/// Sums of the terms of an epoch.
#[derive(Default)]
struct Sums(Vec<(&'static str, f64)>);

impl Sums {
    fn add(&mut self, terms: &[(&'static str, f64)]) {
        if self.0.is_empty() {
            self.0 = terms.iter().map(|(name, _)| (*name, 0.0)).collect();
        }
        self.0.iter_mut().zip(terms).for_each(|((_, sum), (_, value))| *sum += value);
    }

    fn mean(&self, count: usize) -> Objective {
        Objective::new(self.0.iter().map(|(name, sum)| (*name, sum / count as f64)))
    }
}

/// How an epoch ended.
enum Ended {
    Whole(Objective),
    Cancelled,
    NotFinite(f64),
}

/// Trains a net from its first weights.
///
/// If it is cancelled or the loss is not finite, the net is that of the epoch whose objective was the
/// smallest; otherwise that of the last one.
///
/// # Errors
/// If it is cancelled, or the loss is not finite, in the first epoch.
pub(crate) fn train(
    net: &dyn Trainable,
    schedule: &Schedule,
    watch: &mut dyn Watch,
) -> Result<Trained> {
    let mut weights = begin(&net.planned(), schedule.seed);
    let mut optimiser = Optimiser::new(schedule.descent, &weights);
    let mut best: Option<(f64, Vec<Weight>)> = None;
    let mut trace = Vec::new();
    let signal = watch.signal();
    for epoch in 1..=schedule.epochs {
        let stop = match run_epoch(net, schedule, epoch, &mut weights, &mut optimiser, &signal) {
            Ended::Whole(objective) => {
                let total = objective.total();
                if best.as_ref().is_none_or(|(least, _)| total < *least) {
                    best = Some((total, weights.clone()));
                }
                let progress = Progress {
                    iteration: epoch,
                    max_iterations: schedule.epochs,
                    step: Step::Classifier,
                    objective: Some(&objective),
                };
                let flow = watch.step(&progress);
                trace.push(objective);
                // Stopped after the last epoch: nothing is cut short.
                match flow {
                    Flow::Stop if epoch < schedule.epochs => Stop::Cancelled,
                    _ => continue,
                }
            }
            Ended::Cancelled if best.is_none() => return Err(ssdl::Error::Cancelled.into()),
            Ended::Cancelled => Stop::Cancelled,
            Ended::NotFinite(value) if best.is_none() => {
                return Err(Error::Diverged { epoch, value });
            }
            Ended::NotFinite(value) => {
                watch.notice(&format!(
                    "the loss is {value} in epoch {epoch}: training stopped, and the best net before \
                     is kept; lower `learning_rate`"
                ));
                Stop::NotFinite
            }
        };
        let weights = best.map_or(weights, |(_, best)| best);
        return Ok(Trained { weights, trace, stop });
    }
    Ok(Trained { weights, trace, stop: Stop::Limit })
}

fn run_epoch(
    net: &dyn Trainable,
    schedule: &Schedule,
    epoch: usize,
    weights: &mut [Weight],
    optimiser: &mut Optimiser,
    signal: &Option<Signal>,
) -> Ended {
    let device = Device::flex().autodiff();
    let n_steps = net.n_steps();
    let mut sums = Sums::default();
    for step in 0..n_steps {
        if signal.as_ref().is_some_and(|signal| signal.load(Ordering::SeqCst)) {
            return Ended::Cancelled;
        }
        let turn = (epoch - 1) * n_steps + step;
        let leaves = Leaves::new(weights, &device);
        let terms = net.terms(&leaves, turn);
        let values: Vec<(&'static str, f64)> =
            terms.iter().map(|(name, term)| (*name, value(term))).collect();
        let total: f64 = values.iter().map(|(_, value)| value).sum();
        if !total.is_finite() {
            return Ended::NotFinite(total);
        }
        sums.add(&values);
        let cost = terms.into_iter().map(|(_, term)| term).reduce(|sum, term| sum + term);
        let Some(cost) = cost else { continue };
        let mut gradients = leaves.gradients(&mut cost.backward());
        drop(leaves);
        clip(&mut gradients, schedule.clip);
        let rate = schedule.rate(turn, n_steps * schedule.epochs);
        optimiser.step(weights, &gradients, rate);
    }
    Ended::Whole(sums.mean(n_steps))
}

/// The one number of a term.
pub(crate) fn value(term: &Tensor<1>) -> f64 {
    numbers(term.clone().inner()).first().map_or(f64::NAN, |value| f64::from(*value))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::weights::Begin;
    use burn_tensor::TensorData;
    use ssdl::fit::Silent;

    /// $(w - 1)^2$, which stops being a number at a given turn.
    struct Bowl {
        fails_at: usize,
    }

    impl Trainable for Bowl {
        fn planned(&self) -> Vec<Planned> {
            vec![Planned::new("w", &[1], Begin::Constant(4.0))]
        }

        fn n_steps(&self) -> usize {
            5
        }

        fn terms(&self, leaves: &Leaves<'_>, turn: usize) -> Vec<(&'static str, Tensor<1>)> {
            let cost = (leaves.of::<1>("w") - 1.0).square();
            let factor = if turn >= self.fails_at { f32::NAN } else { 1.0 };
            let factor = TensorData::new(vec![factor], [1]);
            vec![("bowl", cost.clone() * Tensor::from_data(factor, &cost.device()))]
        }
    }

    fn schedule(epochs: usize) -> Schedule {
        let (learning_rate, decay, clip) = (0.1, 0.3, 0.0);
        Schedule { descent: Descent::Adam, epochs, learning_rate, decay, clip, seed: 0 }
    }

    #[test]
    fn the_objective_falls() -> Result<()> {
        let trained = train(&Bowl { fails_at: usize::MAX }, &schedule(30), &mut Silent)?;
        assert_eq!((trained.stop, trained.trace.len()), (Stop::Limit, 30));
        assert!(trained.trace[29].total() < 0.01 * trained.trace[0].total());
        assert!((trained.weights[0].values[0] - 1.0).abs() < 0.1);
        Ok(())
    }

    struct Follower {
        stop_at: usize,
        notices: Vec<String>,
    }

    impl Watch for Follower {
        fn step(&mut self, progress: &Progress<'_>) -> Flow {
            if progress.iteration >= self.stop_at { Flow::Stop } else { Flow::Continue }
        }

        fn notice(&mut self, sentence: &str) {
            self.notices.push(sentence.to_owned());
        }
    }

    #[test]
    fn a_loss_that_is_not_finite_stops_with_the_best_net_and_says_so() -> Result<()> {
        let mut follower = Follower { stop_at: usize::MAX, notices: Vec::new() };
        let trained = train(&Bowl { fails_at: 12 }, &schedule(30), &mut follower)?;
        assert_eq!((trained.stop, trained.trace.len()), (Stop::NotFinite, 2));
        assert!(trained.weights[0].values[0].is_finite());
        assert!(follower.notices[0].contains("epoch 3"), "{:?}", follower.notices);
        let error = train(&Bowl { fails_at: 3 }, &schedule(30), &mut Silent);
        assert!(matches!(error, Err(Error::Diverged { epoch: 1, .. })));
        Ok(())
    }

    #[test]
    fn an_observer_stops_it_and_keeps_the_best_net() -> Result<()> {
        let mut follower = Follower { stop_at: 4, notices: Vec::new() };
        let cut = train(&Bowl { fails_at: usize::MAX }, &schedule(30), &mut follower)?;
        assert_eq!((cut.stop, cut.trace.len()), (Stop::Cancelled, 4));
        Ok(())
    }

    #[test]
    fn the_rate_falls_at_the_end_only() {
        let schedule = schedule(10);
        assert!((schedule.rate(0, 100) - 0.1).abs() < 1e-12);
        assert!((schedule.rate(69, 100) - 0.1).abs() < 1e-12);
        assert!((schedule.rate(85, 100) - 0.05).abs() < 1e-12);
        let constant = Schedule { decay: 0.0, ..schedule };
        assert!((constant.rate(99, 100) - 0.1).abs() < 1e-12);
    }
}
