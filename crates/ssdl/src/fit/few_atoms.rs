//! What methods share that code each sample with a limited number of atoms.

use super::{Dictionary, Given, Learnt, Limits, Sizes, Stop};
use crate::classifier::{Decision, LinearClassifier, SHARPNESS, Targets};
use crate::codes::{Coder, Omp, Pulled, Pursuit, Refit};
use crate::dictionary::{AtomCount, revive};
use crate::knobs::KnobValue;
use crate::{Matrix, Real, Result};

/// The number of atoms that a code may use.
///
/// With nearly as many as there are features, a code gives back any sample, and the classifier learns from
/// noise.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NonzeroCount {
    /// A third of the features, at most 10; written `auto`.
    Auto,
    /// This number.
    Exactly(usize),
}

impl NonzeroCount {
    /// The number for samples with this many features.
    #[must_use]
    pub fn resolve(self, n_features: usize) -> usize {
        match self {
            Self::Auto => (n_features / 3).clamp(1, 10),
            Self::Exactly(count) => count,
        }
    }
}

impl KnobValue for NonzeroCount {
    type Given = usize;
    fn given(value: usize) -> Self {
        Self::Exactly(value)
    }
    fn read(text: &str) -> Option<Self> {
        if text == "auto" { Some(Self::Auto) } else { usize::read(text).map(Self::Exactly) }
    }
    fn text(self) -> String {
        match self {
            Self::Auto => "auto".into(),
            Self::Exactly(count) => count.to_string(),
        }
    }
    fn number(self) -> Option<f64> {
        match self {
            Self::Auto => None,
            Self::Exactly(count) => Some(count as f64),
        }
    }
}

crate::knobs! {
    /// Atoms, how many of them a code uses, and when the fit stops.
    pub struct FewAtomsKnobs as FewAtomsSetters {
        /// Number of atoms; `auto`: one per feature or, if more, 10 per class, up to 200 and one per labelled sample.
        n_atoms "p": AtomCount = AtomCount::Auto, AutoOrFrom(1);
        /// Maximum number of atoms in the code of a sample; `auto`: a third of the features, up to 10.
        n_nonzero "T": NonzeroCount = NonzeroCount::Auto, AutoOrFrom(1);
        /// Maximum number of iterations.
        max_iterations "": usize = 20, WholeFrom(1);
        /// Relative change of the objective at which the fit has converged.
        tolerance "": f64 = 1e-4, From(0.0);
    }
}

impl FewAtomsKnobs {
    /// Fixes an automatic number of atoms, at most one per labelled sample: without a penalty on their number,
    /// samples are coded with atoms that no labelled sample uses, and such atoms have no vote.
    pub(crate) fn resolve_atoms(&mut self, sizes: &Sizes) {
        if self.n_atoms == AtomCount::Auto {
            self.n_atoms = AtomCount::Exactly(self.count(sizes).min(sizes.n_labelled));
        }
    }

    /// Cuts the atoms of a code to what atoms, which are already cut, and features allow.
    pub(crate) fn reduce(&mut self, sizes: &Sizes, notice: &mut dyn FnMut(&str)) {
        let rank = self.count(sizes).min(sizes.n_features).max(1);
        let asked = self.n_nonzero.resolve(sizes.n_features);
        if asked > rank && self.n_nonzero != NonzeroCount::Auto {
            notice(&format!(
                "n_nonzero cut from {asked} to {rank}: no sample needs more than it has features \
                 or there are atoms"
            ));
        }
        self.n_nonzero = NonzeroCount::Exactly(asked.min(rank));
    }

    /// Peak bytes of a fit whose codes are dense while they are found.
    pub(crate) fn bytes(&self, sizes: &Sizes) -> u64 {
        let Sizes { n_features, n_classes, n_samples, .. } = *sizes;
        let p = self.n_atoms.resolve(n_features, n_classes) as u64;
        let (n, c, count) = (n_features as u64, n_classes as u64, n_samples as u64);
        // Samples with their labelled and unlabelled parts and what is left of them; codes, right-hand
        // sides and codes as new samples have them; sums and factors.
        let large = n.saturating_mul(3).saturating_add(p.saturating_mul(3)).saturating_add(4 * c);
        let small = n.saturating_mul(p).saturating_mul(5).saturating_add(p.saturating_mul(p * 8));
        let numbers = large.saturating_mul(count).saturating_add(small);
        numbers.saturating_mul(sizes.scalar as u64)
    }

    /// The number of atoms.
    pub(crate) fn count(&self, sizes: &Sizes) -> usize {
        self.n_atoms.resolve(sizes.n_features, sizes.n_classes)
    }

    pub(crate) fn limits(&self) -> Limits {
        let Self { max_iterations, tolerance, .. } = *self;
        Limits { max_iterations, tolerance, max_flips: 0 }
    }

    pub(crate) fn pursuit(&self) -> Omp {
        Omp { n_nonzero: self.n_nonzero.resolve(usize::MAX) }
    }

    pub(crate) fn coder(&self) -> Coder {
        Coder::Omp { n_nonzero: self.n_nonzero.resolve(usize::MAX) }
    }
}

