//! The arguments and their help texts.

mod labelling;
mod studies;
mod values;

pub use labelling::Label;
pub use studies::{By, Experiment, Tune};

use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::OnceLock;

use clap::{ArgAction, Args, CommandFactory, FromArgMatches, Parser, Subcommand, ValueEnum};
use ssdl::samples::weights::ClassWeight;
use ssdl_data::{Column, Format};

use crate::memory;
use values::{column, count, formats, image, knob, prepare_help, seed};

/// Classify with few labels: dictionaries learnt from labelled and unlabelled samples
#[derive(Parser)]
#[command(
    name = "ssdl",
    version,
    max_term_width = 80,
    after_help = "\
Example:
  ssdl demo
  ssdl fit flowers.csv --label-column kind --model flowers.ssdl
  ssdl predict flowers.ssdl new.csv --out labels.csv

Exit codes: 0 success, 1 failed or interrupted, 2 wrong usage."
)]
pub struct Cli {
    #[command(subcommand)]
    pub command: Command,
    #[command(flatten)]
    pub common: Common,
}

/// Options that every command accepts.
#[derive(Args)]
#[command(next_help_heading = "Options of every command")]
pub struct Common {
    /// Print one JSON object instead of tables
    #[arg(long, global = true)]
    pub json: bool,
    /// Number of threads; 0 means one per core. Does not change the results
    #[arg(long, global = true, value_name = "N", default_value_t = 0,
          allow_negative_numbers = true, value_parser = clap::value_parser!(u16).range(0..=1024))]
    pub threads: u16,
    /// Seed for all random choices
    #[arg(long, global = true, value_name = "N", default_value_t = 0,
          allow_negative_numbers = true, value_parser = seed)]
    pub seed: u64,
    /// Print results and errors only: no progress, no notes
    #[arg(long, short, global = true)]
    pub quiet: bool,
}

#[derive(Subcommand)]
pub enum Command {
    Demo(Demo),
    Fit(Box<Fit>),
    Label(Box<Label>),
    Predict(Predict),
    Inspect(Inspect),
    Atoms(Atoms),
    Graph(Graph),
    Methods(Methods),
    Experiment(Experiment),
    Tune(Tune),
    Data(DataSets),
    Licences(Licences),
}

/// Learn handwritten digits from ten labels per class; compare with baselines
#[derive(Args)]
#[command(after_help = "\
Uses the 1797 digits that come with the program. Writes digits-report.html (open
it in a browser), digits.ssdl (the model), digits-atoms.png (its atoms), and the
samples for your own trials: digits-train.csv and digits-test.csv.

Example:
  ssdl demo --out demo")]
pub struct Demo {
    /// Folder for the files; created if missing
    #[arg(long, value_name = "FOLDER", default_value = ".")]
    pub out: PathBuf,
}

/// Where samples and labels are.
#[derive(Args)]
pub struct Data {
    /// Samples: csv, tsv, text, npy, npz, idx, mat or safetensors, also .gz; or a
    /// folder of images: one sub-folder per class, `unlabelled` for the rest
    pub data: PathBuf,
    /// File with one label per sample, in the order of the samples; or the journal
    /// of `ssdl label`
    #[arg(long, value_name = "FILE")]
    pub labels: Option<PathBuf>,
    /// Column of DATA with the labels: name or position (0 is first, -1 last)
    #[arg(long, value_name = "COLUMN", allow_hyphen_values = true, value_parser = column)]
    pub label_column: Option<Column>,
    /// Name of the column of DATA with the weight of each sample; it is no feature.
    /// A fit leaves out samples of weight 0
    #[arg(long, value_name = "NAME")]
    pub weight_column: Option<String>,
    /// Column of DATA that is no feature, such as the number of a row: name or position;
    /// may be repeated
    #[arg(long, value_name = "COLUMN", allow_hyphen_values = true, value_parser = column)]
    pub ignore_column: Vec<Column>,
    /// Text that means "unlabelled" [default: empty, -1, nan and NA]
    #[arg(long, value_name = "MARK", allow_hyphen_values = true)]
    pub unlabelled: Option<String>,
    /// Format of DATA [default: from its name, then its first bytes]
    #[arg(long, value_parser = formats(), hide_possible_values = true)]
    pub format: Option<Format>,
    /// Make features of columns of words: one of 0 and 1 for each word
    #[arg(long)]
    pub words: bool,
    /// Fill gaps among the numbers of a text table (empty cells, NA, N/A, nan, null, ?)
    /// with the median of their column. The model fills gaps in new samples with the
    /// same values
    #[arg(long)]
    pub fill_gaps: bool,
    /// Whether the first line of a text file is a header [default: guessed]
    #[arg(long, value_name = "yes|no", hide_possible_values = true)]
    pub header: Option<Answer>,
    /// Name of the array with the samples, in an npz, mat or safetensors file
    #[arg(long, value_name = "NAME")]
    pub array: Option<String>,
    /// Let compressed data unpack to this much [default: 200 times its size, at
    /// least 64 MiB]
    #[arg(long, value_name = "SIZE", allow_negative_numbers = true, value_parser = memory::parse)]
    pub unpack_limit: Option<u64>,
}

