//! SSDL-GA: semi-supervised dictionary learning with graph regularisation and active points.
//!
//! Tran, Ngolè Mboula, Starck, Prost. This file composes; the mathematics is in the stages, the loop in
//! `fit/coupled`.

use super::{Description, Learner, cut_atoms};
use crate::classifier::MarginKnobs;
use crate::dictionary::AtomCount;
use crate::fit::{Coupled, CouplingKnobs, Given, Learnt, Sizes, SolverKnobs, Turns};
use crate::graph::{Connected, GraphKnobs};
use crate::{Real, Result};

crate::knobs! {
    /// The knobs of SSDL-GA, and the way to fit it from code.
    ///
    /// ```
    /// use ssdl::{Labels, Matrix, Samples, methods::SsdlGa, prelude::*};
    ///
    /// # fn main() -> ssdl::Result<()> {
    /// // Two clouds in the plane, one labelled sample each.
    /// let side = |j: usize| if j % 2 == 0 { 1.0 } else { -1.0 };
    /// let features = Matrix::from_fn(2, 20, |i, j| if i == 0 { side(j) } else { 0.1 * j as f64 });
    /// let mut names = vec![None; 20];
    /// (names[0], names[1]) = (Some("right"), Some("left"));
    /// let samples = Samples::new(features.clone(), Labels::from_names(&names))?;
    /// let model = SsdlGa::new().n_atoms(8).n_neighbors(3).fit(samples)?;
    /// assert_eq!(model.predict(features)?.labels[2], "right");
    /// # Ok(())
    /// # }
    /// ```
    pub struct SsdlGa {
        /// Number of atoms, at most one per sample; `auto`: one per feature or, if more, 10 per class, up to 200.
        n_atoms "p": AtomCount = AtomCount::Auto, AutoOrFrom(1);
        /// Weight of the l1 norm of the codes; twice scikit-learn's `alpha`.
        sparsity "λ lambda": f64 = 0.3, From(0.0);
        /// How the graph acts on the codes.
        coupling: CouplingKnobs = CouplingKnobs::new();
        /// The graph.
        graph: GraphKnobs = GraphKnobs::new();
        /// How the classes act on the codes.
        classes: MarginKnobs = MarginKnobs::new();
        /// The solvers.
        solver: SolverKnobs = SolverKnobs::new();
    }
}

pub(super) const DESCRIPTION: Description = Description {
    name: "ssdl-ga",
    class: "SSDLGA",
    title: "Semi-supervised dictionary learning with graph regularisation and active points",
    reference: "Tran, Ngolè Mboula, Starck, Prost (2020)",
    link: "https://arxiv.org/abs/2009.05964",
    objective: r"\min_{D\in\mathcal C,A,W,b,P}\ \lVert X-DA\rVert_F^2+\lambda\lVert A\rVert_1
+\beta\sum_i\Bigl\lVert a_i-\sum_{j\in\mathrm{knn}(i)}\hat\lambda_{ij}a_j\Bigr\rVert^2
+\gamma\sum_j\sum_kP_{kj}^r\,e_k(W^\top a_j+b)+\mu(\lVert W\rVert^2+\lVert b\rVert^2)",
    objective_text: "|X - DA|^2 + sparsity |A|_1 + manifold sum_i |a_i - sum_j v_ij a_j|^2\n\
+ discrimination sum_j sum_k P_kj^sharpness e_k(W'a_j + b) + ridge (|W|^2 + |b|^2)",
    summary: "Atoms, sparse codes and a linear classifier are learnt together from labelled and \
unlabelled samples. An LLE graph keeps the shape of the data in the codes, unlabelled samples vote \
with class memberships, and the classifier is fitted on active points only. New samples are coded \
with the same graph.",
    semi_supervised: true,
    inductive: true,
    uses_graph: true,
    coding: "group",
    published: &[
        (
            "USPS",
            &[
                ("n_atoms", "200"),
                ("sparsity", "0.3"),
                ("manifold", "0.5"),
                ("discrimination", "0.5"),
                ("ridge", "1"),
                ("n_neighbors", "8"),
                ("sharpness", "1.7"),
                ("voting", "paper"),
            ],
        ),
        (
            "MNIST",
            &[
                ("n_atoms", "200"),
                ("sparsity", "0.5"),
                ("manifold", "1"),
                ("discrimination", "1"),
                ("ridge", "2"),
                ("n_neighbors", "8"),
                ("sharpness", "2"),
                ("voting", "paper"),
            ],
        ),
        (
            "Extended YaleB",
            &[
                ("n_atoms", "380"),
                ("sparsity", "0.005"),
                ("manifold", "2"),
                ("discrimination", "0.5"),
                ("ridge", "1"),
                ("n_neighbors", "4"),
                ("sharpness", "1.5"),
                ("voting", "paper"),
            ],
        ),
        (
            "AR",
            &[
                ("n_atoms", "300"),
                ("sparsity", "0.0015"),
                ("manifold", "0.3"),
                ("discrimination", "0.08"),
                ("ridge", "0.16"),
                ("n_neighbors", "8"),
                ("sharpness", "1.5"),
                ("voting", "paper"),
            ],
        ),
    ],
};

impl SsdlGa {
    fn coupled(&self, sizes: &Sizes) -> Coupled<'_> {
        Coupled {
            n_atoms: self.n_atoms.resolve(sizes.n_features, sizes.n_classes),
            fill_atoms: false,
            sparsity: self.sparsity,
            graph: Some((&self.coupling, &self.graph)),
            classes: Some(&self.classes),
            solver: &self.solver,
        }
    }
}

impl Learner for SsdlGa {
    const DESCRIPTION: Description = DESCRIPTION;

    fn reduce(&mut self, sizes: &Sizes, notice: &mut dyn FnMut(&str)) {
        cut_atoms(&mut self.n_atoms, sizes, notice);
        if self.coupling.manifold > 0.0 {
            self.graph.reduce(sizes.n_samples, notice);
        }
    }

    fn uses_weights(&self) -> bool {
        true
    }

    fn can_be_in_parts(&self) -> bool {
        true
    }

    fn can_park(&self, sizes: &Sizes) -> bool {
        self.coupled(sizes).can_park()
    }

    fn connect<T: Real>(&self, given: &Given<'_, T>) -> Result<Option<Connected<T>>> {
        self.coupled(&given.sizes()).connect_ahead(given)
    }

    fn bytes(&self, sizes: &Sizes) -> u64 {
        self.coupled(sizes).bytes(sizes)
    }

    /// Cost per outer iteration $O(npN+np^2+p\,\mathrm{nnz}(A)+p^3)$, once $nN^2$ for neighbours;
    /// memory $O(N(n+p))$.
    fn learn<T: Real>(&self, given: &Given<'_, T>, turns: &mut Turns<'_>) -> Result<Learnt<T>> {
        self.coupled(&given.sizes()).learn_with_classes(given, turns)
    }
}
