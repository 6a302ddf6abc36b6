//! The explanation of one sample as a drawing.

use std::fmt::Write;

use ssdl::model::Explanation;
use ssdl::{Model, Real};

use crate::Result;
use crate::mosaic::picture;
use crate::names::{cut, escaped};
use crate::tiles::{Scale, range};

/// Width of the drawing.
const WIDTH: usize = 720;
/// Side of a tile, and its height with the caption.
const TILE: [usize; 2] = [66, 92];
/// Height of a line of text.
const LINE: usize = 20;
/// Maximum number of atoms, neighbours and classes in the drawing.
const MOST: usize = 8;
/// Width of the bar of a class with probability 1.
const BAR: f64 = 260.0;

/// The explanation of a training sample as an SVG file: its classes, its atoms, its neighbours.
///
/// # Errors
/// If a picture cannot be encoded.
pub fn svg<T: Real>(model: &Model<T>, sample: usize, explained: &Explanation<T>) -> Result<String> {
    let mut body = String::new();
    let class = |index: usize| escaped(&cut(&model.classes()[index], 24));
    let mut top = 28;
    let label = match model.training_labels().assigned()[sample] {
        Some(label) => format!("labelled {}", class(label)),
        None => "unlabelled".into(),
    };
    // Writing to a string cannot fail.
    let _ = writeln!(
        body,
        "<text x=\"12\" y=\"{top}\" font-size=\"16\" font-weight=\"bold\">Training sample {sample}, \
         {label}: {}</text>",
        class(explained.class)
    );
    top += 12;
    if let Some(training) = model.training() {
        let values = training.column(sample);
        tile(&mut body, model, (values, range(values)), (WIDTH - TILE[0] - 12, 12))?;
    }
    let mut order: Vec<usize> = (0..explained.probabilities.len()).collect();
    let share = |index: usize| explained.probabilities[index].wide();
    order.sort_by(|&a, &b| share(b).total_cmp(&share(a)).then(a.cmp(&b)));
    for &index in order.iter().take(MOST) {
        top += LINE;
        let (wide, percent) = (BAR * share(index), 100.0 * share(index));
        let _ = writeln!(
            body,
            "<text x=\"12\" y=\"{}\">{}</text><rect x=\"220\" y=\"{}\" width=\"{wide:.1}\" \
             height=\"12\" fill=\"#0868ac\"/><text x=\"{:.1}\" y=\"{}\">{percent:.1} %</text>",
            top + 11,
            class(index),
            top,
            226.0 + wide,
            top + 11
        );
    }
    top += 2 * LINE;
    if let Some(atoms) = model.atoms() {
        heading(&mut body, &mut top, "Its atoms, the most decisive first");
        for (at, part) in explained.parts.iter().take(MOST).enumerate() {
            let left = 12 + at * (TILE[0] + 20);
            tile(&mut body, model, (atoms.column(part.index), Scale::Signed), (left, top))?;
            let words = format!("{:.2} × {}", part.amount.wide(), part.index);
            caption(&mut body, &words, (left, top));
            if let Some(vote) = part.votes.get(explained.class) {
                caption(&mut body, &format!("{:+.2}", vote.wide()), (left, top + 14));
            }
        }
        top += TILE[1] + 2 * LINE;
    }
    if !explained.neighbours.is_empty() {
        heading(&mut body, &mut top, "Its neighbours among the training samples");
        let labels = model.training_labels().assigned();
        for (at, near) in explained.neighbours.iter().take(MOST).enumerate() {
            let left = 12 + at * (TILE[0] + 20);
            if let Some(training) = model.training() {
                let values = training.column(near.sample);
                tile(&mut body, model, (values, range(values)), (left, top))?;
            }
            let label = labels[near.sample].map_or_else(|| "?".into(), class);
            caption(&mut body, &format!("{}: {label}", near.sample), (left, top));
            caption(&mut body, &format!("{:.2}", near.weight.wide()), (left, top + 14));
        }
        top += TILE[1] + 2 * LINE;
    }
    Ok(format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {top}\" width=\"{WIDTH}\" \
         height=\"{top}\" font-family=\"sans-serif\" font-size=\"13\">\n\
         <title>Training sample {sample} explained</title>\n\
         <rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n{body}</svg>\n"
    ))
}

fn heading(body: &mut String, top: &mut usize, words: &str) {
    // Writing to a string cannot fail.
    let _ = writeln!(body, "<text x=\"12\" y=\"{top}\" font-weight=\"bold\">{words}</text>");
    *top += 10;
}

fn tile<T: Real>(
    body: &mut String,
    model: &Model<T>,
    (values, scale): (&[T], Scale<'_>),
    corner: (usize, usize),
) -> Result<()> {
    let image = model.preparation().image_prepared();
    let side = image.map_or(1, |[height, width]| height.max(width));
    let size = image.unwrap_or_default().map(|length| (length * TILE[0] / side).max(1));
    picture(body, values, (image, scale), size, corner)
}

/// Text under a tile; escaped already.
fn caption(body: &mut String, words: &str, (left, top): (usize, usize)) {
    // Writing to a string cannot fail.
    let _ = writeln!(
        body,
        "<text x=\"{left}\" y=\"{}\" font-size=\"11\">{words}</text>",
        top + TILE[0] + 14
    );
}
