//! The loop of every fit: iterations of steps, recorded, observed, stopped.

use std::sync::atomic::Ordering;
use std::time::Instant;

use super::watch::Aside;
use super::{Flow, Objective, Progress, Step, Stop, TraceRow, Watch};
use crate::{Error, Result, Signal, stop};

/// The record of a fit in progress: trace, clock, observer, and the rule when to stop.
///
/// A method calls [`begin`](Turns::begin) with its first objective, then [`repeat`](Turns::repeat) with
/// one iteration of its steps, each of which ends with [`done`](Turns::done). A method without a loop
/// calls [`end`](Turns::end) once.
pub struct Turns<'a> {
    watch: &'a mut dyn Watch,
    signal: Option<Signal>,
    trace: Vec<TraceRow>,
    iteration: usize,
    max_iterations: usize,
    cancelled: bool,
    clock: Instant,
    graph_seconds: f64,
}

/// When a fit stops by itself.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Limits {
    /// Maximum number of iterations.
    pub max_iterations: usize,
    /// Relative change of the objective in an iteration at which it has converged.
    pub tolerance: f64,
    /// Unlabelled samples that may still change class in an iteration that counts as converged.
    pub max_flips: usize,
}

/// The measurements after a step; an objective alone is enough.
#[derive(Clone, Debug)]
pub struct Measured {
    /// The objective after the step.
    pub objective: Objective,
    /// The total that the step minimises, where that is not the objective's.
    pub surrogate: f64,
    /// Unlabelled samples whose class differs from the iteration before.
    pub flips: usize,
}

impl From<Objective> for Measured {
    fn from(objective: Objective) -> Self {
        Self { surrogate: objective.total(), objective, flips: 0 }
    }
}

/// Why an iteration ended early.
#[derive(Debug)]
pub enum Halt {
    /// The observer stopped the fit; its present state is the result.
    Cancelled,
    /// Something went wrong; there is no result.
    Failed(Error),
}

impl From<Error> for Halt {
    fn from(error: Error) -> Self {
        Self::Failed(error)
    }
}

/// What remains after a fit.
pub(crate) struct Record {
    pub trace: Vec<TraceRow>,
    pub iterations: usize,
    pub graph_seconds: f64,
}

impl<'a> Turns<'a> {
    /// Starts the clock.
    pub fn new(watch: &'a mut dyn Watch) -> Self {
        Self {
            signal: watch.signal(),
            watch,
            trace: Vec::new(),
            iteration: 0,
            max_iterations: 0,
            cancelled: false,
            clock: Instant::now(),
            graph_seconds: 0.0,
        }
    }

