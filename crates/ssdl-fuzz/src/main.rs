//! `cargo xtask fuzz`: runs every target for some minutes, on all cores.

#![allow(clippy::print_stdout, clippy::print_stderr, reason = "a program for the terminal")]

use std::process::ExitCode;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use ssdl_experiments::memory;
use ssdl_fuzz::{Dice, Tally, Target, all, mutated, once};

const HELP: &str = "\
Usage: cargo xtask fuzz [--minutes N] [--runs N] [--seed N] [--threads N] [--target NAME]

Gives damaged and made-up inputs to everything that reads: tables, arrays, images, models, plans, rows
and knobs. Ends with exit code 1 if an input made a reader panic, took longer than 10 seconds, or the
process took more than 512 MB; such inputs are kept in target/fuzz.

Options:
  --minutes N     stop after N minutes [default: 1]
  --runs N        stop after N runs
  --seed N        seed of the inputs [default: 0]
  --threads N     threads [default: one per core]
  --target NAME   only this target";

/// Longest run and largest peak that are accepted.
const LIMITS: (Duration, u64) = (Duration::from_secs(10), 512_000_000);
/// After this long a run is taken for one that does not end.
const ENDLESS: Duration = Duration::from_secs(60);

struct Request {
    minutes: f64,
    runs: u64,
    seed: u64,
    threads: usize,
    target: Option<String>,
}

fn main() -> ExitCode {
    match request() {
        Ok(Some(request)) => run(&request),
        Ok(None) => {
            println!("{HELP}");
            ExitCode::SUCCESS
        }
        Err(reason) => {
            eprintln!("fuzz: {reason}\n\n{HELP}");
            ExitCode::from(2)
        }
    }
}

fn request() -> Result<Option<Request>, String> {
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let mut request = Request { minutes: 1.0, runs: u64::MAX, seed: 0, threads, target: None };
    let mut words = std::env::args().skip(1);
    while let Some(word) = words.next() {
        if word == "--help" || word == "-h" {
            return Ok(None);
        }
        let value = words.next().ok_or(format!("{word} needs a value"))?;
        let wrong = |_| format!("{word}: `{value}` is not a number");
        match word.as_str() {
            "--minutes" => request.minutes = value.parse().map_err(|_| wrong(()))?,
            "--runs" => request.runs = value.parse().map_err(|_| wrong(()))?,
            "--seed" => request.seed = value.parse().map_err(|_| wrong(()))?,
            "--threads" => request.threads = value.parse().map_err(|_| wrong(()))?,
            "--target" => request.target = Some(value),
            _ => return Err(format!("there is no option {word}")),
        }
    }
    Ok(Some(request))
}

fn run(request: &Request) -> ExitCode {
    let mut targets = all();
    if let Some(name) = &request.target {
        targets.retain(|target| target.name == name);
    }
    if targets.is_empty() {
        eprintln!("fuzz: there is no such target");
        return ExitCode::from(2);
    }
    // Panics are counted; their texts would bury everything else.
    std::panic::set_hook(Box::new(|_| {}));
    let tallies: Vec<Mutex<Tally>> = targets.iter().map(|_| Mutex::default()).collect();
    let (started, total) = (Instant::now(), AtomicU64::new(0));
    let until = started + Duration::from_secs_f64(60.0 * request.minutes);
    std::thread::scope(|scope| {
        for thread in 0..request.threads.max(1) {
            let (targets, tallies, total) = (&targets, &tallies, &total);
            scope.spawn(move || work(request, thread as u64, targets, tallies, total, until));
        }
    });
    report(&targets, &tallies, started.elapsed())
}

