//! The file of a net: safetensors with one JSON header and a checksum, in the framing of model files.

use std::path::Path;

use serde::{Deserialize, Serialize};
use ssdl::Matrix;
use ssdl::model::{load_arrays, save_arrays};
use ssdl::samples::prepare::{Pipeline, StepChoice};

use crate::net::{Net, Report, Scaling, Shape};
use crate::train::Stop;
use crate::weights::Weight;
use crate::{Error, Result};

/// The name of the format in the header.
const FORMAT: &str = "ssdl-net";
/// The version that is written and read.
const VERSION: u32 = 1;

#[derive(Serialize, Deserialize)]
struct Header {
    format: String,
    version: u32,
    method: String,
    knobs: Vec<(String, String)>,
    classes: Vec<String>,
    prepare: Vec<String>,
    n_features: usize,
    image: Option<[usize; 2]>,
    features: Option<Vec<String>>,
    scaling: Scaling,
    shape: Shape,
    seed: u64,
    report: Report,
}

/// Only what must be known before the rest is read.
#[derive(Deserialize)]
struct Version {
    format: String,
    version: u32,
}

impl Net {
    /// Writes the net; an existing file is replaced only once the new one is complete.
    ///
    /// # Errors
    /// If the folder or the disk does not allow it; the old file is then still there.
    pub fn save(&self, path: &Path) -> Result<()> {
        self.check()?;
        let header = Header {
            format: FORMAT.to_owned(),
            version: VERSION,
            method: self.method.clone(),
            knobs: self.knobs.clone(),
            classes: self.classes.clone(),
            prepare: self.preparation.plans().iter().map(ToString::to_string).collect(),
            n_features: self.preparation.n_features(),
            image: self.image,
            features: self.features.clone(),
            scaling: self.scaling,
            shape: self.shape.clone(),
            seed: self.seed,
            report: self.report.clone(),
        };
        let header = serde_json::to_string(&header).map_err(|error| refuse(path, &error))?;
        let prepare: Vec<Weight> = self.preparation.tensors().into_iter().map(of_matrix).collect();
        let arrays: Vec<&Weight> =
            self.weights.iter().chain(&self.statistics).chain(&prepare).collect();
        Ok(save_arrays(path, &header, &arrays)?)
    }

    /// Reads a net.
    ///
    /// # Errors
    /// If the file cannot be read, is no net, was changed after it was written, has another version, or
    /// its parts do not fit each other.
    pub fn load(path: &Path) -> Result<Self> {
        let (text, mut arrays) = load_arrays(path)?;
        let unreadable =
            |error: serde_json::Error| refuse(path, &format!("its header cannot be read: {error}"));
        let Version { format, version } = serde_json::from_str(&text).map_err(unreadable)?;
        if format != FORMAT {
            return Err(refuse(path, &format!("its header says `{format}`, not `{FORMAT}`")));
        }
        if version != VERSION {
            let reason =
                format!("format version {version}; this program reads {VERSION}: update it");
            return Err(refuse(path, &reason));
        }
        let header: Header = serde_json::from_str(&text).map_err(unreadable)?;
        let preparation = preparation(path, &header, &mut arrays)?;
        let Header {
            method, knobs, classes, image, features, scaling, shape, seed, report, ..
        } = header;
        let image_prepared = preparation.image_prepared();
        if classes.len() < 2 || !shape.fits(preparation.n_prepared(), image_prepared, classes.len())
        {
            return Err(refuse(path, &"its net does not fit its features and classes"));
        }
        if !scaling.is_sound()
            || features.as_ref().is_some_and(|f| f.len() != preparation.n_features())
        {
            return Err(refuse(path, &"its scaling or its names of features are not sound"));
        }
        let weights = weights(path, &shape, &mut arrays)?;
        let stop = [Stop::Limit, Stop::Cancelled, Stop::NotFinite];
        let stop = stop.into_iter().find(|stop| stop.to_string() == report.stop);
        let stop = stop.ok_or_else(|| refuse(path, &"its report has a strange reason to stop"))?;
        let net = Self {
            method,
            knobs,
            classes,
            preparation,
            image,
            scaling,
            shape,
            weights,
            statistics: arrays,
            seed,
            features,
            report,
            stop,
        };
        net.check_statistics(path)?;
        Ok(net)
    }

    /// The names of the features in the file it was fitted on.
    #[must_use]
    pub fn features(&self) -> Option<&[String]> {
        self.features.as_deref()
    }

    /// The same net, with the names of the features in the file it was fitted on.
    #[must_use]
    pub fn named(mut self, features: Option<Vec<String>>) -> Self {
        self.features = features.filter(|names| names.len() == self.preparation.n_features());
        self
    }

    /// Refuses statistics of other layers or widths than the net has.
    fn check_statistics(&self, path: &Path) -> Result<()> {
        let mut expected = self.shape.normalised();
        expected.sort();
        let mut found: Vec<(String, usize)> =
            self.statistics.iter().map(|w| (w.name.clone(), w.values.len())).collect();
        found.sort();
        let is_sound = |weight: &&Weight| {
            !weight.name.starts_with("deviation") || weight.values.iter().all(|value| *value > 0.0)
        };
        if found == expected && self.statistics.iter().all(|weight| is_sound(&weight)) {
            return Ok(());
        }
        Err(refuse(path, &"the statistics of its layers do not fit the net"))
    }
}

fn refuse(path: &Path, reason: &dyn std::fmt::Display) -> Error {
    Error::Format { path: path.to_owned(), reason: reason.to_string() }
}

/// A matrix as an array: samples of a model file are rows, too.
fn of_matrix((name, matrix): (String, Matrix<f32>)) -> Weight {
    let shape = vec![matrix.columns(), matrix.rows()];
    Weight { name, shape, values: matrix.as_slice().to_vec() }
}

/// Takes the arrays of the preparation out of those of the file.
fn preparation(path: &Path, header: &Header, arrays: &mut Vec<Weight>) -> Result<Pipeline<f32>> {
    let plans: ssdl::Result<Vec<StepChoice>> = header.prepare.iter().map(|p| p.parse()).collect();
    let image = header.image.filter(|[h, w]| h.checked_mul(*w) == Some(header.n_features));
    let mut find = |name: &str| {
        let place = arrays.iter().position(|array| array.name == name)?;
        let Weight { shape, values, .. } = arrays.swap_remove(place);
        match shape[..] {
            [columns, rows] => Matrix::from_columns(rows, columns, values),
            _ => None,
        }
    };
    plans
        .and_then(|plans| Pipeline::restore(&plans, header.n_features, image, &mut find))
        .map_err(|error| refuse(path, &error))
}

/// Takes the weights of the net out of the arrays of the file, in its order.
fn weights(path: &Path, shape: &Shape, arrays: &mut Vec<Weight>) -> Result<Vec<Weight>> {
    let mut weights = Vec::new();
    for planned in shape.planned() {
        let place = arrays.iter().position(|array| array.name == planned.name);
        let found = place.map(|place| arrays.swap_remove(place));
        match found.filter(|found| found.shape == planned.shape) {
            Some(found) => weights.push(found),
            None => {
                let name = &planned.name;
                return Err(refuse(path, &format!("`{name}` is missing or has another shape")));
            }
        }
    }
    Ok(weights)
}
