//! A choice among methods by labels hidden from them: the weighted mean of those that predict them.
//!
//! SSDL-GA is strong where neighbours share their class, a linear classifier where classes are
//! halves of space, label spreading where they are clouds of any shape, trees where single features act by
//! thresholds, a Gaussian kernel where distances to labelled samples tell. Which of these holds is seen on labels that are hidden in turn, from the same cold start for all.

use super::any::AnyLearner;
use super::hidden::{Hidden, Predicted, fewer, some_open};
use super::kernel::KernelRidge;
use super::logistic::Logistic;
use super::{Description, Forest, LabelSpreading, Learner, SsdlGa, ssdl_ga};
use crate::classifier::{
    Calibration, Decision, Expected, Member, MemberRule, Unlabelled, best, mixture_weights,
};
use crate::fit::{Compared, Given, Learnt, Sizes, Turns, guessing};
use crate::matrix::axpy;
use crate::{Error, Matrix, Real, Result};

crate::knobs! {
    /// The knobs of the choice among methods, and the way to fit it from code.
    ///
    /// ```
    /// use ssdl::methods::Auto;
    /// let method = Auto::new().parts(5);
    /// ```
    pub struct Auto {
        /// Parts of the labels that are hidden in turn, from two labels per class on.
        parts "": usize = 3, WholeFrom(2);
    }
}

const DESCRIPTION: Description = Description {
    name: "auto",
    class: "AutoSSDL",
    title: "Weighted mean of several methods, by how well they predict hidden labels",
    reference: "stacked generalisation, Wolpert (1992)",
    link: "https://doi.org/10.1016/S0893-6080(05)80023-1",
    objective: r"\max_{w\ge0,\,\sum_mw_m=1}\ \sum_{i\text{ hidden}}\log\sum_mw_m\,p_m(y_i\mid x_i)",
    objective_text: "sum over hidden labels of log sum_m w_m p_m(label), by the weights w",
    summary: "SSDL-GA, logistic regression, label spreading, a random forest and least \
squares with a Gaussian kernel are fitted with labels hidden in turn. \
Their calibrated probabilities for the hidden samples give each a weight, and those with a weight decide \
together. The best first choice for samples of which nothing is known; one to three \
times the time of a calibrated fit of SSDL-GA.",
    coding: "none",
    published: &[],
    ..ssdl_ga::DESCRIPTION
};

/// The ridge of logistic regression, for samples of length 5.
const RIDGE: f64 = 1.0;
/// Neighbours of label spreading here; its own default has fewer, as in the paper's comparison.
const N_NEIGHBORS: usize = 10;
/// Labelled samples that the kernel keeps, at most.
const N_SUPPORT: usize = 2000;

fn members<T: Real>() -> [Box<dyn AnyLearner<T>>; 5] {
    [
        Box::new(SsdlGa::new()),
        Box::new(Logistic::new().ridge(RIDGE)),
        Box::new(LabelSpreading::new().n_neighbors(N_NEIGHBORS)),
        Box::new(Forest::new()),
        Box::new(KernelRidge::new().n_support(N_SUPPORT)),
    ]
}

impl Learner for Auto {
    const DESCRIPTION: Description = DESCRIPTION;

    fn uses_weights(&self) -> bool {
        true
    }

    fn bytes(&self, sizes: &Sizes) -> u64 {
        // The same in both precisions: the sizes say which one it is.
        members::<f64>().iter().fold(0, |sum, member| sum.saturating_add(member.bytes(sizes)))
    }

