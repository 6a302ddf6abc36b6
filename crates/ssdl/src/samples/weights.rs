//! How much each sample and each class counts.
//!
//! Weights are relative. Those of samples are divided by the mean over the labelled ones, so that labels
//! count as much against the other terms of an objective as they would without weights; class factors
//! are scaled the same way. Equal weights therefore change nothing, not even a bit.

use std::fmt;
use std::str::FromStr;

use super::Labels;
use crate::{Error, Real, Result};

/// How much the labels of each class count.
#[derive(Clone, Debug, PartialEq)]
pub enum ClassWeight {
    /// All classes the same, however many labels each has.
    Balanced,
    /// By class name; classes that are not named have weight one.
    Given(Vec<(String, f64)>),
}

impl FromStr for ClassWeight {
    type Err = Error;

    /// `balanced`, or `a=2,b=1`.
    fn from_str(text: &str) -> Result<Self> {
        if text.trim() == "balanced" {
            return Ok(Self::Balanced);
        }
        let pair = |part: &str| {
            let (name, value) = part.rsplit_once('=')?;
            Some((name.trim().to_owned(), value.trim().parse().ok()?))
        };
        let pairs: Option<Vec<(String, f64)>> = text.split(',').map(pair).collect();
        pairs.map(Self::Given).ok_or_else(|| {
            Error::Labels(format!("class weights `{text}`: write `balanced`, or such as `a=2,b=1`"))
        })
    }
}

impl fmt::Display for ClassWeight {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Balanced => f.write_str("balanced"),
            Self::Given(pairs) => {
                let parts: Vec<String> =
                    pairs.iter().map(|(name, value)| format!("{name}={value}")).collect();
                f.write_str(&parts.join(","))
            }
        }
    }
}

/// The weights of the samples of a fit.
#[derive(Clone, Debug, PartialEq)]
pub struct Weights<T> {
    /// One for each sample, above zero; those of labelled ones hold the factor of their class.
    pub of_samples: Vec<T>,
    /// The factor of each class.
    pub of_classes: Vec<T>,
    /// Whether the factors make all classes count the same, in place of what a method would do.
    pub balanced: bool,
    /// Whether any of them differs from one.
    pub given: bool,
}

impl<T: Real> Weights<T> {
    /// One each.
    #[must_use]
    pub fn even(labels: &Labels) -> Self {
        Self {
            of_samples: vec![T::one(); labels.len()],
            of_classes: vec![T::one(); labels.classes().len()],
            balanced: false,
            given: false,
        }
    }

    /// Scales weights of samples (all above zero) and of classes.
    ///
    /// # Errors
    /// If the weight of a class is not above zero and finite, or a class is unknown.
    pub fn new(
        labels: &Labels,
        of_samples: Option<&[f64]>,
        of_classes: Option<&ClassWeight>,
    ) -> Result<Self> {
        if of_samples.is_none() && of_classes.is_none() {
            return Ok(Self::even(labels));
        }
        let ones = vec![1.0; labels.len()];
        let mut samples = of_samples.unwrap_or(&ones).to_vec();
        let known = labels.labelled();
        let mean = |weights: &[f64]| {
            known.iter().map(|&place| weights[place]).sum::<f64>() / known.len().max(1) as f64
        };
        let scale = mean(&samples);
        relative(&mut samples, scale);
        let mut classes = factors(labels, &samples, of_classes)?;
        let label_of = |place: usize| labels.assigned()[place];
        let weighed: Vec<f64> = samples
            .iter()
            .enumerate()
            .map(|(place, weight)| weight * label_of(place).map_or(1.0, |class| classes[class]))
            .collect();
        relative(&mut classes, mean(&weighed));
        let of_samples: Vec<T> = samples
            .iter()
            .enumerate()
            .map(|(place, weight)| {
                T::of(weight * label_of(place).map_or(1.0, |class| classes[class]))
            })
            .collect();
        Ok(Self {
            given: of_samples.iter().any(|weight| *weight != T::one()),
            of_samples,
            of_classes: classes.into_iter().map(T::of).collect(),
            balanced: of_classes == Some(&ClassWeight::Balanced),
        })
    }
}

impl<T: Real> Weights<T> {
    /// Those of the chosen samples, in the order given.
    #[must_use]
    pub fn select(&self, chosen: &[usize]) -> Self {
        let of_samples = chosen.iter().map(|&place| self.of_samples[place]).collect();
        Self { of_samples, ..self.clone() }
    }

    /// With the factors of classes, and nothing for single samples.
    #[must_use]
    pub fn of_classes_alone(&self, labels: &Labels) -> Self {
        let weight = |class: &Option<usize>| class.map_or(T::one(), |class| self.of_classes[class]);
        Self { of_samples: labels.assigned().iter().map(weight).collect(), ..self.clone() }
    }

    /// Without the factors of classes in some samples, whose labels are to be hidden.
    #[must_use]
    pub fn without_classes(&self, hidden: &[usize], labels: &Labels) -> Self {
        let mut rest = self.clone();
        for &place in hidden {
            if let Some(class) = labels.assigned()[place] {
                rest.of_samples[place] /= self.of_classes[class];
            }
        }
        rest
    }
}