/// Learn a model from labelled and unlabelled samples
#[derive(Args)]
#[command(after_help = "\
Labels come from --labels, --label-column, DATA itself (npz, mat, safetensors)
or the sub-folders of a folder of images. Ctrl-C (or SIGTERM) before the first
iteration ends the fit at once and saves nothing; from then on it stops after
the current step and saves the model so far. The exit code is 1. A second Ctrl-C
quits at once and saves nothing.

Examples:
  ssdl fit flowers.csv --label-column kind --model flowers.ssdl
  ssdl fit digits.npy --labels digits.csv --model digits.ssdl \\
      --set n_atoms=300 --set sparsity=0.2 --image 28x28 --trace trace.csv
  ssdl fit digits.npy --labels digits.csv --model digits.ssdl --image 28x28 \\
      --prepare 'join=[deskew,gradients=9/4/2 | deskew]' --prepare scale=5
  ssdl fit images/ --model images.ssdl --image 32x32 --report images.html

`ssdl methods ssdl-ga` explains the knobs, `ssdl methods` the preparation.")]
pub struct Fit {
    #[command(flatten)]
    pub data: Data,
    /// File to save the model in
    #[arg(long, value_name = "FILE")]
    pub model: PathBuf,
    /// Method; see `ssdl methods`. `auto` is the first choice on a table
    #[arg(long, value_name = "NAME", default_value = "ssdl-ga")]
    pub method: String,
    /// Set a knob of the method; may be given several times
    #[arg(long, value_name = "KNOB=VALUE", action = ArgAction::Append, value_parser = knob)]
    pub set: Vec<(String, String)>,
    /// Use method, preparation and knobs found by `ssdl tune`; --set overrides them
    #[arg(long, value_name = "FILE.toml", conflicts_with_all = ["prepare", "method"])]
    pub knobs: Option<PathBuf>,
    #[arg(long, value_name = "STEP", action = ArgAction::Append, help = prepare_help())]
    pub prepare: Vec<String>,
    /// How much labels count by class: balanced, or such as a=2,b=1
    #[arg(long, value_name = "WEIGHTS")]
    pub class_weight: Option<ClassWeight>,
    /// Use this graph: lines `sample,sample,weight` (counted from 0), or a square array
    #[arg(long, value_name = "FILE")]
    pub graph: Option<PathBuf>,
    /// Write the objective after every step as CSV
    #[arg(long, value_name = "FILE")]
    pub trace: Option<PathBuf>,
    /// Write an HTML report: mistakes, atoms, the least certain samples, explanations.
    /// Compares methods by cross-validation on the labels: about twenty more fits
    #[arg(long, value_name = "FILE.html")]
    pub report: Option<PathBuf>,
    /// Number type; single is as accurate here, faster and uses less memory
    #[arg(long, default_value = "single")]
    pub precision: Precision,
    /// Refuse a fit that needs more memory than this, such as 2GB
    #[arg(long, value_name = "SIZE", allow_negative_numbers = true, value_parser = memory::parse)]
    pub memory_limit: Option<u64>,
    /// Keep the samples in a file in FOLDER, not in memory, once the graph is built
    #[arg(long, value_name = "FOLDER")]
    pub scratch: Option<PathBuf>,
    /// Where to compute: cpu, gpu, or auto (a graphics card if there is one)
    #[arg(long, value_name = "NAME", default_value = "cpu", hide_possible_values = true)]
    pub device: DeviceChoice,
    /// Height and width of samples that are images, pixels row by row; images in
    /// a folder are resized to it [default: as stored in DATA]
    #[arg(long, value_name = "HEIGHTxWIDTH", value_parser = image)]
    pub image: Option<[usize; 2]>,
    /// Whether probabilities are calibrated, by three more fits with labels hidden;
    /// `no` is several times as fast
    #[arg(long, value_name = "yes|no", default_value = "yes", hide_possible_values = true)]
    pub calibrate: Answer,
}

