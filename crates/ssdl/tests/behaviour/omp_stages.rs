//! The stages that code with few atoms: pursuit, K-SVD and recursive least squares, beside scikit-learn
//! and their own definitions.

use crate::common::{apart, fixture, matrix, noise, sparse_noise};
use ssdl::codes::{Coder, Omp, Pulled, Pursuit};
use ssdl::dictionary::{Ksvd, Recursive, replace_weak};
use ssdl::matrix::{Cholesky, squared_norm};
use ssdl::{Matrix, Real};

/// Codes from zero.
fn pursue<T: Real>(n_nonzero: usize, atoms: &Matrix<T>, samples: &Matrix<T>) -> Matrix<T> {
    Coder::Omp { n_nonzero }.code(samples, atoms, None)
}

fn residual<T: Real>(samples: &Matrix<T>, atoms: &Matrix<T>, codes: &Matrix<T>) -> f64 {
    let mut left = samples.clone();
    left.add_product(-T::one(), atoms.view(), codes.view());
    left.squared_norm()
}

fn agrees<T: Real>(tolerance: f64) {
    for case in fixture("omp")["pursuit"].as_array().unwrap() {
        let (atoms, samples) = (matrix::<T>(&case["atoms"]), matrix::<T>(&case["samples"]));
        let n_nonzero = case["n_nonzero"].as_u64().unwrap() as usize;
        let shift = T::of(case["shift"].as_f64().unwrap());
        let rhs = Matrix::of_product(atoms.transposed(), samples.view());
        let mut codes = Matrix::zeros(rhs.rows(), rhs.columns());
        let shifts = vec![shift; rhs.columns()];
        Omp { n_nonzero }.code(Pulled { gram: &atoms.gram(), rhs, shifts }, &mut codes);
        let expected: Matrix<T> = matrix(&case["codes"]);
        let distance = apart(codes.as_slice(), expected.as_slice());
        assert!(distance < tolerance, "{n_nonzero} of {}: {distance:e}", atoms.columns());
    }
}

#[test]
fn pursuit_agrees_with_scikit_learn() {
    agrees::<f64>(1e-10);
    agrees::<f32>(1e-3);
}

fn awkward<T: Real>() {
    let mut atoms = noise::<T>(6, 10, 1);
    let first = atoms.column(0).to_vec();
    atoms.column_mut(4).copy_from_slice(&first);
    atoms.column_mut(7).fill(T::zero());
    let mut samples = noise::<T>(6, 12, 2);
    samples.column_mut(3).fill(T::zero());
    samples.column_mut(5).copy_from_slice(&first);
    // More atoms than features, than atoms, and a zero sample.
    for n_nonzero in [1, 6, 10, 40] {
        let codes = pursue(n_nonzero, &atoms, &samples);
        assert!(codes.as_slice().iter().all(|a| a.is_finite()), "{n_nonzero}");
        for (j, code) in codes.iter_columns().enumerate() {
            let used = code.iter().filter(|a| **a != T::zero()).count();
            assert!(used <= n_nonzero.min(6), "{used} of {n_nonzero}, sample {j}");
            assert!(code[7] == T::zero(), "the zero atom is never used");
            assert!(code[0] == T::zero() || code[4] == T::zero(), "one of two equal atoms");
        }
        assert!(codes.column(3).iter().all(|a| *a == T::zero()));
        assert!((codes.column(5)[0].wide() - 1.0).abs() < 1e-5);
        if n_nonzero > 5 {
            let left = residual(&samples, &atoms, &codes);
            assert!(left < 1e-6 * samples.squared_norm(), "{n_nonzero}: {left}");
        }
    }
    let nothing = pursue(3, &Matrix::zeros(6, 4), &samples);
    assert!(nothing.as_slice().iter().all(|a| *a == T::zero()));
}

#[test]
fn repeated_and_zero_atoms_keep_the_codes_finite() {
    awkward::<f64>();
    awkward::<f32>();
}

