//! The linear support vector machine, one class against all others.
//!
//! $$\min_{\tilde w}\;\tfrac12\lVert\tilde w\rVert^2+B\sum_i\ell(1-y_i\tilde w^\top\tilde a_i),
//! \qquad\tilde a=(a,1),\quad y_i=\pm1,\quad\ell(t)=\max(0,t)\text{ or }\max(0,t)^2.$$
//!
//! $B$ is the box constraint. The bias is the weight of an appended one and is regularised like the
//! others (the convention of LIBLINEAR), so the problem is strongly convex, its minimiser unique and
//! its dual free of an equality constraint. The dual is solved by coordinate descent: [`SvmTrainer`]
//! holds the knobs, [`SvmTrainer::fit`] trains, [`SvmTrainer::choose_box`] picks $B$.
//!
//! Reference: Hsieh, Chang, Lin, Keerthi, Sundararajan, "A dual coordinate descent method for
//! large-scale linear SVM", ICML 2008.

mod dual;
mod knobs;
mod select;

pub use knobs::{SvmKnobs, SvmSetters};
pub use select::{Chosen, stratified_folds};

use self::dual::{Binary, CodeRows, Solution};
use super::LinearClassifier;
use crate::knobs::{Allowed, check};
use crate::random::{self, Purpose};
use crate::threads::Loops;
use crate::{Error, Matrix, Real, Result};

crate::choice! {
    /// The cost of a sample inside its margin, or on the wrong side.
    pub enum Loss {
        /// The shortfall $\max(0,t)$: each sample pulls with at most the box constraint.
        Hinge = "hinge",
        /// Its square $\max(0,t)^2$: smooth, so training is easier, but outliers pull harder.
        SquaredHinge = "squared-hinge",
    }
}

/// How linear support vector machines are trained.
///
/// ```
/// use ssdl::{Matrix, classifier::{best, svm::SvmTrainer}};
///
/// // Codes are columns: two classes on two atoms.
/// let codes = Matrix::from_fn(2, 6, |k, i| if i % 2 == k { 1.0 + 0.1 * i as f64 } else { 0.0 });
/// let trained = SvmTrainer::default().fit(&codes, &[0, 1, 0, 1, 0, 1], 2, 1.0)?;
/// assert!(trained.converged && trained.gap < 1e-3);
/// assert_eq!(best(trained.classifier.scores(&codes).column(3)), 1);
/// # Ok::<(), ssdl::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SvmTrainer {
    /// The cost of a sample inside its margin.
    pub loss: Loss,
    /// Training stops when the projected gradients of the dual differ by less than this.
    pub tolerance: f64,
    /// Maximum number of passes over the samples, for each class.
    pub max_epochs: usize,
    /// Picks the order in which dual variables are visited, and the folds.
    pub seed: u64,
}

impl Default for SvmTrainer {
    fn default() -> Self {
        Self { loss: Loss::Hinge, tolerance: 1e-3, max_epochs: 1000, seed: 0 }
    }
}

/// What samples are trained towards.
#[derive(Clone, Copy, Debug)]
pub struct Targets<'a> {
    /// The class of each sample.
    pub classes: &'a [usize],
    /// How much each sample counts: a factor of its box constraint, above 0.
    pub weights: &'a [f64],
    /// Number of classes; some may have no sample.
    pub n_classes: usize,
}

/// What training returns. Values by class are 0 for classes without samples.
#[derive(Clone, Debug, PartialEq)]
pub struct Trained<T> {
    /// The box constraint it was trained with.
    pub box_constraint: f64,
    /// One score per class.
    pub classifier: LinearClassifier<T>,
    /// Passes over the samples, for the class that took the most.
    pub epochs: usize,
    /// `(objective - lower_bound) / objective`, for the class where it is largest.
    pub gap: f64,
    /// Whether every class met the tolerance within `max_epochs`.
    pub converged: bool,
    /// By class, the objective at the weights found (in `f64`, before they are rounded to `T`).
    pub objective: Vec<f64>,
    /// By class, the value of the dual: no weights have an objective below it.
    pub lower_bound: Vec<f64>,
}

impl SvmTrainer {
    /// Trains one classifier per class on codes ($p\times N$, samples are columns), `classes`
    /// naming the class of each column.
    ///
    /// Everything is computed in `f64` and rounded to `T` at the end. Cost of an epoch: the nonzero
    /// coefficients of the samples still active, for each class; memory: the nonzero coefficients
    /// once, and six numbers per sample for each class in work.
    ///
    /// A class without samples gets the mean of the classifiers of the others, minus one. Its own
    /// problem would have only negatives, and a constant score of −1 can win where every other
    /// class scores lower; the mean minus one is below the best score everywhere. Where a
    /// sample fits one class (scores 1, −1, …, −1) it lies between −2 and −1.
    ///
    /// # Errors
    /// If a knob is out of range, there are no samples, `classes` has the wrong length or an index
    /// outside `n_classes`, or a code is not finite. Stopping at `max_epochs` is not an error.
    #[inline(never)]
    pub fn fit<T: Real>(
        &self,
        codes: &Matrix<T>,
        classes: &[usize],
        n_classes: usize,
        box_constraint: f64,
    ) -> Result<Trained<T>> {
        let weights = vec![1.0; classes.len()];
        let targets = Targets { classes, weights: &weights, n_classes };
        self.fit_weighted(codes, targets, box_constraint)
    }

