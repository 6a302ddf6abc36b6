//! Methods of other programs in the same plans: nets, which the program `ssdl` does not contain.

use ssdl::methods::FitOptions;
use ssdl::{Matrix, Samples};

use super::{Choice, Plan, Row};
use crate::{Error, Result};

/// A method of another program.
#[derive(Clone, Copy, Debug)]
pub struct Outsider {
    /// Its name in plans.
    pub method: &'static str,
    /// The program.
    pub program: &'static str,
    /// What it is.
    pub title: &'static str,
}

impl Outsider {
    /// Where to find it, for a user who asked this program for it.
    #[must_use]
    pub fn hint(&self, command: &str) -> String {
        let Self { method, program, title } = self;
        format!(
            "`{method}` ({title}) is in a program of its own, `{program}`: build it with `cargo install \
             --path crates/{program}`, then `{program} {command}`"
        )
    }
}

/// The program that fits nets and predicts with them.
pub const PROGRAM_OF_NETS: &str = "ssdl-neural";

/// The methods of other programs that plans may name.
const OUTSIDERS: [Outsider; 2] = [
    Outsider { method: "cnn", program: PROGRAM_OF_NETS, title: "convolutional network" },
    Outsider { method: "ladder", program: PROGRAM_OF_NETS, title: "Ladder network" },
];

/// The method of another program that has this name.
#[must_use]
pub fn find(method: &str) -> Option<&'static Outsider> {
    OUTSIDERS.iter().find(|outsider| outsider.method == method)
}

/// What a method of another program is asked.
pub struct Question<'a> {
    /// The method.
    pub method: &'a str,
    /// The knobs that are set.
    pub knobs: &'a [(String, String)],
    /// Raw training samples, the labelled ones first.
    pub samples: Samples<f32>,
    /// Number of classes.
    pub n_classes: usize,
    /// Seed, threads, preparation and the shape of images.
    pub options: &'a FitOptions<f32>,
    /// Raw samples to classify.
    pub test: Matrix<f32>,
    /// The unlabelled training samples, to classify as well; `None` if there are none.
    pub unlabelled: Option<Matrix<f32>>,
}

/// What it found.
pub struct Known {
    /// The classes of the test samples.
    pub classes: Vec<usize>,
    /// Their probabilities, classes by samples.
    pub probabilities: Matrix<f32>,
    /// The classes of the unlabelled samples.
    pub unlabelled: Vec<usize>,
    /// Seconds to fit.
    pub fit_seconds: f64,
    /// Seconds to predict the test samples.
    pub predict_seconds: f64,
    /// The objective at the end.
    pub objective: f64,
    /// Iterations.
    pub iterations: usize,
    /// Why it stopped.
    pub stop: String,
}

/// A program that fits methods which this one does not contain. Errors are sentences for the user.
pub trait Outside: Sync {
    /// Refuses knobs that the method does not have.
    ///
    /// # Errors
    /// Names the knob.
    fn check(&self, method: &str, knobs: &[(String, String)]) -> std::result::Result<(), String>;

    /// Fits and predicts.
    ///
    /// # Errors
    /// If the fit fails.
    fn answer(&self, question: Question<'_>) -> std::result::Result<Known, String>;
}

/// The runs of a plan that another program fits and that have no rows yet, with their programs.
#[must_use]
pub fn without_rows<'a>(plan: &'a Plan, rows: &[Row]) -> Vec<(&'a str, &'static Outsider)> {
    let has_rows = |name: &str| rows.iter().any(|row| row.run == name);
    let runs = plan.run.iter().filter(|run| !has_rows(&run.name));
    runs.filter_map(|run| Some((run.name.as_str(), run.outsider()?))).collect()
}

/// Refuses a choice of nothing but methods of another program, and names it.
pub(super) fn refuse_alone(plan: &Plan, choice: &Choice) -> Result<()> {
    let wanted = || plan.run.iter().filter(|run| choice.wants(&run.name, &run.method));
    if choice.methods.is_empty() || wanted().any(|run| run.outsider().is_none()) {
        return Ok(());
    }
    match wanted().find_map(|run| Some((run, run.outsider()?))) {
        None => Ok(()),
        Some((run, outsider)) => {
            Err(Error::Outside { name: run.name.clone(), reason: outsider.hint("experiment") })
        }
    }
}
