//! How the graph acts on the codes.

use crate::fit::KeptSamples;

crate::knobs! {
    /// How the graph acts on the codes.
    pub struct CouplingKnobs as CouplingSetters {
        /// Weight of the graph term.
        manifold "β beta": f64 = 0.5, From(0.0);
        /// Whether a `heat` or `threshold` graph pulls half as much on new samples, as in the paper.
        halve_new "": bool = false, Switch;
        /// Iterations before the graph is built from reconstructions; 0 builds it from the samples.
        denoise "": usize = 0, WholeFrom(0);
        /// Training samples in the model, to tie new ones to; `auto`: all up to 20,000, beyond 10,000 in half precision.
        kept_samples "": KeptSamples = KeptSamples::Auto, OneOf(KeptSamples::WORDS);
    }
}
