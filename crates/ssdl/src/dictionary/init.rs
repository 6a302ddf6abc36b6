//! The first atoms: labelled samples, then unlabelled ones.

use super::project;
use crate::random::{Purpose, shuffle, stream};
use crate::samples::Labels;
use crate::{Matrix, Real};

/// Draws `n_atoms` different samples as atoms, shrunk into the ball.
///
/// If there are more atoms than labelled samples: all labelled ones, then unlabelled ones at random.
/// Otherwise the classes take turns, each giving one of its labelled samples at random. Zero samples
/// are never drawn; so the result may have fewer atoms than asked for.
#[must_use]
pub fn first_atoms<T: Real>(
    samples: &Matrix<T>,
    labels: &Labels,
    n_atoms: usize,
    radius: T,
    seed: u64,
) -> Matrix<T> {
    let mut rng = stream(seed, Purpose::Atoms);
    let usable = |&j: &usize| samples.column(j).iter().any(|x| *x != T::zero());
    let mut of_class: Vec<Vec<usize>> = vec![Vec::new(); labels.classes().len()];
    let mut unlabelled = Vec::new();
    for j in (0..samples.columns()).filter(usable) {
        match labels.assigned()[j] {
            Some(class) => of_class[class].push(j),
            None => unlabelled.push(j),
        }
    }
    let n_labelled: usize = of_class.iter().map(Vec::len).sum();
    let mut chosen: Vec<usize> = if n_atoms >= n_labelled {
        shuffle(&mut unlabelled, &mut rng);
        let mut labelled = of_class.concat();
        labelled.sort_unstable();
        labelled.into_iter().chain(unlabelled).collect()
    } else {
        of_class.iter_mut().for_each(|class| shuffle(class, &mut rng));
        let rounds = of_class.iter().map(Vec::len).max().unwrap_or(0);
        (0..rounds).flat_map(|r| of_class.iter().filter_map(move |c| c.get(r).copied())).collect()
    };
    chosen.truncate(n_atoms);
    let mut atoms = samples.select_columns(&chosen);
    (0..atoms.columns()).for_each(|k| project(atoms.column_mut(k), radius));
    atoms
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(assigned: &[i32]) -> Labels {
        let assigned = assigned.iter().map(|&c| usize::try_from(c).ok()).collect();
        Labels::new(vec!["a".into(), "b".into()], assigned).expect("valid")
    }

    #[test]
    fn labelled_samples_come_first_then_unlabelled() {
        let samples = Matrix::from_fn(1, 6, |_, j| j as f64 + 1.0);
        let atoms = first_atoms(&samples, &labels(&[-1, 0, -1, 1, -1, -1]), 4, 100.0, 3);
        assert_eq!(&atoms.as_slice()[..2], [2.0, 4.0]);
        assert!(atoms.as_slice()[2..].iter().all(|v| [1.0, 3.0, 5.0, 6.0].contains(v)));
    }

    #[test]
    fn few_atoms_take_turns_over_the_classes() {
        let samples = Matrix::from_fn(1, 6, |_, j| if j < 4 { 1.0 } else { 2.0 });
        let atoms = first_atoms(&samples, &labels(&[0, 0, 0, 0, 1, 1]), 4, 100.0, 3);
        assert_eq!(atoms.as_slice(), [1.0, 2.0, 1.0, 2.0]);
    }

    #[test]
    fn zero_samples_are_never_atoms_and_long_ones_are_shrunk() {
        let samples = Matrix::from_fn(2, 4, |_, j| if j == 1 { 0.0 } else { 3.0 });
        let atoms = first_atoms(&samples, &labels(&[0, 0, 1, -1]), 4, 1.0, 3);
        assert_eq!(atoms.columns(), 3);
        for atom in atoms.iter_columns() {
            assert!((crate::matrix::squared_norm(atom) - 1.0).abs() < 1e-12);
        }
    }
}
