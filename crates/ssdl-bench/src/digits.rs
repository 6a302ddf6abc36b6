//! The digit data sets, and the splits of the published runs that index them.

use std::fs::{self, File};
use std::io::Read;
use std::path::Path;

use flate2::read::GzDecoder;
use serde_json::{Map, Value};
use xtask::outcome::{Outcome, While};

/// Samples in the row order that the split files index, pixels in [0, 1].
pub struct Digits {
    n_features: usize,
    pixels: Vec<f64>,
    /// The class name of every sample.
    pub classes: Vec<String>,
}

/// One published run: which samples were labelled, unlabelled and tested, and what was scored.
pub struct Split {
    pub seed: i64,
    pub labelled: Vec<usize>,
    pub unlabelled: Vec<usize>,
    pub test: Vec<usize>,
    pub listed_test: Option<f64>,
    pub listed_unlabelled: Option<f64>,
}

/// The splits of one data set and the settings they were run with.
pub struct Splits {
    pub knobs: Map<String, Value>,
    pub runs: Vec<Split>,
}

impl Digits {
    /// Reads `usps` or `mnist`; at least the first `rows` samples.
    pub fn load(name: &str, data: &Path, rows: usize) -> Outcome<Self> {
        match name {
            "usps" => Self::usps(&data.join("usps")),
            "mnist" => Self::mnist(&data.join("mnist"), rows),
            other => Err(format!("there is no data set '{other}'").into()),
        }
    }

    fn usps(folder: &Path) -> Outcome<Self> {
        let text = unpack_text(&folder.join("zip.train.gz"))?
            + "\n"
            + &unpack_text(&folder.join("zip.test.gz"))?;
        let (mut pixels, mut classes) = (Vec::new(), Vec::new());
        for line in text.lines().filter(|line| !line.trim().is_empty()) {
            let numbers: Vec<f64> = line
                .split_whitespace()
                .map(str::parse)
                .collect::<Result<_, _>>()
                .during(|| "a line of USPS")?;
            classes.push(format!("{}", numbers[0]));
            pixels.extend(numbers[1..].iter().map(|value| f64::midpoint(*value, 1.0)));
        }
        Self::new(256, pixels, classes)
    }

    fn mnist(folder: &Path, rows: usize) -> Outcome<Self> {
        let images = unpack(&folder.join("train-images-idx3-ubyte.gz"), 16 + rows * 784)?;
        let labels = unpack(&folder.join("train-labels-idx1-ubyte.gz"), 8 + rows)?;
        let pixels = images.iter().skip(16).map(|&value| f64::from(value) / 255.0).collect();
        Self::new(784, pixels, labels.iter().skip(8).map(u8::to_string).collect())
    }

    fn new(n_features: usize, pixels: Vec<f64>, classes: Vec<String>) -> Outcome<Self> {
        if pixels.len() != n_features * classes.len() {
            let got = pixels.len();
            return Err(
                format!("{} labels but {got} pixels: a file is damaged", classes.len()).into()
            );
        }
        Ok(Self { n_features, pixels, classes })
    }

    /// Height and width as the program takes them; the digits are squares.
    pub fn shape(&self) -> String {
        let side = self.n_features.isqrt();
        format!("{side}x{side}")
    }

    /// One sample.
    pub fn row(&self, index: usize) -> &[f64] {
        &self.pixels[index * self.n_features..][..self.n_features]
    }

    /// The class names of the samples listed.
    pub fn classes_of(&self, indices: &[usize]) -> Vec<String> {
        indices.iter().map(|&index| self.classes[index].clone()).collect()
    }
}

impl Splits {
    /// Reads `<name>.json` from the reference folder.
    pub fn load(name: &str, reference: &Path) -> Outcome<Self> {
        let path = reference.join(format!("{name}.json"));
        let text = fs::read_to_string(&path).during(|| path.display().to_string())?;
        Self::parse(&text).during(|| path.display().to_string())
    }

    fn parse(text: &str) -> Outcome<Self> {
        let file: Value = serde_json::from_str(text)?;
        let knobs = file["knobs"].as_object().ok_or("there are no knobs")?.clone();
        let runs = file["runs"].as_array().ok_or("there are no runs")?;
        Ok(Self { knobs, runs: runs.iter().map(Split::parse).collect::<Outcome<_>>()? })
    }

