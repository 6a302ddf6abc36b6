//! The knobs of a linear SVM, for every method that ends with one.

use super::Loss;
use crate::knobs::Grid;

crate::knobs! {
    /// How the SVM is chosen and trained.
    pub struct SvmKnobs as SvmSetters {
        /// Box constraints of the SVM; cross-validation on the given labels picks the best.
        box_constraints "C": Grid = Grid::ascending([0.1, 1.0, 10.0]), SeveralAbove(0.0);
        /// Number of cross-validation folds; at most the labelled samples of the smallest class.
        folds "": usize = 5, WholeFrom(2);
        /// Loss of the SVM for a sample inside its margin.
        loss "": Loss = Loss::Hinge, OneOf(Loss::WORDS);
    }
}
