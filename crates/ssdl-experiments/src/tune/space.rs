//! The settings to try: which knobs, which values, in which order.

use ssdl::Real;
use ssdl::methods::Method;

/// From this number of features on, the numbers of atoms to try do not depend on it.
const MANY: usize = 100;

/// Knobs to change together.
pub(super) type Changes = Vec<(&'static str, String)>;

/// Names of the methods that have knobs to search.
pub(super) fn searchable<T: Real>() -> String {
    let all = ssdl::methods::all::<T>();
    let some = all.into_iter().filter(|method| !stages(*method, &[], MANY).is_empty());
    some.map(|method| method.describe().name).collect::<Vec<_>>().join(", ")
}

/// The stages of the search, each a list of candidates: sparsity, which matters most (with the
/// preparation, which the search adds), then all others one at a time, then those that act on the votes.
/// Knobs that the method lacks or the user fixed are omitted.
pub(super) fn stages<T: Real>(
    method: &dyn Method<T>,
    fixed: &[(String, String)],
    n_features: usize,
) -> Vec<Vec<Changes>> {
    let own = method.knobs();
    let is_free = |name: &str| {
        own.iter().any(|knob| knob.name == name) && fixed.iter().all(|(fixed, _)| fixed != name)
    };
    let each = |name: &'static str, values: &[f64]| -> Vec<Changes> {
        let values = if is_free(name) { values } else { &[] };
        values.iter().map(|value| vec![(name, value.to_string())]).collect()
    };
    let few = n_features.max(2) as f64;
    let atoms =
        if n_features >= MANY { [100.0, 200.0, 300.0] } else { [few, 2.0 * few, 4.0 * few] };
    let stages = [
        each("sparsity", &[0.1, 0.2, 0.3, 0.5, 0.8]),
        [
            each("n_atoms", &atoms),
            each("manifold", &[0.1, 0.25, 0.5, 1.0, 2.0]),
            each("n_neighbors", &[4.0, 6.0, 8.0, 12.0]),
        ]
        .concat(),
        [
            each("discrimination", &[0.1, 0.25, 0.5, 1.0, 2.0]),
            each("sharpness", &[1.3, 1.5, 1.7, 2.0, 2.5]),
        ]
        .concat(),
    ];
    stages.into_iter().filter(|stage| !stage.is_empty()).collect()
}
