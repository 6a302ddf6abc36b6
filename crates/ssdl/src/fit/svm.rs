//! The linear SVM of a fit: chosen by cross-validation, trained on the labelled samples.

use super::{Objective, Selection, Turns};
use crate::classifier::svm::{SvmKnobs, SvmTrainer, Targets, Trained};
use crate::matrix::squared_norm;
use crate::{Labels, Matrix, Real, Result};

/// Chooses the box constraint by cross-validation where several are given, and trains on all
/// labelled samples; `weights` has one number for each of those, in their order.
pub(crate) fn fit_svm<T: Real>(
    trainer: &SvmTrainer,
    knobs: &SvmKnobs,
    features: &Matrix<T>,
    (labels, weights): (&Labels, &[T]),
    turns: &mut Turns<'_>,
) -> Result<(Trained<T>, Selection)> {
    let (known, classes) = (features.select_columns(&labels.labelled()), labels.known_classes());
    let n_classes = labels.classes().len();
    let weights: Vec<f64> = weights.iter().map(|weight| weight.wide()).collect();
    let targets = Targets { classes: &classes, weights: &weights, n_classes };
    let selection = match knobs.box_constraints.values() {
        [only] => Selection { box_constraint: *only, accuracy: None },
        several => {
            let folds = knobs.folds;
            let chosen = trainer.choose_weighted_box(&known, targets, several, folds)?;
            report_folds(folds, chosen.folds_used, chosen.box_constraint, turns);
            let accuracy = chosen.accuracy.iter().copied().reduce(f64::max);
            Selection { box_constraint: chosen.box_constraint, accuracy }
        }
    };
    let trained = trainer.fit_weighted(&known, targets, selection.box_constraint)?;
    if !trained.converged {
        let epochs = trained.epochs;
        turns.notice(&format!("the SVM stopped after {epochs} epochs before it converged"));
    }
    Ok((trained, selection))
}

fn report_folds(requested: usize, used: usize, box_constraint: f64, turns: &mut Turns<'_>) {
    if used == 0 {
        turns.notice(&format!(
            "a class has a single labelled sample, so none can be held out: box constraint \
             {box_constraint} is used without cross-validation"
        ));
    } else if used < requested {
        turns.notice(&format!(
            "folds cut from {requested} to {used}, the labelled samples of the smallest class"
        ));
    }
}

/// The terms of an SVM's objective, all classes together. The weights of a class without samples solve
/// no problem and do not count.
pub(crate) fn svm_objective<T: Real>(trained: &Trained<T>) -> Objective {
    let classifier = &trained.classifier;
    let classes = classifier.weights.iter_columns().zip(&classifier.bias).zip(&trained.objective);
    let solved = classes.filter(|(_, objective)| **objective > 0.0);
    let ridge: f64 = solved.map(|((w, b), _)| 0.5 * (squared_norm(w) + b.wide() * b.wide())).sum();
    let discrimination = (trained.objective.iter().sum::<f64>() - ridge).max(0.0);
    Objective::new([("discrimination", discrimination), ("ridge", ridge)])
}
