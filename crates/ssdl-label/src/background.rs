//! The thread that learns: it reads samples, fits after every batch of answers, and publishes what it
//! found. Nobody waits for it.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use ssdl::Matrix;
use ssdl::fit::Silent;

use crate::Result;
use crate::learn::{self, BATCH, Found, Learner, POOL, Snapshot};
use crate::server::Shared;

/// Samples that are read before the first order is made.
const FIRST_PART: usize = 300;
/// A batch that is not full is learnt from after this time without answers.
const PAUSE: Duration = Duration::from_millis(1500);
/// Labels hidden at a time, as a share.
const FOLDS: usize = 4;
/// Labels from which hiding some of them says anything.
const WORTH_HIDING: usize = 24;
/// The pool grows when fewer samples than this are unlabelled.
const FEW_LEFT: usize = 200;

/// Learns until the server stops.
pub(crate) fn run(shared: &Shared) {
    if let Err(error) = learn_on(shared) {
        let mut session = shared.lock();
        session.fitting = false;
        session.failure = Some(format!("The model cannot learn: {error}. Labels are still saved."));
        session.version += 1;
        drop(session);
        shared.changed.notify_all();
    }
}

fn learn_on(shared: &Shared) -> Result<()> {
    let mut learner = gather(shared)?;
    let mut done = Done::default();
    while let Some(changes) = due(shared, &done) {
        done.begun = changes;
        grow(shared, &mut learner);
        let labels = labels(shared, &mut learner);
        let classes: std::collections::HashSet<&String> = labels.iter().flatten().collect();
        if classes.len() < 2 {
            continue;
        }
        set_fitting(shared, true);
        let found = learner.fit(&labels, &mut Silent);
        match found.and_then(|found| publish(shared, &learner, &labels, found, &mut done)) {
            Ok(()) => write_labels(shared),
            Err(error) => tell_failure(shared, format!("The last fit failed: {error}.")),
        }
        set_fitting(shared, false);
        hide_some(shared, &learner, &labels, &mut done);
    }
    Ok(())
}

/// What the thread remembers between fits.
#[derive(Default)]
struct Done {
    /// Changes of answers that the last fit knew of.
    begun: usize,
    fits: usize,
    guesses: HashMap<usize, String>,
    held_out: Arc<Vec<(usize, f64, String)>>,
    hidden_with: usize,
}

/// Waits until a fit is due; `None` when the server stops.
fn due(shared: &Shared, done: &Done) -> Option<usize> {
    let mut session = shared.lock();
    let mut seen = (session.state.changes(), Instant::now());
    loop {
        if shared.stop.load(Ordering::SeqCst) {
            return None;
        }
        let changes = session.state.changes();
        if changes != seen.0 {
            seen = (changes, Instant::now());
        }
        let waiting = changes.saturating_sub(done.begun);
        if waiting >= BATCH || (waiting > 0 && seen.1.elapsed() >= PAUSE) {
            return Some(changes);
        }
        session = shared.wait(session, Duration::from_millis(200));
    }
}

fn set_fitting(shared: &Shared, fitting: bool) {
    let mut session = shared.lock();
    session.fitting = fitting;
    session.version += 1;
    drop(session);
    shared.changed.notify_all();
}

fn tell_failure(shared: &Shared, failure: String) {
    shared.lock().failure = Some(failure);
}

/// Writes the file of labels; where it cannot be written, the journal still has them.
fn write_labels(shared: &Shared) {
    if let Err(error) = shared.write_labels() {
        tell_failure(shared, format!("{error}. The journal has all labels."));
    }
}

/// Reads the samples of the pool, and publishes where to begin.
fn gather(shared: &Shared) -> Result<Learner> {
    let material = &shared.material;
    let pool: Vec<usize> = {
        let session = shared.lock();
        let known = session.state.answered();
        match material.len() <= POOL {
            true => (0..material.len()).collect(),
            false => known.into_iter().chain(session.draw().iter().copied().take(POOL)).collect(),
        }
    };
    let mut seen = std::collections::HashSet::new();
    let pool: Vec<usize> = pool.into_iter().filter(|sample| seen.insert(*sample)).collect();
    let naming = material.naming();
    let (first, rest) = pool.split_at(if material.file(0).is_some() {
        FIRST_PART.min(pool.len())
    } else {
        pool.len()
    });
    let (samples, features) = read(shared, first);
    let rows = features.len() / samples.len().max(1);
    let raw = Matrix::from_columns(rows, samples.len(), features)
        .unwrap_or_else(|| Matrix::zeros(rows, 0));
    let (seed, threads) = (shared.seed, shared.threads);
    let mut learner = Learner::new(samples, raw, material.image, naming, seed, threads);
    begin(shared, &learner)?;
    if !rest.is_empty() {
        let (samples, features) = read(shared, rest);
        learner.extend(&samples, features);
        begin(shared, &learner)?;
    }
    Ok(learner)
}