#[test]
fn a_start_with_too_many_coefficients_is_replaced_and_a_better_one_kept() {
    // Greedy takes the diagonal first; two axes are exact.
    let atoms = Matrix::from_fn(3, 4, |i, k| match k {
        3 => [0.7, 0.6, 0.387_298_334_620_741_7][i],
        _ => f64::from(u8::from(i == k)),
    });
    let sample = Matrix::from_fn(3, 1, |i, _| [1.0, 1.0, 0.0][i]);
    let (gram, rhs) = (atoms.gram(), Matrix::of_product(atoms.transposed(), sample.view()));
    let code = |start: [f64; 4]| {
        let mut codes = Matrix::from_fn(4, 1, |k, _| start[k]);
        let problem = Pulled { gram: &gram, rhs: rhs.clone(), shifts: Vec::new() };
        Omp { n_nonzero: 2 }.code(problem, &mut codes);
        codes
    };
    let found = code([0.0; 4]);
    assert!(residual(&sample, &atoms, &found) > 1e-6 && found.column(0)[3] > 0.5);
    assert_eq!(code([1.0, 1.0, 0.0, 0.0]).column(0), [1.0, 1.0, 0.0, 0.0]);
    assert_eq!(code([1.0, 1.0, 1e-9, 0.0]), found, "three coefficients are too many");
}

fn passes<T: Real>(tolerance: f64) {
    let stored = &fixture("omp")["ksvd"];
    let samples: Matrix<T> = matrix(&stored["samples"]);
    for pass in stored["passes"].as_array().unwrap() {
        let (mut atoms, mut codes) = (matrix::<T>(&stored["atoms"]), matrix::<T>(&stored["codes"]));
        let exact = pass["exact"].as_bool().unwrap();
        let left = Ksvd { exact }.update(&samples, &mut atoms, &mut codes);
        let (expected, coded) = (matrix::<T>(&pass["atoms"]), matrix::<T>(&pass["codes"]));
        assert!(apart(atoms.as_slice(), expected.as_slice()) < tolerance, "atoms, exact {exact}");
        assert!(apart(codes.as_slice(), coded.as_slice()) < tolerance, "codes, exact {exact}");
        let value = residual(&samples, &atoms, &codes);
        assert!((left.squared_norm() - value).abs() < tolerance * samples.squared_norm());
    }
}

#[test]
fn k_svd_agrees_with_its_definition() {
    passes::<f64>(1e-9);
    passes::<f32>(1e-3);
}

fn descends<T: Real>() {
    for (n, p, count) in [(8, 6, 30), (5, 12, 9), (3, 2, 1)] {
        for exact in [false, true] {
            let samples = noise::<T>(n, count, 1);
            let mut codes = sparse_noise::<T>(p, count, 2);
            (0..count).for_each(|i| codes.column_mut(i)[1] = T::zero());
            let (mut atoms, pattern) = (noise::<T>(n, p, 3), codes.clone());
            let unused = atoms.column(1).to_vec();
            let mut before = residual(&samples, &atoms, &codes);
            for _ in 0..4 {
                Ksvd { exact }.update(&samples, &mut atoms, &mut codes);
                let after = residual(&samples, &atoms, &codes);
                let slack = 40.0 * T::epsilon().wide() * samples.squared_norm().max(before);
                assert!(after <= before + slack, "{n}x{p}x{count}, {exact}: {before} to {after}");
                before = after;
            }
            assert_eq!(atoms.column(1), unused, "an unused atom is left alone");
            for (k, atom) in atoms.iter_columns().enumerate() {
                let used = codes.iter_columns().any(|code| code[k] != T::zero());
                assert!(!used || (squared_norm(atom) - 1.0).abs() < 1e-5, "atom {k}");
            }
            let both = codes.as_slice().iter().zip(pattern.as_slice());
            assert!(both.clone().all(|(a, b)| *b != T::zero() || *a == T::zero()), "supports stay");
        }
    }
}

