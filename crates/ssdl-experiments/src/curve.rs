//! Curves over the sizes of a split.

/// A curve of an experiment: accuracy by the number of unlabelled samples.
#[derive(Clone, Debug, PartialEq)]
pub struct Curve {
    /// What it shows.
    pub heading: String,
    /// What runs along the bottom.
    pub along: String,
    /// The lines.
    pub series: Vec<Series>,
}

/// One line of a curve.
#[derive(Clone, Debug, PartialEq)]
pub struct Series {
    /// Its name.
    pub name: String,
    /// Its points, from left to right.
    pub points: Vec<Point>,
    /// Whether these are another's numbers, drawn with dashes.
    pub dashed: bool,
}

/// One point of a line.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Point {
    /// Where along the bottom.
    pub x: f64,
    /// How high.
    pub y: f64,
    /// How much it varies.
    pub spread: f64,
}
