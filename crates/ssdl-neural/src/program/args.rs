//! The arguments and their help texts.

use std::path::PathBuf;

use clap::{ArgAction, Args, Parser, Subcommand, ValueEnum};

/// Deep nets beside the methods of ssdl: a convolutional and a Ladder network
#[derive(Parser)]
#[command(
    name = "ssdl-neural",
    version,
    max_term_width = 80,
    after_help = "\
Example:
  ssdl-neural fit digits.npy --labels digits.csv --image 28x28 \\
      --method cnn --model digits.net
  ssdl-neural predict digits.net new.npy --out labels.csv --proba
  ssdl-neural experiment digits --data DATA --methods ladder

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
pub struct Common {
    /// Number of threads; 0 means one per core
    #[arg(long, global = true, value_name = "N", default_value_t = 0)]
    pub threads: u16,
    /// Seed for all random choices
    #[arg(long, global = true, value_name = "N", default_value_t = 0)]
    pub seed: u64,
    /// Print results and errors only: no progress, no notes
    #[arg(long, short, global = true)]
    pub quiet: bool,
}

#[derive(Subcommand)]
pub enum Command {
    Fit(Fit),
    Predict(Predict),
    Experiment(Experiment),
    /// List the nets and their knobs
    Methods,
}

/// Where samples and labels are.
#[derive(Args)]
pub struct Data {
    /// Samples: csv, tsv, text, npy, npz, idx, mat or safetensors, also .gz; or a
    /// folder of images: one sub-folder per class, `unlabelled` for the rest
    pub data: PathBuf,
    /// File with one label per sample, in the order of the samples
    #[arg(long, value_name = "FILE", conflicts_with = "label_column")]
    pub labels: Option<PathBuf>,
    /// Column of DATA with the labels: name or position (0 is first, -1 last)
    #[arg(long, value_name = "COLUMN", allow_hyphen_values = true)]
    pub label_column: Option<String>,
}

/// Learn a net from labelled and unlabelled samples
#[derive(Args)]
#[command(after_help = "\
Ctrl-C stops the fit and saves the best net so far; the exit code is 1. A second
Ctrl-C quits at once and saves nothing.")]
pub struct Fit {
    #[command(flatten)]
    pub data: Data,
    /// File to save the net in
    #[arg(long, value_name = "FILE")]
    pub model: PathBuf,
    /// cnn or ladder
    #[arg(long, value_name = "NAME", default_value = "ladder")]
    pub method: String,
    /// Set a knob; may be given several times. profile=authors begins with the
    /// knobs of the authors' scripts
    #[arg(long, value_name = "KNOB=VALUE", action = ArgAction::Append, value_parser = knob)]
    pub set: Vec<(String, String)>,
    /// Preparation step, such as deskew; may be given several times [default: none]
    #[arg(long, value_name = "STEP", action = ArgAction::Append)]
    pub prepare: Vec<String>,
    /// Height and width of samples that are images [default: as stored in DATA]
    #[arg(long, value_name = "HEIGHTxWIDTH", value_parser = image)]
    pub image: Option<[usize; 2]>,
    /// Refuse a fit that needs more bytes than this
    #[arg(long, value_name = "BYTES")]
    pub memory_limit: Option<u64>,
    /// Where to train: cpu, gpu, or auto (a graphics card if there is one)
    #[arg(long, value_name = "NAME", default_value = "cpu", hide_possible_values = true)]
    pub device: DeviceChoice,
    /// Write an HTML report: the objective by epoch, the least certain samples
    #[arg(long, value_name = "FILE.html")]
    pub report: Option<PathBuf>,
}

/// Classify samples with a saved net
#[derive(Args)]
pub struct Predict {
    /// Net saved by `ssdl-neural fit`
    pub model: PathBuf,
    #[command(flatten)]
    pub data: Data,
    /// File for the labels [default: standard output]
    #[arg(long, value_name = "FILE.csv")]
    pub out: Option<PathBuf>,
    /// Add the probability of every class
    #[arg(long)]
    pub proba: bool,
    /// Write an HTML report: mistakes, where labels are known, and the least
    /// certain samples
    #[arg(long, value_name = "FILE.html")]
    pub report: Option<PathBuf>,
}

/// Run the nets of an experiment of ssdl; its rows go where those of `ssdl
/// experiment` are
#[derive(Args)]
#[command(after_help = "\
Rows that exist are not run again, so an interrupted experiment continues where it
stopped. `mnist-100` is the benchmark of the Ladder network with all 60,000 images:
its 150 epochs take more than an hour on a processor, --methods 'Ladder with 6
epochs' some minutes.")]
pub struct Experiment {
    /// Name of a plan, such as digits; or your own plan, a TOML file
    pub name: String,
    /// Folder of the data sets
    #[arg(long, value_name = "FOLDER", env = "SSDL_DATA")]
    pub data: PathBuf,
    /// File of the rows [default: results/NAME.csv, results/NAME-quick.csv]
    #[arg(long, value_name = "FILE.csv")]
    pub out: Option<PathBuf>,
    /// Only these runs or methods
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    pub methods: Vec<String>,
    /// Only these seeds
    #[arg(long, value_name = "SEEDS", value_delimiter = ',')]
    pub seeds: Vec<u64>,
    /// Run rows again that exist
    #[arg(long)]
    pub again: bool,
    /// Run a small version of the plan, as its [quick] says
    #[arg(long)]
    pub quick: bool,
    /// Where to train: cpu, gpu, or auto (a graphics card if there is one)
    #[arg(long, value_name = "NAME", default_value = "cpu", hide_possible_values = true)]
    pub device: DeviceChoice,
}

/// Where nets are trained.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum DeviceChoice {
    Cpu,
    Gpu,
    Auto,
}

fn knob(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((name, value)) if !name.trim().is_empty() => {
            Ok((name.trim().to_owned(), value.trim().to_owned()))
        }
        _ => Err("write it as knob=value, such as epochs=100".into()),
    }
}

fn image(text: &str) -> Result<[usize; 2], String> {
    let sides = text.split_once(['x', 'X']);
    let sides = sides.and_then(|(h, w)| Some([h.trim().parse().ok()?, w.trim().parse().ok()?]));
    sides
        .filter(|sides: &[usize; 2]| sides.iter().all(|side| *side > 0))
        .ok_or_else(|| "write it as HEIGHTxWIDTH, such as 28x28".into())
}
