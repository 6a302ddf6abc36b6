//! SSP-DL: codes inherit how samples are written with each other, and share rows within a class.
//!
//! Wang, Zhang, Fan, Ye (2016). Only the abstract could be read: the decision, the power ½ and the
//! weights were found by experiment.

use super::{Description, Learner, cut_atoms};
use crate::codes::descent::{Fixed, Structured};
use crate::codes::{Coder, Lasso, Pulled, Pursuit};
use crate::dictionary::init::first_of_length_one;
use crate::dictionary::{AtomCount, Block, Statistics, update_past};
use crate::fit::{
    Dictionary, Given, KeptSamples, Learnt, Limits, Objective, Sizes, SolverKnobs, Step, Tie,
    Turns, by_residuals, classes_of_atoms,
};
use crate::graph::{Connected, Expressive};
use crate::{Matrix, Real, Result};

crate::knobs! {
    /// The knobs of SSP-DL, and the way to fit it from code.
    ///
    /// ```
    /// use ssdl::methods::SspDl;
    /// let method = SspDl::new().n_atoms(100).manifold(0.3);
    /// ```
    pub struct SspDl {
        /// Number of atoms, at most one per sample; `auto`: one per feature or, if more, 10 per class, up to 200.
        n_atoms "p": AtomCount = AtomCount::Auto, AutoOrFrom(1);
        /// Weight of the half powers: of rows within a class, and of coefficients of unlabelled samples.
        sparsity "λ lambda": f64 = 0.56, From(0.0);
        /// How much codes are mixed as their samples are.
        manifold "β beta": f64 = 0.5, From(0.0);
        /// Weight of the l1 norm with which samples are written with others; scales with squared lengths.
        self_sparsity "κ kappa": f64 = 7.5, Above(0.0);
        /// Weight of the l1 norm of the first codes; scales with sample lengths.
        first_sparsity "": f64 = 0.5, From(0.0);
        /// Maximum number of iterations.
        max_iterations "": usize = 8, WholeFrom(1);
        /// Relative change of the objective at which the fit has converged.
        tolerance "": f64 = 1e-4, From(0.0);
    }
}

const DESCRIPTION: Description = Description {
    name: "ssp-dl",
    class: "SSPDL",
    title: "Semi-supervised dictionary that preserves sparse self-representation",
    reference: "Wang, Zhang, Fan, Ye (2016)",
    link: "https://doi.org/10.1109/ACCESS.2016.2545679",
    objective: r"\min_{D\in\mathcal C,A}\ \lVert X-DA\rVert_F^2
+\lambda\Bigl(\sum_c\sum_k\lVert A_{c,k\cdot}\rVert^{1/2}+\sum_{k,j\text{ unlabelled}}|a_{kj}|^{1/2}\Bigr)
+\beta\sum_i\Bigl\lVert a_i-\sum_jv_{ij}a_j\Bigr\rVert^2",
    objective_text: "|X - DA|^2 + sparsity (sum_c sum_k |row k of A_c|^(1/2) + sum_unlabelled |a|^(1/2))\n\
+ manifold sum_i |a_i - sum_j v_ij a_j|^2, where x_i is written with few others as sum_j v_ij x_j",
    summary: "Samples are written with few other samples, and their codes are mixed the same way; \
labelled samples of a class share atoms. Each atom then belongs to the class that uses it most, and a \
sample takes the class whose atoms leave least of it. Only the abstract of the article could be read; \
what it leaves open was found by experiment. Over `src`, the control without learning, it gains one point on \
USPS and nearly two on MNIST.",
    semi_supervised: true,
    inductive: true,
    uses_graph: true,
    coding: "group",
    published: &[
        ("USPS", &[("n_atoms", "200"), ("sparsity", "0.56"), ("manifold", "0.5")]),
        ("MNIST", &[("n_atoms", "200"), ("sparsity", "0.56"), ("manifold", "0.5")]),
    ],
};

/// Proximal steps in an iteration.
const STEPS: usize = 40;

impl Learner for SspDl {
    const DESCRIPTION: Description = DESCRIPTION;
    const IGNORES_BLANK: bool = true;

    fn reduce(&mut self, sizes: &Sizes, notice: &mut dyn FnMut(&str)) {
        cut_atoms(&mut self.n_atoms, sizes, notice);
    }

