//! The atoms as one picture: a mosaic of small images, or of bars if samples are not images.

use std::fmt::Write;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use ssdl::{Matrix, Model, Real};

use crate::names::{escaped, short};
use crate::tiles::{Canvas, Scale, greys, heights};
use crate::{Error, Result};

/// Grey around the tiles: darker than the mid-grey that is zero in an atom.
const FRAME: u8 = 24;
/// Grey of zero.
const ZERO: u8 = 132;
/// Minimum side of a tile; small images are enlarged to it.
const LEAST_SIDE: usize = 40;
/// Size of a tile of bars.
const BARS: [usize; 2] = [48, 66];
/// Pixels between tiles.
const GAP: usize = 2;
/// Height of the name of a class in the drawing.
const NAME: usize = 20;

/// The atoms of one class: those that raise its score most, strongest first.
pub struct Group {
    /// Index of the class.
    pub class: usize,
    /// Indices of the atoms.
    pub atoms: Vec<usize>,
}

/// Atoms by the class whose score they raise most; classes without atoms are omitted.
///
/// # Errors
/// If the method has no atoms.
pub fn groups<T: Real>(model: &Model<T>) -> Result<(&Matrix<T>, Vec<Group>)> {
    let Some(atoms) = model.atoms() else {
        let method = model.method();
        return Err(Error::Nothing(format!(
            "the method {method} has no atoms, so there is nothing to draw"
        )));
    };
    Ok((atoms, by_class(model.classes().len(), &model.decision().class_of_atoms())))
}

fn by_class(n_classes: usize, class_of_atoms: &[Option<(usize, f64)>]) -> Vec<Group> {
    let mut groups = vec![Vec::new(); n_classes];
    for (atom, strongest) in class_of_atoms.iter().enumerate() {
        if let Some((class, weight)) = strongest {
            groups[*class].push((*weight, atom));
        }
    }
    for group in &mut groups {
        group.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
    }
    let named = groups.into_iter().enumerate().map(|(class, group)| Group {
        class,
        atoms: group.into_iter().map(|(_, atom)| atom).collect(),
    });
    named.filter(|group| !group.atoms.is_empty()).collect()
}

/// Layout of the tiles: every class starts a new line.
struct TileGrid {
    /// Height and width of a tile.
    tile: [usize; 2],
    columns: usize,
    /// The lines: a class and some of its atoms.
    lines: Vec<(usize, Vec<usize>)>,
}

impl TileGrid {
    fn new(groups: &[Group], tile: [usize; 2]) -> Self {
        let largest = groups.iter().map(|group| group.atoms.len()).max().unwrap_or(1);
        let columns = largest.clamp(1, (1200 / tile[1]).max(8));
        let lines = groups
            .iter()
            .flat_map(|group| group.atoms.chunks(columns).map(|part| (group.class, part.to_vec())));
        Self { tile, columns, lines: lines.collect() }
    }
}

/// One atom as a tile: an image with this zoom, or bars.
fn tile<T: Real>(atom: &[T], image: Option<[usize; 2]>, zoom: usize, scale: Scale<'_>) -> Canvas {
    if let Some([height, width]) = image {
        let values: Vec<f64> = atom.iter().map(|value| value.wide()).collect();
        let mut canvas = Canvas::new(height * zoom, width * zoom, ZERO);
        canvas.draw(&greys(&values, scale), width, zoom, (0, 0));
        return canvas;
    }
    let [height, width] = BARS;
    let mut canvas = Canvas::new(height, width, ZERO);
    for (from, to, top, bottom) in rectangles(atom) {
        let white = if top < height / 2 { 255 } else { 0 };
        canvas.fill((top, from), (bottom - top, to - from), white);
    }
    canvas
}

/// The bars of an atom as (left, right, top, bottom) in a tile.
fn rectangles<T: Real>(atom: &[T]) -> Vec<(usize, usize, usize, usize)> {
    let [height, width] = BARS;
    let (bars, middle) = (heights(atom, Scale::Signed), height / 2);
    let at = |place: usize| 1 + place * (width - 2) / bars.len();
    let drawn = bars.iter().enumerate().map(|(place, bar)| {
        let length = (bar.abs() * (middle - 1) as f64).round() as usize;
        let (top, bottom) =
            if *bar > 0.0 { (middle - length, middle) } else { (middle, middle + length) };
        (at(place), at(place + 1).max(at(place) + 1).min(width), top, bottom)
    });
    drawn.filter(|(_, _, top, bottom)| bottom > top).collect()
}