/// Classify samples with a saved model
#[derive(Args)]
#[command(after_help = "\
If DATA or --labels has labels, the accuracy is reported too.

Examples:
  ssdl predict flowers.ssdl new.csv --out labels.csv --proba
  ssdl predict flowers.ssdl test.csv --label-column kind --out -")]
pub struct Predict {
    /// Model saved by `ssdl fit`
    pub model: PathBuf,
    #[command(flatten)]
    pub data: Data,
    /// CSV file for the predicted labels; `-` means stdout [default: stdout]
    #[arg(long, value_name = "FILE")]
    pub out: Option<PathBuf>,
    /// Add the probability of every class
    #[arg(long)]
    pub proba: bool,
    /// Write the sparse codes as a NumPy array, one row per sample
    #[arg(long, value_name = "FILE.npy")]
    pub codes: Option<PathBuf>,
    /// Write an HTML report: mistakes, the least certain samples, explanations
    #[arg(long, value_name = "FILE.html")]
    pub report: Option<PathBuf>,
    /// Where to compute: cpu, gpu, or auto (a graphics card if there is one)
    #[arg(long, value_name = "NAME", default_value = "cpu", hide_possible_values = true)]
    pub device: DeviceChoice,
}

/// Show what is in a model, or explain its prediction for a sample
#[derive(Args)]
#[command(after_help = "\
Examples:
  ssdl inspect digits.ssdl
  ssdl inspect digits.ssdl --sample 3 --svg sample.svg
  ssdl inspect digits.ssdl --report digits.html")]
pub struct Inspect {
    /// Model saved by `ssdl fit`
    pub model: PathBuf,
    /// Explain this training sample (counted from 0): its classes, atoms, neighbours
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = count)]
    pub sample: Option<usize>,
    /// Draw the explanation to a file
    #[arg(long, value_name = "FILE.svg", requires = "sample")]
    pub svg: Option<PathBuf>,
    /// Write an HTML report of the model file
    #[arg(long, value_name = "FILE.html", conflicts_with = "sample")]
    pub report: Option<PathBuf>,
}

/// Draw the atoms of a model, as images or as bars
#[derive(Args)]
#[command(after_help = "\
Atoms are drawn as images if the samples are images, else as bars. Each class
starts a new line; the atoms that raise its score most come first.

Examples:
  ssdl atoms digits.ssdl --png atoms.png
  ssdl atoms flowers.ssdl --svg atoms.svg")]
pub struct Atoms {
    /// Model saved by `ssdl fit`
    pub model: PathBuf,
    /// Bitmap image
    #[arg(long, value_name = "FILE.png", required_unless_present = "svg")]
    pub png: Option<PathBuf>,
    /// Vector drawing, with the names of the classes
    #[arg(long, value_name = "FILE.svg", required_unless_present = "png")]
    pub svg: Option<PathBuf>,
}

/// Describe the graph between samples
#[derive(Args)]
#[command(after_help = "\
Labels are optional; with labels, the share of edges between samples of the
same class is shown too. Knobs: graph (lle, heat, threshold, learnt or
expressive), n_neighbors, neighbours, width, percentile, smoothness,
self_sparsity, normalise_trace.

Examples:
  ssdl graph flowers.csv --label-column kind
  ssdl graph digits.npy --labels digits.csv --set graph=heat --set width=0.5x")]
pub struct Graph {
    #[command(flatten)]
    pub data: Data,
    /// Set a knob of the graph; may be given several times
    #[arg(long, value_name = "KNOB=VALUE", action = ArgAction::Append, value_parser = knob)]
    pub set: Vec<(String, String)>,
    #[arg(long, value_name = "STEP", action = ArgAction::Append, help = prepare_help())]
    pub prepare: Vec<String>,
    /// Use this graph: lines `sample,sample,weight` (counted from 0), or a square array
    #[arg(long, value_name = "FILE")]
    pub graph: Option<PathBuf>,
    /// Height and width of samples that are images, pixels row by row; images in
    /// a folder are resized to it [default: as stored in DATA]
    #[arg(long, value_name = "HEIGHTxWIDTH", value_parser = image)]
    pub image: Option<[usize; 2]>,
}

