//! SSR-D: a robust loss, and rows of coefficients that the samples of a class share.
//!
//! Wang, Nie, Cai, Huang (2013). Only the abstract could be read: powers, weights and the coding of new
//! samples were found by experiment.

use super::{Description, Learner, cut_atoms};
use crate::codes::Coder;
use crate::codes::pursuit::Rows;
use crate::dictionary::init::first_of_length_one;
use crate::dictionary::{AtomCount, Block, Statistics, update_past};
use crate::fit::{
    Dictionary, Given, Learnt, Limits, Objective, Sizes, SolverKnobs, Step, Turns, by_residuals,
    classes_of_atoms, squared_lengths,
};
use crate::matrix::{Cholesky, dot};
use crate::wide::wide;
use crate::{Error, Matrix, Real, Result};

crate::knobs! {
    /// The knobs of SSR-D, and the way to fit it from code.
    ///
    /// ```
    /// use ssdl::methods::SsrD;
    /// let method = SsrD::new().n_atoms(100).power(0.5);
    /// ```
    pub struct SsrD {
        /// Number of atoms, at most one per sample; `auto`: one per feature or, if more, 10 per class, up to 200.
        n_atoms "p": AtomCount = AtomCount::Auto, AutoOrFrom(1);
        /// Weight of the rows of coefficients.
        sparsity "λ lambda": f64 = 1.0, From(0.0);
        /// Power of the length of a row: the lower, the fewer rows a class uses.
        power "q": f64 = 1.0, Between(0.0, 2.0);
        /// Power of the residual of a sample: the lower, the less outliers count.
        loss_power "q_1": f64 = 1.0, Between(0.0, 2.0);
        /// Weight of the l1 norm of the codes that decide; scales with sample lengths.
        code_sparsity "": f64 = 0.5, From(0.0);
        /// Maximum number of iterations.
        max_iterations "": usize = 8, WholeFrom(1);
        /// Relative change of the objective at which the fit has converged.
        tolerance "": f64 = 1e-4, From(0.0);
    }
}

const DESCRIPTION: Description = Description {
    name: "ssr-d",
    class: "SSRD",
    title: "Semi-supervised robust dictionary with structured sparsity",
    reference: "Wang, Nie, Cai, Huang (2013)",
    link: "https://doi.org/10.1109/ICCV.2013.145",
    objective: r"\min_{D\in\mathcal C,A}\ \sum_i\lVert x_i-Da_i\rVert^{q_1}
+\lambda\sum_g\sum_k\lVert A_{g,k\cdot}\rVert^q,\qquad g\text{: each class, and all unlabelled samples}",
    objective_text: "sum_i |x_i - D a_i|^loss_power + sparsity sum_g sum_k |row k of A_g|^power,\n\
where g runs over the classes and the unlabelled samples",
    summary: "Residuals count by a low power, so outliers hardly do; the labelled samples of a class \
share the atoms they use. Each atom then belongs to the class that uses it most, and a sample takes \
the class whose atoms leave least of it. Only the abstract of the article could be read; what it \
leaves open was found by experiment. Over `src`, the control without learning, it gains nothing on digits.",
    semi_supervised: true,
    inductive: true,
    uses_graph: false,
    coding: "group",
    published: &[
        ("USPS", &[("n_atoms", "200"), ("sparsity", "0.1"), ("code_sparsity", "0.5")]),
        ("MNIST", &[("n_atoms", "200"), ("sparsity", "0.1"), ("code_sparsity", "0.5")]),
    ],
};

/// Conjugate gradients in an iteration, which start at the codes of the one before.
const STEPS: usize = 6;
/// ε at the first and the last iteration, relative to the mean squared length of the samples.
const EPSILON: (f64, f64) = (1e-2, 1e-6);

impl Learner for SsrD {
    const DESCRIPTION: Description = DESCRIPTION;
    const IGNORES_BLANK: bool = true;

    fn reduce(&mut self, sizes: &Sizes, notice: &mut dyn FnMut(&str)) {
        cut_atoms(&mut self.n_atoms, sizes, notice);
    }

    fn bytes(&self, sizes: &Sizes) -> u64 {
        let n_atoms = self.n_atoms.resolve(sizes.n_features, sizes.n_classes);
        sizes.coupled(n_atoms, 0, &SolverKnobs::new()).saturating_mul(3)
    }

