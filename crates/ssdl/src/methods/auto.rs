//! A choice among methods by labels hidden from them: the weighted mean of those that foretell them.
//!
//! SSDL-GA is strong where neighbours share their class, a linear classifier where classes are
//! halves of space, label spreading where they are clouds of any shape. Which of these holds is seen
//! on labels that are hidden in turn, from the same cold start for all.

use super::hidden::{Hidden, fewer};
use super::logistic::Logistic;
use super::{Description, LabelSpreading, Learner, SsdlGa, ssdl_ga};
use crate::classifier::{
    Calibration, Decision, Expected, Member, MemberRule, best, mixture_weights,
};
use crate::fit::{Compared, Given, Learnt, Sizes, Turns};
use crate::{Error, Labels, Matrix, Real, Result};

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
    title: "The mean of the methods that foretell hidden labels",
    reference: "stacked generalisation, Wolpert (1992)",
    link: "https://doi.org/10.1016/S0893-6080(05)80023-1",
    objective: r"\max_{w\ge0,\,\sum_mw_m=1}\ \sum_{i\text{ hidden}}\log\sum_mw_m\,p_m(y_i\mid x_i)",
    objective_text: "sum over hidden labels of log sum_m w_m p_m(label), by the weights w",
    summary: "SSDL-GA, logistic regression and label spreading are fitted with labels hidden in turn. \
Their calibrated probabilities for the hidden samples give each a weight, and those with a weight decide \
together. The safest choice for samples of which nothing is known; about five times the time of SSDL-GA.",
    coding: "none",
    published: &[],
    ..ssdl_ga::DESCRIPTION
};

/// The ridge of logistic regression, for samples of length 5.
const RIDGE: f64 = 1.0;
/// Neighbours of label spreading here; its own default has fewer, as in the paper's comparison.
const N_NEIGHBORS: usize = 10;

fn members() -> (SsdlGa, Logistic, LabelSpreading) {
    let logistic = Logistic::new().ridge(RIDGE);
    (SsdlGa::new(), logistic, LabelSpreading::new().n_neighbors(N_NEIGHBORS))
}

impl Learner for Auto {
    const DESCRIPTION: Description = DESCRIPTION;

    fn uses_weights(&self) -> bool {
        true
    }

    fn bytes(&self, sizes: &Sizes) -> u64 {
        let (first, second, third) = members();
        let all = [first.bytes(sizes), second.bytes(sizes), third.bytes(sizes)];
        all.into_iter().fold(0, u64::saturating_add)
    }

    /// Cost: `parts` and one fits of each member, those with hidden labels on at most 3,000 samples.
    fn learn<T: Real>(&self, given: &Given<'_, T>, turns: &mut Turns<'_>) -> Result<Learnt<T>> {
        let (first, second, third) = members();
        let smaller = fewer(given);
        let shown = smaller.as_ref().unwrap_or(given);
        let hidden = Hidden::new(&shown.labels, self.parts, shown.seed);
        let trials = [
            tried(&first, shown, hidden.as_ref(), turns)?,
            tried(&second, shown, hidden.as_ref(), turns)?,
            tried(&third, shown, hidden.as_ref(), turns)?,
        ];
        let of_truth: Vec<Option<Vec<f64>>> =
            trials.iter().map(|trial| trial.as_ref().map(|trial| trial.of_truth.clone())).collect();
        let weights = mixture_weights(&of_truth);
        let chosen = |at: usize| {
            let trial = trials[at].as_ref().filter(|_| weights[at] > 0.0);
            trial.map(|trial| (weights[at], trial.calibration))
        };
        let mut parts = Vec::new();
        fitted(&first, given, chosen(0), turns, &mut parts)?;
        fitted(&second, given, chosen(1), turns, &mut parts)?;
        fitted(&third, given, chosen(2), turns, &mut parts)?;
        let names = [
            SsdlGa::DESCRIPTION.name,
            Logistic::DESCRIPTION.name,
            LabelSpreading::DESCRIPTION.name,
        ];
        let compared = names.iter().zip(&trials).zip(&weights).map(|((name, trial), &weight)| {
            let accuracy = trial.as_ref().and_then(|trial| trial.accuracy);
            let log_loss = trial.as_ref().and_then(Trial::log_loss);
            Compared { method: (*name).to_owned(), accuracy, log_loss, weight }
        });
        let compared = compared.collect();
        let pool = pooled(&trials, &weights, hidden.as_ref(), &shown.labels);
        Ok(together(parts, compared, pool))
    }
}

