//! SRC class by class: each class writes a sample with its own labelled samples, and the cheapest wins.

use super::src::{bytes, learn};
use super::{Description, Learner};
use crate::codes::Coder;
use crate::fit::{Given, Learnt, Sizes, Turns};
use crate::{Real, Result};

crate::knobs! {
    /// The knobs of sparse representation class by class, and the way to fit it from code.
    ///
    /// ```
    /// use ssdl::methods::SrcByClass;
    /// let method = SrcByClass::new().sparsity(0.2);
    /// ```
    pub struct SrcByClass {
        /// Weight of the l1 norm of the codes; scales with sample lengths.
        sparsity "λ lambda": f64 = 0.5, From(0.0);
    }
}

const DESCRIPTION: Description = Description {
    name: "src-by-class",
    class: "SRCByClass",
    title: "Sparse representation on the labelled samples, class by class",
    reference: "Wright, Yang, Ganesh, Sastry, Ma (2009), with a code for each class",
    link: "https://doi.org/10.1109/TPAMI.2008.79",
    objective: r"\hat y(x)=\operatorname*{arg\,min}_c\ \min_a\ \lVert x-X_ca\rVert^2+\lambda\lVert a\rVert_1",
    objective_text: "the class c of the smallest |x - X_c a|^2 + sparsity |a|_1, minimised over a for\n\
the labelled samples X_c of each class, scaled to length one",
    summary: "Each class writes a sample with its own labelled samples alone; the class that does it \
at the lowest cost wins. A control without learning, for methods with a dictionary for each class. \
Unlabelled samples are not used.",
    semi_supervised: false,
    inductive: true,
    uses_graph: false,
    coding: "individual",
    published: &[
        ("USPS", &[("sparsity", "0.25")]),
        ("MNIST", &[("sparsity", "0.5")]),
        ("Extended YaleB", &[("sparsity", "0.02")]),
    ],
};

impl Learner for SrcByClass {
    const DESCRIPTION: Description = DESCRIPTION;

    fn bytes(&self, sizes: &Sizes) -> u64 {
        bytes(sizes)
    }

    fn learn<T: Real>(&self, given: &Given<'_, T>, turns: &mut Turns<'_>) -> Result<Learnt<T>> {
        learn(given, turns, Coder::LassoByClass { sparsity: self.sparsity }, self.sparsity)
    }
}