/// Divides by `scale`. Weights that are all the same become one without rounding.
fn relative(weights: &mut [f64], scale: f64) {
    let is_even = weights.windows(2).all(|pair| pair[0] == pair[1]);
    weights.iter_mut().for_each(|weight| *weight = if is_even { 1.0 } else { *weight / scale });
}

/// The factor of each class, not yet scaled.
fn factors(labels: &Labels, samples: &[f64], chosen: Option<&ClassWeight>) -> Result<Vec<f64>> {
    let names = labels.classes();
    let mut factors = vec![1.0; names.len()];
    match chosen {
        None => {}
        Some(ClassWeight::Balanced) => {
            let mut masses = vec![0.0; names.len()];
            for place in labels.labelled() {
                labels.assigned()[place].iter().for_each(|&class| masses[class] += samples[place]);
            }
            // A class without labels has none that could count; it must not hide that others are even.
            let largest = masses.iter().copied().fold(0.0, f64::max);
            let inverse = |mass: f64| if mass > 0.0 { largest / mass } else { 1.0 };
            factors = masses.into_iter().map(inverse).collect();
        }
        Some(ClassWeight::Given(pairs)) => {
            for (name, weight) in pairs {
                let class = names.iter().position(|own| own == name).ok_or_else(|| {
                    let known = names.join(", ");
                    Error::Labels(format!("weight of class `{name}`: the classes are {known}"))
                })?;
                if !(*weight > 0.0 && weight.is_finite()) {
                    return Err(Error::Labels(format!(
                        "weight {weight} of class `{name}`: it must be above 0 and finite; remove \
                         the labels of a class that is not to count"
                    )));
                }
                factors[class] = *weight;
            }
        }
    }
    Ok(factors)
}

/// The samples that take part: those whose weight is not zero; `None` if all do.
///
/// # Errors
/// If there is not one weight for each sample, or one is negative or not finite.
pub fn kept(weights: Option<&[f64]>, n_samples: usize) -> Result<Option<Vec<usize>>> {
    let Some(weights) = weights else { return Ok(None) };
    if weights.len() != n_samples {
        return Err(Error::Shape {
            what: "number of sample weights (one per sample)".into(),
            expected: n_samples,
            got: weights.len(),
        });
    }
    if let Some(at) = weights.iter().position(|weight| !(*weight >= 0.0 && weight.is_finite())) {
        return Err(Error::Samples(format!(
            "the weight of sample {} is {}: weights are finite numbers, 0 or more",
            at + 1,
            weights[at]
        )));
    }
    let kept: Vec<usize> = (0..n_samples).filter(|&at| weights[at] > 0.0).collect();
    Ok((kept.len() < n_samples).then_some(kept))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels() -> Labels {
        Labels::from_names(&[Some("a"), Some("a"), None, Some("a"), Some("b"), None])
    }

    #[test]
    fn weights_are_relative_to_the_labelled_ones() {
        let found: Weights<f64> =
            Weights::new(&labels(), Some(&[4.0, 4.0, 1.0, 4.0, 4.0, 2.0]), None).expect("sound");
        assert_eq!(found.of_samples, [1.0, 1.0, 0.25, 1.0, 1.0, 0.5]);
        for even in [0.1, 3.0, 1e9] {
            let found: Weights<f32> =
                Weights::new(&labels(), Some(&[even; 6]), None).expect("sound");
            assert_eq!(found, Weights::even(&labels()));
        }
    }

    #[test]
    fn balanced_classes_have_the_same_mass_and_unlabelled_samples_none() {
        let chosen = ClassWeight::Balanced;
        let found: Weights<f64> = Weights::new(&labels(), None, Some(&chosen)).expect("sound");
        let mass = |places: &[usize]| places.iter().map(|&j| found.of_samples[j]).sum::<f64>();
        assert!((mass(&[0, 1, 3]) - mass(&[4])).abs() < 1e-12);
        assert!((mass(&[0, 1, 3, 4]) - 4.0).abs() < 1e-12);
        assert_eq!((found.of_samples[2], found.of_samples[5]), (1.0, 1.0));
    }

    #[test]
    fn text_is_read_and_mistakes_are_named() {
        assert_eq!("balanced".parse::<ClassWeight>().expect("a word"), ClassWeight::Balanced);
        let given: ClassWeight = "a = 2,b=0.5".parse().expect("pairs");
        assert_eq!(given.to_string(), "a=2,b=0.5");
        assert!("even".parse::<ClassWeight>().is_err());
        for (text, part) in [("c=1", "the classes are a, b"), ("a=0", "above 0")] {
            let chosen = text.parse::<ClassWeight>().expect("pairs");
            let error = Weights::<f64>::new(&labels(), None, Some(&chosen)).expect_err("refused");
            assert!(error.to_string().contains(part), "{error}");
        }
        let refused = |weights: &[f64]| kept(Some(weights), 2).expect_err("refused").to_string();
        assert!(refused(&[1.0]).contains("sample weights"));
        assert!(refused(&[1.0, -2.0]).contains("sample 2 is -2"));
        assert!(refused(&[f64::NAN, 1.0]).contains("sample 1 is NaN"));
        assert_eq!(kept(Some(&[0.0, 1.0]), 2).expect("sound"), Some(vec![1]));
        assert_eq!(kept(Some(&[3.0, 1.0]), 2).expect("sound"), None);
    }
}
