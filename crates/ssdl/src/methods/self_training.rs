//! Self-training: a classifier labels the samples it is sure of and learns from them, in rounds.

use super::ridge::fit_ridge;
use super::{Description, Learner, LinearSvm, SHARPNESS};
use crate::classifier::svm::{SvmKnobs, SvmTrainer};
use crate::classifier::{
    Balance, BalanceKnobs, Decision, LinearClassifier, best, memberships, scale_columns,
};
use crate::fit::{Flow, Given, Learnt, Objective, Sizes, Stop, Turns, fit_svm, svm_objective};
use crate::knobs::Grid;
use crate::{Labels, Matrix, Real, Result};

crate::choice! {
    /// The classifier that trains itself.
    pub enum Base {
        /// A linear support vector machine.
        Svm = "svm",
        /// Ridge regression of the labels.
        Ridge = "ridge",
    }
}

crate::knobs! {
    /// The knobs of self-training, and the way to fit it from code.
    ///
    /// ```
    /// use ssdl::methods::{Base, SelfTraining};
    /// let method = SelfTraining::new().base(Base::Ridge).threshold(0.8);
    /// ```
    pub struct SelfTraining {
        /// Classifier that is fitted to the prepared samples.
        base "": Base = Base::Svm, OneOf(Base::WORDS);
        /// Minimum probability at which a sample is labelled.
        threshold "": f64 = 0.5, Between(0.0, 1.0);
        /// Share of the unlabelled samples that one round may label; 1 sets no limit.
        per_round "": f64 = 0.1, Above(0.0);
        /// Maximum number of rounds of labelling.
        max_rounds "": usize = 20, WholeFrom(1);
        /// Weight of a sample that the classifier labelled, a given label's being 1.
        unlabelled_weight "u": f64 = 1.0, Above(0.0);
        /// The class shares of what it labels.
        shares: BalanceKnobs = BalanceKnobs::new();
        /// The `svm`.
        svm: SvmKnobs = SvmKnobs::new();
        /// Weight of the squared norm of a `ridge` classifier; scales with squared sample lengths.
        ridge "μ mu": f64 = 1.0, Above(0.0);
    }
}

const DESCRIPTION: Description = Description {
    name: "self-training",
    class: "SelfTraining",
    title: "Self-training of a linear classifier",
    reference: "Scudder (1965); Yarowsky (1995)",
    link: "https://doi.org/10.3115/981658.981684",
    objective: r"\min_{W,b,\,\hat y}\ \sum_{i\text{ labelled}}\ell(W^\top x_i+b,\,y_i)
+\sum_{i\text{ sure}}\ell(W^\top x_i+b,\,\hat y_i)+\Omega(W,b)\quad\text{in turns}",
    objective_text: "sum_labelled loss(W'x + b, y) + sum_sure loss(W'x + b, own label) + size(W, b),\n\
labels and classifier in turns",
    summary: "A linear classifier is fitted on the labelled samples, labels the unlabelled ones it \
is most sure of, and is fitted again on all labels, until it is sure of no more. Given labels never \
change, and neither do labels once they are added. A baseline for what unlabelled samples are worth \
without a graph or a dictionary.",
    semi_supervised: true,
    inductive: true,
    uses_graph: false,
    coding: "none",
    published: &[],
};

impl Learner for SelfTraining {
    const DESCRIPTION: Description = DESCRIPTION;

    fn uses_weights(&self) -> bool {
        true
    }

    fn bytes(&self, sizes: &Sizes) -> u64 {
        LinearSvm::new().bytes(sizes).saturating_add(sizes.bytes(3 * sizes.n_classes))
    }

    fn learn<T: Real>(&self, given: &Given<'_, T>, turns: &mut Turns<'_>) -> Result<Learnt<T>> {
        let samples = &given.samples;
        let mut labels = given.labels.clone();
        let mut base = *self;
        let balance = Balance::new(&self.shares, samples, &labels)?;
        let (mut classifier, mut objective) = base.fit_base(given, &labels, turns)?;
        let n_open = labels.len() - labels.n_labelled();
        let limit = (self.per_round * n_open as f64).ceil().clamp(1.0, n_open.max(1) as f64);
        let (mut rounds, mut stop) = (0, Stop::Limit);
        while rounds < self.max_rounds {
            let votes = votes(&classifier, given, balance.as_ref());
            let sure = self.sure(&votes, &labels, limit as usize);
            if sure.is_empty() {
                stop = Stop::Converged;
                break;
            }
            let mut assigned = labels.assigned().to_vec();
            sure.into_iter().for_each(|(i, class)| assigned[i] = Some(class));
            labels = Labels::new(labels.classes().to_vec(), assigned)?;
            (classifier, objective) = base.fit_base(given, &labels, turns)?;
            rounds += 1;
            if turns.round(rounds, self.max_rounds, &objective) == Flow::Stop {
                stop = Stop::Cancelled;
                break;
            }
        }
        turns.end(rounds, objective);
        Ok(Learnt::without_atoms(Decision::linear(classifier, SHARPNESS), stop))
    }
}

