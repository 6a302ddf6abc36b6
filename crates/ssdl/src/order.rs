//! Orders that many stages need: each is written once, and compiled once for each kind of entry.

use std::cmp::Ordering;

/// Numbers from the smallest.
pub(crate) fn ascending(values: &mut [f64]) {
    values.sort_unstable_by(f64::total_cmp);
}

/// Measured places from the nearest; ties by place.
pub(crate) fn nearest_first(measured: &mut [(f64, u32)]) {
    measured.sort_unstable_by(nearer);
}

/// The order of [`nearest_first`].
pub(crate) fn nearer(a: &(f64, u32), b: &(f64, u32)) -> Ordering {
    a.0.total_cmp(&b.0).then(a.1.cmp(&b.1))
}

/// Measured places from the largest; ties by place.
pub(crate) fn largest_first(measured: &mut [(f64, usize)]) {
    measured.sort_unstable_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
}

/// The entries of a row by their columns; those of one column stay in their order.
pub(crate) fn by_column<V>(row: &mut [(usize, V)]) {
    row.sort_by_key(|(column, _)| *column);
}

/// Places by a comparison; those that are equal stay in their order.
pub(crate) fn places_by(places: &mut [usize], compare: impl Fn(usize, usize) -> Ordering) {
    let compare: &dyn Fn(usize, usize) -> Ordering = &compare;
    places.sort_by(|&a, &b| compare(a, b));
}
