//! Everything that reads.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use ssdl::samples::prepare::StepChoice;
use ssdl::{AnyModel, Matrix, Real, each_precision, methods};
use ssdl_data::{Column, Format, ReadOptions, read, read_bytes, read_labels_bytes};
use ssdl_experiments::tune::Configuration;
use ssdl_experiments::{AnyPlan, RowFile, comparison, graphs};
use ssdl_label::state::State;
use ssdl_label::{journal, labels_of_journal};

use crate::seeds;

/// One reader, and sound inputs for it.
pub struct Target {
    /// Its name.
    pub name: &'static str,
    run: fn(&[u8]) -> bool,
    make: fn() -> Vec<Vec<u8>>,
    sound: OnceLock<Vec<Vec<u8>>>,
}

impl Target {
    /// Reads one input; whether it was accepted.
    #[must_use]
    pub fn run(&self, input: &[u8]) -> bool {
        (self.run)(input)
    }

    /// The sound inputs.
    pub fn sound(&self) -> &[Vec<u8>] {
        self.sound.get_or_init(self.make)
    }
}

/// All targets.
#[must_use]
pub fn all() -> Vec<Target> {
    let target = |name, run, make| Target { name, run, make, sound: OnceLock::new() };
    vec![
        target("csv", |input| table(input, Format::Csv), seeds::text),
        target("tsv", |input| table(input, Format::Tsv), seeds::text),
        target("text", |input| table(input, Format::Text), seeds::text),
        target("words", words, seeds::words),
        target("npy", |input| table(input, Format::Npy), seeds::npy),
        target("npz", |input| table(input, Format::Npz), seeds::npz),
        target("idx", |input| table(input, Format::Idx), seeds::idx),
        target("mat", |input| table(input, Format::Mat), seeds::mat),
        target("safetensors", |input| table(input, Format::Safetensors), seeds::safetensors),
        target("gzip", packed, seeds::packed),
        target("image", image, seeds::images),
        target("model", model, seeds::models),
        target("plan", plan, seeds::plans),
        target("rows", rows, seeds::rows),
        target("knobs", knobs, seeds::knobs),
        target("journal", journal, seeds::journals),
    ]
}

/// Samples and labels of a file of this format, with options that the input chooses.
fn table(input: &[u8], format: Format) -> bool {
    let chosen = input.len() % 5;
    let options = ReadOptions {
        format: Some(format),
        label_column: match chosen {
            0 => Some(Column::Name("kind".into())),
            1 => Some(Column::Index(-1)),
            2 => Some(Column::Index(0)),
            _ => None,
        },
        label_optional: chosen == 0,
        header: if chosen == 3 { Some(true) } else { None },
        ..ReadOptions::default()
    };
    let path = Path::new("input");
    let labels = read_labels_bytes(path, input.to_vec(), &options);
    let found = read_bytes(path, input.to_vec(), &options);
    let samples = found.as_ref().is_ok_and(|table| table.samples::<f32>().is_ok());
    shown(labels.err());
    shown(found.err());
    samples
}

/// A table with words and gaps, and then the same file as samples to predict, read as the first reading says.
fn words(input: &[u8]) -> bool {
    let chosen = input.len() % 4;
    let options = ReadOptions {
        format: Some([Format::Csv, Format::Csv, Format::Tsv, Format::Text][chosen]),
        label_column: [Some(Column::Name("kind".into())), Some(Column::Index(-1)), None, None]
            [chosen]
            .clone(),
        weight_column: (chosen == 0).then(|| "weight".to_owned()),
        header: if input.len().is_multiple_of(7) { Some(true) } else { None },
        words: chosen != 1,
        fill_gaps: !input.len().is_multiple_of(3),
        ..ReadOptions::default()
    };
    let first = match read_bytes("input", input.to_vec(), &options) {
        Ok(first) => first,
        Err(error) => {
            shown(Some(error));
            return false;
        }
    };
    let width = first.features.rows();
    let known = ReadOptions {
        n_features: Some(width),
        feature_names: first.feature_names.clone(),
        columns: first.columns.clone(),
        label_optional: true,
        weight_column: None,
        ..options
    };
    match read_bytes("input", input.to_vec(), &known) {
        Ok(again) => assert_eq!(again.features.rows(), width, "other features"),
        Err(error) => shown(Some(error)),
    }
    first.samples::<f32>().is_ok()
}

