//! Times the search for nearest neighbours: `time_neighbours SAMPLES N_NEIGHBOURS THREADS exact|approximate`
//!
//! Single precision, files excluded. Prints processor seconds where the system tells them, wall seconds
//! and the recall on 200 samples as one line of JSON.

#![allow(clippy::print_stdout, reason = "an example prints its result")]

use std::error::Error;
use std::time::Instant;

use ssdl::Matrix;
use ssdl::graph::Neighbours;
use ssdl_data::{ReadOptions, read};

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [samples, k, threads, search] = arguments.as_slice() else {
        return Err("usage: time_neighbours SAMPLES N_NEIGHBOURS THREADS exact|approximate".into());
    };
    let (k, threads) = (k.parse()?, threads.parse()?);
    let samples: Matrix<f32> = read(samples, &ReadOptions::default())?.features.cast();
    let (before, started) = (processor_seconds(), Instant::now());
    let (found, wall, used) = ssdl::threads::run(threads, || {
        let found = match search.as_str() {
            "exact" => Neighbours::within(&samples, k),
            _ => Neighbours::nearby(&samples, k),
        };
        let used = processor_seconds().zip(before).map(|(now, before)| now - before);
        (found, started.elapsed().as_secs_f64(), used)
    });
    let recall = found.recall(&samples);
    let seconds = used.map_or_else(|| "null".to_owned(), |seconds| format!("{seconds:.2}"));
    println!("{{\"seconds\": {seconds}, \"wall\": {wall:.2}, \"recall\": {recall:.4}}}");
    Ok(())
}

/// Seconds that the processor has spent on this program, where Linux says so (in hundredths).
fn processor_seconds() -> Option<f64> {
    let text = std::fs::read_to_string("/proc/self/stat").ok()?;
    let fields: Vec<&str> = text.rsplit_once(')')?.1.split_whitespace().collect();
    Some((fields.get(11)?.parse::<f64>().ok()? + fields.get(12)?.parse::<f64>().ok()?) / 100.0)
}