/// Takes the targets in turn, some hundred inputs each.
fn work(
    request: &Request,
    thread: u64,
    targets: &[Target],
    tallies: &[Mutex<Tally>],
    total: &AtomicU64,
    until: Instant,
) {
    const BATCH: u64 = 200;
    let mut dice = Dice::new(request.seed.wrapping_mul(0x1000).wrapping_add(thread));
    loop {
        for (target, tally) in targets.iter().zip(tallies) {
            if Instant::now() >= until || total.fetch_add(BATCH, Ordering::Relaxed) >= request.runs
            {
                return;
            }
            let mut own = Tally::default();
            for _ in 0..BATCH {
                let input = mutated(target.sound(), &mut dice);
                let watchdog = Watchdog::start(target.name, &input);
                once(target, &input, &mut own);
                watchdog.end();
            }
            if let Ok(mut tally) = tally.lock() {
                tally.runs += own.runs;
                tally.accepted += own.accepted;
                tally.longest = tally.longest.max(own.longest);
                tally.crashes.extend(own.crashes);
            }
        }
    }
}

/// Ends the process, with the input kept, where a run does not end.
struct Watchdog;

impl Watchdog {
    fn start(name: &'static str, input: &[u8]) -> Self {
        CURRENT.with(|current| {
            if let Ok(mut current) = current.lock() {
                *current = Some((Instant::now(), name, input.to_vec()));
            }
        });
        Self
    }

    fn end(self) {
        CURRENT.with(|current| {
            if let Ok(mut current) = current.lock() {
                *current = None;
            }
        });
    }
}

type Current = std::sync::Arc<Mutex<Option<(Instant, &'static str, Vec<u8>)>>>;

thread_local! {
    /// The run of this thread, seen by a thread that looks at it once a second.
    static CURRENT: Current = watched();
}

#[allow(clippy::exit, reason = "a run that does not end cannot be stopped otherwise")]
fn watched() -> Current {
    let current = Current::default();
    let seen = current.clone();
    std::thread::spawn(move || {
        loop {
            std::thread::sleep(Duration::from_secs(1));
            let Ok(now) = seen.lock() else { return };
            if let Some((_, name, input)) = now.as_ref().filter(|now| now.0.elapsed() > ENDLESS) {
                let path = keep(name, "endless", 0, input);
                eprintln!("fuzz: {name} does not end: {path}");
                std::process::exit(1);
            }
        }
    });
    current
}

fn keep(name: &str, what: &str, at: usize, input: &[u8]) -> String {
    let folder = std::path::Path::new("target/fuzz");
    let path = folder.join(format!("{name}-{what}-{at}"));
    let kept = std::fs::create_dir_all(folder).and_then(|()| std::fs::write(&path, input));
    kept.map_or_else(|error| error.to_string(), |()| path.display().to_string())
}

fn report(targets: &[Target], tallies: &[Mutex<Tally>], elapsed: Duration) -> ExitCode {
    let (mut runs, mut crashes, mut longest) = (0, 0, Duration::ZERO);
    println!(
        "{:<12} {:>10} {:>9} {:>11} {:>8}",
        "target", "runs", "accepted", "longest", "crashes"
    );
    for (target, tally) in targets.iter().zip(tallies) {
        let Ok(tally) = tally.lock() else { continue };
        let milliseconds = format!("{:.1} ms", 1e3 * tally.longest.as_secs_f64());
        let Tally { runs: own, accepted, .. } = &*tally;
        let failed = tally.crashes.len();
        println!("{:<12} {own:>10} {accepted:>9} {milliseconds:>11} {failed:>8}", target.name);
        for (at, input) in tally.crashes.iter().enumerate().take(20) {
            eprintln!("fuzz: {}", keep(target.name, "crash", at, input));
        }
        (runs, crashes, longest) = (runs + own, crashes + failed, longest.max(tally.longest));
    }
    let peak = memory::peak().unwrap_or(0);
    println!(
        "{runs} runs in {:.0} s, {crashes} crashes, longest {:.2} s, peak {:.0} MB",
        elapsed.as_secs_f64(),
        longest.as_secs_f64(),
        peak as f64 / 1e6
    );
    let is_sound = crashes == 0 && longest <= LIMITS.0 && peak <= LIMITS.1;
    if is_sound { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
