//! Curves over the sizes of a split.

/// A curve of an experiment: accuracy by the number of samples.
#[derive(Clone, Debug, PartialEq)]
pub struct Curve {
    /// What it shows.
    pub heading: String,
    /// What runs along the bottom.
    pub along: Along,
    /// The lines.
    pub series: Vec<Series>,
}

/// What grows from left to right.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Along {
    /// The number of labelled samples.
    Labelled,
    /// The number of unlabelled samples, with always as many labels.
    Unlabelled,
}

impl Along {
    /// In words.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Labelled => "labelled samples",
            Self::Unlabelled => "unlabelled samples",
        }
    }
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
