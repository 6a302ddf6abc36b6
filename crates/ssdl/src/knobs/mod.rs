//! Knobs: the parameters of a method, declared once. A declaration gives the struct, its defaults,
//! ranges, names and documentation.

mod auto;
mod declare;
mod grid;

pub use auto::AutoOr;
pub use grid::Grid;

use crate::{Error, Result};

/// One knob as users see it.
#[derive(Clone, Debug, PartialEq)]
pub struct Knob {
    /// Its name: a plain word.
    pub name: &'static str,
    /// The paper's letter, then a space and the letter spelt out; or empty.
    pub letter: &'static str,
    /// Its default, as text.
    pub default: String,
    /// The values it may take.
    pub allowed: Allowed,
    /// What it does.
    pub sentence: &'static str,
}

/// The values a knob may take.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum Allowed {
    /// A whole number, at least this.
    WholeFrom(u64),
    /// `auto`, or a whole number, at least this.
    AutoOrFrom(u64),
    /// `auto`, or a number, at least this.
    AutoOrNumber(f64),
    /// `auto`, or a number larger than this.
    AutoOrAbove(f64),
    /// A number, at least this.
    From(f64),
    /// A number larger than this.
    Above(f64),
    /// Numbers larger than this, separated by commas.
    SeveralAbove(f64),
    /// A number between these two, both excluded.
    Between(f64, f64),
    /// A number from the first to the second, both included.
    Within(f64, f64),
    /// One of these words, or a number above 0 per class, separated by commas.
    WordOrSeveral(&'static [&'static str]),
    /// `true` or `false`.
    Switch,
    /// One of these words.
    OneOf(&'static [&'static str]),
}

impl std::fmt::Display for Allowed {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::WholeFrom(least) => write!(f, "a whole number, {least} or more"),
            Self::AutoOrFrom(least) => write!(f, "auto, or a whole number, {least} or more"),
            Self::AutoOrNumber(least) => write!(f, "auto, or a number, {least} or more"),
            Self::AutoOrAbove(bound) => write!(f, "auto, or a number above {bound}"),
            Self::From(least) => write!(f, "a number, {least} or more"),
            Self::Above(bound) => write!(f, "a number above {bound}"),
            Self::SeveralAbove(bound) => {
                write!(f, "up to {} numbers above {bound}, such as 0.1,1,10", Grid::LONGEST)
            }
            Self::Between(low, high) => write!(f, "a number between {low} and {high}"),
            Self::Within(low, high) => write!(f, "a number from {low} to {high}"),
            Self::WordOrSeveral(words) => {
                write!(f, "{}, or a number above 0 per class, such as 0.3,0.7", words.join(", "))
            }
            Self::Switch => write!(f, "true or false"),
            Self::OneOf(words) => write!(f, "{}", words.join(", ")),
        }
    }
}

/// A type that a knob can have.
pub trait KnobValue: Copy + 'static {
    /// The argument of a setter in code.
    type Given;
    /// The value of such an argument.
    fn given(value: Self::Given) -> Self;
    /// Reads the value, or `None` if the text is not one.
    fn read(text: &str) -> Option<Self>;
    /// The value as text that [`KnobValue::read`] takes back.
    fn text(self) -> String;
    /// The value as a number, for range checks.
    fn number(self) -> Option<f64>;
}

/// More atoms, neighbours or iterations than this are a typing error, not a request; the limit also
/// keeps every size that is computed from a knob far from overflow.
const MAX_COUNT: usize = 1_000_000_000;

impl KnobValue for usize {
    type Given = Self;
    fn given(value: Self) -> Self {
        value
    }
    fn read(text: &str) -> Option<Self> {
        text.parse().ok().filter(|&count| count <= MAX_COUNT)
    }
    fn text(self) -> String {
        self.to_string()
    }
    fn number(self) -> Option<f64> {
        Some(self as f64)
    }
}

impl KnobValue for f64 {
    type Given = Self;
    fn given(value: Self) -> Self {
        value
    }
    fn read(text: &str) -> Option<Self> {
        text.parse().ok()
    }
    fn text(self) -> String {
        self.to_string()
    }
    fn number(self) -> Option<f64> {
        Some(self)
    }
}

impl KnobValue for bool {
    type Given = Self;
    fn given(value: Self) -> Self {
        value
    }
    fn read(text: &str) -> Option<Self> {
        text.parse().ok()
    }
    fn text(self) -> String {
        self.to_string()
    }
    fn number(self) -> Option<f64> {
        None
    }
}