#[test]
fn k_svd_never_raises_the_residual_and_keeps_supports() {
    descends::<f64>();
    descends::<f32>();
}

#[test]
fn weak_atoms_become_the_worst_samples() {
    let samples = noise::<f64>(6, 20, 1);
    let mut atoms = noise::<f64>(6, 5, 2);
    let mut codes = pursue(2, &atoms, &samples);
    // Atom 3 repeats atom 1, and atom 4 has no user.
    let twin: Vec<f64> = atoms.column(1).iter().map(|d| -2.0 * d).collect();
    atoms.column_mut(3).copy_from_slice(&twin);
    (0..20).for_each(|i| codes.column_mut(i)[4] = 0.0);
    codes.column_mut(0)[3] = 0.5;
    let mut left = samples.clone();
    left.add_product(-1.0, atoms.view(), codes.view());
    let first = atoms.clone();
    let mut gram = atoms.gram();
    assert_eq!(replace_weak((&mut atoms, &mut gram), &samples, &codes, &left, 1), 2);
    assert!(apart(gram.as_slice(), atoms.gram().as_slice()) < 1e-12, "the Gram matrix follows");
    let changed: Vec<usize> = (0..5).filter(|&k| atoms.column(k) != first.column(k)).collect();
    assert_eq!(changed, [1, 4], "the first of the twins, and the unused atom");
    let errors: Vec<f64> = left.iter_columns().map(squared_norm).collect();
    let worst = (0..20).max_by(|&a, &b| errors[a].total_cmp(&errors[b])).unwrap();
    let length = squared_norm(samples.column(worst)).sqrt();
    let expected: Vec<f64> = samples.column(worst).iter().map(|x| x / length).collect();
    assert!(apart(atoms.column(1), &expected) < 1e-12);
    // No sample is left to learn from.
    let exact = Matrix::zeros(6, 20);
    let (both, none) = ((&mut atoms, &mut gram), Matrix::zeros(5, 20));
    assert_eq!(replace_weak(both, &samples, &none, &exact, 4), 0);
}

/// The weighted least squares that the recursion stands for, solved at once.
struct Batch {
    moments: Matrix<f64>,
    sums: Matrix<f64>,
}

impl Batch {
    fn new(atoms: &Matrix<f64>, inverse: &Matrix<f64>) -> Self {
        let moments = inverted(inverse);
        Self { sums: Matrix::of_product(atoms.view(), moments.view()), moments }
    }

    fn add(&mut self, x: &[f64], code: &[f64], forgetting: f64) {
        for k in 0..code.len() {
            for (s, a) in self.moments.column_mut(k).iter_mut().zip(code) {
                *s = forgetting * *s + a * code[k];
            }
            for (s, x) in self.sums.column_mut(k).iter_mut().zip(x) {
                *s = forgetting * *s + x * code[k];
            }
        }
    }

    fn atoms(&self) -> Matrix<f64> {
        Matrix::of_product(self.sums.view(), inverted(&self.moments).view())
    }
}

fn inverted(m: &Matrix<f64>) -> Matrix<f64> {
    let n = m.rows();
    let mut inverse = Matrix::from_fn(n, n, |i, j| f64::from(u8::from(i == j)));
    Cholesky::new(m).unwrap().solve_in_place(&mut inverse);
    inverse
}