    /// One more than the largest sample index any run uses.
    pub fn rows(&self) -> usize {
        let lists = self.runs.iter().flat_map(|run| [&run.labelled, &run.unlabelled, &run.test]);
        lists.flatten().max().map_or(0, |last| last + 1)
    }
}

impl Split {
    fn parse(run: &Value) -> Outcome<Self> {
        let listed = &run["reference"];
        Ok(Self {
            seed: run["seed"].as_i64().ok_or("a run has no seed")?,
            labelled: indices(run, "labelled")?,
            unlabelled: indices(run, "unlabelled")?,
            test: indices(run, "test")?,
            listed_test: listed["test_accuracy"].as_f64(),
            listed_unlabelled: listed["unlabelled_accuracy"].as_f64(),
        })
    }
}

fn indices(run: &Value, key: &str) -> Outcome<Vec<usize>> {
    let list = run[key].as_array().ok_or_else(|| format!("a run has no list '{key}'"))?;
    list.iter()
        .map(|index| index.as_u64().map(|index| index as usize))
        .collect::<Option<_>>()
        .ok_or_else(|| format!("'{key}' holds something that is no index").into())
}

/// Of the first `n` samples, the first `per_class` of each class, and the rest.
pub fn first_of_each_class(
    classes: &[String],
    n: usize,
    per_class: usize,
) -> (Vec<usize>, Vec<usize>) {
    let mut taken: Vec<(&str, usize)> = Vec::new();
    (0..n.min(classes.len())).partition(|&index| {
        let class = classes[index].as_str();
        let place = taken.iter().position(|(name, _)| *name == class).unwrap_or_else(|| {
            taken.push((class, 0));
            taken.len() - 1
        });
        taken[place].1 += 1;
        taken[place].1 <= per_class
    })
}

fn unpack(path: &Path, limit: usize) -> Outcome<Vec<u8>> {
    let file = File::open(path).during(|| path.display().to_string())?;
    let mut bytes = Vec::new();
    GzDecoder::new(file)
        .take(limit as u64)
        .read_to_end(&mut bytes)
        .during(|| path.display().to_string())?;
    Ok(bytes)
}

fn unpack_text(path: &Path) -> Outcome<String> {
    String::from_utf8(unpack(path, usize::MAX)?).during(|| path.display().to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_samples_of_each_class_are_labelled() {
        let classes: Vec<String> = "0110210".chars().map(String::from).collect();
        assert_eq!(first_of_each_class(&classes, 6, 1), (vec![0, 1, 4], vec![2, 3, 5]));
        assert_eq!(first_of_each_class(&classes, 99, 2).1, vec![5, 6]);
    }

    #[test]
    fn splits_are_read_with_what_was_listed() {
        let text = r#"{"knobs": {"n_atoms": 200, "sparsity": 0.3}, "runs": [
            {"seed": 4, "labelled": [3, 1], "unlabelled": [8], "test": [2],
             "reference": {"test_accuracy": 0.9}}]}"#;
        let splits = Splits::parse(text).expect("the text is whole");
        assert_eq!(splits.rows(), 9);
        assert_eq!(splits.runs[0].labelled, [3, 1]);
        assert_eq!(splits.runs[0].listed_test, Some(0.9));
        assert_eq!(splits.runs[0].listed_unlabelled, None);
        assert!(Splits::parse(r#"{"knobs": {}, "runs": [{"seed": 1}]}"#).is_err());
    }

    #[test]
    fn rows_and_classes_are_taken_by_index() {
        let classes = vec!["a".to_owned(), "b".to_owned()];
        let digits = Digits::new(2, vec![0.0, 0.5, 1.0, 0.25], classes).expect("sizes agree");
        assert_eq!(digits.row(1), [1.0, 0.25]);
        assert_eq!(digits.shape(), "1x1");
        assert_eq!(digits.classes_of(&[1, 0, 1]), ["b", "a", "b"]);
        assert!(Digits::new(3, vec![0.0; 4], vec!["a".to_owned()]).is_err());
    }
}
