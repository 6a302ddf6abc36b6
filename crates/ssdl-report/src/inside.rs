//! The data inside a page that its script reads: samples with their explanations, and pictures.

use std::collections::BTreeMap;

use serde::Serialize;
use ssdl::model::Explanation;
use ssdl::{Matrix, Model, Prediction, Real};

use crate::Result;
use crate::confusion::Case;
use crate::look::{Judged, Subject};
use crate::tiles::{Pictures, Scale, pictures, range};

/// Maximum number of classes listed for a sample.
const MOST_CLASSES: usize = 6;
/// Maximum number of atoms listed for a sample.
const MOST_PARTS: usize = 10;
/// Maximum number of neighbours listed for a sample.
const MOST_NEIGHBOURS: usize = 8;
/// Maximum number of features listed for a sample that is not an image.
const MOST_FEATURES: usize = 8;

/// All data for the script.
#[derive(Serialize)]
pub(crate) struct Inside {
    /// Names of the classes, followed by names unknown to the model.
    classes: Vec<String>,
    cases: Vec<Carried>,
    /// Training samples that are neighbours of a case, in the order of their pictures.
    near: Vec<Near>,
    /// The least certain cases, the least first.
    unsure: Vec<usize>,
    pub samples: Pictures,
    pub training: Pictures,
    /// The atoms, followed by the reconstruction of each case.
    pub atoms: Pictures,
    n_atoms: usize,
    /// Names of the features, if parts are features.
    features: Option<Vec<String>>,
    of_training: bool,
}

/// A sample with its explanation.
#[derive(Serialize)]
struct Carried {
    place: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<String>,
    truth: Option<usize>,
    /// The prediction made while the true class was hidden.
    predicted: Option<usize>,
    /// The prediction of the model.
    class: usize,
    second: Option<usize>,
    /// Class and probability, the most likely first.
    shares: Vec<(usize, f64)>,
    /// Atom, its coefficient, and what it adds to the scores of the first and the second class.
    parts: Vec<(usize, f64, f64, f64)>,
    /// Number of all its atoms.
    n_parts: usize,
    /// Index into `near`, and weight.
    near: Vec<(usize, f64)>,
    /// The most unusual features: name, value, standard deviations from the mean.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    unusual: Vec<(String, f64, f64)>,
}

#[derive(Serialize)]
struct Near {
    place: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<String>,
    label: Option<usize>,
    predicted: usize,
}

/// Samples in the shape in which they are shown.
struct Shown<'a, T> {
    values: Option<&'a Matrix<T>>,
    image: Option<[usize; 2]>,
}

impl Inside {
    pub fn new<T: Real>(
        subject: &Subject<'_, T>,
        cases: &[Case],
        places: &[usize],
        unsure: &[usize],
        names: &[String],
    ) -> Result<Self> {
        let model = subject.model;
        let training = training(subject);
        let (shown, explained, own_names) = match &subject.judged {
            Judged::Training { .. } => {
                let shown = Shown { values: training.values, image: training.image };
                (shown, model.explain(places)?, subject.training_names)
            }
            Judged::Others { raw, seen, prediction, names, .. } => {
                let explained = model.explain_seen(seen, prediction, places)?;
                (Shown { values: Some(raw), image: model.image() }, explained, *names)
            }
        };
        let (near, place_of) = all_neighbours(subject, &explained);
        let statistics = shown.values.filter(|_| shown.image.is_none());
        let statistics = statistics.map(|values| statistics_of(training.values_like(values)));
        let carried = |(&place, explained): (&usize, &Explanation<T>)| {
            let values = shown.values.map(|values| values.column(place));
            let unusual = statistics.as_deref().zip(values);
            let unusual = unusual.map(|(each, values)| unusual_of(subject, each, values));
            let name = own_names.and_then(|names| names.get(place).cloned());
            let case = &cases[place];
            carry(case, name, explained, &place_of, unusual.unwrap_or_default())
        };
        let carried: Vec<Carried> = places.iter().zip(&explained).map(carried).collect();
        let at = |place: &usize| places.binary_search(place).ok();
        let near_places: Vec<usize> = near.iter().map(|near| near.place).collect();
        let features = subject.feature_names.filter(|_| model.atoms().is_none());
        let each = statistics.as_deref();
        let training_each = training.values.filter(|_| training.image.is_none()).map(statistics_of);
        Ok(Self {
            classes: names.to_vec(),
            near,
            unsure: unsure.iter().filter_map(at).collect(),
            samples: shown.pictures(places, each)?,
            training: training.pictures(&near_places, training_each.as_deref())?,
            atoms: atoms(model, &explained)?,
            n_atoms: model.atoms().map_or(0, Matrix::columns),
            features: features.map(<[String]>::to_vec),
            of_training: matches!(subject.judged, Judged::Training { .. }),
            cases: carried,
        })
    }
}

/// The training samples as they can be shown.
fn training<'a, T: Real>(subject: &Subject<'a, T>) -> Shown<'a, T> {
    let model = subject.model;
    match subject.training {
        Some(raw) => Shown { values: Some(raw), image: model.image() },
        None => Shown { values: model.training(), image: model.preparation().image_prepared() },
    }
}

