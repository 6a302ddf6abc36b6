//! SRC: sparse representation classification. The labelled samples are the atoms.
//!
//! Wright, Yang, Ganesh, Sastry, Ma (2009), with the lasso in place of equality constraints. Nothing is
//! learnt: what a dictionary method gains over this is what its dictionary is worth.

use super::{Description, Learner};
use crate::codes::Coder;
use crate::dictionary::{Blocks, Statistics, to_length_one};
use crate::fit::{
    Dictionary, Given, Learnt, Objective, Sizes, SolverKnobs, Stop, Turns, by_residuals,
    squared_lengths,
};
use crate::matrix::absolute_sum;
use crate::{Matrix, Real, Result, order};

crate::knobs! {
    /// The knobs of sparse representation classification, and the way to fit it from code.
    ///
    /// ```
    /// use ssdl::methods::Src;
    /// let method = Src::new().sparsity(0.2);
    /// ```
    pub struct Src {
        /// Weight of the l1 norm of the codes; scales with sample lengths.
        sparsity "λ lambda": f64 = 0.5, From(0.0);
    }
}

const DESCRIPTION: Description = Description {
    name: "src",
    class: "SRC",
    title: "Sparse representation classification on the labelled samples",
    reference: "Wright, Yang, Ganesh, Sastry, Ma (2009)",
    link: "https://doi.org/10.1109/TPAMI.2008.79",
    objective: r"\hat y(x)=\operatorname*{arg\,min}_c\ \lVert x-X_c\hat a_c\rVert^2,\qquad
\hat a=\operatorname*{arg\,min}_a\ \lVert x-X_la\rVert^2+\lambda\lVert a\rVert_1",
    objective_text: "the class c of the smallest |x - X_c a_c|^2, where a minimises\n\
|x - X_l a|^2 + sparsity |a|_1 over the labelled samples X_l of length one",
    summary: "A sample is written with few labelled samples, scaled to length one, and takes the \
class whose part of that code leaves least of it. A control without learning: what a method with a \
learnt dictionary gains over it is what its dictionary is worth. Unlabelled samples are not used.",
    semi_supervised: false,
    inductive: true,
    uses_graph: false,
    coding: "individual",
    published: &[("Extended YaleB", &[("sparsity", "0.2")])],
};

impl Learner for Src {
    const DESCRIPTION: Description = DESCRIPTION;

    fn bytes(&self, sizes: &Sizes) -> u64 {
        bytes(sizes)
    }

    fn learn<T: Real>(&self, given: &Given<'_, T>, turns: &mut Turns<'_>) -> Result<Learnt<T>> {
        learn(given, turns, Coder::Lasso { sparsity: self.sparsity }, self.sparsity)
    }
}

pub(super) fn bytes(sizes: &Sizes) -> u64 {
    sizes.coupled(sizes.n_labelled, 0, &SolverKnobs::new())
}

/// Labelled samples as atoms, the codes of all samples, and a decision by residuals.
pub(super) fn learn<T: Real>(
    given: &Given<'_, T>,
    turns: &mut Turns<'_>,
    coder: Coder,
    sparsity: f64,
) -> Result<Learnt<T>> {
    let Given { samples, labels, .. } = given;
    let mut known = labels.labelled();
    // In the order of the samples, which the names of the classes do not change; side by side only where
    // each class is on its own.
    if coder.is_by_class() {
        let class_of = |j: usize| labels.assigned()[j];
        order::places_by(&mut known, |a, b| class_of(a).cmp(&class_of(b)));
    }
    let mut atoms = samples.select_columns(&known);
    (0..atoms.columns()).for_each(|k| to_length_one(atoms.column_mut(k)));
    let class_of_atoms: Vec<Option<usize>> = known.iter().map(|&j| labels.assigned()[j]).collect();
    let codes = coder.code_with(samples, &atoms, &class_of_atoms, None);
    let misfit = if coder.is_by_class() {
        let norms = squared_lengths(samples);
        let rhs = Matrix::of_product(atoms.transposed(), samples.view());
        let blocks = Blocks::of_sizes(&labels.counts());
        blocks.energies(&atoms.gram(), &rhs, &codes, &norms).left.as_slice().iter().sum()
    } else {
        let sums = Statistics::of(samples, &codes, samples.squared_norm());
        sums.residual(&atoms, &atoms.gram())
    };
    let size = sparsity * absolute_sum(codes.as_slice());
    turns.end(1, Objective::new([("reconstruction", misfit), ("sparsity", size)]));
    let cost = if coder.is_by_class() { sparsity } else { 0.0 };
    Ok(Learnt {
        dictionary: Some(Dictionary { atoms, codes, coder, dead: 0, revived: 0 }),
        ..Learnt::new(by_residuals(class_of_atoms, labels, cost), Stop::Converged)
    })
}
