//! Curves of accuracy over the size of a split.

/// A curve of an experiment: accuracy by the number of samples.
#[derive(Clone, Debug, PartialEq)]
pub struct Curve {
    /// What it shows.
    pub heading: String,
    /// What the x axis shows.
    pub along: Along,
    /// Which samples the accuracy is of.
    pub judged: Judged,
    /// The lines.
    pub series: Vec<Series>,
}

/// The x axis.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Along {
    /// The number of labelled samples.
    Labelled,
    /// The number of unlabelled samples, for a fixed number of labels.
    Unlabelled,
}

/// The samples that a curve shows the accuracy on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Judged {
    /// Samples that the fit did not see.
    Test,
    /// Its unlabelled training samples.
    Unlabelled,
}

impl Judged {
    /// The title of the y axis.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Test => "test accuracy in per cent",
            Self::Unlabelled => "accuracy on them in per cent",
        }
    }
}

impl Along {
    /// Its title.
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
    /// Whether these are numbers of the paper, drawn with dashes.
    pub dashed: bool,
}

/// One point of a line.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Point {
    /// Position on the x axis.
    pub x: f64,
    /// Accuracy.
    pub y: f64,
    /// Standard deviation.
    pub spread: f64,
}
