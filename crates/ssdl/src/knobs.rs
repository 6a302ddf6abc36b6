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
    /// A number, at least this.
    From(f64),
    /// A number larger than this.
    Above(f64),
    /// `true` or `false`.
    Switch,
    /// One of these words.
    OneOf(&'static [&'static str]),
}

impl std::fmt::Display for Allowed {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::WholeFrom(least) => write!(f, "a whole number, {least} or more"),
            Self::From(least) => write!(f, "a number, {least} or more"),
            Self::Above(bound) => write!(f, "a number above {bound}"),
            Self::Switch => write!(f, "true or false"),
            Self::OneOf(words) => write!(f, "{}", words.join(", ")),
        }
    }
}

/// A type that a knob can have.
pub trait Setting: Copy + 'static {
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
pub(crate) fn check<S: Setting>(name: &str, value: S, allowed: Allowed) -> Result<()> {
    let number = value.number();
    let fits = match allowed {
        Allowed::WholeFrom(least) => {
            number.is_some_and(|v| v >= least as f64 && v <= LARGEST_COUNT as f64)
        }
        Allowed::From(least) => number.is_some_and(|v| v >= least && v.is_finite()),
        Allowed::Above(bound) => number.is_some_and(|v| v > bound && v.is_finite()),
        Allowed::Switch | Allowed::OneOf(_) => true,
    };
    if fits { Ok(()) } else { Err(refuse(name, &value.text(), allowed)) }
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
        other => other,
    };
    let given = given.replace('-', "_");
    given == knob.name || (!knob.symbol.is_empty() && (given == knob.symbol || given == spelt))
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

        impl $Name {
            /// All knobs at their defaults.
            #[must_use]
            pub fn new() -> Self {
                Self::default()
            }

            $(
                #[doc = $sentence]
                #[must_use]
                pub fn $knob(mut self, value: $Type) -> Self {
                    self.$knob = value;
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
            /// The words, in order.
            pub const WORDS: &'static [&'static str] = &[$($word),*];
        }

        impl $crate::knobs::Setting for $Name {
            fn read(text: &str) -> Option<Self> {
                match text { $($word => Some(Self::$Variant),)* _ => None }
            }
            fn text(self) -> String {
                match self { $(Self::$Variant => $word.to_owned(),)* }
            }
            fn number(self) -> Option<f64> {
                None
            }
        }
    };
}
pub(crate) use choice;
