//! Times preparation steps on one thread and saves their output:
//! `time_preparation SAMPLES.npy HEIGHTxWIDTH OUT.npy STEP...`
//!
//! Prints the seconds of each run, in single precision and without files, as one line of JSON.

#![allow(clippy::print_stdout, reason = "an example prints its result")]

use std::error::Error;
use std::time::Instant;

use ssdl::Matrix;
use ssdl::samples::prepare::{Pipeline, StepChoice};
use ssdl_data::{ReadOptions, read, write_npy};

/// Timed runs, after a warm-up.
const RUNS: usize = 9;

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [samples, image, out, steps @ ..] = arguments.as_slice() else {
        return Err("usage: time_preparation SAMPLES.npy HEIGHTxWIDTH OUT.npy STEP...".into());
    };
    let (height, width) = image.split_once('x').ok_or("the shape is HEIGHTxWIDTH")?;
    let image = [height.parse()?, width.parse()?];
    let plans: Vec<StepChoice> =
        steps.iter().map(|step| step.parse()).collect::<ssdl::Result<_>>()?;
    let raw: Matrix<f32> = read(samples, &ReadOptions::default())?.features.cast();
    let seconds = ssdl::threads::run(1, || -> ssdl::Result<_> {
        let (pipeline, prepared) = Pipeline::fit(&plans, raw.clone(), Some(image), 0)?;
        let mut seconds = Vec::with_capacity(RUNS);
        for _ in 0..RUNS {
            let raw = raw.clone();
            let started = Instant::now();
            let again = pipeline.apply(raw)?;
            seconds.push(started.elapsed().as_secs_f64());
            assert_eq!(again, prepared, "every run gives the same bits");
        }
        Ok((seconds, prepared))
    });
    let (seconds, prepared) = seconds?;
    write_npy(out, &prepared)?;
    println!("{{\"seconds\": {seconds:?}}}");
    Ok(())
}
