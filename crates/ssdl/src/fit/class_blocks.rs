//! What methods with a block of atoms for each class share: the first atoms, and the decision.

use super::{Given, Turns};
use crate::classifier::{Decision, Residual, SHARPNESS};
use crate::dictionary::Blocks;
use crate::matrix::squared_norm;
use crate::{Labels, Matrix, Real};

/// The first atoms of each class, of length one, and which class each belongs to; `nearness`
/// ($C\times N$) ranks unlabelled samples where a class has too few labelled ones.
pub(crate) fn first_blocks<T: Real>(
    given: &Given<'_, T>,
    turns: &mut Turns<'_>,
    per_class: usize,
    nearness: &Matrix<f64>,
) -> (Matrix<T>, Blocks) {
    let Given { samples, labels, seed, .. } = given;
    let (atoms, blocks) = Blocks::first_atoms(samples, labels, per_class, nearness, *seed);
    let sizes: Vec<usize> =
        (0..blocks.n_classes()).map(|class| blocks.of_class(class).len()).collect();
    for (class, &size) in labels.classes().iter().zip(&sizes) {
        if size < per_class {
            turns.notice(&format!(
                "class `{class}` has {size} atoms instead of {per_class}: its samples give no more"
            ));
        }
    }
    (atoms, blocks)
}

/// Squared lengths of the samples.
pub(crate) fn squared_lengths<T: Real>(samples: &Matrix<T>) -> Vec<f64> {
    samples.iter_columns().map(squared_norm).collect()
}

/// A decision by the residuals of these classes of atoms.
pub(crate) fn by_residuals<T: Real>(
    class_of_atoms: Vec<Option<usize>>,
    labels: &Labels,
    cost: f64,
) -> Decision<T> {
    let n_classes = labels.classes().len();
    Decision::residual(Residual { class_of_atoms, n_classes, sharpness: SHARPNESS, cost })
}

/// Columns whose largest entry is in another row than before, among the chosen ones.
pub(crate) fn flips(before: &Matrix<f64>, after: &Matrix<f64>, chosen: &[usize]) -> usize {
    let top = |m: &Matrix<f64>, j: usize| crate::classifier::best(m.column(j));
    chosen.iter().filter(|&&j| top(before, j) != top(after, j)).count()
}

/// The class whose labelled samples use each atom most, by the root of the mean square of its
/// coefficients; `None` for an atom that none of them uses.
pub(crate) fn classes_of_atoms<T: Real>(codes: &Matrix<T>, labels: &Labels) -> Vec<Option<usize>> {
    let counts = labels.counts();
    let mut use_of = Matrix::<f64>::zeros(counts.len(), codes.rows());
    for (code, class) in codes.iter_columns().zip(labels.assigned()) {
        let Some(class) = *class else { continue };
        for (k, a) in code.iter().enumerate() {
            use_of.column_mut(k)[class] += a.wide() * a.wide() / counts[class] as f64;
        }
    }
    let strongest = |column: &[f64]| {
        let class = crate::classifier::best(column);
        (column[class] > 0.0).then_some(class)
    };
    use_of.iter_columns().map(strongest).collect()
}
