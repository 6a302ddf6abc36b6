//! The first atoms: labelled samples, then unlabelled ones.

use rand::RngExt;

use super::{project, to_length_one};
use crate::matrix::squared_norm;
use crate::random::{Purpose, shuffle, stream};
use crate::samples::{Held, Labels};
use crate::{Error, Matrix, Real, Result};

/// Draws `n_atoms` different samples as atoms, shrunk into the ball.
///
/// If there are more atoms than labelled samples: all labelled ones, then unlabelled ones at random.
/// Otherwise the classes take turns, each giving one of its labelled samples at random. Zero samples
/// are never drawn; so the result may have fewer atoms than requested.
#[must_use]
#[inline(never)]
pub fn first_atoms<T: Real>(
    samples: &Matrix<T>,
    labels: &Labels,
    n_atoms: usize,
    radius: T,
    seed: u64,
) -> Matrix<T> {
    first_atoms_of(samples.into(), labels, n_atoms, radius, seed)
}

/// The same for samples in memory or in a file.
pub(crate) fn first_atoms_of<T: Real>(
    samples: Held<'_, T>,
    labels: &Labels,
    n_atoms: usize,
    radius: T,
    seed: u64,
) -> Matrix<T> {
    let mut rng = stream(seed, Purpose::Atoms);
    let mut is_zero = Vec::with_capacity(samples.columns());
    samples.each_block(|_, block| {
        is_zero.extend(block.iter_columns().map(|x| x.iter().all(|x| *x == T::zero())));
    });
    let usable = |j: &usize| !is_zero[*j];
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
    let mut atoms = samples.select(&chosen);
    (0..atoms.columns()).for_each(|k| project(atoms.column_mut(k), radius));
    atoms
}

/// Fills up the atoms to `n_atoms` with mixtures of two labelled samples of a class (of any two atoms
/// where a class has a single sample), drawn at random, of length `radius`.
///
/// Paper: does not say how 128 atoms start from 100 labelled samples and nothing else.
#[must_use]
#[inline(never)]
pub fn fill<T: Real>(
    atoms: Matrix<T>,
    samples: &Matrix<T>,
    labels: &Labels,
    n_atoms: usize,
    radius: T,
    seed: u64,
) -> Matrix<T> {
    let (n, first) = (atoms.rows(), atoms.columns());
    if first == 0 || first >= n_atoms {
        return atoms;
    }
    let mut rng = stream(seed, Purpose::Mixtures);
    let mut of_class: Vec<Vec<&[T]>> = vec![Vec::new(); labels.classes().len()];
    for (x, label) in samples.iter_columns().zip(labels.assigned()) {
        if let Some(class) = label.filter(|_| squared_norm(x) > 0.0) {
            of_class[class].push(x);
        }
    }
    of_class.retain(|class| class.len() > 1);
    let all_atoms: Vec<&[T]> = atoms.iter_columns().collect();
    let mut filled = atoms.as_slice().to_vec();
    for k in first..n_atoms {
        let among = match of_class.len() {
            0 => &all_atoms,
            classes => &of_class[k % classes],
        };
        let a = rng.random_range(0..among.len());
        let b = (a + rng.random_range(1..among.len().max(2))) % among.len();
        let share = T::of(rng.random_range(0.2..0.8));
        let mixed =
            among[a].iter().zip(among[b]).map(|(&x, &y)| share * x + (T::one() - share) * y);
        let mut atom: Vec<T> = mixed.collect();
        let length = T::of(squared_norm(&atom).sqrt());
        // Two opposite samples may cancel; then the first alone is used.
        if length > T::zero() {
            atom.iter_mut().for_each(|d| *d *= radius / length);
        } else {
            atom.copy_from_slice(among[a]);
            project(&mut atom, radius);
        }
        filled.extend(atom);
    }
    Matrix::from_columns(n, n_atoms, filled).unwrap_or(atoms)
}

/// As [`first_atoms`], all of length one.
///
/// # Errors
/// If there is no atom.
pub(crate) fn first_of_length_one<T: Real>(
    samples: &Matrix<T>,
    labels: &Labels,
    n_atoms: usize,
    seed: u64,
    notice: impl FnOnce(&str),
) -> Result<Matrix<T>> {
    let mut atoms = first_atoms(samples, labels, n_atoms, T::one(), seed);
    check_count(&atoms, n_atoms, notice)?;
    (0..atoms.columns()).for_each(|k| to_length_one(atoms.column_mut(k)));
    Ok(atoms)
}

/// Refuses samples that give no atom at all, and reports where they give fewer than requested.
///
/// # Errors
/// If there is no atom.
pub(crate) fn check_count<T: Real>(
    atoms: &Matrix<T>,
    requested: usize,
    notice: impl FnOnce(&str),
) -> Result<()> {
    let count = atoms.columns();
    if count == 0 {
        return Err(Error::Samples("every sample is zero once it is prepared: there is nothing to learn (features that do not vary, or \
             numbers too small for single precision)"
                .into(),
        ));
    }
    if count < requested {
        notice(&format!("only {count} atoms instead of {requested}: the samples give no more"));
    }
    Ok(())
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
    fn mixtures_make_up_for_missing_samples() {
        // One class per axis: a mixture within a class stays on its axis.
        let samples = Matrix::from_fn(2, 5, |i, j| if i == j % 2 { j as f64 + 1.0 } else { 0.0 });
        let labels = labels(&[0, 1, 0, 1, 0]);
        let atoms = first_atoms(&samples, &labels, 12, 1.0, 3);
        let filled = fill(atoms.clone(), &samples, &labels, 12, 1.0, 3);
        assert_eq!((atoms.columns(), filled.columns()), (5, 12));
        assert_eq!(&filled.as_slice()[..10], atoms.as_slice());
        for atom in filled.iter_columns() {
            assert!((squared_norm(atom) - 1.0).abs() < 1e-12 && atom.contains(&0.0), "{atom:?}");
        }
        let lone = fill(atoms.select_columns(&[1]), &samples, &labels, 3, 1.0, 3);
        assert_eq!(lone.columns(), 3);
        let nothing = fill(Matrix::<f64>::zeros(2, 0), &samples, &labels, 3, 1.0, 3);
        assert_eq!(nothing.columns(), 0);
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