    fn bytes(&self, sizes: &Sizes) -> u64 {
        let n_atoms = self.n_atoms.resolve(sizes.n_features, sizes.n_classes);
        sizes.coupled(n_atoms, 64, &SolverKnobs::new()).saturating_mul(2)
    }

    /// Cost: $5nN^2$ once for the graph, then per iteration 40 steps of $p$ for each nonzero coefficient
    /// and edge; memory $O(N(n+p))$.
    fn learn<T: Real>(&self, given: &Given<'_, T>, turns: &mut Turns<'_>) -> Result<Learnt<T>> {
        let Given { samples, labels, .. } = given;
        let graph = Expressive { sparsity: self.self_sparsity };
        let Connected { laplacian, attachment } =
            turns.graph(self.max_iterations, |_| match given.graph {
                Some(graph) => graph.build(samples),
                None => Ok(graph.connect(samples)),
            })?;
        if laplacian.trace() == 0.0 && samples.columns() > 1 {
            turns.notice(&format!(
                "no sample is written with others at a self_sparsity of {}, so codes are not mixed; \
                 lower it",
                self.self_sparsity
            ));
        }
        let requested = self.n_atoms.resolve(samples.rows(), labels.classes().len());
        let notice = |sentence: &str| turns.notice(sentence);
        let mut atoms = first_of_length_one(samples, labels, requested, given.seed, notice)?;
        let mut gram = atoms.gram();
        let mut correlations = Matrix::of_product(atoms.transposed(), samples.view());
        let mut codes = Matrix::zeros(atoms.columns(), samples.columns());
        let problem = Pulled { gram: &gram, rhs: correlations.clone(), shifts: Vec::new() };
        Lasso::rough(self.first_sparsity).code(problem, &mut codes);
        let assigned = labels.assigned();
        let groups: Vec<Vec<usize>> = (0..labels.classes().len())
            .map(|class| (0..assigned.len()).filter(|&j| assigned[j] == Some(class)).collect())
            .collect();
        let (rows, coefficients) = (self.sparsity, self.sparsity);
        let solver = Structured {
            groups: &groups,
            rows,
            coefficients,
            manifold: self.manifold,
            steps: STEPS,
        };
        let energy = samples.squared_norm();
        let measure =
            |sums: &Statistics<T>, atoms: &Matrix<T>, gram: &Matrix<T>, codes: &Matrix<T>| {
                Objective::new([
                    ("reconstruction", sums.residual(atoms, gram)),
                    ("sparsity", solver.size(codes)),
                    ("manifold", self.manifold * laplacian.energy(codes)),
                ])
            };
        let mut sums = Statistics::of(samples, &codes, energy);
        let Self { max_iterations, tolerance, .. } = *self;
        let limits = Limits { max_iterations, tolerance, max_flips: 0 };
        turns.begin(limits, measure(&sums, &atoms, &gram, &codes))?;
        let update = Block { sweeps: 2, tolerance: 1e-4, nonnegative: false };
        let stop = turns.repeat(limits, |turns| {
            let fixed = Fixed { gram: &gram, correlations: &correlations, laplacian: &laplacian };
            solver.code(fixed, &mut codes);
            sums = Statistics::of(samples, &codes, energy);
            turns.done(Step::Codes, measure(&sums, &atoms, &gram, &codes))?;
            update_past(&update, (&mut atoms, &mut gram), &sums, T::one(), turns.is_last());
            correlations = Matrix::of_product(atoms.transposed(), samples.view());
            turns.done(Step::Dictionary, measure(&sums, &atoms, &gram, &codes))
        })?;
        let dead =
            (0..sums.moments.columns()).filter(|&k| sums.moments.column(k)[k] == T::zero()).count();
        let owners = classes_of_atoms(&codes, labels);
        let coder = Coder::Half { sparsity: self.sparsity };
        Ok(Learnt {
            dictionary: Some(Dictionary { atoms, codes, coder, dead, revived: 0 }),
            tie: (self.manifold > 0.0).then_some(Tie {
                manifold: self.manifold,
                attachment,
                reconstructions: None,
                kept: KeptSamples::Auto,
            }),
            ..Learnt::new(by_residuals(owners, labels, 0.0), stop)
        })
    }
}