/// Reads samples on all cores; those that cannot be read are left out.
fn read(shared: &Shared, samples: &[usize]) -> (Vec<usize>, Vec<f32>) {
    let n_threads = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    let share = samples.len().div_ceil(n_threads).max(1);
    let parts: Vec<(Vec<usize>, Vec<f32>, Option<String>)> = std::thread::scope(|scope| {
        let workers: Vec<_> = samples
            .chunks(share)
            .map(|part| {
                scope.spawn(move || {
                    let (mut read, mut values, mut fault) = (Vec::new(), Vec::new(), None);
                    for &sample in part {
                        if shared.stop.load(Ordering::SeqCst) {
                            break;
                        }
                        match shared.material.features(sample) {
                            Ok(features) => {
                                read.push(sample);
                                values.extend(features);
                            }
                            Err(error) => fault = Some(error.to_string()),
                        }
                    }
                    (read, values, fault)
                })
            })
            .collect();
        workers.into_iter().filter_map(|worker| worker.join().ok()).collect()
    });
    let (mut read, mut values) = (Vec::new(), Vec::new());
    for (samples, features, fault) in parts {
        read.extend(samples);
        values.extend(features);
        if let Some(fault) = fault {
            let words = format!("Some samples cannot be read and are left out: {fault}.");
            shared.lock().unreadable = Some(words);
        }
    }
    (read, values)
}

/// Publishes the order in which samples are shown before there is a model.
fn begin(shared: &Shared, learner: &Learner) -> Result<()> {
    if learner.pool.is_empty() {
        return Ok(());
    }
    let prepared = learner.prepared()?;
    let order = learner.first(&prepared)?;
    let snapshot = Snapshot {
        pool: learner.pool.clone(),
        place: places(&learner.pool),
        order,
        prepared: Some(Arc::new(prepared)),
        ..Snapshot::default()
    };
    let mut session = shared.lock();
    session.snapshot = Arc::new(snapshot);
    session.version += 1;
    drop(session);
    shared.changed.notify_all();
    Ok(())
}

fn places(pool: &[usize]) -> HashMap<usize, usize> {
    pool.iter().enumerate().map(|(place, &sample)| (sample, place)).collect()
}

/// Adds labelled samples that are not in the pool, and more unlabelled ones when few are left.
fn grow(shared: &Shared, learner: &mut Learner) {
    let known = places(&learner.pool);
    let mut more: Vec<usize>;
    {
        let session = shared.lock();
        more = session.state.answered();
        more.retain(|sample| !known.contains_key(sample));
        let open = learner.pool.iter().filter(|&&s| session.state.verdict(s).is_none()).count();
        if open < FEW_LEFT {
            let fresh = session.draw().iter().copied().filter(|sample| !known.contains_key(sample));
            let fresh: Vec<usize> =
                fresh.filter(|sample| !more.contains(sample)).take(1000).collect();
            more.extend(fresh);
        }
    }
    if !more.is_empty() {
        let (samples, features) = read(shared, &more);
        learner.extend(&samples, features);
    }
}

/// The label of each sample of the pool, after those that are unusable have left it.
fn labels(shared: &Shared, learner: &mut Learner) -> Vec<Option<String>> {
    let session = shared.lock();
    learner.leave_out(|sample| session.state.is_unusable(sample));
    learner.pool.iter().map(|&sample| session.state.label(sample).map(str::to_owned)).collect()
}

fn publish(
    shared: &Shared,
    learner: &Learner,
    labels: &[Option<String>],
    found: Found,
    done: &mut Done,
) -> Result<()> {
    let Found { model, guesses, order, seconds } = found;
    let open = learner.pool.iter().zip(&guesses).zip(labels).filter(|(_, label)| label.is_none());
    let (mut changed, mut all) = (0_usize, 0_usize);
    for ((sample, (guess, _)), _) in open {
        if let Some(before) = done.guesses.get(sample) {
            all += 1;
            changed += usize::from(before != guess);
        }
    }
    let share = (all > 0).then(|| changed as f64 / all as f64);
    done.guesses = learner
        .pool
        .iter()
        .zip(&guesses)
        .map(|(&sample, (guess, _))| (sample, guess.clone()))
        .collect();
    done.fits += 1;
    let prepared = model.preparation().apply(learner.raw.clone())?;
    let twins = learn::twins(&prepared, labels);
    let twins = twins.into_iter().map(|(a, b)| (learner.pool[a], learner.pool[b])).collect();
    let is_row = shared.material.image.is_none();
    let n_labels = labels.iter().flatten().count();
    let snapshot = Snapshot {
        number: done.fits,
        labels: n_labels,
        changed: share,
        seconds,
        pool: learner.pool.clone(),
        place: places(&learner.pool),
        guesses,
        order,
        prepared: Some(Arc::new(prepared)),
        telling: if is_row { learn::telling(&learner.raw, labels) } else { Vec::new() },
        model: Some(model),
        held_out: Arc::clone(&done.held_out),
        twins,
    };
    {
        let mut session = shared.lock();
        session.snapshot = Arc::new(snapshot);
        session.failure = None;
        session.refits.push((n_labels, share));
        session.version += 1;
    }
    shared.changed.notify_all();
    Ok(())
}

/// Between batches: labels that are hidden in turn, so that wrong ones show.
fn hide_some(shared: &Shared, learner: &Learner, labels: &[Option<String>], done: &mut Done) {
    let n_labels = labels.iter().flatten().count();
    let is_idle = || {
        let changes = shared.lock().state.changes();
        changes.saturating_sub(done.begun) < BATCH && !shared.stop.load(Ordering::SeqCst)
    };
    if n_labels < WORTH_HIDING.max(done.hidden_with + BATCH) || !is_idle() {
        return;
    }
    if let Ok(found) = learner.held_out(labels, FOLDS, &is_idle) {
        done.held_out = Arc::new(found);
        done.hidden_with = n_labels;
        let mut session = shared.lock();
        let old = Arc::clone(&session.snapshot);
        session.snapshot = Arc::new(old.with_held_out(Arc::clone(&done.held_out)));
        session.version += 1;
        drop(session);
        shared.changed.notify_all();
    }
}
