//! Knobs declared once: the struct, its defaults, ranges, names and documentation.

use crate::{Error, Result};

/// One knob as users see it.
#[derive(Clone, Debug, PartialEq)]
pub struct Knob {
    /// Its name: a plain word.
    pub name: &'static str,
    /// The paper's letter, or empty.
    pub symbol: &'static str,
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
    /// A number, at least this.
    From(f64),
    /// A number larger than this.
    Above(f64),
    /// Numbers larger than this, separated by commas.
    SeveralAbove(f64),
    /// A number between these two, neither of them included.
    Between(f64, f64),
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
            Self::From(least) => write!(f, "a number, {least} or more"),
            Self::Above(bound) => write!(f, "a number above {bound}"),
            Self::SeveralAbove(bound) => {
                write!(f, "up to {} numbers above {bound}, such as 0.1,1,10", Grid::LONGEST)
            }
            Self::Between(low, high) => write!(f, "a number between {low} and {high}"),
            Self::Switch => write!(f, "true or false"),
            Self::OneOf(words) => write!(f, "{}", words.join(", ")),
        }
    }
}

/// A type that a knob can have.
pub trait Setting: Copy + 'static {
    /// What is given to a setter in code.
    type Given;
    /// The value of what is given.
    fn given(value: Self::Given) -> Self;
    /// Reads the value, or `None` if the text is not one.
    fn read(text: &str) -> Option<Self>;
    /// The value as text that [`Setting::read`] takes back.
    fn text(self) -> String;
    /// The value as a number, for range checks.
    fn number(self) -> Option<f64>;
}

/// More atoms, neighbours or iterations than this are a slip of the finger, not a request; it also
/// keeps every size that is computed from a knob far from overflow.
const LARGEST_COUNT: usize = 1_000_000_000;

impl Setting for usize {
    type Given = Self;
    fn given(value: Self) -> Self {
        value
    }
    fn read(text: &str) -> Option<Self> {
        text.parse().ok().filter(|&count| count <= LARGEST_COUNT)
    }
    fn text(self) -> String {
        self.to_string()
    }
    fn number(self) -> Option<f64> {
        Some(self as f64)
    }
}

impl Setting for f64 {
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

impl Setting for bool {
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

/// A few numbers to choose among, such as `0.1,1,10`; sorted, without repetition.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Grid {
    values: [f64; Self::LONGEST],
    len: usize,
}

impl Grid {
    /// More than this many are not a grid for one knob.
    pub const LONGEST: usize = 16;

    /// Takes one to sixteen numbers.
    #[must_use]
    pub fn new(numbers: &[f64]) -> Option<Self> {
        let mut sorted = numbers.to_vec();
        sorted.sort_by(f64::total_cmp);
        sorted.dedup();
        if sorted.is_empty() || sorted.len() > Self::LONGEST {
            return None;
        }
        let mut values = [0.0; Self::LONGEST];
        values[..sorted.len()].copy_from_slice(&sorted);
        Some(Self { values, len: sorted.len() })
    }

    /// Numbers that are written down ascending, for defaults.
    pub(crate) const fn ascending<const N: usize>(numbers: [f64; N]) -> Self {
        let mut values = [0.0; Self::LONGEST];
        let mut at = 0;
        while at < N {
            values[at] = numbers[at];
            at += 1;
        }
        Self { values, len: N }
    }

