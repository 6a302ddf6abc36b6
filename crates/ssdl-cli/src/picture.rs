//! The atoms as one picture: a mosaic of small grey images.

use ssdl::classifier::{LinearClassifier, best};
use ssdl::{Model, Real};

use crate::failure::{Failure, Outcome};

/// Grey around the tiles; atoms have mid-grey for zero, so the frame is darker than any of it.
const FRAME: u8 = 24;
/// Side that small images are enlarged to, at least.
const LEAST_SIDE: usize = 40;
/// Pixels between tiles.
const GAP: usize = 2;

/// Height and width of the atoms of a model.
///
/// # Errors
/// If samples are not images, or atoms are not in their pixels.
pub fn shape<T: Real>(model: &Model<T>) -> Outcome<[usize; 2]> {
    if model.image().is_none() {
        return Err(Failure::Failed(
            "this model does not know the shape of its samples, so its atoms cannot be drawn; \
             fit it with --image HEIGHTxWIDTH"
                .into(),
        ));
    }
    let preparation = model.preparation();
    preparation.image_prepared().ok_or_else(|| {
        let behind = preparation.steps().iter().find(|step| step.image().is_none());
        let plan = behind.map_or_else(String::new, |step| format!(" `{}`", step.plan()));
        Failure::Failed(format!(
            "the preparation step{plan} leaves the pixels behind, so the atoms cannot be drawn; \
             fit without it"
        ))
    })
}

/// The atoms as a PNG file: one class after another, each from a new line, the atoms that speak
/// most for the class first.
///
/// # Errors
/// As [`shape`].
pub fn atoms<T: Real>(model: &Model<T>) -> Outcome<Vec<u8>> {
    let [height, width] = shape(model)?;
    let (Some(atoms), Some(classifier)) = (model.atoms(), model.classifier()) else {
        return Err(Failure::Failed(format!(
            "the method {} has no atoms, so there is nothing to draw",
            model.method()
        )));
    };
    let groups = by_class(classifier);
    let largest = groups.iter().map(Vec::len).max().unwrap_or(1);
    let columns = largest.clamp(1, (1200 / width.max(LEAST_SIDE)).max(8));
    let lines: Vec<&[usize]> = groups.iter().flat_map(|group| group.chunks(columns)).collect();
    let zoom = LEAST_SIDE.div_ceil(height.max(width)).max(1);
    let (tall, wide) = (height * zoom + GAP, width * zoom + GAP);
    let mut canvas = Canvas::new(lines.len() * tall + GAP, columns * wide + GAP);
    for (row, line) in lines.iter().enumerate() {
        for (column, &atom) in line.iter().enumerate() {
            let (top, left) = (GAP + row * tall, GAP + column * wide);
            canvas.draw(atoms.column(atom), width, zoom, top, left);
        }
    }
    canvas.png()
}

/// Atoms by the class they speak most for, the loudest first.
fn by_class<T: Real>(classifier: &LinearClassifier<T>) -> Vec<Vec<usize>> {
    let weights = &classifier.weights;
    let mut groups = vec![Vec::new(); weights.columns()];
    for atom in 0..weights.rows() {
        let row: Vec<T> = weights.iter_columns().map(|column| column[atom]).collect();
        let class = best(&row);
        groups[class].push((row[class].wide(), atom));
    }
    for group in &mut groups {
        group.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
    }
    let atoms = groups.into_iter().map(|group| group.into_iter().map(|(_, atom)| atom).collect());
    atoms.filter(|group: &Vec<usize>| !group.is_empty()).collect()
}

struct Canvas {
    width: usize,
    height: usize,
    greys: Vec<u8>,
}

impl Canvas {
    fn new(height: usize, width: usize) -> Self {
        Self { width, height, greys: vec![FRAME; height * width] }
    }

    /// Zero is mid-grey, the largest value of the atom white or black.
    fn draw<T: Real>(&mut self, atom: &[T], width: usize, zoom: usize, top: usize, left: usize) {
        let size = atom.iter().fold(0.0, |size: f64, value| size.max(value.wide().abs()));
        let size = if size > 0.0 { size } else { 1.0 };
        for (at, value) in atom.iter().enumerate() {
            let grey = (127.5 + 127.5 * value.wide() / size).round() as u8;
            let (y, x) = (top + at / width * zoom, left + at % width * zoom);
            for line in y..y + zoom {
                self.greys[line * self.width + x..][..zoom].fill(grey);
            }
        }
    }

    fn png(&self) -> Outcome<Vec<u8>> {
        let mut bytes = Vec::new();
        let mut encoder = png::Encoder::new(&mut bytes, self.width as u32, self.height as u32);
        encoder.set_color(png::ColorType::Grayscale);
        encoder.set_depth(png::BitDepth::Eight);
        let written = encoder.write_header().and_then(|mut w| w.write_image_data(&self.greys));
        written.map_err(|error| Failure::Failed(format!("the picture cannot be made: {error}")))?;
        Ok(bytes)
    }
}
