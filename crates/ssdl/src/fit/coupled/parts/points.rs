//! The sums of all parts that a classifier is learnt from.

use super::holder::Parts;
use super::message::Step;
use super::wire::damaged;
use crate::classifier::LinearClassifier;
use crate::classifier::margin::Points;
use crate::{Matrix, Real, Result};

/// What the parts say of a classifier that is tried.
pub(super) struct Tried<T> {
    loss: f64,
    /// $\sum_j\mathcal G_{\cdot j}\tilde a_j^\top$ of points made active by its scores.
    targets: Matrix<T>,
}

impl<T: Real> Parts<'_, T> {
    fn try_out(&self, classifier: &LinearClassifier<T>) -> Result<Tried<T>> {
        let step = Step::Targets { classifier: Some(classifier.clone()) };
        let replies = self.ask(&step, |from| Ok((from.number()?, from.matrix()?)))?;
        let (losses, targets): (Vec<f64>, Vec<Matrix<T>>) = replies.into_iter().unzip();
        let targets = add_all(&targets, self.n_atoms + 1, classifier.bias.len())?;
        Ok(Tried { loss: losses.iter().sum(), targets })
    }

    fn system_of(&self, class: Option<usize>, rho: T) -> Result<Option<Matrix<T>>> {
        let step = Step::Gram { class };
        let replies = self.ask(&step, |from| Ok((from.flag()?, from.matrix()?)))?;
        let (active, sums): (Vec<bool>, Vec<Matrix<T>>) = replies.into_iter().unzip();
        let mut system = add_all(&sums, self.n_atoms + 1, self.n_atoms + 1)?;
        (0..=self.n_atoms).for_each(|k| system.column_mut(k)[k] += rho);
        Ok((class.is_none() || active.contains(&true)).then_some(system))
    }

    fn frozen_targets(&self, class: usize) -> Result<Matrix<T>> {
        let replies = self.ask(&Step::Targets { classifier: None }, |from| from.matrix())?;
        let n_classes = self.holding.labels.classes().len();
        let all = add_all(&replies, self.n_atoms + 1, n_classes)?;
        Ok(all.select_columns(&[class]))
    }
}

impl<T: Real> Points<T> for Parts<'_, T> {
    fn score(&mut self, classifier: &LinearClassifier<T>) {
        self.tried = self.attempt(|| self.try_out(classifier));
    }

    fn loss(&self) -> f64 {
        self.tried.as_ref().map_or(0.0, |tried| tried.loss)
    }

    fn system(&self, class: Option<usize>, rho: T) -> Option<Matrix<T>> {
        self.attempt(|| self.system_of(class, rho)).flatten()
    }

    fn targets(&self, class: Option<usize>) -> Matrix<T> {
        let found = match class {
            Some(class) => self.attempt(|| self.frozen_targets(class)),
            None => self.tried.as_ref().map(|tried| tried.targets.clone()),
        };
        let n_classes = self.holding.labels.classes().len();
        let columns = class.map_or(n_classes, |_| 1);
        found.unwrap_or_else(|| Matrix::zeros(self.n_atoms + 1, columns))
    }
}

/// The sum of matrices of one size, in their order.
fn add_all<T: Real>(all: &[Matrix<T>], rows: usize, columns: usize) -> Result<Matrix<T>> {
    let mut sum = Matrix::zeros(rows, columns);
    for one in all {
        if (one.rows(), one.columns()) != (rows, columns) {
            return Err(damaged());
        }
        crate::matrix::axpy(T::one(), one.as_slice(), sum.as_mut_slice());
    }
    Ok(sum)
}
