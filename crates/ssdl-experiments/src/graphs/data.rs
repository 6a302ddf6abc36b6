//! The samples of one column: read, drawn, made noisy, prepared.

use std::path::Path;

use ssdl::graph::Width;
use ssdl::random::{Purpose, normal, substream};
use ssdl::samples::prepare::Pipeline;
use ssdl::samples::split::per_class;
use ssdl::{Labels, Matrix};
use ssdl_data::{Column as Place, ReadOptions};

use super::plan::{Column, Data, Plan};
use crate::{Error, Result};

/// All samples, values from 0 to 1.
pub struct Raw {
    train: (Matrix<f32>, Labels),
    test: (Matrix<f32>, Labels),
    /// $\mu(X^2)$: the mean squared value of the training file.
    power: f64,
}

/// The samples of one column before they are prepared.
pub struct Drawn {
    pub train: Matrix<f32>,
    pub labels: Labels,
    pub test: Matrix<f32>,
    pub test_labels: Labels,
}

/// The samples of one column.
pub struct Problem {
    pub column: Column,
    pub train: Matrix<f32>,
    pub labels: Labels,
    pub test: Matrix<f32>,
    pub test_classes: Vec<usize>,
    /// Mean distance between training samples.
    pub mean_distance: f64,
}

impl Raw {
    /// Reads both files; every sample must have a label.
    pub fn read(data: &Data, folder: &Path) -> Result<Self> {
        let train = read(data, &folder.join(&data.train))?;
        let test = read(data, &folder.join(&data.test))?;
        let values = train.0.as_slice();
        let power = values.iter().map(|v| f64::from(*v).powi(2)).sum::<f64>() / values.len() as f64;
        Ok(Self { train, test, power })
    }

    /// Draws and adds noise.
    pub fn drawn(&self, plan: &Plan, column: Column) -> Result<Drawn> {
        let Data { draw, .. } = plan.data;
        let (samples, labels) = &self.train;
        let n_classes = labels.classes().len();
        if column.labelled < n_classes || !column.labelled.is_multiple_of(n_classes) {
            return Err(Error::Fit(ssdl::Error::Labels(format!(
                "{} labelled samples cannot be divided evenly among {n_classes} classes",
                column.labelled
            ))));
        }
        let chosen = per_class(labels, column.labelled / n_classes, Some(0), 0, draw)?.labelled;
        let deviation = column.noise * self.power;
        let assigned: Vec<Option<usize>> = chosen.iter().map(|&j| labels.assigned()[j]).collect();
        Ok(Drawn {
            train: noisy(samples.select_columns(&chosen), deviation, draw, 0),
            labels: Labels::new(labels.classes().to_vec(), assigned)?,
            test: noisy(self.test.0.clone(), deviation, draw, 1),
            test_labels: self.test.1.clone(),
        })
    }

    /// Draws, adds noise and prepares.
    pub fn problem(&self, plan: &Plan, column: Column) -> Result<Problem> {
        let Drawn { train, labels, test, .. } = self.drawn(plan, column)?;
        let steps = plan.data.steps()?;
        let (pipeline, train) = Pipeline::fit(&steps, train, plan.data.image, plan.data.draw)?;
        let names = self.test.1.assigned().iter().flatten();
        let test_classes = names.map(|&class| self.class_of(class)).collect();
        Ok(Problem {
            column,
            labels,
            mean_distance: Width::Relative(1.0).resolve(&train),
            train,
            test: pipeline.apply(test)?,
            test_classes,
        })
    }

    /// The index of a test class among the training classes; one past the last if unknown.
    fn class_of(&self, test_class: usize) -> usize {
        let (name, known) = (&self.test.1.classes()[test_class], self.train.1.classes());
        known.iter().position(|class| class == name).unwrap_or(known.len())
    }
}

fn read(data: &Data, path: &Path) -> Result<(Matrix<f32>, Labels)> {
    let options = ReadOptions { label_column: Some(Place::Index(0)), ..ReadOptions::default() };
    let table = ssdl_data::read(path, &options)?;
    let labels = Labels::from_names(&table.labels.unwrap_or_default());
    if labels.n_labelled() < table.features.columns() {
        let reason = "not every sample has a label in its first column".to_owned();
        return Err(Error::Plan { path: path.to_owned(), reason });
    }
    let [low, high] = data.range;
    let mut features: Matrix<f32> = table.features.cast();
    for value in features.as_mut_slice() {
        *value = ((f64::from(*value) - low) / (high - low)) as f32;
    }
    Ok((features, labels))
}

fn noisy(mut samples: Matrix<f32>, deviation: f64, seed: u64, part: u32) -> Matrix<f32> {
    if deviation > 0.0 {
        let mut rng = substream(seed, Purpose::Noise, part);
        for value in samples.as_mut_slice() {
            *value += (deviation * normal(&mut rng)) as f32;
        }
    }
    samples
}