/// What the hidden labels say of a method.
struct Trial {
    calibration: Calibration,
    /// The probabilities of the classes for each hidden label, $C\times M$.
    probabilities: Matrix<f64>,
    /// Those of the true classes.
    of_truth: Vec<f64>,
    /// Share of the hidden labels that were foretold.
    accuracy: Option<f64>,
}

impl Trial {
    fn log_loss(&self) -> Option<f64> {
        let n = self.of_truth.len() as f64;
        (n > 0.0).then(|| -self.of_truth.iter().map(|p| p.ln()).sum::<f64>() / n)
    }
}

fn tried<K: Learner, T: Real>(
    method: &K,
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
            accuracy: None,
        }));
    };
    let logits = match hidden.logits(method, given, turns) {
        Ok(logits) => logits,
        // A given graph may be of a kind that this one cannot use.
        Err(Error::Graph(_)) => return Ok(None),
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
    let accuracy = Some(right as f64 / truth.len().max(1) as f64);
    Ok(Some(Trial { calibration, probabilities, of_truth, accuracy }))
}

/// A finished fit with its weight, and its calibration for the scores of this fit.
struct Part<T> {
    learnt: Learnt<T>,
    weight: f64,
    calibration: Calibration,
}

/// Fits a member that has a weight. The first of them keeps its trace: its iterations are what there is
/// to watch.
fn fitted<K: Learner, T: Real>(
    method: &K,
    given: &Given<'_, T>,
    chosen: Option<(f64, Calibration)>,
    turns: &mut Turns<'_>,
    parts: &mut Vec<Part<T>>,
) -> Result<()> {
    let Some((weight, calibration)) = chosen else { return Ok(()) };
    let method = method.reduced(given);
    let learnt = match parts.is_empty() {
        true => method.learn(given, turns)?,
        false => turns.aside(|turns| method.learn(given, turns))?,
    };
    let logits: Matrix<f64> = Calibration::logits(&learnt.decision, &learnt.verdict(given));
    let calibration = calibration.stretched(Calibration::spread(&logits));
    parts.push(Part { learnt, weight, calibration });
    Ok(())
}

/// The calibration of the mean: a mean of honest probabilities is less sure than it could be.
fn pooled(
    trials: &[Option<Trial>],
    weights: &[f64],
    hidden: Option<&Hidden>,
    labels: &Labels,
) -> Calibration {
    let able: Vec<(&Trial, f64)> =
        trials.iter().zip(weights).filter_map(|(trial, &w)| Some((trial.as_ref()?, w))).collect();
    let Some((hidden, (first, _))) = hidden.zip(able.first()) else {
        return Calibration::unknown();
    };
    let (rows, columns) = (first.probabilities.rows(), first.probabilities.columns());
    let logits = Matrix::from_fn(rows, columns, |c, j| {
        able.iter()
            .map(|(trial, weight)| weight * trial.probabilities.column(j)[c])
            .sum::<f64>()
            .ln()
    });
    Calibration::fit(&logits, &hidden.truth(labels), Expected::of_means())
}

/// One result of all parts; a single one stays what it is.
fn together<T: Real>(
    mut parts: Vec<Part<T>>,
    compared: Vec<Compared>,
    pool: Calibration,
) -> Learnt<T> {
    if parts.len() == 1
        && let Some(Part { learnt, calibration, .. }) = parts.pop()
    {
        return Learnt { calibration: Some(calibration), compared, ..learnt };
    }
    let members = parts.iter().filter_map(|part| {
        let decision = &part.learnt.decision;
        let rule = match (decision.classifier(), decision.voting()) {
            (Some(own), _) if part.learnt.dictionary.is_some() => MemberRule::Codes(own.clone()),
            (Some(own), _) => MemberRule::Samples(own.clone()),
            (None, Some(vote)) => MemberRule::Vote(vote.clone()),
            (None, None) => return None,
        };
        Some(Member { weight: part.weight, calibration: part.calibration, rule })
    });
    let decision = Decision::mixture(members.collect());
    let first = parts.swap_remove(0).learnt;
    Learnt { calibration: Some(pool), compared, decision, ..first }
}
