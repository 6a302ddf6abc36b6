//! The arguments of commands that run many fits: experiments and searches.

use std::path::PathBuf;

use clap::{ArgAction, Args, ValueEnum};
use ssdl::samples::weights::ClassWeight;

use super::values::{count, image, knob, plans_help, prepare_help, seeds};
use super::{Data, DeviceChoice};

/// Run an experiment of the paper, and compare with its numbers
#[derive(Args)]
#[command(after_help = "\
Each fit appends a CSV row to --out. Rows that exist are not run again, so an
interrupted experiment continues where it stopped. `all` runs every plan that
comes with the program, on the data that are there; what is missing is named
with the command that gets it, and the exit code is then 1. --quick runs a
small version with rows of its own: `all --quick` takes some minutes.

Examples:
  ssdl experiment digits --data DATA --seeds 0..2 --methods ssdl-ga,ussdl
  ssdl experiment laplacians --data DATA --quick --report graphs.html
  ssdl experiment all --data DATA --quick --report pages
  ssdl experiment my-plan.toml --data DATA --out my-rows.csv")]
pub struct Experiment {
    #[arg(value_name = "NAME|FILE.toml", help = plans_help())]
    pub name: String,
    /// Folder with the data sets [default: the one `ssdl data path` prints]
    #[arg(long, value_name = "FOLDER")]
    pub data: Option<PathBuf>,
    /// CSV file of the rows; for `all`, a folder of them [default: results/NAME.csv,
    /// results/NAME-quick.csv]
    #[arg(long, value_name = "FILE.csv")]
    pub out: Option<PathBuf>,
    /// Only these seeds, such as 0..5 (without 5) or 3..=3
    #[arg(long, value_name = "FROM..TO", allow_hyphen_values = true, value_parser = seeds)]
    pub seeds: Option<std::ops::Range<u64>>,
    /// Only these runs or methods, separated by commas
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    pub methods: Vec<String>,
    /// Run fits again even if their rows exist
    #[arg(long)]
    pub again: bool,
    /// Run a small version of the plan, as its [quick] says: few seeds, few runs
    #[arg(long)]
    pub quick: bool,
    /// Run nothing; print the tables of the existing rows
    #[arg(long)]
    pub tables: bool,
    /// Run nothing; write the index lists of a comparison of methods into this folder
    #[arg(long, value_name = "FOLDER", conflicts_with_all = ["tables", "report", "methods"])]
    pub splits: Option<PathBuf>,
    /// Print only the first table, the overview
    #[arg(long)]
    pub brief: bool,
    /// Write an HTML report: the tables, curves, and one model in detail; for `all`,
    /// a folder with a page for each plan and an index
    #[arg(long, value_name = "FILE.html")]
    pub report: Option<PathBuf>,
}

/// Search for good knobs by cross-validation on the labels
#[derive(Args)]
#[command(after_help = "\
Cross-validation on the labels: the labels of one fold at a time are hidden, the
samples stay; the score is the share of hidden labels predicted correctly. Each
stage tries every setting on a few folds, then the best quarter of them on all.
Knobs are changed only if they beat the initial ones by two standard errors.
They are printed as TOML and written to --out; use them with `ssdl fit --knobs
FILE`. Knobs given with --set and a preparation given with --prepare are not
searched.

Example:
  ssdl tune digits.csv --label-column label --fits 100 --out knobs.toml
  ssdl fit digits.csv --label-column label --knobs knobs.toml --model m.ssdl")]
pub struct Tune {
    #[command(flatten)]
    pub data: Data,
    /// Method; see `ssdl methods`
    #[arg(long, value_name = "NAME", default_value = "ssdl-ga")]
    pub method: String,
    /// Fix a knob at a value; may be given several times
    #[arg(long, value_name = "KNOB=VALUE", action = ArgAction::Append, value_parser = knob)]
    pub set: Vec<(String, String)>,
    #[arg(long, value_name = "STEP", action = ArgAction::Append, help = prepare_help())]
    pub prepare: Vec<String>,
    /// What makes a setting better: accuracy or log-loss on hidden labels
    #[arg(long, value_name = "CRITERION", default_value = "accuracy", hide_possible_values = true)]
    pub by: By,
    /// How much labels count by class: balanced, or such as a=2,b=1
    #[arg(long, value_name = "WEIGHTS")]
    pub class_weight: Option<ClassWeight>,
    /// Where to compute: cpu, gpu, or auto (a graphics card if there is one)
    #[arg(long, value_name = "NAME", default_value = "cpu", hide_possible_values = true)]
    pub device: DeviceChoice,
    /// Maximum number of fits; one setting takes up to five
    #[arg(long, value_name = "N", default_value_t = 300,
          allow_negative_numbers = true, value_parser = count)]
    pub fits: usize,
    /// Try at least this many settings: the usual ones, then others at random;
    /// --fits must allow for two to three times as many
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = count)]
    pub settings: Option<usize>,
    /// Maximum time in seconds
    #[arg(long, value_name = "SECONDS", allow_negative_numbers = true)]
    pub seconds: Option<f64>,
    /// Height and width of samples that are images, pixels row by row; images in
    /// a folder are resized to it [default: as stored in DATA]
    #[arg(long, value_name = "HEIGHTxWIDTH", value_parser = image)]
    pub image: Option<[usize; 2]>,
    /// File for the knobs, in TOML
    #[arg(long, value_name = "FILE.toml")]
    pub out: Option<PathBuf>,
}

/// What makes a setting better.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum By {
    Accuracy,
    LogLoss,
}
