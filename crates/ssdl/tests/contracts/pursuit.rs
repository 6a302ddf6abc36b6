//! Contracts of every `Pursuit`: samples coded one by one, never worse than where they started.

use crate::common::{noise, sparse_noise};
use ssdl::codes::{Coordinate, Half, Lasso, Omp, Pulled, Pursuit, Quadratic};
use ssdl::{Matrix, Real};

/// Every pursuit with its name; a new one is tested by its line.
fn all<T: Real>() -> Vec<(&'static str, Box<dyn Pursuit<T>>)> {
    let rough = Coordinate { sweeps: 1, inner_sweeps: 1, tolerance: 0.5, direct: false };
    vec![
        ("lasso", Box::new(Lasso::new(0.4))),
        ("exact lasso", Box::new(Lasso::new(0.4).exact::<T>())),
        ("rough lasso", Box::new(Lasso { solver: rough, ..Lasso::new(0.4) })),
        ("nonnegative lasso", Box::new(Lasso { nonnegative: true, ..Lasso::new(0.4) })),
        ("least squares", Box::new(Lasso::new(0.0))),
        ("half powers", Box::new(Half::new(0.4))),
        ("one half step", Box::new(Half { steps: 1, ..Half::new(0.4) })),
        ("one atom", Box::new(Omp { n_nonzero: 1 })),
        ("few atoms", Box::new(Omp { n_nonzero: 4 })),
        ("more atoms than there are", Box::new(Omp { n_nonzero: 40 })),
    ]
}

/// A problem with a pull on every other sample.
fn problem<T: Real>(seed: u64) -> (Matrix<T>, Matrix<T>, Vec<T>) {
    let (p, n, count) = (9, 14, 20);
    let atoms = noise::<T>(n, p, seed);
    let rhs = Matrix::of_product(atoms.transposed(), noise::<T>(n, count, seed + 1).view());
    let shifts = (0..count).map(|j| T::of(if j % 2 == 0 { 0.7 } else { 0.0 })).collect();
    (atoms.gram(), rhs, shifts)
}

/// $a^\top Ga-2r^\top a+\kappa\lVert a\rVert^2$ of one sample.
fn smooth<T: Real>(gram: &Matrix<T>, rhs: &[T], shift: T, code: &[T]) -> f64 {
    let mut value = 0.0;
    for (k, a) in code.iter().enumerate() {
        let image: f64 = gram.column(k).iter().zip(code).map(|(g, a)| g.wide() * a.wide()).sum();
        value += a.wide() * (image + shift.wide() * a.wide() - 2.0 * rhs[k].wide());
    }
    value
}

fn never_worse<T: Real>() {
    for (name, pursuit) in all::<T>() {
        for seed in 0..4 {
            let (gram, rhs, shifts) = problem::<T>(seed);
            let mut codes = sparse_noise::<T>(9, 20, seed + 7);
            if name.starts_with("nonnegative") {
                codes.as_mut_slice().iter_mut().for_each(|a| *a = a.abs());
            }
            let before = codes.clone();
            let copy = Pulled { gram: &gram, rhs: rhs.clone(), shifts: shifts.clone() };
            pursuit.code(copy, &mut codes);
            for (j, &shift) in shifts.iter().enumerate() {
                let value = |codes: &Matrix<T>| {
                    let one = codes.select_columns(&[j]);
                    smooth(&gram, rhs.column(j), shift, one.column(0)) + pursuit.size(&one)
                };
                let (start, end) = (value(&before), value(&codes));
                let slack = 1e3 * T::epsilon().wide() * (1.0 + start.abs());
                assert!(end <= start + slack, "{name}, {}, sample {j}: {start} {end}", T::NAME);
            }
        }
    }
}

#[test]
fn no_code_is_worse_than_where_it_started() {
    never_worse::<f64>();
    never_worse::<f32>();
}

#[test]
fn a_sample_is_coded_the_same_alone_and_among_others() {
    for (name, pursuit) in all::<f64>() {
        let (gram, rhs, shifts) = problem::<f64>(3);
        let mut together = Matrix::zeros(9, 20);
        let all = Pulled { gram: &gram, rhs: rhs.clone(), shifts: shifts.clone() };
        pursuit.code(all, &mut together);
        for (j, &shift) in shifts.iter().enumerate() {
            let mut alone = Matrix::zeros(9, 1);
            let one = Pulled { gram: &gram, rhs: rhs.select_columns(&[j]), shifts: vec![shift] };
            pursuit.code(one, &mut alone);
            assert_eq!(alone.column(0), together.column(j), "{name}, sample {j}");
        }
        let (nobody, nothing) = (Matrix::zeros(9, 0), Vec::new());
        pursuit
            .code(Pulled { gram: &gram, rhs: nobody, shifts: nothing }, &mut Matrix::zeros(9, 0));
    }
}

#[test]
fn the_lasso_ends_at_the_minimum_of_its_problem() {
    let (gram, rhs, shifts) = problem::<f64>(5);
    let mut codes = Matrix::zeros(9, 20);
    let problem = Pulled { gram: &gram, rhs: rhs.clone(), shifts: shifts.clone() };
    Lasso::new(0.4).exact::<f64>().code(problem, &mut codes);
    assert!(Quadratic::individual(&gram, shifts, rhs, 0.4).gap(&codes) < 1e-6);
}
