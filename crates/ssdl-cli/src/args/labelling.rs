//! The arguments of `ssdl label`.

use std::path::PathBuf;

use clap::Args;
use ssdl_data::{Column, Format};

use super::Answer;
use super::values::{column, formats, image};

/// Label samples on a page in the browser while a model learns from every answer
#[derive(Args)]
#[command(after_help = "\
Prints an address and opens it. Every answer stands in a journal beside the
labels (labels.journal.jsonl) before the page says it is saved; run the command
again to go on. Ctrl-C ends the server and writes the labels. DATA is never
changed.

With --listen others can label, too: each of --people gets an address of their
own. Whoever has an address can label; the connection is not encrypted.

Examples:
  ssdl label --demo
  ssdl label photos/ --labels photos.csv --classes cat,dog
  ssdl label digits.npy --image 28x28 --labels digits.csv --model digits.ssdl
  ssdl label rows.csv --label-column kind --labels kinds.csv
  ssdl label photos/ --listen 0.0.0.0:8080 --people ada,ben --overlap 0.1
  ssdl fit photos/ --image 32x32 --labels photos.journal.jsonl \\
      --model photos.ssdl")]
pub struct Label {
    /// Samples, as `ssdl fit` takes them, or a folder of images of any size
    #[arg(required_unless_present = "demo", conflicts_with = "demo")]
    pub data: Option<PathBuf>,
    /// File for the labels, one per sample; labels that are in it are kept
    /// [default: labels.csv, with --demo digits-labels.csv]
    #[arg(long, value_name = "FILE")]
    pub labels: Option<PathBuf>,
    /// Column of DATA with the labels that are known: name or position (0 is first,
    /// -1 last)
    #[arg(long, value_name = "COLUMN", allow_hyphen_values = true, value_parser = column)]
    pub label_column: Option<Column>,
    /// Column of DATA that is no feature: name or position; may be repeated
    #[arg(long, value_name = "COLUMN", allow_hyphen_values = true, value_parser = column)]
    pub ignore_column: Vec<Column>,
    /// Names of the classes; more can be typed in the page
    #[arg(long, value_name = "A,B,C", value_delimiter = ',')]
    pub classes: Vec<String>,
    /// File for the model [default: beside the labels]
    #[arg(long, value_name = "FILE")]
    pub model: Option<PathBuf>,
    /// Label the 1797 digits that come with the program
    #[arg(long)]
    pub demo: bool,
    /// Height and width of samples that are images, pixels row by row; the model
    /// sees the images of a folder in this size [default: at most 32x32]
    #[arg(long, value_name = "HEIGHTxWIDTH", value_parser = image)]
    pub image: Option<[usize; 2]>,
    /// Address for several people, such as 0.0.0.0:8080 [default: this machine only]
    #[arg(long, value_name = "ADDRESS")]
    pub listen: Option<String>,
    /// Who labels: one address is printed for each [default: you]
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    pub people: Vec<String>,
    /// Share of the samples that two people label, to see how far they agree
    #[arg(
        long,
        value_name = "SHARE",
        default_value_t = 0.0,
        requires = "people",
        allow_negative_numbers = true
    )]
    pub overlap: f64,
    /// Do not open a browser
    #[arg(long)]
    pub no_browser: bool,
    /// Format of DATA [default: from its name, then its first bytes]
    #[arg(long, value_parser = formats(), hide_possible_values = true)]
    pub format: Option<Format>,
    /// Make features of columns of words: one of 0 and 1 for each word
    #[arg(long)]
    pub words: bool,
    /// Fill gaps among the numbers of a text table with the median of their column
    #[arg(long)]
    pub fill_gaps: bool,
    /// Whether the first line of a text file is a header [default: guessed]
    #[arg(long, value_name = "yes|no", hide_possible_values = true)]
    pub header: Option<Answer>,
    /// Name of the array with the samples, in an npz, mat or safetensors file
    #[arg(long, value_name = "NAME")]
    pub array: Option<String>,
}