    /// The numbers, ascending.
    #[must_use]
    pub fn values(&self) -> &[f64] {
        &self.values[..self.len]
    }
}

impl Setting for Grid {
    type Given = Self;
    fn given(value: Self) -> Self {
        value
    }
    fn read(text: &str) -> Option<Self> {
        let numbers: Option<Vec<f64>> = text.split(',').map(|v| v.trim().parse().ok()).collect();
        Self::new(&numbers?)
    }
    fn text(self) -> String {
        let words: Vec<String> = self.values().iter().map(f64::to_string).collect();
        words.join(",")
    }
    fn number(self) -> Option<f64> {
        // The one that leaves a range first; NaN sorts last and leaves every range.
        let all_finite = self.values().iter().all(|v| v.is_finite());
        Some(if all_finite { self.values[0] } else { f64::NAN })
    }
}

/// Refuses a value outside the range.
pub(crate) fn check<S: Setting>(name: &str, value: S, allowed: Allowed) -> Result<()> {
    let number = value.number();
    let fits = match allowed {
        Allowed::WholeFrom(least) => number.is_some_and(is_count_from(least)),
        Allowed::AutoOrFrom(least) => number.is_none_or(is_count_from(least)),
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
    move |count| count >= least as f64 && count <= LARGEST_COUNT as f64
}

pub(crate) fn read<S: Setting>(name: &str, text: &str, allowed: Allowed) -> Result<S> {
    let value = S::read(text.trim()).ok_or_else(|| refuse(name, text, allowed))?;
    check(name, value, allowed)?;
    Ok(value)
}

fn refuse(name: &str, got: &str, allowed: Allowed) -> Error {
    let got = if got.trim().is_empty() { "empty".to_owned() } else { got.to_owned() };
    Error::Knob { name: name.to_owned(), got, allowed: allowed.to_string() }
}

/// Whether `given` names the knob: by its word, its letter, or the letter spelt out.
pub(crate) fn names(knob: &Knob, given: &str) -> bool {
    let spelt = match knob.symbol {
        "λ" => "lambda",
        "β" => "beta",
        "γ" => "gamma",
        "μ" => "mu",
        "α" => "alpha",
        "σ" => "sigma",
        "ζ" => "zeta",
        "β_L" => "beta_l",
        other => other,
    };
    let given = given.replace('-', "_");
    given == knob.name || (!knob.symbol.is_empty() && (given == knob.symbol || given == spelt))
}

/// A set of knobs that can be listed, and read from text.
pub(crate) trait Knobbed: Sized {
    fn list() -> Vec<Knob>;
    fn read(knobs: &[(String, String)]) -> Result<Self>;
}

/// Declares the knobs of a method: one block gives the struct, `Default`, a setter per knob for
/// code (`.sparsity(0.3)`), setting and reading by name for text, range checks and the list that
/// documentation is made from.
macro_rules! knobs {
    (
        $(#[$attribute:meta])*
        pub struct $Name:ident {
            $(
                #[doc = $sentence:literal]
                $knob:ident $symbol:literal: $Type:ty = $default:expr, $allowed:expr;
            )*
        }
    ) => {
        $(#[$attribute])*
        #[derive(Clone, Copy, Debug, PartialEq)]
        pub struct $Name {
            $(#[doc = $sentence] pub $knob: $Type,)*
        }

        impl Default for $Name {
            fn default() -> Self {
                Self { $($knob: $default,)* }
            }
        }

        impl $crate::knobs::Knobbed for $Name {
            fn list() -> Vec<$crate::knobs::Knob> {
                Self::knobs()
            }

            fn read(knobs: &[(String, String)]) -> $crate::Result<Self> {
                Self::from_pairs(knobs)
            }
        }

        impl $Name {
            /// All knobs at their defaults.
            #[must_use]
            pub fn new() -> Self {
                Self::default()
            }

            $(
                #[doc = $sentence]
                #[must_use]
                pub fn $knob(
                    mut self,
                    value: <$Type as $crate::knobs::Setting>::Given,
                ) -> Self {
                    self.$knob = <$Type as $crate::knobs::Setting>::given(value);
                    self
                }
            )*

            /// The knobs, in the order they are declared.
            #[must_use]
            pub fn knobs() -> Vec<$crate::knobs::Knob> {
                use $crate::knobs::{Allowed, Knob, Setting};
                vec![$(Knob {
                    name: stringify!($knob),
                    symbol: $symbol,
                    default: <$Type as Setting>::text($default),
                    allowed: { use Allowed::*; $allowed },
                    sentence: $sentence.trim_ascii(),
                },)*]
            }

            /// Sets one knob from text, by its name, its letter in the paper or that letter spelt
            /// out.
            ///
            /// # Errors
            /// If there is no such knob or the value is out of range.
            pub fn set(&mut self, name: &str, text: &str) -> $crate::Result<()> {
                let list = Self::knobs();
                let Some(knob) = list.iter().find(|knob| $crate::knobs::names(knob, name)) else {
                    let known: Vec<&str> = list.iter().map(|knob| knob.name).collect();
                    return Err($crate::Error::Unknown {
                        what: "knob", got: name.to_owned(), known: known.join(", "),
                    });
                };
                $(if knob.name == stringify!($knob) {
                    self.$knob = $crate::knobs::read(knob.name, text, knob.allowed)?;
                })*
                Ok(())
            }

            /// From (name, value) text on top of the defaults.
            ///
            /// # Errors
            /// If a name is unknown or a value out of range.
            pub fn from_pairs(knobs: &[(String, String)]) -> $crate::Result<Self> {
                let mut own = Self::new();
                for (name, value) in knobs {
                    own.set(name, value)?;
                }
                Ok(own)
            }

            /// Names and values as text, in the order of declaration.
            #[must_use]
            pub fn values(&self) -> Vec<(&'static str, String)> {
                vec![$((stringify!($knob), $crate::knobs::Setting::text(self.$knob)),)*]
            }

            /// Refuses values out of range.
            ///
            /// # Errors
            /// Names the first such knob, its value and the range.
            pub fn check(&self) -> $crate::Result<()> {
                $({
                    use $crate::knobs::Allowed::*;
                    $crate::knobs::check(stringify!($knob), self.$knob, $allowed)?;
                })*
                Ok(())
            }
        }
    };
}
pub(crate) use knobs;

/// Declares a knob whose values are words.
macro_rules! choice {
    (
        $(#[$attribute:meta])*
        pub enum $Name:ident { $($(#[$doc:meta])* $Variant:ident = $word:literal,)* }
    ) => {
        $(#[$attribute])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum $Name { $($(#[$doc])* $Variant,)* }

        impl $Name {
            /// The word of this choice.
            #[must_use]
            pub fn name(self) -> &'static str {
                match self { $(Self::$Variant => $word,)* }
            }

            /// The words, in order.
            pub const WORDS: &'static [&'static str] = &[$($word),*];
        }

        impl $crate::knobs::Setting for $Name {
            type Given = Self;
            fn given(value: Self) -> Self {
                value
            }
            fn read(text: &str) -> Option<Self> {
                match text { $($word => Some(Self::$Variant),)* _ => None }
            }
            fn text(self) -> String {
                self.name().to_owned()
            }
            fn number(self) -> Option<f64> {
                None
            }
        }
    };
}
pub(crate) use choice;
