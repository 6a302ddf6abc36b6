//! A folder of images: a sub-folder for each class, `unlabelled` for the rest.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use ssdl::Matrix;

use crate::picture::grey;
use crate::{Error, ReadOptions, Result, Table};

/// Names of sub-folders whose images have no label.
const UNLABELLED: [&str; 2] = ["unlabelled", "unlabeled"];
/// Extensions of image files.
const EXTENSIONS: [&str; 7] = ["png", "jpg", "jpeg", "pgm", "ppm", "pbm", "pnm"];
/// Images that people have, and that are not read.
const OTHER_IMAGES: [&str; 8] = ["avif", "bmp", "gif", "heic", "tif", "tiff", "svg", "webp"];
/// Files that file managers leave in folders, besides names that start with a dot.
const IGNORED: [&str; 2] = ["thumbs.db", "desktop.ini"];
/// Maximum number of bytes of the images of a folder, unless the caller says otherwise.
const MAX_FOLDER: u64 = 4 << 30;

/// An image, and the label that its folder gives it.
struct Entry {
    path: PathBuf,
    /// The path within the folder, with `/` on every system.
    name: String,
    label: Option<String>,
}

/// The images of a folder, listed in the order of their names and read one by one.
pub struct Images {
    entries: Vec<Entry>,
    is_labelled: bool,
}

impl Images {
    /// Lists a folder as [`read`](crate::read) would read it; no image is opened.
    ///
    /// # Errors
    /// If the folder cannot be listed, or does not hold images alone.
    pub fn list(folder: impl AsRef<Path>, options: &ReadOptions) -> Result<Self> {
        let (entries, is_labelled) = entries(folder.as_ref(), options)?;
        Ok(Self { entries, is_labelled })
    }

    /// How many there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// The path of an image within the folder, with `/` on every system.
    #[must_use]
    pub fn name(&self, image: usize) -> &str {
        &self.entries[image].name
    }

    /// Where an image is.
    #[must_use]
    pub fn path(&self, image: usize) -> &Path {
        &self.entries[image].path
    }

    /// The labels that sub-folders give; `None` if there are no sub-folders.
    #[must_use]
    pub fn labels(&self) -> Option<Vec<Option<String>>> {
        self.is_labelled.then(|| self.entries.iter().map(|entry| entry.label.clone()).collect())
    }

    /// One image as brightness from 0 to 1, row by row, resized if a size is given, with its height
    /// and width.
    ///
    /// # Errors
    /// If the file cannot be read, is damaged, or is too large.
    pub fn grey(&self, image: usize, size: Option<[usize; 2]>) -> Result<(Vec<f64>, [usize; 2])> {
        grey(&self.entries[image].path, size)
    }
}

/// Reads all images, in the order of their names, as grey from 0 to 1, pixels row by row.
///
/// Colours become their brightness, transparent pixels become 0, and photographs are rotated as
/// their metadata say.
pub(crate) fn table(folder: &Path, options: &ReadOptions) -> Result<Table> {
    let (entries, is_labelled) = entries(folder, options)?;
    let mut size = options.image;
    let limit = options.max_unpacked.unwrap_or(MAX_FOLDER);
    let mut values = Vec::new();
    for entry in &entries {
        let (pixels, [height, width]) = grey(&entry.path, options.image)?;
        let expected = *size.get_or_insert([height, width]);
        if expected != [height, width] {
            let [h, w] = expected;
            return Err(Error::unsupported(
                &entry.path,
                format!(
                    "{height}x{width} pixels, but {} has {h}x{w}; use --image HEIGHTxWIDTH \
                     to resize all images",
                    entries[0].path.display()
                ),
            ));
        }
        if values.is_empty() {
            reserve(folder, &mut values, pixels.len(), entries.len(), limit)?;
        }
        values.extend(pixels);
    }
    let image = size.unwrap_or_default();
    let features = Matrix::from_columns(image[0] * image[1], entries.len(), values)
        .ok_or_else(|| Error::empty(folder, "there are no images in it"))?;
    let (names, labels): (Vec<_>, Vec<_>) =
        entries.into_iter().map(|entry| (entry.name, entry.label)).unzip();
    Ok(Table {
        labels: is_labelled.then_some(labels),
        sample_names: Some(names),
        image: Some(image),
        ..Table::of(features)
    })
}