fn packed(input: &[u8]) -> bool {
    let found = read_bytes("input.csv.gz", input.to_vec(), &ReadOptions::default());
    let other = read_bytes("input-idx3.gz", input.to_vec(), &ReadOptions::default());
    shown(other.err());
    found.is_ok()
}

/// A folder of this process, with one file in it.
fn with_file(name: &str, input: &[u8], act: impl FnOnce(&Path) -> bool) -> bool {
    thread_local! {
        static FOLDER: Option<tempfile::TempDir> = tempfile::tempdir().ok();
    }
    FOLDER.with(|folder| {
        let Some(folder) = folder else { return false };
        let inside: PathBuf = folder.path().join(name.replace('.', "-"));
        let path = inside.join(name);
        let written = fs::create_dir_all(&inside).and_then(|()| fs::write(&path, input));
        written.is_ok() && act(&path)
    })
}

fn image(input: &[u8]) -> bool {
    let name = ["x.png", "x.jpg", "x.ppm"][input.len() % 3];
    with_file(name, input, |path| {
        let image = input.len().is_multiple_of(2).then_some([3, 4]);
        let options = ReadOptions { image, ..ReadOptions::default() };
        let found = read(path.parent().unwrap_or(path), &options);
        let accepted = found.is_ok();
        shown(found.err());
        accepted
    })
}

fn model(input: &[u8]) -> bool {
    let found = AnyModel::from_bytes(input);
    let accepted = match &found {
        Ok(model) => each_precision!(model, model => used(model)),
        Err(_) => false,
    };
    shown(found.err());
    accepted
}

/// Uses a model as the commands do.
fn used<T: Real>(model: &ssdl::Model<T>) -> bool {
    let _ = model.transduction();
    let _ = model.explain(&[0]);
    let n_features = model.n_features();
    let new = Matrix::from_fn(n_features, 2, |i, j| T::of(0.1 * (i + j) as f64));
    // Sizes of samples come from the file; its arrays bound them.
    n_features > 1 << 16 || model.predict(new).is_ok()
}

fn plan(input: &[u8]) -> bool {
    let text = String::from_utf8_lossy(input);
    let found = AnyPlan::parse(&text, Path::new("plan.toml"));
    if let Ok(plan) = &found {
        let _ = plan.files(Path::new("data"));
    }
    let accepted = found.is_ok();
    shown(found.err());
    accepted
}

fn rows(input: &[u8]) -> bool {
    with_file("rows.csv", input, |path| {
        let one = RowFile::<comparison::Row>::read(path);
        let other = RowFile::<graphs::Row>::read(path);
        let accepted = one.is_ok() || other.is_ok();
        let _ = one.map(|rows| rows.all().len());
        shown(other.err());
        accepted
    })
}

/// A journal of labels, replayed as the page does and read as `ssdl fit --labels` does.
fn journal(input: &[u8]) -> bool {
    with_file("labels.journal.jsonl", input, |path| {
        // Samples that match some of the answers and not others.
        let hash = |sample| Ok(if sample == 2 { "f0" } else { "f1" }.to_owned());
        shown(labels_of_journal(path, 5, &|_| None, &hash).err());
        match journal::read(path) {
            Err(error) => {
                shown(Some(error));
                false
            }
            Ok(entries) => {
                let state = State::replay(&entries);
                let people: Vec<&str> = entries.iter().map(|entry| entry.person.as_str()).collect();
                for person in people {
                    let _ = (state.next_undo(person), state.next_redo(person));
                }
                for sample in state.answered() {
                    let _ =
                        (state.label(sample), state.is_unusable(sample), state.is_disputed(sample));
                }
                let _ = (state.labels(8), state.counted().count());
                true
            }
        }
    })
}

fn knobs(input: &[u8]) -> bool {
    with_file("knobs.toml", input, |path| match Configuration::read(path) {
        Err(error) => {
            shown(Some(error));
            false
        }
        Ok(found) => {
            let steps: ssdl::Result<Vec<StepChoice>> =
                found.prepare.iter().map(|step| step.parse()).collect();
            let method = methods::find::<f32>(&found.method);
            let checked = method.and_then(|method| method.check(&found.pairs()));
            steps.is_ok() && checked.is_ok()
        }
    })
}

/// Errors are written for users, too: their text is made.
fn shown(error: Option<impl std::fmt::Display>) {
    if let Some(error) = error {
        let _ = ssdl::shown::escaped(&error.to_string()).len();
    }
}