/// Height and width of tiles, and the zoom of images.
fn size(image: Option<[usize; 2]>) -> ([usize; 2], usize) {
    match image {
        Some([height, width]) => {
            let zoom = LEAST_SIDE.div_ceil(height.max(width)).max(1);
            ([height * zoom, width * zoom], zoom)
        }
        None => (BARS, 1),
    }
}

/// The atoms as a PNG file: each class starts a new line; the atoms that raise its score most come
/// first. Drawn as images if atoms are images, else as bars.
///
/// # Errors
/// If the method has no atoms.
pub fn png<T: Real>(model: &Model<T>) -> Result<Vec<u8>> {
    let (atoms, groups) = groups(model)?;
    let image = model.preparation().image_prepared();
    let (tile_size, zoom) = size(image);
    let plan = TileGrid::new(&groups, tile_size);
    let [tall, wide] = plan.tile.map(|side| side + GAP);
    let mut canvas = Canvas::new(plan.lines.len() * tall + GAP, plan.columns * wide + GAP, FRAME);
    for (row, (_, line)) in plan.lines.iter().enumerate() {
        for (column, &atom) in line.iter().enumerate() {
            let corner = (GAP + row * tall, GAP + column * wide);
            canvas.paste(&tile(atoms.column(atom), image, zoom, Scale::Signed), corner);
        }
    }
    canvas.png()
}

/// The atoms as an SVG file, the name of each class above its atoms.
///
/// # Errors
/// If the method has no atoms.
pub fn svg<T: Real>(model: &Model<T>) -> Result<String> {
    let (atoms, groups) = groups(model)?;
    let image = model.preparation().image_prepared();
    let plan = TileGrid::new(&groups, size(image).0);
    let [tall, wide] = plan.tile.map(|side| side + GAP);
    let mut body = String::new();
    let (mut top, mut named) = (GAP, None);
    for (class, line) in &plan.lines {
        if named != Some(class) {
            named = Some(class);
            let name = escaped(&short(&model.classes()[*class]));
            // Writing to a string cannot fail.
            let _ = writeln!(body, "<text x=\"{GAP}\" y=\"{}\">{name}</text>", top + NAME - 6);
            top += NAME;
        }
        for (column, &atom) in line.iter().enumerate() {
            let left = GAP + column * wide;
            let look = (image, Scale::Signed);
            picture(&mut body, atoms.column(atom), look, plan.tile, (left, top))?;
        }
        top += tall;
    }
    let width = plan.columns * wide + GAP;
    Ok(format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {top}\" width=\"{width}\" \
         height=\"{top}\" font-family=\"sans-serif\" font-size=\"13\">\n\
         <title>{} atoms of a model by {}</title>\n\
         <rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n{body}</svg>\n",
        atoms.columns(),
        escaped(model.method()),
    ))
}

/// Adds an atom or a sample to a drawing; images have the given height and width.
pub(crate) fn picture<T: Real>(
    body: &mut String,
    values: &[T],
    (image, scale): (Option<[usize; 2]>, Scale<'_>),
    [tall, wide]: [usize; 2],
    (left, top): (usize, usize),
) -> Result<()> {
    if image.is_some() {
        let bytes = STANDARD.encode(tile(values, image, 1, scale).png()?);
        // Writing to a string cannot fail.
        let _ = writeln!(
            body,
            "<image x=\"{left}\" y=\"{top}\" width=\"{wide}\" height=\"{tall}\" \
             style=\"image-rendering:pixelated\" href=\"data:image/png;base64,{bytes}\"/>"
        );
        return Ok(());
    }
    let [height, width] = BARS;
    let mut path = String::new();
    for (from, to, high, low) in rectangles(values) {
        let _ = write!(
            path,
            "M{} {}h{}v{}h-{}z",
            left + from,
            top + high,
            to - from,
            low - high,
            to - from
        );
    }
    let _ = writeln!(
        body,
        "<rect x=\"{left}\" y=\"{top}\" width=\"{width}\" height=\"{height}\" fill=\"#eee\"/>\
         <path d=\"{path}\" fill=\"#0868ac\"/>"
    );
    Ok(())
}
