//! JDL: joint learning of a dictionary and a linear classifier from labelled and unlabelled samples.
//!
//! Pham, Venkatesh (2008).

use super::{Description, Learner, cut_few_atoms};
use crate::classifier::Targets;
use crate::dictionary::by_class::first_atoms_by_class;
use crate::dictionary::{Block, Statistics, init, update_past};
use crate::fit::few_atoms::{Ending, Unused, code};
use crate::fit::{FewAtomsKnobs, Given, Learnt, Objective, Sizes, Step, Turns};
use crate::{Matrix, Real, Result};

crate::knobs! {
    /// The knobs of JDL, and the way to fit it from code.
    ///
    /// ```
    /// use ssdl::{methods::Jdl, prelude::*};
    /// let method = Jdl::new().n_atoms(50).n_nonzero(5).discrimination(1.0);
    /// ```
    pub struct Jdl {
        /// Atoms, codes and iterations.
        codes: FewAtomsKnobs = FewAtomsKnobs::new().max_iterations(7);
        /// Weight of the classifier's squared errors on the labelled codes.
        discrimination "γ gamma": f64 = 2.5, From(0.0);
        /// Weight of the unlabelled samples in the reconstruction; a labelled sample counts 1.
        unlabelled_weight "ρ rho": f64 = 0.5, From(0.0);
        /// Weight of the classifier's squared norm beside its squared errors.
        ridge "μ mu": f64 = 2.5, Above(0.0);
    }
}

const DESCRIPTION: Description = Description {
    name: "jdl",
    class: "JDL",
    title: "Joint learning of a dictionary and a linear classifier",
    reference: "Pham, Venkatesh (CVPR 2008)",
    link: "https://doi.org/10.1109/CVPR.2008.4587408",
    objective: r"\min_{D\in\mathcal C,A,W}\ \lVert X^l-DA^l\rVert^2+\rho\lVert X^u-DA^u\rVert^2
+\gamma\bigl(\lVert Y-W^\top A^l\rVert^2+\mu\lVert W\rVert^2\bigr),\qquad\lVert a_i\rVert_0\le T",
    objective_text: "|X - DA|^2 on labelled + unlabelled_weight |X - DA|^2 on unlabelled samples\n\
+ discrimination (|Y - W'A|^2 + ridge |W|^2), at most n_nonzero atoms a sample",
    summary: "Each sample is coded with a few atoms by orthogonal matching pursuit; a linear classifier \
pulls on the codes of labelled samples while it is learnt, and unlabelled samples shape the atoms. The \
classifier that predicts is fitted on codes that no label has pulled on. On digits it stays some four points \
below `src`, the control without learning.",
    semi_supervised: true,
    inductive: true,
    uses_graph: false,
    coding: "individual",
    published: &[
        ("USPS", &[("n_atoms", "200"), ("n_nonzero", "10")]),
        ("MNIST", &[("n_atoms", "200"), ("n_nonzero", "10")]),
        (
            "Extended YaleB",
            &[
                ("n_atoms", "228"),
                ("n_nonzero", "10"),
                ("discrimination", "0.04"),
                ("unlabelled_weight", "1"),
                ("ridge", "0.4"),
            ],
        ),
    ],
};

impl Learner for Jdl {
    const DESCRIPTION: Description = DESCRIPTION;

    fn reduce(&mut self, sizes: &Sizes, notice: &mut dyn FnMut(&str)) {
        cut_few_atoms(&mut self.codes, sizes, notice);
    }

    fn bytes(&self, sizes: &Sizes) -> u64 {
        self.codes.bytes(sizes)
    }

    /// Cost per iteration $O(npN+pT^2N+np^2+p^3)$; memory $O(N(n+p))$. The objective never rises: a
    /// sample keeps its code where the greedy search finds no better one.
    fn learn<T: Real>(&self, given: &Given<'_, T>, turns: &mut Turns<'_>) -> Result<Learnt<T>> {
        let sizes = given.sizes();
        let n_atoms = self.codes.count(&sizes);
        let (samples, labels) = (&given.samples, &given.labels);
        let first = first_atoms_by_class(samples, labels, n_atoms, true, T::one(), given.seed);
        let mut atoms = first.atoms;
        init::check_count(&atoms, n_atoms, |sentence| turns.notice(sentence))?;
        let p = atoms.columns();
        let (known, classes) = given.labelled();
        let rest = given.samples.select_columns(&given.labels.unlabelled());
        let energies = (known.squared_norm(), rest.squared_norm());
        let targets = Targets::new(sizes.n_classes, self.discrimination, self.ridge);
        let pursuit = self.codes.pursuit();
        let mut gram = atoms.gram();
        let mut of_known = Matrix::zeros(p, known.columns());
        let mut of_rest = Matrix::zeros(p, rest.columns());
        code(pursuit, (&atoms, &gram), &known, None, &mut of_known);
        code(pursuit, (&atoms, &gram), &rest, None, &mut of_rest);
        let mut weights = targets.fit(&of_known, &classes)?;
        // Over all samples with their weights; and the labelled moments by themselves.
        let sums = |of_known: &Matrix<T>, of_rest: &Matrix<T>| {
            let mut sums = Statistics::of(&known, of_known, energies.0);
            let moments = sums.moments.clone();
            sums.add(self.unlabelled_weight, &Statistics::of(&rest, of_rest, energies.1));
            (sums, moments)
        };
        let objective = |residual: f64, weights: &Matrix<T>, of_known: &Matrix<T>| {
            let misfit = targets.misfit(weights, of_known, &classes);
            Objective::new([
                ("reconstruction", residual),
                ("discrimination", misfit.discrimination),
                ("ridge", misfit.ridge),
            ])
        };
        let limits = self.codes.limits();
        let mut residual = sums(&of_known, &of_rest).0.residual(&atoms, &gram);
        turns.begin(limits, objective(residual, &weights, &of_known))?;
        let mut unused = Unused::default();
        let block = Block { sweeps: 1, tolerance: 0.0, nonnegative: false };
        let stop = turns.repeat(limits, |turns| {
            let labels = (&targets, &*classes, &weights);
            code(pursuit, (&atoms, &gram), &known, Some(labels), &mut of_known);
            // The first codes of unlabelled samples are on these atoms already.
            if turns.iteration() > 1 {
                code(pursuit, (&atoms, &gram), &rest, None, &mut of_rest);
            }
            let (all, moments) = sums(&of_known, &of_rest);
            residual = all.residual(&atoms, &gram);
            turns.done(Step::Codes, objective(residual, &weights, &of_known))?;
            weights = targets.fit_with(&of_known, &classes, &moments)?;
            turns.done(Step::Classifier, objective(residual, &weights, &of_known))?;
            update_past(&block, (&mut atoms, &mut gram), &all, T::one(), turns.is_last());
            if unused.revive(&mut atoms, &all.moments, (&known, &of_known), (&rest, &of_rest)) {
                gram = atoms.gram();
            }
            residual = all.residual(&atoms, &gram);
            turns.done(Step::Dictionary, objective(residual, &weights, &of_known))
        })?;
        let (coder, ridge) = (self.codes.coder(), self.ridge);
        Ending { atoms, coder, weights: None, ridge, unused, stop }.learnt(given)
    }
}