#[test]
fn recursive_least_squares_is_weighted_least_squares() {
    let (n, extra, p, count) = (7, 3, 9, 40);
    let (samples, labels) = (noise::<f64>(n, count, 1), noise::<f64>(extra, count, 2));
    let codes = sparse_noise::<f64>(p, count, 3);
    let (first, below) = (noise::<f64>(n, p, 4), noise::<f64>(extra, p, 5));
    let start = Matrix::from_fn(p, p, |i, j| if i == j { 0.5 } else { 0.01 });
    let mut batch = [Batch::new(&first, &start), Batch::new(&below, &start)];
    let mut recursive = Recursive::new(vec![first, below], start);
    for i in 0..count {
        let forgetting = 0.95 + 0.05 * i as f64 / count as f64;
        recursive.step(&[samples.column(i), labels.column(i)], codes.column(i), forgetting);
        batch[0].add(samples.column(i), codes.column(i), forgetting);
        batch[1].add(labels.column(i), codes.column(i), forgetting);
    }
    for (part, batch) in recursive.parts().iter().zip(&batch) {
        assert!(apart(part.atoms.as_slice(), batch.atoms().as_slice()) < 1e-10);
        assert!(apart(part.gram.as_slice(), part.atoms.gram().as_slice()) < 1e-10);
    }
    let inverse = inverted(&batch[0].moments);
    assert!(apart(recursive.inverse().as_slice(), inverse.as_slice()) < 1e-10);
    for k in 0..p {
        for l in 0..k {
            let inverse = recursive.inverse();
            assert_eq!(inverse.column(k)[l], inverse.column(l)[k], "symmetric to the bit");
        }
    }
}

#[test]
fn a_rescaled_recursion_goes_on_as_if_its_past_codes_had_been_rescaled() {
    let (n, p, count) = (6, 5, 30);
    let (samples, codes) = (noise::<f64>(n, count, 1), sparse_noise::<f64>(p, count, 2));
    let first = noise::<f64>(n, p, 3);
    let start = Matrix::from_fn(p, p, |i, j| if i == j { 0.3 } else { 0.0 });
    let (mut batch, half) = (Batch::new(&first, &start), count / 2);
    let mut recursive = Recursive::new(vec![first], start);
    for i in 0..half {
        recursive.step(&[samples.column(i)], codes.column(i), 0.97);
        batch.add(samples.column(i), codes.column(i), 0.97);
    }
    let lengths: Vec<f64> =
        recursive.parts()[0].atoms.iter_columns().map(|d| squared_norm(d).sqrt()).collect();
    recursive.normalise();
    for k in 0..p {
        batch.moments.column_mut(k).iter_mut().enumerate().for_each(|(l, s)| {
            *s *= lengths[k] * lengths[l];
        });
        batch.sums.column_mut(k).iter_mut().for_each(|s| *s *= lengths[k]);
    }
    for atom in recursive.parts()[0].atoms.iter_columns() {
        assert!((squared_norm(atom) - 1.0).abs() < 1e-12);
    }
    for i in half..count {
        recursive.step(&[samples.column(i)], codes.column(i), 0.97);
        batch.add(samples.column(i), codes.column(i), 0.97);
    }
    let found = &recursive.parts()[0];
    assert!(apart(found.atoms.as_slice(), batch.atoms().as_slice()) < 1e-10);
    assert!(apart(found.gram.as_slice(), found.atoms.gram().as_slice()) < 1e-10);
}

#[test]
fn a_long_recursion_in_single_precision_stays_definite() {
    let (n, p, count) = (8, 20, 1500);
    let (samples, codes) = (noise::<f32>(n, count, 1), sparse_noise::<f32>(p, count, 2));
    let start = Matrix::from_fn(p, p, |i, j| f64::from(u8::from(i == j)));
    let mut recursive = Recursive::new(vec![noise::<f32>(n, p, 3)], start);
    for i in 0..count {
        recursive.step(&[samples.column(i)], codes.column(i), 0.99);
        recursive.normalise();
    }
    recursive.step(&[samples.column(0)], &[0.0; 20], 0.99);
    assert!(Cholesky::new(recursive.inverse()).is_some());
    let part = &recursive.parts()[0];
    assert!(apart(part.gram.as_slice(), part.atoms.gram().as_slice()) < 1e-4);
}