/// Labels as the coding step sees them: targets, the class of each sample, and $W$.
pub(crate) type Pulling<'a, T> = (&'a Targets, &'a [usize], &'a Matrix<T>);

/// Codes a group of samples on atoms with this Gram matrix; labels pull on the codes where they are given.
pub(crate) fn code<T: Real>(
    pursuit: Omp,
    (atoms, gram): (&Matrix<T>, &Matrix<T>),
    samples: &Matrix<T>,
    labels: Option<Pulling<'_, T>>,
    codes: &mut Matrix<T>,
) {
    let mut rhs = Matrix::of_product(atoms.transposed(), samples.view());
    let shifts = Vec::new();
    match labels {
        None => pursuit.code(Pulled { gram, rhs, shifts }, codes),
        Some((targets, classes, weights)) => {
            targets.add_to_rhs(&mut rhs, classes, weights);
            let gram = &targets.add_to_gram(gram, weights);
            pursuit.code(Pulled { gram, rhs, shifts }, codes);
        }
    }
}

/// Fits the coefficients of codes again, the atoms of each stay: with it the next atoms go further than with codes
/// that fit the atoms before them, and it costs a fraction of [`code`].
pub(crate) fn refit<T: Real>(
    (atoms, gram): (&Matrix<T>, &Matrix<T>),
    samples: &Matrix<T>,
    labels: Option<Pulling<'_, T>>,
    codes: &mut Matrix<T>,
) {
    match labels {
        None => Refit { atoms, gram, pulls: None }.code(samples, codes),
        Some((targets, classes, weights)) => {
            let mut pulls = Matrix::zeros(weights.rows(), weights.columns());
            let all: Vec<usize> = (0..weights.columns()).collect();
            targets.add_to_rhs(&mut pulls, &all, weights);
            let gram = &targets.add_to_gram(gram, weights);
            Refit { atoms, gram, pulls: Some((&pulls, classes)) }.code(samples, codes);
        }
    }
}

/// The matrices side by side; both have as many rows.
pub(crate) fn beside<T: Real>(left: &Matrix<T>, right: &Matrix<T>) -> Matrix<T> {
    let (rows, n) = (left.rows(), left.columns());
    let pick = |i: usize, j: usize| {
        if j < n { left.column(j)[i] } else { right.column(j - n)[i] }
    };
    Matrix::from_fn(rows, n + right.columns(), pick)
}

/// How many atoms were unused at the last dictionary step, and replaced over the whole fit.
#[derive(Clone, Copy, Default)]
pub(crate) struct Unused {
    pub dead: usize,
    pub revived: usize,
}

impl Unused {
    /// Replaces unused atoms by badly reconstructed samples, labelled or not; says whether there were some.
    pub fn revive<T: Real>(
        &mut self,
        atoms: &mut Matrix<T>,
        moments: &Matrix<T>,
        labelled: (&Matrix<T>, &Matrix<T>),
        unlabelled: (&Matrix<T>, &Matrix<T>),
    ) -> bool {
        self.dead = (0..atoms.columns()).filter(|&k| moments.column(k)[k] == T::zero()).count();
        if self.dead > 0 {
            let (samples, codes) =
                (beside(labelled.0, unlabelled.0), beside(labelled.1, unlabelled.1));
            self.revived += revive(atoms, &samples, &codes, moments, T::one()).1;
        }
        self.dead > 0
    }
}

/// Where a fit ended.
pub(crate) struct Ending<T> {
    pub atoms: Matrix<T>,
    pub coder: Coder,
    /// $W$ ($p\times C$) for codes on these atoms alone; `None` fits it here.
    pub weights: Option<Matrix<T>>,
    pub ridge: f64,
    pub unused: Unused,
    pub stop: Stop,
}

impl<T: Real> Ending<T> {
    /// Codes all samples as new ones will be coded, without their labels, and fits the classifier to
    /// the codes of the labelled ones.
    ///
    /// Paper: the classifier of the fit is kept. It has learnt from codes that the labels pulled on; no
    /// label pulls on the codes of new samples.
    pub fn learnt(self, given: &Given<'_, T>) -> Result<Learnt<T>> {
        let Self { atoms, coder, weights, ridge, unused, stop } = self;
        let codes = coder.code(&given.samples, &atoms, None);
        let (known, classes) = (given.labels.labelled(), given.labels.known_classes());
        let counts = given.labels.counts();
        let mut weights = match weights {
            Some(weights) => weights,
            None => Targets::new(counts.len(), 1.0, ridge)
                .fit(&codes.select_columns(&known), &classes)?,
        };
        // Targets of zero and one become scores of -1 and 1, which the probabilities are made from.
        weights.as_mut_slice().iter_mut().for_each(|w| *w *= T::of(2.0));
        let bias = vec![-T::one(); counts.len()];
        let mut classifier = LinearClassifier { weights, bias };
        classifier.silence_absent(&counts);
        let Unused { dead, revived } = unused;
        let dictionary = Some(Dictionary { atoms, codes, coder, dead, revived });
        let decision = Decision::linear(classifier, SHARPNESS);
        Ok(Learnt { dictionary, ..Learnt::without_atoms(decision, stop) })
    }
}