    /// Cost: `parts` and one fits of each member, those with hidden labels on at most 3,000 samples.
    fn learn<T: Real>(&self, given: &Given<'_, T>, turns: &mut Turns<'_>) -> Result<Learnt<T>> {
        let members = members::<T>();
        let smaller = fewer(given);
        let shown = smaller.as_ref().unwrap_or(given);
        let hidden = Hidden::new(&shown.labels, self.parts, shown.seed);
        let trials: Result<Vec<Option<Trial>>> =
            members.iter().map(|member| tried(&**member, shown, hidden.as_ref(), turns)).collect();
        let trials = trials?;
        let of_truth: Vec<Option<Vec<f64>>> =
            trials.iter().map(|trial| trial.as_ref().map(|trial| trial.of_truth.clone())).collect();
        let weights = mixture_weights(&of_truth);
        let truth = hidden.map_or_else(Vec::new, |hidden| hidden.truth(&shown.labels));
        let weighed = || trials.iter().zip(&weights).filter_map(|(t, &w)| Some((t.as_ref()?, w)));
        let together_on_hidden = mean_of(weighed().map(|(trial, w)| (&trial.probabilities, w)));
        let doubt = together_on_hidden.and_then(|mean| guessing(&mean, &truth));
        doubt.iter().for_each(|sentence| turns.notice(sentence));
        let mut parts = Vec::new();
        for ((member, trial), &weight) in members.iter().zip(&trials).zip(&weights) {
            if let Some(trial) = trial.as_ref().filter(|_| weight > 0.0) {
                fitted(&**member, given, (weight, trial.calibration), turns, &mut parts)?;
            }
        }
        let compared =
            members.iter().zip(&trials).zip(&weights).map(|((member, trial), &weight)| {
                let accuracy = trial.as_ref().and_then(|trial| trial.accuracy);
                let log_loss = trial.as_ref().and_then(Trial::log_loss);
                Compared {
                    method: member.description().name.to_owned(),
                    accuracy,
                    log_loss,
                    weight,
                }
            });
        let compared = compared.collect();
        let mut learnt = together(parts, compared);
        if learnt.calibration.is_none() {
            let logits: Matrix<f64> = Calibration::logits(&learnt.decision, &learnt.verdict(given));
            let logits = logits.select_columns(&some_open(&given.labels));
            learnt.calibration = Some(pooled(&weighed().collect::<Vec<_>>(), &truth, logits));
        }
        Ok(learnt)
    }
}

/// What the hidden labels say of a method.
struct Trial {
    calibration: Calibration,
    /// The probabilities of the classes for each hidden label, $C\times M$.
    probabilities: Matrix<f64>,
    /// Those of the true classes.
    of_truth: Vec<f64>,
    /// For each fit with hidden labels, the probabilities of the same unlabelled samples.
    open: Vec<Matrix<f64>>,
    /// Share of the hidden labels that were predicted right.
    accuracy: Option<f64>,
}

impl Trial {
    fn log_loss(&self) -> Option<f64> {
        let n = self.of_truth.len() as f64;
        (n > 0.0).then(|| -self.of_truth.iter().map(|p| p.ln()).sum::<f64>() / n)
    }
}

fn tried<T: Real>(
    method: &dyn AnyLearner<T>,
    given: &Given<'_, T>,
    hidden: Option<&Hidden>,
    turns: &mut Turns<'_>,
) -> Result<Option<Trial>> {
    let Some(hidden) = hidden else {
        let calibration = Calibration::unknown();
        let probabilities = Matrix::zeros(given.labels.classes().len(), 0);
        return Ok(Some(Trial {
            calibration,
            probabilities,
            of_truth: Vec::new(),
            open: Vec::new(),
            accuracy: None,
        }));
    };
    let Predicted { hidden: logits, mut open } = match hidden.logits(method, given, turns) {
        Ok(found) => found,
        // A given graph may be of a kind that this one cannot use; where a system has no solution, others may have one.
        Err(Error::Graph(_) | Error::Diverged { .. }) => return Ok(None),
        Err(error) => return Err(error),
    };
    let truth = hidden.truth(&given.labels);
    let expected = Expected::of_scores(logits.rows());
    let calibration = Calibration::fit(&logits, &truth, expected);
    let mut probabilities = Matrix::zeros(logits.rows(), logits.columns());
    let (mut of_truth, mut right) = (Vec::with_capacity(truth.len()), 0usize);
    for (j, &class) in truth.iter().enumerate() {
        calibration.of_logits(logits.column(j), probabilities.column_mut(j));
        of_truth.push(probabilities.column(j)[class]);
        right += usize::from(best(logits.column(j)) == class);
    }
    for fit in &mut open {
        let raw = fit.clone();
        let columns = raw.iter_columns().enumerate();
        columns.for_each(|(j, z)| calibration.of_logits(z, fit.column_mut(j)));
    }
    let accuracy = Some(right as f64 / truth.len().max(1) as f64);
    Ok(Some(Trial { calibration, probabilities, of_truth, open, accuracy }))
}

