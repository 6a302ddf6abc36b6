//! The loop that trains any net: epochs of steps downhill, the best net kept, stopped in good order.

use std::sync::atomic::Ordering;

use burn_tensor::Tensor;
use ssdl::Signal;
use ssdl::fit::{Flow, Objective, Progress, Step, Watch};

use crate::optimiser::Descent;
use crate::parameters::Parameters;
use crate::place::Place;
use crate::weights::{Leaves, Planned, Rows, Weight, begin, read};
use crate::{Error, Result};

/// A net that can be trained.
pub(crate) trait Trainable: Sync {
    /// Its arrays of weights.
    fn planned(&self) -> Vec<Planned>;

    /// Steps of an epoch, at least one.
    fn n_steps(&self) -> usize;

    /// The samples and the random numbers of a step; `turn` counts the steps of all epochs.
    fn draw(&self, turn: usize) -> Vec<Rows>;

    /// The terms of the objective on what was drawn.
    fn terms(&self, leaves: &Leaves<'_>, drawn: Vec<Rows>) -> Vec<(&'static str, Tensor<1>)>;
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

/// The terms of an epoch: sums of those that were read, and those that the device may not have yet.
#[derive(Default)]
struct Sums {
    sums: Vec<(&'static str, f64)>,
    waiting: Vec<Tensor<1>>,
}

impl Sums {
    fn add(&mut self, terms: &[(&'static str, Tensor<1>)]) {
        if self.sums.is_empty() {
            self.sums = terms.iter().map(|(name, _)| (*name, 0.0)).collect();
        }
        self.waiting.extend(terms.iter().map(|(_, term)| term.clone().inner()));
    }

    /// Reads what waits; the first total that is not finite, if any.
    fn look(&mut self) -> Result<Option<f64>> {
        if self.waiting.is_empty() {
            return Ok(None);
        }
        let values = read(Tensor::cat(std::mem::take(&mut self.waiting), 0))?;
        for step in values.chunks(self.sums.len()) {
            let total: f64 = step.iter().copied().map(f64::from).sum();
            if !total.is_finite() {
                return Ok(Some(total));
            }
            self.sums.iter_mut().zip(step).for_each(|((_, sum), value)| *sum += f64::from(*value));
        }
        Ok(None)
    }

    fn mean(&self, count: usize) -> Objective {
        Objective::new(self.sums.iter().map(|(name, sum)| (*name, sum / count as f64)))
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
/// If it is cancelled, or the loss is not finite, in the first epoch, or there is no such place or it fails.
pub(crate) fn train(
    net: &dyn Trainable,
    schedule: &Schedule,
    place: Place,
    watch: &mut dyn Watch,
) -> Result<Trained> {
    let weights = begin(&net.planned(), schedule.seed);
    let parameters = Parameters::new(weights, schedule.descent, place)?;
    let looks = place.steps_between_looks();
    let mut run =
        Run { net, schedule, parameters, looks, next: net.draw(0), signal: watch.signal() };
    let mut best: Option<(f64, Vec<Weight>)> = None;
    let mut trace = Vec::new();
    for epoch in 1..=schedule.epochs {
        let stop = match run.epoch(epoch)? {
            Ended::Whole(objective) => {
                let total = objective.total();
                if best.as_ref().is_none_or(|(least, _)| total < *least) {
                    best = Some((total, run.parameters.weights()?));
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
        let weights = match best {
            Some((_, best)) => best,
            None => run.parameters.weights()?,
        };
        return Ok(Trained { weights, trace, stop });
    }
    Ok(Trained { weights: run.parameters.weights()?, trace, stop: Stop::Limit })
}

/// A training that runs.
struct Run<'a> {
    net: &'a dyn Trainable,
    schedule: &'a Schedule,
    parameters: Parameters,
    /// Steps between two looks at the loss.
    looks: usize,
    /// What was drawn for the next step.
    next: Vec<Rows>,
    signal: Option<Signal>,
}

impl Run<'_> {
    fn epoch(&mut self, epoch: usize) -> Result<Ended> {
        let n_steps = self.net.n_steps();
        let all = n_steps * self.schedule.epochs;
        let mut sums = Sums::default();
        for step in 0..n_steps {
            if self.signal.as_ref().is_some_and(|signal| signal.load(Ordering::SeqCst)) {
                return Ok(Ended::Cancelled);
            }
            let turn = (epoch - 1) * n_steps + step;
            let drawn = std::mem::take(&mut self.next);
            let net = self.net;
            // The next step is drawn while this one is computed.
            let draw = || if turn + 1 < all { net.draw(turn + 1) } else { Vec::new() };
            let (done, next) = rayon::join(|| self.step(drawn, turn, all, &mut sums), draw);
            done?;
            self.next = next;
            let looks = (step + 1) % self.looks == 0 || step + 1 == n_steps;
            if looks && let Some(total) = sums.look()? {
                return Ok(Ended::NotFinite(total));
            }
        }
        Ok(Ended::Whole(sums.mean(n_steps)))
    }

    fn step(&mut self, drawn: Vec<Rows>, turn: usize, all: usize, sums: &mut Sums) -> Result<()> {
        let leaves = self.parameters.leaves();
        let terms = self.net.terms(&leaves, drawn);
        sums.add(&terms);
        let cost = terms.into_iter().map(|(_, term)| term).reduce(|sum, term| sum + term);
        let Some(cost) = cost else { return Ok(()) };
        let gradients = leaves.gradients(&mut cost.backward());
        drop(leaves);
        self.parameters.step(gradients, self.schedule.rate(turn, all), self.schedule.clip)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::weights::Begin;
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

        fn draw(&self, turn: usize) -> Vec<Rows> {
            let factor = if turn >= self.fails_at { f32::NAN } else { 1.0 };
            vec![Rows { values: vec![factor], count: 1 }]
        }

        fn terms(&self, leaves: &Leaves<'_>, drawn: Vec<Rows>) -> Vec<(&'static str, Tensor<1>)> {
            let factors = drawn.into_iter().map(|rows| rows.on(leaves.device()).reshape([1]));
            let cost = (leaves.of::<1>("w") - 1.0).square();
            factors.map(|factor| ("bowl", cost.clone() * factor)).collect()
        }
    }

    fn schedule(epochs: usize) -> Schedule {
        let (learning_rate, decay, clip) = (0.1, 0.3, 0.0);
        Schedule { descent: Descent::Adam, epochs, learning_rate, decay, clip, seed: 0 }
    }

    #[test]
    fn the_objective_falls() -> Result<()> {
        let trained =
            train(&Bowl { fails_at: usize::MAX }, &schedule(30), Place::Processor, &mut Silent)?;
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
        let trained =
            train(&Bowl { fails_at: 12 }, &schedule(30), Place::Processor, &mut follower)?;
        assert_eq!((trained.stop, trained.trace.len()), (Stop::NotFinite, 2));
        assert!(trained.weights[0].values[0].is_finite());
        assert!(follower.notices[0].contains("epoch 3"), "{:?}", follower.notices);
        let error = train(&Bowl { fails_at: 3 }, &schedule(30), Place::Processor, &mut Silent);
        assert!(matches!(error, Err(Error::Diverged { epoch: 1, .. })));
        Ok(())
    }

    #[test]
    fn an_observer_stops_it_and_keeps_the_best_net() -> Result<()> {
        let mut follower = Follower { stop_at: 4, notices: Vec::new() };
        let cut =
            train(&Bowl { fails_at: usize::MAX }, &schedule(30), Place::Processor, &mut follower)?;
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