impl SelfTraining {
    /// Fits the classifier to all present labels. The box constraint is chosen in the first call
    /// and kept: labels that the classifier gave itself would favour the constraint they came from.
    fn fit_base<T: Real>(
        &mut self,
        given: &Given<'_, T>,
        labels: &Labels,
        turns: &mut Turns<'_>,
    ) -> Result<(LinearClassifier<T>, Objective)> {
        let weights = all_weights(given, labels, self.unlabelled_weight);
        match self.base {
            Base::Svm => {
                let (loss, seed) = (self.svm.loss, given.seed);
                let trainer = SvmTrainer { loss, seed, ..Default::default() };
                let (trained, _) =
                    fit_svm(&trainer, &self.svm, &given.samples, (labels, &weights), turns)?;
                if let Some(only) = Grid::new(&[trained.box_constraint]) {
                    self.svm.box_constraints = only;
                }
                let objective = svm_objective(&trained);
                Ok((trained.classifier, objective))
            }
            Base::Ridge => {
                let known = given.samples.select_columns(&labels.labelled());
                fit_ridge(&known, (&labels.known_classes(), &weights), &labels.counts(), self.ridge)
            }
        }
    }

    /// The unlabelled samples that the classifier is sure enough of, with their classes: the surest
    /// first, then those whose best score is furthest above the second, then by index.
    fn sure<T: Real>(
        &self,
        votes: &Votes<T>,
        labels: &Labels,
        limit: usize,
    ) -> Vec<(usize, usize)> {
        let mut sure: Vec<(f64, f64, usize, usize)> = Vec::new();
        for (at, &i) in votes.open.iter().enumerate() {
            if labels.assigned()[i].is_some() {
                continue;
            }
            let (scores, probabilities) = (votes.scores.column(at), votes.probabilities.column(at));
            let class = if votes.are_moved { best(probabilities) } else { best(scores) };
            let probability = probabilities[class].wide();
            let others = scores.iter().enumerate().filter(|(c, _)| *c != class);
            let second = others.fold(f64::NEG_INFINITY, |top, (_, s)| top.max(s.wide()));
            if probability >= self.threshold {
                sure.push((probability, scores[class].wide() - second, i, class));
            }
        }
        sure.sort_by(|a, b| {
            let margins = b.1.total_cmp(&a.1);
            b.0.total_cmp(&a.0).then(margins).then(a.2.cmp(&b.2))
        });
        sure.into_iter().take(limit).map(|(_, _, i, class)| (i, class)).collect()
    }
}

/// What a classifier makes of the samples that were given without a label.
struct Votes<T> {
    open: Vec<usize>,
    scores: Matrix<T>,
    probabilities: Matrix<T>,
    /// Whether the probabilities are no longer in the order of the scores.
    are_moved: bool,
}

/// Samples labelled in earlier rounds are among them: class shares are those of all.
fn votes<T: Real>(
    classifier: &LinearClassifier<T>,
    given: &Given<'_, T>,
    balance: Option<&Balance>,
) -> Votes<T> {
    let open = given.labels.unlabelled();
    let scores = classifier.scores(&given.samples.select_columns(&open));
    let mut probabilities = memberships(&scores, SHARPNESS);
    if let Some(balance) = balance {
        let factors = balance.factors(&probabilities, &vec![1.0; open.len()]);
        scale_columns(&mut probabilities, &factors);
    }
    Votes { open, scores, probabilities, are_moved: balance.is_some() }
}

/// The weights of the samples that now have a label; those that the classifier labelled count with the
/// factor of that class.
fn all_weights<T: Real>(given: &Given<'_, T>, labels: &Labels, unlabelled: f64) -> Vec<T> {
    let own = given.labels.assigned();
    let weight = |(place, label): (usize, &Option<usize>)| {
        let class = (*label)?;
        let factor = match own[place] {
            Some(_) => T::one(),
            None => given.weights.of_classes[class] * T::of(unlabelled),
        };
        Some(given.weights.of_samples[place] * factor)
    };
    labels.assigned().iter().enumerate().filter_map(weight).collect()
}
