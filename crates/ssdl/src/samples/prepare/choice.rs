//! A preparation step as the user writes it: its name and the argument after its `=`.

use std::fmt;
use std::str::FromStr;

use super::Kind;
use crate::{Error, Result};

/// The word that leaves the steps to the samples.
const AUTO: &str = "auto";

/// One requested step, such as `standardise`, `pca=300` or `join=[deskew,gradients=9/4/2 | none]`;
/// read with [`str::parse`], written back by `Display`.
///
/// ```
/// use ssdl::samples::prepare::StepChoice;
///
/// let plan: StepChoice = "pca=300".parse()?;
/// assert_eq!((plan.name(), plan.to_string().as_str()), ("pca", "pca=300"));
/// assert!("pca=0".parse::<StepChoice>().is_err());
/// # Ok::<(), ssdl::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct StepChoice {
    name: &'static str,
    argument: Option<String>,
}

impl StepChoice {
    /// The name of the step.
    #[must_use]
    pub fn name(&self) -> &'static str {
        self.name
    }

    /// The argument after the `=`, if there is one.
    pub(super) fn argument(&self) -> Option<&str> {
        self.argument.as_deref()
    }

    /// The argument as a finite number above 0.
    pub(super) fn positive(&self) -> Result<f64> {
        self.read(|&number: &f64| number.is_finite() && number > 0.0)
            .ok_or_else(|| self.refuse("a number > 0"))
    }

    /// The argument as a count of at least 1.
    pub(super) fn count(&self) -> Result<usize> {
        self.read(|&count| count >= 1).ok_or_else(|| self.refuse("a whole number >= 1"))
    }

    /// Refuses any argument.
    pub(super) fn nothing(&self) -> Result<()> {
        if self.argument.is_none() { Ok(()) } else { Err(self.refuse("the name alone")) }
    }

    /// The error that names the accepted arguments.
    pub(super) fn refuse(&self, allowed: impl Into<String>) -> Error {
        let got = match self.argument.as_deref() {
            None => "missing",
            Some("") => "empty",
            Some(text) => text,
        };
        Error::Knob { name: self.name.into(), got: got.into(), allowed: allowed.into() }
    }

    fn read<V: FromStr>(&self, is_allowed: impl Fn(&V) -> bool) -> Option<V> {
        self.argument.as_ref()?.parse().ok().filter(is_allowed)
    }
}

impl FromStr for StepChoice {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let (name, argument) = match text.split_once('=') {
            Some((name, argument)) => (name, Some(argument.trim().to_owned())),
            None => (text, None),
        };
        // Not a step of its own: whoever fits it puts steps in its place.
        if name.trim() == AUTO {
            let auto = Self { name: AUTO, argument };
            return auto.nothing().map(|()| auto);
        }
        let description = Kind::<f64>::named(name.trim())?.description;
        let plan = Self { name: description.name, argument };
        (description.check)(&plan)?;
        Ok(plan)
    }
}

impl fmt::Display for StepChoice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.argument {
            None => f.write_str(self.name),
            Some(argument) => write!(f, "{}={argument}", self.name),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples::prepare::fixed_cases;
    use proptest::prelude::*;

    fn refusal(text: &str) -> String {
        text.parse::<StepChoice>().expect_err(text).to_string()
    }

    #[test]
    fn plans_read_and_write_the_same_text() -> Result<()> {
        let texts = [
            "scale=5",
            "scale=0.25",
            "standardise",
            "unskew",
            "lift=5",
            "auto",
            "pca=300",
            "projection=540",
            "power=0.5",
            "deskew",
            "gradients",
            "gradients=8/3/2",
            "gradients=8/3/2/soft",
            "gradients=8/3/2/signed",
            "logarithm",
            "logarithm=1",
            "contrast",
            "contrast=0.5/3",
            "resize=16x12",
            "join=[deskew,gradients=9/4/2 | deskew,gradients=8/3/2 | none]",
        ];
        for text in texts {
            assert_eq!(text.parse::<StepChoice>()?.to_string(), text);
        }
        assert_eq!(" pca = 3 ".parse::<StepChoice>()?.to_string(), "pca=3");
        Ok(())
    }

    #[test]
    fn refusals_name_the_step_the_value_and_what_is_allowed() {
        assert_eq!(refusal("scale=-1"), "knob `scale` is -1; allowed: a number > 0");
        assert_eq!(refusal("scale"), "knob `scale` is missing; allowed: a number > 0");
        assert_eq!(refusal("pca="), "knob `pca` is empty; allowed: a whole number >= 1");
        assert_eq!(refusal("standardise=2"), "knob `standardise` is 2; allowed: the name alone");
        assert_eq!(
            refusal("whiten"),
            "unknown preparation step `whiten`; \
             known: scale=FACTOR, standardise, unskew, lift=LENGTH, pca=COUNT, projection=COUNT, power=EXPONENT, \
             deskew, gradients[=O/C/B[/VOTES]], logarithm[=STRENGTH], contrast[=INNER/OUTER], \
             resize=HEIGHTxWIDTH, join=[STEP,STEP | STEP]"
        );
    }

    #[test]
    fn hostile_arguments_are_refused() {
        let texts = [
            "",
            "=",
            "=3",
            "scale=nan",
            "scale=inf",
            "scale=0",
            "scale=5=5",
            "scale=1e999",
            "pca=0",
            "pca=-3",
            "pca=2.5",
            "pca=99999999999999999999999",
            "projection=ten",
            "standardise=",
            "auto=1",
            "unskew=",
            "lift=-1",
            "pca,3",
            "PCA=3",
            "deskew=1",
            "gradients=",
            "gradients=0/0/0",
            "gradients=9/4",
            "gradients=9/4/2/1",
            "gradients=181/4/2",
            "gradients=soft",
            "gradients=9/4/soft",
            "gradients=9/4/2/soft/soft",
            "gradients=9/4/2/hard",
            "gradients=9/-4/2",
            "gradients=9/4/99999999999999999999999",
            "logarithm=0",
            "logarithm=inf",
            "contrast=2/1",
            "contrast=1/1",
            "contrast=0/1",
            "contrast=nan/2",
            "contrast=1/nan",
            "contrast=1/1e9",
            "resize",
            "resize=0x5",
            "resize=5x0",
            "resize=5",
            "resize=5x5x5",
            "resize=99999x1",
            "join",
            "join=[]",
            "join=[|]",
            "join=]none[",
            "join=[none",
            "join=[join=[none]]",
            "join=[×",
        ];
        for text in texts {
            assert!(text.parse::<StepChoice>().is_err(), "{text}");
        }
    }

    proptest! {
        #![proptest_config(fixed_cases(128))]

        #[test]
        fn any_text_is_read_or_refused_and_read_plans_survive_a_round_trip(
            text in "(scale|standardise|pca|projection|gradients|logarithm|contrast|resize|x)?\
                     =?[-0-9.einfa/x× ]{0,6}"
        ) {
            if let Ok(plan) = text.parse::<StepChoice>() {
                prop_assert_eq!(&plan.to_string().parse::<StepChoice>().expect("its own text"), &plan);
            }
        }

        #[test]
        fn joins_are_read_or_refused_and_survive_a_round_trip(
            text in "join ?= ?\\[?((deskew|none|scale=1|pca=3|é|gradients=9/4/2)[ ,|\\]\\[]?){0,5}\\]?"
        ) {
            if let Ok(plan) = text.parse::<StepChoice>() {
                prop_assert_eq!(&plan.to_string().parse::<StepChoice>().expect("its own text"), &plan);
            }
        }
    }
}