    /// Cost per iteration: six products of $p^2N$, and $np(N+p)$; memory $O(N(n+p))$.
    fn learn<T: Real>(&self, given: &Given<'_, T>, turns: &mut Turns<'_>) -> Result<Learnt<T>> {
        let Given { samples, labels, .. } = given;
        let requested = self.n_atoms.resolve(samples.rows(), labels.classes().len());
        let notice = |sentence: &str| turns.notice(sentence);
        let atoms = first_of_length_one(samples, labels, requested, given.seed, notice)?;
        let n_groups = labels.classes().len() + 1;
        let group_of: Vec<usize> =
            labels.assigned().iter().map(|label| label.unwrap_or(n_groups - 1)).collect();
        let rows = Rows {
            group_of: &group_of,
            n_groups,
            sparsity: self.sparsity,
            power: self.power,
            loss_power: self.loss_power,
        };
        let mut state = State::new(samples, atoms)?;
        let Self { max_iterations, tolerance, .. } = *self;
        let limits = Limits { max_iterations, tolerance, max_flips: 0 };
        turns.begin(limits, state.objective(&rows))?;
        let (first, last) = EPSILON;
        let scale = samples.squared_norm() / samples.columns() as f64;
        let stop = turns.repeat(limits, |turns| {
            let progress = (turns.iteration() - 1) as f64 / (max_iterations - 1).max(1) as f64;
            let epsilon = scale * first * (last / first).powf(progress);
            let weights = rows.sample_weights(&state.residuals, epsilon);
            let system = (&state.gram, &state.correlations);
            let codes = (&mut state.codes, &mut state.images);
            rows.code(system, &weights, (epsilon, STEPS), codes);
            state.measure();
            turns.done(Step::Codes, state.objective(&rows))?;
            let weights = rows.sample_weights(&state.residuals, epsilon);
            state.update_atoms(&weights, turns.is_last());
            turns.done(Step::Dictionary, state.objective(&rows))
        })?;
        let owners = classes_of_atoms(&state.codes, labels);
        let coder = Coder::Lasso { sparsity: self.code_sparsity };
        let codes = coder.code(samples, &state.atoms, None);
        let atoms = state.atoms;
        Ok(Learnt {
            dictionary: Some(Dictionary { atoms, codes, coder, dead: 0, revived: 0 }),
            ..Learnt::new(by_residuals(owners, labels, 0.0), stop)
        })
    }
}

struct State<'a, T> {
    samples: &'a Matrix<T>,
    norms: Vec<f64>,
    atoms: Matrix<T>,
    gram: Matrix<T>,
    /// $D^\top X$.
    correlations: Matrix<T>,
    codes: Matrix<T>,
    /// $GA$.
    images: Matrix<T>,
    /// $\lVert x_i-Da_i\rVert^2$.
    residuals: Vec<f64>,
}

impl<'a, T: Real> State<'a, T> {
    /// Codes by ridge regression.
    fn new(samples: &'a Matrix<T>, atoms: Matrix<T>) -> Result<Self> {
        let gram = atoms.gram();
        let correlations = Matrix::of_product(atoms.transposed(), samples.view());
        let mut system = gram.clone();
        (0..system.columns()).for_each(|k| system.column_mut(k)[k] += T::of(0.1));
        let mut codes = correlations.clone();
        let failed = || Error::Diverged {
            step: Step::Start.name(),
            iteration: 0,
            what: "the first codes cannot be found".into(),
        };
        Cholesky::new(&system).ok_or_else(failed)?.solve_in_place(&mut codes);
        let norms = squared_lengths(samples);
        let (residuals, images) = (Vec::new(), Matrix::of_product(gram.view(), codes.view()));
        let mut state =
            Self { samples, norms, atoms, gram, correlations, codes, images, residuals };
        state.measure();
        Ok(state)
    }

    fn measure(&mut self) {
        let of = |j: usize| {
            let code = self.codes.column(j);
            let square = dot(code, self.images.column(j)).wide();
            let cross = dot(code, self.correlations.column(j)).wide();
            (self.norms[j] - 2.0 * cross + square).max(0.0)
        };
        self.residuals = wide(
            #[inline(always)]
            || (0..self.codes.columns()).map(of).collect(),
        );
    }

    fn update_atoms(&mut self, weights: &[f64], is_last: bool) {
        let mut weighted = self.codes.clone();
        for (column, &weight) in weighted.columns_mut().zip(weights) {
            column.iter_mut().for_each(|a| *a *= T::of(weight));
        }
        let statistics = Statistics {
            moments: Matrix::of_product(weighted.view(), self.codes.transposed()),
            correlations: Matrix::of_product(self.samples.view(), weighted.transposed()),
            energy: 0.0,
        };
        let update = Block { sweeps: 2, tolerance: 1e-4, nonnegative: false };
        update_past(&update, (&mut self.atoms, &mut self.gram), &statistics, T::one(), is_last);
        self.correlations = Matrix::of_product(self.atoms.transposed(), self.samples.view());
        self.images.set_product(self.gram.view(), self.codes.view());
        self.measure();
    }

    fn objective(&self, rows: &Rows<'_>) -> Objective {
        Objective::new([
            ("reconstruction", rows.loss(&self.residuals)),
            ("sparsity", rows.size(&self.codes)),
        ])
    }
}
