//! How the graph takes part in the codes.

crate::knobs! {
    /// The graph's hold on the codes.
    pub struct CouplingKnobs as CouplingSetters {
        /// Weight of the graph term.
        manifold "β beta": f64 = 0.5, From(0.0);
        /// Whether new samples lean half as much on a `heat` or `threshold` graph, as printed.
        halve_new "": bool = false, Switch;
        /// Iterations without the graph, which is then built from the reconstructions.
        denoise "": usize = 0, WholeFrom(0);
    }
}