/// List the methods, or explain one with its knobs
#[derive(Args)]
#[command(after_help = "Examples:\n  ssdl methods\n  ssdl methods ssdl-ga")]
pub struct Methods {
    /// Method to explain
    pub name: Option<String>,
    /// Print the reference of all methods as Markdown
    #[arg(long, conflicts_with = "name")]
    pub markdown: bool,
}

/// List and download the known data sets
#[derive(Args)]
#[command(after_help = "\
Data sets are kept in the folder named by the environment variable SSDL_DATA, or
else in the user's cache. An interrupted download continues where it stopped, and
a file is accepted only if its SHA-256 matches.

Examples:
  ssdl data list
  ssdl data get usps mnist
  ssdl experiment digits --seeds 0..1")]
pub struct DataSets {
    #[command(subcommand)]
    pub action: DataAction,
}

#[derive(Subcommand)]
pub enum DataAction {
    /// Show the known data sets, their sources, and which are downloaded
    List,
    /// Download data sets
    Get {
        /// Names, as `ssdl data list` shows them
        #[arg(required = true, value_name = "NAME")]
        names: Vec<String>,
    },
    /// Print the folder of all data sets, or of a single one
    Path {
        /// Name of a data set
        #[arg(value_name = "NAME")]
        name: Option<String>,
    },
}

/// Print the licences of ssdl and of the libraries in it
#[derive(Args)]
pub struct Licences {
    /// Print the whole text of each licence
    #[arg(long)]
    pub full: bool,
}

/// An answer to a question about a file.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Answer {
    Yes,
    No,
}

/// The number type of a fit.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Precision {
    Single,
    Double,
}

/// Where the heavy steps run.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum DeviceChoice {
    Cpu,
    Gpu,
    Auto,
}

/// Every command, in the order of the help.
pub const COMMANDS: [&str; 12] = [
    "demo",
    "fit",
    "label",
    "predict",
    "inspect",
    "atoms",
    "graph",
    "methods",
    "experiment",
    "tune",
    "data",
    "licences",
];

/// The command line as a user writes it, or why it is wrong.
pub fn parse(words: &[OsString]) -> Result<Cli, clap::Error> {
    Cli::from_arg_matches(&command().try_get_matches_from(words)?)
}

/// Predictions read samples as the model says: what they refuse is not in their help.
fn command() -> clap::Command {
    Cli::command().mut_subcommand("predict", |predict| {
        ["words", "fill_gaps"]
            .into_iter()
            .fold(predict, |predict, name| predict.mut_arg(name, |option| option.hide(true)))
    })
}

static WORDS: OnceLock<Vec<OsString>> = OnceLock::new();

/// Keeps the command line; the first one counts.
pub fn remember(words: Vec<OsString>) {
    let _ = WORDS.set(words);
}

/// The words of the command line, the program's name first. Inside another program, which Python is,
/// they are not those of the process.
pub fn words() -> &'static [OsString] {
    WORDS.get().map_or(&[], Vec::as_slice)
}

/// The message for a missing command, of the program or of `ssdl data`.
pub fn missing_command() -> String {
    let has = |name: &str| words().iter().skip(1).any(|word| word == name);
    if has("data") {
        return "a command is missing: list, get, path; see `ssdl data --help`".into();
    }
    format!("a command is missing: {}; see `ssdl --help`", COMMANDS.join(", "))
}

/// The message of clap in one line instead of several.
pub fn in_one_line(error: &clap::Error) -> String {
    let text = error.render().to_string();
    let lines = text.lines().map(str::trim).take_while(|line| !line.starts_with("Usage:"));
    // The tip on how to pass an option as a value would confuse a user who mistyped an option.
    let noise =
        |line: &str| ["For more", "tip: to pass"].iter().any(|start| line.starts_with(start));
    let mut message = String::new();
    for line in lines.filter(|line| !line.is_empty() && !noise(line)) {
        let joint = match message.chars().last() {
            None => "",
            Some(':' | '>') => " ",
            Some(_) if line.starts_with('[') => " ",
            Some(_) => "; ",
        };
        message += joint;
        message += line.strip_prefix("error: ").unwrap_or(line);
    }
    let command = words()
        .get(1)
        .and_then(|name| name.to_str())
        .filter(|name| COMMANDS.contains(name))
        .map(|name| format!(" {name}"))
        .unwrap_or_default();
    format!("{message}; see `ssdl{command} --help`")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_arguments_are_consistent() {
        command().debug_assert();
        let names: Vec<String> =
            Cli::command().get_subcommands().map(|c| c.get_name().to_owned()).collect();
        assert_eq!(names, COMMANDS);
    }
}
