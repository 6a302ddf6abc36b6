//! What is labelled: the images of a folder, read one by one, or a table in memory.

use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};
use ssdl::Matrix;
use ssdl::model::Naming;
use ssdl_data::{Images, Table};

use crate::{Error, Result};

/// Largest side to which the images of a folder are shrunk for the model, unless the user says.
const LEARNT_SIDE: usize = 32;
/// Maximum number of bytes of an image file that is sent to a page.
const MOST_BYTES: u64 = 64 << 20;

/// What is labelled.
pub struct Material {
    kind: Kind,
    /// Where it comes from.
    pub path: PathBuf,
    /// Height and width of what the model sees, if samples are images.
    pub image: Option<[usize; 2]>,
    /// The lowest and the highest value, for pictures of arrays.
    range: (f64, f64),
    /// Mean and standard deviation of each feature of a table.
    spread: Vec<(f64, f64)>,
}

enum Kind {
    Images(Images),
    Table(Table),
}

/// One feature of a sample that is a row.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct Feature {
    /// Its name.
    pub name: String,
    /// Its value.
    pub value: f64,
    /// Standard deviations from the mean.
    pub far: f64,
}

impl Material {
    /// The images of a folder; the model sees them in this size.
    ///
    /// # Errors
    /// If no image can be read.
    pub fn of_images(path: &Path, images: Images, size: Option<[usize; 2]>) -> Result<Self> {
        let image = match size {
            Some(size) => size,
            None => {
                let sides = (0..images.len().min(20)).find_map(|at| images.grey(at, None).ok());
                let Some((_, sides)) = sides else {
                    images.grey(0, None)?;
                    return Err(Error::Refused(format!("{}: no images in it", path.display())));
                };
                sides.map(|side| side.min(LEARNT_SIDE))
            }
        };
        let kind = Kind::Images(images);
        Ok(Self {
            kind,
            path: path.to_owned(),
            image: Some(image),
            range: (0.0, 1.0),
            spread: Vec::new(),
        })
    }

    /// A table; `image` is the shape of its samples, if they are images.
    #[must_use]
    pub fn of_table(path: &Path, table: Table, image: Option<[usize; 2]>) -> Self {
        let values = table.features.as_slice();
        let range = values
            .iter()
            .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), &v| (low.min(v), high.max(v)));
        let spread = if image.is_some() { Vec::new() } else { spread(&table.features) };
        Self { kind: Kind::Table(table), path: path.to_owned(), image, range, spread }
    }

    /// How many samples there are.
    #[must_use]
    pub fn len(&self) -> usize {
        match &self.kind {
            Kind::Images(images) => images.len(),
            Kind::Table(table) => table.features.columns(),
        }
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The name of a sample, where samples have names.
    #[must_use]
    pub fn name(&self, sample: usize) -> Option<&str> {
        match &self.kind {
            Kind::Images(images) => Some(images.name(sample)),
            Kind::Table(table) => table.sample_names.as_ref().map(|names| names[sample].as_str()),
        }
    }

    /// The name of a sample, or else its number.
    #[must_use]
    pub fn shown_name(&self, sample: usize) -> String {
        self.name(sample).map_or_else(|| format!("sample {sample}"), str::to_owned)
    }

    /// Names of the features, where they have some.
    #[must_use]
    pub fn feature_names(&self) -> Option<&[String]> {
        match &self.kind {
            Kind::Images(_) => None,
            Kind::Table(table) => table.feature_names.as_deref(),
        }
    }

    /// What a model should know of the columns of a table.
    #[must_use]
    pub fn naming(&self) -> Naming {
        match &self.kind {
            Kind::Images(_) => Naming::default(),
            Kind::Table(table) => table.naming(),
        }
    }

    /// The file of a sample, where it has one.
    #[must_use]
    pub fn file(&self, sample: usize) -> Option<&Path> {
        match &self.kind {
            Kind::Images(images) => Some(images.path(sample)),
            Kind::Table(_) => None,
        }
    }

    /// Labels that the data bring along.
    #[must_use]
    pub fn labels(&self) -> Option<Vec<Option<String>>> {
        match &self.kind {
            Kind::Images(images) => images.labels(),
            Kind::Table(table) => table.labels.clone(),
        }
    }

    /// A digest of the content of a sample: of its file, or of its row.
    ///
    /// # Errors
    /// If its file cannot be read.
    pub fn hash(&self, sample: usize) -> Result<String> {
        match &self.kind {
            Kind::Images(images) => digest_of_file(images.path(sample)),
            Kind::Table(table) => Ok(digest_of_row(&table.content(sample))),
        }
    }

    /// Whether samples have pictures.
    #[must_use]
    pub fn has_pictures(&self) -> bool {
        self.image.is_some()
    }

    /// The picture of a sample: the type of its content, and the content.
    ///
    /// # Errors
    /// If there is none, or its file cannot be read.
    pub fn picture(&self, sample: usize) -> Result<(&'static str, Vec<u8>)> {
        match &self.kind {
            Kind::Images(images) => {
                let path = images.path(sample);
                let bytes = bytes_of(path)?;
                if bytes.starts_with(b"\x89PNG") {
                    return Ok(("image/png", bytes));
                }
                if bytes.starts_with(b"\xff\xd8") {
                    return Ok(("image/jpeg", bytes));
                }
                // Browsers do not know the other formats.
                let (pixels, size) = images.grey(sample, None)?;
                Ok(("image/png", png(&pixels, size, (0.0, 1.0))?))
            }
            Kind::Table(table) => {
                let size = self.image.ok_or_else(|| Error::Refused("not an image".into()))?;
                Ok(("image/png", png(table.features.column(sample), size, self.range)?))
            }
        }
    }

    /// What the model sees of a sample.
    ///
    /// # Errors
    /// If its file cannot be read.
    pub fn features(&self, sample: usize) -> Result<Vec<f32>> {
        match &self.kind {
            Kind::Images(images) => {
                let (pixels, _) = images.grey(sample, self.image)?;
                Ok(pixels.into_iter().map(|pixel| pixel as f32).collect())
            }
            Kind::Table(table) => {
                Ok(table.features.column(sample).iter().map(|&value| value as f32).collect())
            }
        }
    }

    /// A row as names and values; empty where samples are images.
    #[must_use]
    pub fn row(&self, sample: usize) -> Vec<Feature> {
        let Kind::Table(table) = &self.kind else { return Vec::new() };
        let name = |at: usize| match &table.feature_names {
            Some(names) => names[at].clone(),
            None => format!("feature {at}"),
        };
        self.spread
            .iter()
            .zip(table.features.column(sample))
            .enumerate()
            .map(|(at, (&(mean, spread), &value))| {
                let far = if spread > 0.0 { (value - mean) / spread } else { 0.0 };
                Feature { name: name(at), value, far }
            })
            .collect()
    }
}