/// A finished fit with its weight, and its calibration for the scores of this fit.
struct Part<T> {
    learnt: Learnt<T>,
    weight: f64,
    calibration: Calibration,
}

/// Fits a member. The first of them keeps its trace: its iterations are what there is
/// to watch.
fn fitted<T: Real>(
    method: &dyn AnyLearner<T>,
    given: &Given<'_, T>,
    (weight, calibration): (f64, Calibration),
    turns: &mut Turns<'_>,
    parts: &mut Vec<Part<T>>,
) -> Result<()> {
    let method = method.cut(&given.sizes(), &mut |_| {});
    let learnt = match parts.is_empty() {
        true => method.learn(given, turns)?,
        false => turns.aside(|turns| method.learn(given, turns))?,
    };
    let logits: Matrix<f64> = Calibration::logits(&learnt.decision, &learnt.verdict(given));
    let calibration = calibration.stretched(Calibration::spread(&logits));
    parts.push(Part { learnt, weight, calibration });
    Ok(())
}

/// The calibration of the mean: a mean of honest probabilities is less sure than it could be. `logits` are
/// those of unlabelled samples by the members that decide.
fn pooled(trials: &[(&Trial, f64)], truth: &[usize], logits: Matrix<f64>) -> Calibration {
    let hidden = mean_of(trials.iter().map(|(trial, weight)| (&trial.probabilities, *weight)));
    let Some(mut hidden) = hidden else { return Calibration::unknown() };
    hidden.as_mut_slice().iter_mut().for_each(|p| *p = p.ln());
    let n_fits = trials.iter().map(|(trial, _)| trial.open.len()).min().unwrap_or(0);
    let classes = (0..n_fits).filter_map(|fit| {
        let mean = mean_of(trials.iter().map(|(trial, weight)| (&trial.open[fit], *weight)))?;
        Some(mean.iter_columns().map(best).collect())
    });
    let agreement = Unlabelled::agreement(&classes.collect::<Vec<Vec<usize>>>());
    let open = agreement.map(|agreement| Unlabelled { logits, agreement });
    Calibration::fit_beside(&hidden, truth, Expected::of_means(), open.as_ref())
}

/// The weighted sum of matrices of one size; `None` without any.
fn mean_of<'a>(parts: impl Iterator<Item = (&'a Matrix<f64>, f64)>) -> Option<Matrix<f64>> {
    let mut sum: Option<Matrix<f64>> = None;
    for (part, weight) in parts {
        let sum = sum.get_or_insert_with(|| Matrix::zeros(part.rows(), part.columns()));
        axpy(weight, part.as_slice(), sum.as_mut_slice());
    }
    sum
}

/// One result of all parts; a single one stays what it is, several are yet to be calibrated.
fn together<T: Real>(mut parts: Vec<Part<T>>, compared: Vec<Compared>) -> Learnt<T> {
    if parts.len() == 1
        && let Some(Part { learnt, calibration, .. }) = parts.pop()
    {
        return Learnt { calibration: Some(calibration), compared, ..learnt };
    }
    let members = parts.iter().filter_map(|part| {
        let decision = &part.learnt.decision;
        let rule = match (decision.classifier(), decision.voting(), decision.trees()) {
            (Some(own), ..) if part.learnt.dictionary.is_some() => MemberRule::Codes(own.clone()),
            (Some(own), ..) => MemberRule::Samples(own.clone()),
            (_, Some(vote), _) => MemberRule::Vote(vote.clone()),
            (.., Some(trees)) => MemberRule::Forest(trees.clone()),
            _ => MemberRule::Kernel(decision.distances()?.clone()),
        };
        Some(Member { weight: part.weight, calibration: part.calibration, rule })
    });
    let decision = Decision::mixture(members.collect());
    let first = parts.swap_remove(0).learnt;
    Learnt { calibration: None, compared, decision, ..first }
}
