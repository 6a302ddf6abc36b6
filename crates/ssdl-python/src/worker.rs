//! Long work in a separate thread, while the caller's thread waits for messages of the fit and for
//! Ctrl-C, which Python delivers only to its main thread.

use std::any::Any;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread::{Builder, JoinHandle};
use std::time::Duration;

use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use ssdl::device::{self, Device};
use ssdl::fit::{Flow, Progress, Step, Watch};
use ssdl::{Error, Matrix, Result, Signal};

use crate::arrays::{Parts, Precise};
use crate::error::OrRaise;

/// Interval between checks for signals.
const CHECK_INTERVAL: Duration = Duration::from_millis(50);
/// How long to wait for a stopped fit to finish its step; after that it finishes in the background.
const GRACE: Duration = Duration::from_millis(500);

/// What the worker sends.
enum Message<R> {
    Step(StepDone),
    Notice(String),
    Done(R),
}

/// A finished step, as reported to Python.
struct StepDone {
    iteration: usize,
    max_iterations: usize,
    step: Step,
    total: Option<f64>,
}

/// An observer inside the worker that forwards everything.
struct Messenger<R> {
    outbox: Sender<Message<R>>,
    stop: Arc<AtomicBool>,
    forwards_steps: bool,
}

impl<R: Send> Watch for Messenger<R> {
    fn step(&mut self, progress: &Progress<'_>) -> Flow {
        if self.forwards_steps {
            // After Ctrl-C the receiver may be gone; then the flag is set.
            let Progress { iteration, max_iterations, step, objective } = *progress;
            let total = objective.map(|objective| objective.total());
            let done = StepDone { iteration, max_iterations, step, total };
            let _ = self.outbox.send(Message::Step(done));
        }
        if self.stop.load(Ordering::Relaxed) { Flow::Stop } else { Flow::Continue }
    }

    fn aside(&mut self) -> Flow {
        if self.stop.load(Ordering::Relaxed) { Flow::Stop } else { Flow::Continue }
    }

    fn signal(&self) -> Option<Signal> {
        Some(self.stop.clone())
    }

    fn notice(&mut self, sentence: &str) {
        let _ = self.outbox.send(Message::Notice(sentence.to_owned()));
    }
}

/// Runs the work with the interpreter released; returns its result and its notices.
///
/// `report`, if there is one, is called with iteration, limit, step and objective after every step.
/// An exception, from Ctrl-C or from `report`, stops the work and is raised.
pub fn run<R: Send + 'static>(
    py: Python<'_>,
    report: Option<&Bound<'_, PyAny>>,
    work: impl FnOnce(&mut dyn Watch) -> R + Send + 'static,
) -> PyResult<(R, Vec<String>)> {
    let (outbox, mut inbox) = channel();
    let stop = Arc::new(AtomicBool::new(false));
    let mut messenger =
        Messenger { outbox: outbox.clone(), stop: stop.clone(), forwards_steps: report.is_some() };
    let worker = Builder::new().name("ssdl".to_owned()).spawn(move || {
        let _ = outbox.send(Message::Done(work(&mut messenger)));
    })?;

    let mut notices = Vec::new();
    loop {
        let handled = match receive(py, &mut inbox, CHECK_INTERVAL) {
            Ok(Message::Done(result)) => return Ok((result, notices)),
            Ok(Message::Notice(sentence)) => {
                notices.push(sentence);
                Ok(())
            }
            Ok(Message::Step(progress)) => report_step(report, &progress),
            Err(RecvTimeoutError::Timeout) => Ok(()),
            Err(RecvTimeoutError::Disconnected) => return Err(panicked(worker)),
        };
        if let Err(exception) = handled.and_then(|()| py.check_signals()) {
            stop.store(true, Ordering::Relaxed);
            py.detach(move || wait_for_end(&inbox));
            return Err(exception);
        }
    }
}

/// Runs short work with the interpreter released, in threads that end with it: those of a pool for all would be
/// missing in a forked process, which would wait for them forever.
pub fn alone<R: Send>(py: Python<'_>, work: impl FnOnce() -> R + Send) -> R {
    py.detach(|| ssdl::threads::run(0, work))
}

/// Where work runs: in so many threads, with the heavy steps on this device.
pub struct Place {
    pub threads: usize,
    pub device: Option<Arc<dyn Device>>,
}

impl Place {
    /// On the processor.
    pub fn here(threads: usize) -> Self {
        Self { threads, device: None }
    }

    /// On the device of this name.
    pub fn named(threads: usize, device: &str) -> Result<Self> {
        Ok(Self { threads, device: crate::device::open(device)? })
    }
}

/// Processes the rows part by part; Ctrl-C ends it after the current part.
pub fn part_by_part<T: Precise, R: Send + 'static>(
    py: Python<'_>,
    parts: Parts<T>,
    Place { threads, device }: Place,
    mut gathered: R,
    mut work: impl FnMut(Matrix<T>, &mut R) -> Result<()> + Send + 'static,
) -> PyResult<R> {
    let on_card = device.is_some();
    let progress = Progress { iteration: 0, max_iterations: 0, step: Step::Codes, objective: None };
    let all = move |watch: &mut dyn Watch| -> PyResult<Result<R>> {
        for range in parts.ranges(on_card) {
            if watch.step(&progress) == Flow::Stop {
                return Ok(Err(Error::Cancelled));
            }
            let done = work(parts.columns(range)?, &mut gathered);
            if let Err(error) = device::check().and(done) {
                return Ok(Err(error));
            }
        }
        Ok(Ok(gathered))
    };
    let there = move |watch: &mut dyn Watch| {
        ssdl::threads::run(threads, || device::lend(device, || all(watch)))
    };
    run(py, None, there)?.0?.or_raise(py)
}

fn receive<R: Send>(
    py: Python<'_>,
    inbox: &mut Receiver<Message<R>>,
    timeout: Duration,
) -> std::result::Result<Message<R>, RecvTimeoutError> {
    py.detach(move || inbox.recv_timeout(timeout))
}

fn wait_for_end<R>(inbox: &Receiver<Message<R>>) {
    while !matches!(inbox.recv_timeout(GRACE), Ok(Message::Done(_)) | Err(_)) {}
}

fn report_step(report: Option<&Bound<'_, PyAny>>, done: &StepDone) -> PyResult<()> {
    let Some(report) = report else { return Ok(()) };
    let StepDone { iteration, max_iterations, step, total } = done;
    report.call1((*iteration, *max_iterations, step.name(), *total)).map(drop)
}

/// Reports a panic, which is a bug of the library, as an exception.
fn panicked(worker: JoinHandle<()>) -> PyErr {
    let message = worker.join().err().as_deref().and_then(message_of).unwrap_or_default();
    PyRuntimeError::new_err(format!("this is a bug in ssdl, please report it: {message}"))
}

fn message_of(payload: &(dyn Any + Send)) -> Option<String> {
    let text = payload.downcast_ref::<&str>().map(|text| (*text).to_owned());
    text.or_else(|| payload.downcast_ref::<String>().cloned())
}