/// A digest of what a row of a table holds ([`Table::content`]).
#[must_use]
pub fn digest_of_row(content: &[u8]) -> String {
    digest(content)
}

/// A digest of a file.
///
/// # Errors
/// If it cannot be read.
pub fn digest_of_file(path: &Path) -> Result<String> {
    Ok(digest(&bytes_of(path)?))
}

/// The first half of a digest, which is enough to tell samples apart.
pub(crate) fn digest(content: &[u8]) -> String {
    Sha256::digest(content)[..16].iter().map(|byte| format!("{byte:02x}")).collect()
}

fn bytes_of(path: &Path) -> Result<Vec<u8>> {
    let refuse = |source| Error::io(path, source);
    let size = ssdl::files::length(path).map_err(refuse)?;
    if size > MOST_BYTES {
        return Err(Error::Refused(format!(
            "{}: {size} bytes, more than the limit of {MOST_BYTES}; make the image smaller",
            path.display()
        )));
    }
    std::fs::read(path).map_err(refuse)
}

/// Mean and standard deviation of each feature.
fn spread(features: &Matrix<f64>) -> Vec<(f64, f64)> {
    let n = features.columns().max(1) as f64;
    let mut sums = vec![(0.0, 0.0); features.rows()];
    for column in features.iter_columns() {
        for (sum, value) in sums.iter_mut().zip(column) {
            sum.0 += value / n;
        }
    }
    for column in features.iter_columns() {
        for (sum, value) in sums.iter_mut().zip(column) {
            sum.1 += (value - sum.0).powi(2) / n;
        }
    }
    sums.into_iter().map(|(mean, variance)| (mean, variance.sqrt())).collect()
}

/// Values as a grey picture, from the lowest (black) to the highest (white).
fn png(values: &[f64], [height, width]: [usize; 2], (low, high): (f64, f64)) -> Result<Vec<u8>> {
    let span = if high > low { high - low } else { 1.0 };
    let greys: Vec<u8> =
        values.iter().map(|value| (255.0 * (value - low) / span).round() as u8).collect();
    let mut bytes = Vec::new();
    let mut encoder = png::Encoder::new(&mut bytes, width as u32, height as u32);
    encoder.set_color(png::ColorType::Grayscale);
    encoder.set_depth(png::BitDepth::Eight);
    encoder.set_compression(png::Compression::Fast);
    let written = encoder.write_header().and_then(|mut writer| writer.write_image_data(&greys));
    written.map_err(|error| Error::Refused(format!("the picture cannot be drawn: {error}")))?;
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(unix)]
    #[test]
    fn what_has_no_end_is_not_read() {
        let error = digest_of_file(Path::new("/dev/zero")).expect_err("refused");
        assert!(error.to_string().contains("not a plain file"), "{error}");
    }
}