    /// A separate record for a fit within this one, with the same observer.
    pub fn apart(&mut self) -> Turns<'_> {
        Turns::new(&mut *self.watch)
    }

    /// Runs a fit on the side: the observer can stop it, and hears nothing else of it.
    pub fn aside<R>(&mut self, run: impl FnOnce(&mut Turns<'_>) -> R) -> R {
        run(&mut Turns::new(&mut Aside(&mut *self.watch)))
    }

    /// Tells the user, in a sentence, that the fit deviates from what was requested.
    pub fn notice(&mut self, sentence: &str) {
        self.watch.notice(sentence);
    }

    /// The present iteration, from 1; 0 before the first.
    #[must_use]
    pub fn iteration(&self) -> usize {
        self.iteration
    }

    /// Whether this is the last iteration allowed.
    #[must_use]
    pub fn is_last(&self) -> bool {
        self.iteration == self.max_iterations
    }

    /// Builds the graph, timed; the observer may cancel the fit after it.
    ///
    /// # Errors
    /// If the graph cannot be built or the observer cancels.
    pub fn graph<R>(
        &mut self,
        max_iterations: usize,
        build: impl FnOnce(&mut Self) -> Result<R>,
    ) -> Result<R> {
        let started = Instant::now();
        let built = stop::arm(self.signal.clone(), || build(self));
        if self.is_stopped() {
            return Err(Error::Cancelled);
        }
        let built = built?;
        self.graph_seconds += started.elapsed().as_secs_f64();
        self.announce(Step::Graph, max_iterations)?;
        // The graph is timed separately; the next step begins now.
        self.clock = Instant::now();
        Ok(built)
    }

    /// Builds a graph ahead of the fit; the seconds count as those of the graph.
    ///
    /// # Errors
    /// If it cannot be built, or the observer cancels meanwhile.
    pub fn graph_ahead<R>(&mut self, build: impl FnOnce() -> Result<R>) -> Result<R> {
        let started = Instant::now();
        let built = stop::arm(self.signal.clone(), build);
        self.graph_seconds += started.elapsed().as_secs_f64();
        if self.is_stopped() { Err(Error::Cancelled) } else { built }
    }

    /// Tells the observer about a step before there is a result to return.
    ///
    /// # Errors
    /// If the observer cancels: there is no model yet.
    pub fn announce(&mut self, step: Step, max_iterations: usize) -> Result<()> {
        self.max_iterations = max_iterations;
        if self.tell(step, None) == Flow::Stop { Err(Error::Cancelled) } else { Ok(()) }
    }

    /// Goes on after an iteration of an earlier fit.
    pub(crate) fn go_on(&mut self, iteration: usize) {
        self.iteration = iteration;
    }

    /// Records the start: from here on a cancelled fit has a result.
    ///
    /// # Errors
    /// If the objective is not finite, or the observer's signal has cut the first codes short.
    pub fn begin(&mut self, limits: Limits, measured: impl Into<Measured>) -> Result<()> {
        if self.is_stopped() {
            return Err(Error::Cancelled);
        }
        stop::disarm();
        self.max_iterations = limits.max_iterations;
        match self.done(Step::Start, measured) {
            Ok(()) => Ok(()),
            Err(Halt::Cancelled) => {
                self.cancelled = true;
                Ok(())
            }
            Err(Halt::Failed(error)) => Err(error),
        }
    }

    /// Records a step that is done.
    ///
    /// # Errors
    /// [`Halt::Cancelled`] if the observer stops the fit, [`Halt::Failed`] if the objective is not
    /// finite.
    pub fn done(&mut self, step: Step, measured: impl Into<Measured>) -> Result<(), Halt> {
        let Measured { objective, surrogate, flips } = measured.into();
        if !objective.total().is_finite() {
            return Err(Halt::Failed(Error::Diverged {
                step: step.name(),
                iteration: self.iteration,
                what: "the objective is not finite".into(),
            }));
        }
        let seconds = self.clock.elapsed().as_secs_f64();
        self.clock = Instant::now();
        let flow = self.tell(step, Some(&objective));
        let iteration = self.iteration;
        self.trace.push(TraceRow { iteration, step, objective, surrogate, flips, seconds });
        if flow == Flow::Stop { Err(Halt::Cancelled) } else { Ok(()) }
    }

    /// Iterates until the fit converges, reaches its limit or is cancelled.
    ///
    /// # Errors
    /// Any error of an iteration.
    pub fn repeat(
        &mut self,
        limits: Limits,
        mut turn: impl FnMut(&mut Self) -> Result<(), Halt>,
    ) -> Result<Stop> {
        self.max_iterations = limits.max_iterations;
        while !self.cancelled && self.iteration < limits.max_iterations {
            let before = self.total();
            self.iteration += 1;
            match turn(self) {
                Ok(()) => {}
                Err(Halt::Cancelled) => self.cancelled = true,
                Err(Halt::Failed(error)) => return Err(at_iteration(error, self.iteration)),
            }
            if !self.cancelled && self.has_converged(before, &limits) {
                return Ok(Stop::Converged);
            }
        }
        Ok(if self.cancelled { Stop::Cancelled } else { Stop::Limit })
    }

    /// The whole trace of a method without a loop: one row, with the iterations of its solver.
    pub fn end(&mut self, iterations: usize, objective: Objective) {
        self.iteration = iterations;
        let seconds = self.clock.elapsed().as_secs_f64();
        let (step, surrogate, flips) = (Step::Classifier, objective.total(), 0);
        self.trace.push(TraceRow {
            iteration: iterations,
            step,
            objective,
            surrogate,
            flips,
            seconds,
        });
    }

    /// A last row for a classifier that is fitted after the loop; the objective does not contain it.
    pub fn classified(&mut self, started: Instant) {
        let seconds = started.elapsed().as_secs_f64();
        let last = self.trace.last().cloned();
        self.trace.extend(last.map(|row| TraceRow { step: Step::Classifier, seconds, ..row }));
    }

    /// Tells the observer about a round that is not part of the trace.
    pub fn round(
        &mut self,
        iteration: usize,
        max_iterations: usize,
        objective: &Objective,
    ) -> Flow {
        (self.iteration, self.max_iterations) = (iteration, max_iterations);
        self.tell(Step::Classifier, Some(objective))
    }

    pub(crate) fn into_record(self) -> Record {
        let Self { trace, iteration, graph_seconds, .. } = self;
        Record { trace, iterations: iteration, graph_seconds }
    }

    fn tell(&mut self, step: Step, objective: Option<&Objective>) -> Flow {
        let (iteration, max_iterations) = (self.iteration, self.max_iterations);
        self.watch.step(&Progress { iteration, max_iterations, step, objective })
    }

    fn is_stopped(&self) -> bool {
        self.signal.as_ref().is_some_and(|signal| signal.load(Ordering::Relaxed))
    }

    fn total(&self) -> f64 {
        self.trace.last().map_or(0.0, |row| row.objective.total())
    }

    fn has_converged(&self, before: f64, limits: &Limits) -> bool {
        let change = (before - self.total()).abs();
        let flips = self.trace.last().map_or(0, |row| row.flips);
        change <= limits.tolerance * before && flips <= limits.max_flips
    }
}

