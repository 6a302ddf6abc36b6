//! Long work in a thread of its own, while the caller's thread listens: to Ctrl-C, which Python
//! tells only to its main thread, and to what the fit has to say.

use std::any::Any;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread::{Builder, JoinHandle};
use std::time::Duration;

use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use ssdl::fit::{Flow, Progress, Step, Watch};
use ssdl::{Error, Matrix, Result};

use crate::arrays::{Parts, Precise};
use crate::error::OrRaise;

/// How often signals are looked for.
const BETWEEN_LOOKS: Duration = Duration::from_millis(50);
/// How long a stopped fit may take to end its step before it is left to end it alone.
const GRACE: Duration = Duration::from_millis(500);

/// What the worker sends.
enum Message<R> {
    Step(StepDone),
    Notice(String),
    Done(R),
}

/// A step that is done, as Python is told of it.
struct StepDone {
    iteration: usize,
    max_iterations: usize,
    step: Step,
    total: Option<f64>,
}

/// An observer inside the worker that passes everything on.
struct Messenger<R> {
    outbox: Sender<Message<R>>,
    stop: Arc<AtomicBool>,
    passes_steps: bool,
}

impl<R: Send> Watch for Messenger<R> {
    fn step(&mut self, progress: &Progress<'_>) -> Flow {
        if self.passes_steps {
            // Nobody listens after Ctrl-C; then the flag is up.
            let Progress { iteration, max_iterations, step, objective } = *progress;
            let total = objective.map(|objective| objective.total());
            let done = StepDone { iteration, max_iterations, step, total };
            let _ = self.outbox.send(Message::Step(done));
        }
        if self.stop.load(Ordering::Relaxed) { Flow::Stop } else { Flow::Continue }
    }

    fn notice(&mut self, sentence: &str) {
        let _ = self.outbox.send(Message::Notice(sentence.to_owned()));
    }
}

/// Runs the work with the interpreter released; gives back its result and its notices.
///
/// `report`, if there is one, is called with iteration, limit, step and objective after every step.
/// An exception, be it of Ctrl-C or of `report`, stops the work and is raised.
pub fn run<R: Send + 'static>(
    py: Python<'_>,
    report: Option<&Bound<'_, PyAny>>,
    work: impl FnOnce(&mut dyn Watch) -> R + Send + 'static,
) -> PyResult<(R, Vec<String>)> {
    let (outbox, mut inbox) = channel();
    let stop = Arc::new(AtomicBool::new(false));
    let mut messenger =
        Messenger { outbox: outbox.clone(), stop: stop.clone(), passes_steps: report.is_some() };
    let worker = Builder::new().name("ssdl".to_owned()).spawn(move || {
        let _ = outbox.send(Message::Done(work(&mut messenger)));
    })?;

    let mut notices = Vec::new();
    loop {
        let heard = match hear(py, &mut inbox, BETWEEN_LOOKS) {
            Ok(Message::Done(result)) => return Ok((result, notices)),
            Ok(Message::Notice(sentence)) => {
                notices.push(sentence);
                Ok(())
            }
            Ok(Message::Step(progress)) => tell(report, &progress),
            Err(RecvTimeoutError::Timeout) => Ok(()),
            Err(RecvTimeoutError::Disconnected) => return Err(panicked(worker)),
        };
        if let Err(exception) = heard.and_then(|()| py.check_signals()) {
            stop.store(true, Ordering::Relaxed);
            py.detach(move || wait_for_end(&inbox));
            return Err(exception);
        }
    }
}

/// Works on part after part of the rows with the given number of threads; Ctrl-C ends it with the part at hand.
pub fn part_by_part<T: Precise, R: Send + 'static>(
    py: Python<'_>,
    parts: Parts<T>,
    threads: usize,
    mut gathered: R,
    mut work: impl FnMut(Matrix<T>, &mut R) -> Result<()> + Send + 'static,
) -> PyResult<R> {
    let look = Progress { iteration: 0, max_iterations: 0, step: Step::Codes, objective: None };
    let all = move |watch: &mut dyn Watch| -> PyResult<Result<R>> {
        for range in parts.ranges() {
            if watch.step(&look) == Flow::Stop {
                return Ok(Err(Error::Cancelled));
            }
            if let Err(error) = work(parts.columns(range)?, &mut gathered) {
                return Ok(Err(error));
            }
        }
        Ok(Ok(gathered))
    };
    run(py, None, move |watch| ssdl::threads::run(threads, || all(watch)))?.0?.or_raise(py)
}

fn hear<R: Send>(
    py: Python<'_>,
    inbox: &mut Receiver<Message<R>>,
    patience: Duration,
) -> std::result::Result<Message<R>, RecvTimeoutError> {
    py.detach(move || inbox.recv_timeout(patience))
}

fn wait_for_end<R>(inbox: &Receiver<Message<R>>) {
    while !matches!(inbox.recv_timeout(GRACE), Ok(Message::Done(_)) | Err(_)) {}
}

fn tell(report: Option<&Bound<'_, PyAny>>, done: &StepDone) -> PyResult<()> {
    let Some(report) = report else { return Ok(()) };
    let StepDone { iteration, max_iterations, step, total } = done;
    report.call1((*iteration, *max_iterations, step.name(), *total)).map(drop)
}

/// A panic is a bug of the library; the interpreter survives it.
fn panicked(worker: JoinHandle<()>) -> PyErr {
    let words = worker.join().err().as_deref().and_then(words_of).unwrap_or_default();
    PyRuntimeError::new_err(format!("this is a bug of ssdl, please report it: {words}"))
}

fn words_of(payload: &(dyn Any + Send)) -> Option<String> {
    let text = payload.downcast_ref::<&str>().map(|text| (*text).to_owned());
    text.or_else(|| payload.downcast_ref::<String>().cloned())
}
