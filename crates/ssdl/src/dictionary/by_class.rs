//! The first atoms of methods in which every atom belongs to a class.

use crate::matrix::squared_norm;
use crate::random::{Purpose, shuffle, stream};
use crate::samples::Labels;
use crate::{Matrix, Real};

/// Atoms, and the class of each.
#[derive(Clone, Debug)]
pub struct ClassAtoms<T> {
    /// $n\times p$; the atoms of a class lie side by side.
    pub atoms: Matrix<T>,
    /// The class of each atom.
    pub class_of_atoms: Vec<usize>,
}

/// The classes that have labelled samples, in the order of their first, with the number of atoms of each:
/// an equal share, the remainder to the first classes. So nothing depends on the order of class names.
#[must_use]
pub fn share_atoms(labels: &Labels, n_atoms: usize) -> Vec<(usize, usize)> {
    let mut order: Vec<usize> = Vec::new();
    for class in labels.known_classes() {
        if !order.contains(&class) {
            order.push(class);
        }
    }
    let (each, more) = (n_atoms / order.len().max(1), n_atoms % order.len().max(1));
    order
        .into_iter()
        .enumerate()
        .map(|(at, class)| (class, each + usize::from(at < more)))
        .collect()
}

/// Labelled samples of each class in a seeded order, then unlabelled samples where `fill` is set and a class
/// has fewer samples than atoms; all of length `radius`. Zero samples are never drawn, so there may be fewer
/// atoms than requested.
#[must_use]
#[inline(never)]
pub fn first_atoms_by_class<T: Real>(
    samples: &Matrix<T>,
    labels: &Labels,
    n_atoms: usize,
    fill: bool,
    radius: T,
    seed: u64,
) -> ClassAtoms<T> {
    let mut rng = stream(seed, Purpose::Atoms);
    let usable = |&j: &usize| samples.column(j).iter().any(|x| *x != T::zero());
    let of = |class: Option<usize>| -> Vec<usize> {
        (0..samples.columns()).filter(|&j| labels.assigned()[j] == class).filter(usable).collect()
    };
    let mut spare = if fill { of(None) } else { Vec::new() };
    shuffle(&mut spare, &mut rng);
    let mut spare = spare.into_iter();
    let (mut chosen, mut class_of_atoms) = (Vec::new(), Vec::new());
    for (class, count) in share_atoms(labels, n_atoms) {
        let mut own = of(Some(class));
        shuffle(&mut own, &mut rng);
        own.truncate(count);
        let missing = count - own.len();
        own.extend(spare.by_ref().take(missing));
        class_of_atoms.resize(class_of_atoms.len() + own.len(), class);
        chosen.extend(own);
    }
    if chosen.is_empty() && !fill {
        // All labelled samples are zero: others are better than no atoms.
        return first_atoms_by_class(samples, labels, n_atoms, true, radius, seed);
    }
    ClassAtoms { atoms: scaled_samples(samples, &chosen, radius), class_of_atoms }
}

/// The chosen samples as atoms of length `radius`.
fn scaled_samples<T: Real>(samples: &Matrix<T>, chosen: &[usize], radius: T) -> Matrix<T> {
    let mut atoms = samples.select_columns(chosen);
    for k in 0..atoms.columns() {
        let factor = radius / T::of(squared_norm(atoms.column(k)).sqrt());
        atoms.column_mut(k).iter_mut().for_each(|d| *d *= factor);
    }
    atoms
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(assigned: &[i32]) -> Labels {
        let assigned = assigned.iter().map(|&c| usize::try_from(c).ok()).collect();
        Labels::new(vec!["a".into(), "b".into(), "c".into()], assigned).expect("valid")
    }

    #[test]
    fn classes_share_the_atoms_in_the_order_they_appear() {
        let given = labels(&[-1, 2, 0, 2, -1, 0]);
        assert_eq!(share_atoms(&given, 5), [(2, 3), (0, 2)]);
        assert_eq!(share_atoms(&given, 1), [(2, 1), (0, 0)]);
    }

    #[test]
    fn own_samples_come_first_then_unlabelled_ones() {
        let samples = Matrix::from_fn(2, 6, |i, j| if i == j % 2 { j as f64 } else { 0.0 });
        let given = labels(&[0, 2, 0, 2, -1, -1]);
        // Sample 0 is zero, so class a has one sample of its own and takes one that is unlabelled.
        let filled = first_atoms_by_class(&samples, &given, 4, true, 3.0, 1);
        assert_eq!(filled.class_of_atoms, [0, 0, 2, 2]);
        assert_eq!(filled.atoms.column(0), [3.0, 0.0]);
        assert!(filled.atoms.iter_columns().all(|d| (d[0] + d[1] - 3.0).abs() < 1e-12));
        let own = first_atoms_by_class(&samples, &given, 4, false, 3.0, 1);
        assert_eq!(own.class_of_atoms, [0, 2, 2]);
    }
}