impl<'a, T: Real> Shown<'a, T> {
    /// These samples if they have the same features as the others; else the others.
    fn values_like(&self, others: &'a Matrix<T>) -> &'a Matrix<T> {
        self.values.filter(|own| own.rows() == others.rows()).unwrap_or(others)
    }

    fn pictures(&self, places: &[usize], each: Option<&[(f64, f64)]>) -> Result<Pictures> {
        let Some(values) = self.values else { return Ok(Pictures::None) };
        let scale = each.map_or_else(|| range(values.as_slice()), Scale::Standard);
        let columns: Vec<_> = places.iter().map(|&place| (values.column(place), scale)).collect();
        pictures(&columns, self.image)
    }
}

/// The training samples that are neighbours of a case, and their positions in that list.
fn all_neighbours<T: Real>(
    subject: &Subject<'_, T>,
    explained: &[Explanation<T>],
) -> (Vec<Near>, BTreeMap<usize, usize>) {
    let model = subject.model;
    let Prediction { classes: predicted, .. } = model.transduction();
    let labels = model.training_labels().assigned();
    let listed = explained.iter().flat_map(|e| e.neighbours.iter().take(MOST_NEIGHBOURS));
    let mut place_of: BTreeMap<usize, usize> = listed.map(|near| (near.sample, 0)).collect();
    place_of.values_mut().enumerate().for_each(|(at, place)| *place = at);
    let name = |sample: usize| subject.training_names.and_then(|names| names.get(sample).cloned());
    let near = place_of.keys().map(|&sample| Near {
        place: sample,
        name: name(sample),
        label: labels[sample],
        predicted: predicted[sample],
    });
    (near.collect(), place_of)
}

fn carry<T: Real>(
    case: &Case,
    name: Option<String>,
    explained: &Explanation<T>,
    place_of: &BTreeMap<usize, usize>,
    unusual: Vec<(String, f64, f64)>,
) -> Carried {
    let Explanation { class, second, probabilities, parts, neighbours, .. } = explained;
    let mut shares: Vec<(usize, f64)> =
        probabilities.iter().map(|share| rounded(share.wide())).enumerate().collect();
    shares.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
    shares.truncate(MOST_CLASSES);
    let part = |part: &ssdl::model::Part<T>| {
        let vote = |class: usize| part.votes.get(class).map_or(0.0, |vote| rounded(vote.wide()));
        let second = second.map_or(0.0, vote);
        (part.index, rounded(part.amount.wide()), vote(*class), second)
    };
    let near =
        |near: &ssdl::model::Neighbour<T>| (place_of[&near.sample], rounded(near.weight.wide()));
    Carried {
        place: case.place,
        name,
        truth: case.truth,
        predicted: case.predicted,
        class: *class,
        second: *second,
        shares,
        parts: parts.iter().take(MOST_PARTS).map(part).collect(),
        n_parts: parts.len(),
        near: neighbours.iter().take(MOST_NEIGHBOURS).map(near).collect(),
        unusual,
    }
}

/// Pictures of the atoms, followed by the reconstruction of each case.
fn atoms<T: Real>(model: &Model<T>, explained: &[Explanation<T>]) -> Result<Pictures> {
    let Some(atoms) = model.atoms() else { return Ok(Pictures::None) };
    let rebuild = |explained: &Explanation<T>| {
        let mut sum = vec![T::zero(); atoms.rows()];
        for part in &explained.parts {
            let terms = sum.iter_mut().zip(atoms.column(part.index));
            terms.for_each(|(sum, value)| *sum += part.amount * *value);
        }
        sum
    };
    let rebuilt: Vec<Vec<T>> = explained.iter().map(rebuild).collect();
    // Atoms are signed; reconstructions range from the darkest to the lightest, like a sample.
    let of_atoms = atoms.iter_columns().map(|atom| (atom, Scale::Signed));
    let of_rebuilt = rebuilt.iter().map(|sample| (sample.as_slice(), range(sample)));
    let columns: Vec<_> = of_atoms.chain(of_rebuilt).collect();
    pictures(&columns, model.preparation().image_prepared())
}

/// Mean and standard deviation of each feature.
fn statistics_of<T: Real>(samples: &Matrix<T>) -> Vec<(f64, f64)> {
    let count = samples.columns().max(1) as f64;
    let mut sums = vec![(0.0, 0.0); samples.rows()];
    for sample in samples.iter_columns() {
        for (sum, value) in sums.iter_mut().zip(sample) {
            sum.0 += value.wide() / count;
        }
    }
    for sample in samples.iter_columns() {
        for (sum, value) in sums.iter_mut().zip(sample) {
            sum.1 += (value.wide() - sum.0).powi(2) / count;
        }
    }
    sums.into_iter().map(|(mean, variance)| (mean, variance.sqrt())).collect()
}

/// The features furthest from their mean, in standard deviations.
fn unusual_of<T: Real>(
    subject: &Subject<'_, T>,
    each: &[(f64, f64)],
    values: &[T],
) -> Vec<(String, f64, f64)> {
    let far = |(at, (value, (mean, spread))): (usize, (&T, &(f64, f64)))| {
        let deviations = if *spread > 0.0 { (value.wide() - mean) / spread } else { 0.0 };
        let names = subject.feature_names.filter(|names| names.len() == values.len());
        let name = names.map_or_else(|| format!("feature {at}"), |names| names[at].clone());
        (name, rounded(value.wide()), rounded(deviations))
    };
    let mut all: Vec<_> = values.iter().zip(each).enumerate().map(far).collect();
    all.sort_by(|a, b| b.2.abs().total_cmp(&a.2.abs()));
    all.truncate(MOST_FEATURES);
    all
}

/// Rounds to four significant digits: more would only make the page longer.
fn rounded(value: f64) -> f64 {
    if value == 0.0 || !value.is_finite() {
        return 0.0;
    }
    let digits = 3 - value.abs().log10().floor() as i32;
    let unit = 10f64.powi(digits.clamp(-300, 300));
    (value * unit).round() / unit
}