    /// The same with a box constraint $Bw_i$ for each sample.
    ///
    /// # Errors
    /// As [`fit`](Self::fit), and if a weight is not above 0 and finite.
    #[inline(never)]
    pub fn fit_weighted<T: Real>(
        &self,
        codes: &Matrix<T>,
        targets: Targets<'_>,
        box_constraint: f64,
    ) -> Result<Trained<T>> {
        self.check(codes, &targets)?;
        let Targets { classes, n_classes, .. } = targets;
        check("box_constraint", box_constraint, Allowed::Above(0.0))?;
        let rows = CodeRows::of(codes);
        let members: Vec<usize> = (0..classes.len()).collect();
        let solutions = (0..n_classes).gather(|class| {
            if !classes.contains(&class) {
                return None;
            }
            let task = Binary::new(&rows, &members, targets, class, self.loss, box_constraint);
            let solution = self.solve(&task, class, vec![0.0; members.len()]);
            let (objective, lower_bound) = task.values(&solution);
            Some((solution, objective, lower_bound))
        });
        Ok(gather(codes.rows(), &solutions, box_constraint))
    }

    /// One class against all others from dual variables that need not be in the box.
    fn solve<T: Real>(&self, task: &Binary<'_, T>, class: usize, start: Vec<f64>) -> Solution {
        // Each class has its own stream: the order does not depend on which is solved first.
        let mut rng = random::substream(self.seed, Purpose::Order, class as u32);
        task.solve(start, self.tolerance, self.max_epochs, &mut rng)
    }

    fn check<T: Real>(&self, codes: &Matrix<T>, targets: &Targets<'_>) -> Result<()> {
        let Targets { classes, weights, n_classes } = *targets;
        check("tolerance", self.tolerance, Allowed::Above(0.0))?;
        check("max_epochs", self.max_epochs, Allowed::WholeFrom(1))?;
        if codes.columns() == 0 {
            return Err(Error::Samples("there are none to train a classifier on".into()));
        }
        if classes.len() != codes.columns() {
            return Err(Error::Shape {
                what: "one class for each sample".into(),
                expected: codes.columns(),
                got: classes.len(),
            });
        }
        if let Some(class) = classes.iter().find(|&&class| class >= n_classes) {
            return Err(Error::Labels(format!("class {class}, but there are only {n_classes}")));
        }
        if weights.len() != classes.len() {
            return Err(Error::Shape {
                what: "one weight for each sample".into(),
                expected: classes.len(),
                got: weights.len(),
            });
        }
        for &weight in weights {
            check("weight", weight, Allowed::Above(0.0))?;
        }
        for (i, code) in codes.iter_columns().enumerate() {
            if let Some(k) = code.iter().position(|a| !a.is_finite()) {
                return Err(Error::NotFinite { row: i + 1, column: k + 1, value: code[k].wide() });
            }
        }
        Ok(())
    }
}

/// Puts the classes together; `None` is a class without samples.
fn gather<T: Real>(
    p: usize,
    solutions: &[Option<(Solution, f64, f64)>],
    box_constraint: f64,
) -> Trained<T> {
    let n_classes = solutions.len();
    let mut augmented = Matrix::<f64>::zeros(p + 1, n_classes);
    let mut absent = vec![0.0; p + 1];
    let found: Vec<_> = solutions.iter().flatten().collect();
    for (solution, ..) in &found {
        crate::matrix::axpy(1.0 / found.len() as f64, &solution.weights, &mut absent);
    }
    absent[p] -= 1.0;
    for (class, solution) in solutions.iter().enumerate() {
        let weights = solution.as_ref().map_or(&absent, |(solution, ..)| &solution.weights);
        augmented.column_mut(class).copy_from_slice(weights);
    }
    let values = |pick: fn(&(Solution, f64, f64)) -> f64| -> Vec<f64> {
        solutions.iter().map(|found| found.as_ref().map_or(0.0, pick)).collect()
    };
    Trained {
        box_constraint,
        classifier: LinearClassifier::from_augmented(&augmented.cast()),
        epochs: found.iter().map(|(solution, ..)| solution.epochs).max().unwrap_or(0),
        gap: found.iter().map(|(_, above, below)| (above - below) / above).fold(0.0, f64::max),
        converged: found.iter().all(|(solution, ..)| solution.converged),
        objective: values(|found| found.1),
        lower_bound: values(|found| found.2),
    }
}