/// Makes room for all images at once: too much is an error, before the rest is read.
fn reserve(
    folder: &Path,
    values: &mut Vec<f64>,
    n_pixels: usize,
    n_images: usize,
    limit: u64,
) -> Result<()> {
    let needed = (n_pixels as u64).saturating_mul(8).saturating_mul(n_images as u64);
    let room = n_pixels.checked_mul(n_images).filter(|_| needed <= limit);
    match room.map(|count| values.try_reserve_exact(count)) {
        Some(Ok(())) => Ok(()),
        _ => Err(Error::unsupported(
            folder,
            format!(
                "{n_images} images of {n_pixels} pixels take {needed} bytes, more than the limit of \
                 {limit} or than there is; make them smaller with --image HEIGHTxWIDTH \
                 or raise the limit with --unpack-limit"
            ),
        )),
    }
}

/// All images, and whether sub-folders give their classes.
fn entries(folder: &Path, options: &ReadOptions) -> Result<(Vec<Entry>, bool)> {
    let (folders, images) = listing(folder)?;
    let direct = |path: PathBuf| Entry { name: name_of(&path), path, label: None };
    if folders.is_empty() {
        if images.is_empty() {
            return Err(no_images(folder));
        }
        return Ok((images.into_iter().map(direct).collect(), false));
    }
    if let Some(stray) = images.first() {
        return Err(Error::unsupported(
            stray,
            "an image next to the class folders; move it into one of them, or into `unlabelled`",
        ));
    }
    let mut entries = Vec::new();
    for class in &folders {
        let name = name_of(class);
        let is_unlabelled = match &options.unlabelled {
            Some(mark) => *mark == name,
            None => UNLABELLED.contains(&name.to_lowercase().as_str()),
        };
        let (nested, images) = listing(class)?;
        if let Some(nested) = nested.first() {
            return Err(Error::unsupported(
                nested,
                "a folder inside a class folder; put the images of a class directly into its folder",
            ));
        }
        entries.extend(images.into_iter().map(|path| Entry {
            name: format!("{name}/{}", name_of(&path)),
            path,
            label: (!is_unlabelled).then(|| name.clone()),
        }));
    }
    if entries.is_empty() {
        return Err(no_images(folder));
    }
    Ok((entries, true))
}

fn no_images(folder: &Path) -> Error {
    let extensions = EXTENSIONS.join(", ");
    Error::unsupported(
        folder,
        format!(
            "no images in it ({extensions}); give a folder with one sub-folder of images per class"
        ),
    )
}

fn name_of(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

/// Folders and images directly in a folder, each sorted by name.
fn listing(folder: &Path) -> Result<(Vec<PathBuf>, Vec<PathBuf>)> {
    let refuse = |source: io::Error| Error::read(folder, source);
    let (mut folders, mut images) = (Vec::new(), Vec::new());
    for entry in fs::read_dir(folder).map_err(refuse)? {
        let entry = entry.map_err(refuse)?;
        let path = entry.path();
        let name = name_of(&path).to_lowercase();
        if name.starts_with('.') || IGNORED.contains(&name.as_str()) {
            continue;
        }
        // Only where a link leads must be looked up.
        let kind = entry.file_type().map_err(refuse)?;
        let is_folder = match kind.is_symlink() {
            true => fs::metadata(&path).map_err(|source| Error::read(&path, source))?.is_dir(),
            false => kind.is_dir(),
        };
        if is_folder {
            folders.push(path);
        } else if name
            .rsplit_once('.')
            .is_some_and(|(_, extension)| EXTENSIONS.contains(&extension))
        {
            images.push(path);
        } else {
            let ending = name.rsplit_once('.').map_or("", |(_, ending)| ending);
            let reason = match OTHER_IMAGES.contains(&ending) {
                true => format!(
                    "images of this kind are not read ({} are); convert it to PNG",
                    EXTENSIONS.join(", ")
                ),
                false => format!("not an image file ({}); remove it", EXTENSIONS.join(", ")),
            };
            return Err(Error::unsupported(&path, reason));
        }
    }
    let by_name = |one: &PathBuf, other: &PathBuf| one.file_name().cmp(&other.file_name());
    folders.sort_by(by_name);
    images.sort_by(by_name);
    Ok((folders, images))
}