/// Refuses a value outside the range.
///
/// # Errors
/// Names the knob, its value and the range.
pub fn check<S: KnobValue>(name: &str, value: S, allowed: Allowed) -> Result<()> {
    let number = value.number();
    let fits = match allowed {
        Allowed::WholeFrom(least) => number.is_some_and(is_count_from(least)),
        Allowed::AutoOrFrom(least) => number.is_none_or(is_count_from(least)),
        Allowed::AutoOrNumber(least) => number.is_none_or(|v| v >= least && v.is_finite()),
        Allowed::AutoOrAbove(bound) => number.is_none_or(|v| v > bound && v.is_finite()),
        Allowed::Within(low, high) => number.is_some_and(|v| v >= low && v <= high),
        Allowed::WordOrSeveral(_) => number.is_none_or(|v| v > 0.0 && v.is_finite()),
        Allowed::From(least) => number.is_some_and(|v| v >= least && v.is_finite()),
        Allowed::Above(bound) | Allowed::SeveralAbove(bound) => {
            number.is_some_and(|v| v > bound && v.is_finite())
        }
        Allowed::Between(low, high) => number.is_some_and(|v| v > low && v < high),
        Allowed::Switch | Allowed::OneOf(_) => true,
    };
    if fits { Ok(()) } else { Err(refuse(name, &value.text(), allowed)) }
}

fn is_count_from(least: u64) -> impl Fn(f64) -> bool {
    move |count| count >= least as f64 && count <= MAX_COUNT as f64
}

/// Reads a value and refuses one outside the range.
///
/// # Errors
/// As [`check`].
pub fn read<S: KnobValue>(name: &str, text: &str, allowed: Allowed) -> Result<S> {
    let value = S::read(text.trim()).ok_or_else(|| refuse(name, text, allowed))?;
    check(name, value, allowed)?;
    Ok(value)
}

fn refuse(name: &str, got: &str, allowed: Allowed) -> Error {
    let got = if got.trim().is_empty() { "empty".to_owned() } else { got.to_owned() };
    Error::Knob { name: name.to_owned(), got, allowed: allowed.to_string() }
}

impl Knob {
    /// The paper's letter, or empty.
    #[must_use]
    pub fn symbol(&self) -> &'static str {
        self.letter.split(' ').next().unwrap_or_default()
    }

    /// Whether `given` names the knob: by its word, its letter, or the letter spelt out.
    #[must_use]
    pub fn is_named(&self, given: &str) -> bool {
        let given = given.replace('-', "_");
        given == self.name || (!given.is_empty() && self.letter.split(' ').any(|own| own == given))
    }
}

/// A set of knobs: listed for documentation, set from text, checked. [`knobs!`](crate::knobs!)
/// implements it.
pub trait Knobbed: Clone + Default + Send + Sync + 'static {
    /// The knobs in the order of declaration, each with its present value as the default.
    fn list(&self) -> Vec<Knob>;

    /// Sets the knob of this name from text; false if there is none.
    ///
    /// # Errors
    /// If the value is out of range.
    fn set_own(&mut self, name: &str, text: &str) -> Result<bool>;

    /// Names and values as text, in the order of declaration.
    fn values(&self) -> Vec<(&'static str, String)>;

    /// Refuses values out of range.
    ///
    /// # Errors
    /// Names the first such knob, its value and the range.
    fn check(&self) -> Result<()>;

    /// The knobs with their defaults, in the order of declaration.
    #[must_use]
    fn knobs() -> Vec<Knob> {
        Self::default().list()
    }

    /// Sets one knob from text, by its name, its letter in the paper or that letter spelt out.
    ///
    /// # Errors
    /// If there is no such knob or the value is out of range.
    fn set(&mut self, name: &str, text: &str) -> Result<()> {
        let list = self.list();
        match list.iter().find(|knob| knob.is_named(name)) {
            Some(knob) => self.set_own(knob.name, text).map(drop),
            None => {
                let known: Vec<&str> = list.iter().map(|knob| knob.name).collect();
                let known = known.join(", ");
                Err(Error::Unknown { what: "knob", got: name.to_owned(), known })
            }
        }
    }

    /// The defaults, changed by (name, value) text.
    ///
    /// # Errors
    /// If a name is unknown or a value out of range.
    fn from_pairs(pairs: &[(String, String)]) -> Result<Self> {
        let mut own = Self::default();
        for (name, value) in pairs {
            own.set(name, value)?;
        }
        Ok(own)
    }
}

/// Knobs that contain a group of knobs declared elsewhere. The setters of a group work on everything
/// that holds it.
pub trait Holds<G> {
    /// The group.
    fn group_mut(&mut self) -> &mut G;
}