/// Adds the iteration to an error of a step, which does not know it.
fn at_iteration(error: Error, now: usize) -> Error {
    match error {
        Error::Diverged { step, what, .. } => Error::Diverged { step, iteration: now, what },
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fit::Silent;

    const LIMITS: Limits = Limits { max_iterations: 9, tolerance: 0.1, max_flips: 0 };

    struct StopAfter(usize);

    impl Watch for StopAfter {
        fn step(&mut self, _: &Progress<'_>) -> Flow {
            self.0 = self.0.saturating_sub(1);
            if self.0 == 0 { Flow::Stop } else { Flow::Continue }
        }
    }

    fn at(total: f64) -> Objective {
        Objective::new([("a", total)])
    }

    #[test]
    fn a_fit_stops_when_the_objective_hardly_changes_and_no_class_does() {
        for (flips, expected) in [(0, 3), (1, 9)] {
            let (mut silent, mut value) = (Silent, 8.0);
            let mut turns = Turns::new(&mut silent);
            turns.begin(LIMITS, at(value)).expect("finite");
            let stop = turns.repeat(LIMITS, |turns| {
                value = if turns.iteration() < 3 { 0.5 * value } else { 0.95 * value };
                turns.done(Step::Codes, Measured { flips, ..at(value).into() })
            });
            let converged = matches!(stop, Ok(Stop::Converged));
            assert_eq!(converged, flips == 0, "{stop:?}");
            assert_eq!(turns.into_record().iterations, expected);
        }
    }

    #[test]
    fn a_cancelled_fit_keeps_what_it_recorded() {
        for (steps, iterations) in [(1, 0), (2, 1), (4, 3)] {
            let mut watch = StopAfter(steps);
            let mut turns = Turns::new(&mut watch);
            turns.begin(LIMITS, at(1.0)).expect("finite");
            let limits = Limits { tolerance: 0.0, ..LIMITS };
            let stop = turns.repeat(limits, |turns| {
                let total = 1.0 / (1.0 + turns.iteration() as f64);
                turns.done(Step::Codes, at(total))
            });
            assert!(matches!(stop, Ok(Stop::Cancelled)), "{stop:?}");
            let record = turns.into_record();
            assert_eq!((record.iterations, record.trace.len()), (iterations, steps));
        }
        assert!(Turns::new(&mut StopAfter(1)).announce(Step::Graph, 9).is_err());
    }

    #[test]
    fn a_value_that_is_not_finite_ends_the_fit_with_its_step_and_iteration() {
        let mut silent = Silent;
        let mut turns = Turns::new(&mut silent);
        turns.begin(LIMITS, at(1.0)).expect("finite");
        let error = turns.repeat(LIMITS, |turns| turns.done(Step::Codes, at(f64::NAN)));
        assert!(matches!(error, Err(Error::Diverged { iteration: 1, step: "codes", .. })));
    }
}
