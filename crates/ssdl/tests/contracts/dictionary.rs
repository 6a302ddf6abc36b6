//! Contracts of every dictionary update: atoms stay in the ball, the residual never rises, and unused
//! atoms are left alone until they are revived.

use crate::common::tiny::Tiny;
use crate::common::{apart, assert_close, fixture, matrix, noise, sparse_noise};
use proptest::prelude::*;
use ssdl::dictionary::{
    Block, Dual, ProjectedFista, Ridge, Statistics, Update, init::first_atoms, project, revive,
};
use ssdl::matrix::squared_norm;
use ssdl::{Labels, Matrix, Real};

/// Every update, with at most this many steps.
fn updates<T: Real>(steps: usize, tolerance: f64) -> Vec<(&'static str, Box<dyn Update<T>>)> {
    vec![
        ("block", Box::new(Block { sweeps: steps, tolerance, nonnegative: false })),
        ("fista", Box::new(ProjectedFista { iterations: steps, tolerance })),
        ("dual", Box::new(Dual { iterations: steps, tolerance })),
    ]
}

/// ‖X − DA‖², from the definition.
fn residual<T: Real>(samples: &Matrix<T>, atoms: &Matrix<T>, codes: &Matrix<T>) -> f64 {
    let (x, d, a) = (samples.cast::<f64>(), atoms.cast::<f64>(), codes.cast::<f64>());
    let mut left = x;
    left.add_product(-1.0, d.view(), a.view());
    left.squared_norm()
}

/// Atoms of lengths up to the radius.
fn in_ball<T: Real>(n: usize, p: usize, radius: f64, seed: u64) -> Matrix<T> {
    let mut atoms = noise::<T>(n, p, seed);
    (0..p).for_each(|k| project(atoms.column_mut(k), T::of(radius)));
    atoms
}

#[track_caller]
fn assert_in_ball<T: Real>(atoms: &Matrix<T>, radius: f64, what: &str) {
    for atom in atoms.iter_columns() {
        let norm = squared_norm(atom).sqrt();
        assert!(norm <= radius * (1.0 + 8.0 * T::epsilon().wide()), "{what}: norm {norm}");
    }
}

/// One update of a random problem keeps the ball and the objective.
fn check_descent<T: Real>(
    (n, p, count): (usize, usize, usize),
    radius: f64,
    steps: usize,
    seed: u64,
) {
    let (samples, codes) = (noise::<T>(n, count, seed), sparse_noise::<T>(p, count, seed + 1));
    let statistics = Statistics::of(&samples, &codes, samples.squared_norm());
    let mut all = updates::<T>(steps, 1e-9);
    // It never goes uphill, but need not reach the minimum: its atoms are shrunk into the ball at once.
    all.push(("ridge", Box::new(Ridge { weight: 1e-9 })));
    for (name, update) in all {
        let mut atoms = in_ball::<T>(n, p, radius, seed + 2);
        let mut before = residual(&samples, &atoms, &codes);
        for round in 0..4 {
            update.update(&mut atoms, &statistics, T::of(radius));
            let after = residual(&samples, &atoms, &codes);
            let slack = 40.0 * T::epsilon().wide() * samples.squared_norm().max(before);
            let what = format!("{name}, {}, {n}x{p}x{count}, round {round}", T::NAME);
            assert!(after <= before + slack, "{what}: {before} rises to {after}");
            assert_in_ball(&atoms, radius, &what);
            before = after;
        }
    }
}

proptest! {
    #![proptest_config(crate::common::fixed_cases(24))]

    #[test]
    fn atoms_stay_in_the_ball_and_the_residual_never_rises(
        n in 1usize..9, p in 1usize..40, count in 1usize..40,
        radius in prop_oneof![Just(1.0), Just(0.3), Just(4.0)], steps in 1usize..8,
        seed in 0u64..10_000,
    ) {
        check_descent::<f64>((n, p, count), radius, steps, seed);
        check_descent::<f32>((n, p, count), radius, steps, seed);
    }
}

fn minimum_in<T: Real>(value: f64, distance: f64) {
    let (tiny, _) = Tiny::<T>::stored();
    let stored = &fixture("minimum")["dictionary"];
    let least: Matrix<T> = matrix(&stored["atoms"]);
    let expected = stored["value"].as_f64().unwrap();
    let statistics = Statistics::of(&tiny.samples, &tiny.codes, tiny.samples.squared_norm());
    for (name, update) in updates::<T>(20_000, 1e-12) {
        let mut atoms = tiny.atoms.clone();
        update.update(&mut atoms, &statistics, T::one());
        let found = residual(&tiny.samples, &atoms, &tiny.codes);
        assert!((found - expected).abs() <= value * expected, "{name}: {found} is not {expected}");
        let apart = apart(atoms.as_slice(), least.as_slice());
        assert!(apart < distance, "{name}: atoms {apart:e} apart");
        assert_close(statistics.residual(&atoms, &atoms.gram()), expected, 10.0 * value);
    }
}

#[test]
fn every_update_reaches_the_minimum_of_the_oracle() {
    minimum_in::<f64>(1e-9, 1e-5);
    minimum_in::<f32>(1e-5, 1e-2);
}

#[test]
fn all_updates_agree_on_random_problems() {
    for seed in 1..6 {
        let (samples, codes) = (noise::<f64>(6, 60, seed), sparse_noise::<f64>(9, 60, seed + 9));
        let statistics = Statistics::of(&samples, &codes, samples.squared_norm());
        let mut least = None;
        for (name, update) in updates::<f64>(20_000, 1e-11) {
            let mut atoms = in_ball::<f64>(6, 9, 0.5, seed);
            update.update(&mut atoms, &statistics, 0.5);
            let found = residual(&samples, &atoms, &codes);
            let best = *least.get_or_insert(found);
            assert!((found - best).abs() <= 1e-8 * best, "{name}, seed {seed}: {found} {best}");
        }
    }
}

fn unused_in<T: Real>() {
    let samples = noise::<T>(5, 30, 1);
    let mut codes = sparse_noise::<T>(6, 30, 2);
    (0..30).for_each(|j| [0, 3].iter().for_each(|&k| codes.column_mut(j)[k] = T::zero()));
    let nothing = Matrix::<T>::zeros(6, 30);
    for (name, update) in updates::<T>(20, 1e-9) {
        let first = in_ball::<T>(5, 6, 1.0, 3);
        let mut atoms = first.clone();
        let statistics = Statistics::of(&samples, &codes, samples.squared_norm());
        update.update(&mut atoms, &statistics, T::one());
        assert!(atoms.as_slice().iter().all(|d| d.is_finite()), "{name}");
        for k in 0..6 {
            assert_eq!(atoms.column(k) == first.column(k), k == 0 || k == 3, "{name}, atom {k}");
        }
        let mut atoms = first.clone();
        let idle = Statistics::of(&samples, &nothing, samples.squared_norm());
        update.update(&mut atoms, &idle, T::one());
        assert_eq!(atoms, first, "{name} without any code");
    }
}

#[test]
fn unused_atoms_are_left_alone() {
    unused_in::<f64>();
    unused_in::<f32>();
}

fn singular_in<T: Real>() {
    // Rows 1 and 4 of the codes are the same, and there are fewer samples than atoms.
    for count in [40, 4] {
        let samples = noise::<T>(6, count, 1);
        let mut codes = sparse_noise::<T>(7, count, 2);
        (0..count).for_each(|j| codes.column_mut(j)[4] = codes.column(j)[1]);
        let statistics = Statistics::of(&samples, &codes, samples.squared_norm());
        let first = in_ball::<T>(6, 7, 1.0, 3);
        let before = residual(&samples, &first, &codes);
        let mut least = f64::INFINITY;
        for (name, update) in updates::<T>(300, 1e-10) {
            let mut atoms = first.clone();
            for _ in 0..5 {
                update.update(&mut atoms, &statistics, T::one());
            }
            assert!(atoms.as_slice().iter().all(|d| d.is_finite()), "{name}");
            assert_in_ball(&atoms, 1.0, name);
            let after = residual(&samples, &atoms, &codes);
            assert!(after < 0.99 * before, "{name}: {before} only falls to {after}");
            least = least.min(after);
            assert!(after < 1.05 * least + 1e-3 * before, "{name}: {after}, others {least}");
        }
    }
}

#[test]
fn codes_that_repeat_each_other_still_improve_the_atoms() {
    singular_in::<f64>();
    singular_in::<f32>();
}

fn revive_in<T: Real>() {
    let samples = noise::<T>(5, 30, 1);
    let mut codes = sparse_noise::<T>(8, 30, 2);
    (0..30).for_each(|j| [0, 3, 7].iter().for_each(|&k| codes.column_mut(j)[k] = T::zero()));
    let first = in_ball::<T>(5, 8, 1.0, 3);
    let moments = Statistics::of(&samples, &codes, samples.squared_norm()).moments;
    let before = residual(&samples, &first, &codes);
    let mut atoms = first.clone();
    let radius = T::of(0.8);
    assert_eq!(revive(&mut atoms, &samples, &codes, &moments, radius), (3, 3));
    assert_eq!(residual(&samples, &atoms, &codes), before);
    for k in 0..8 {
        if [0, 3, 7].contains(&k) {
            let norm = squared_norm(atoms.column(k)).sqrt();
            assert!((norm - 0.8).abs() < 1e-6, "{norm}");
        } else {
            assert_eq!(atoms.column(k), first.column(k));
        }
    }
    // The worst reconstructed sample comes first.
    let errors: Vec<f64> = (0..30)
        .map(|j| {
            let (x, a) = (samples.select_columns(&[j]), codes.select_columns(&[j]));
            residual(&x, &first, &a)
        })
        .collect();
    let worst = (0..30).max_by(|&a, &b| errors[a].total_cmp(&errors[b])).unwrap();
    let mut expected = samples.select_columns(&[worst]);
    let norm = squared_norm(expected.as_slice()).sqrt();
    expected.as_mut_slice().iter_mut().for_each(|x| *x *= T::of(0.8 / norm));
    assert!(apart(atoms.column(0), expected.as_slice()) < 1e-6);
}

#[test]
fn revived_atoms_are_the_worst_samples_and_cost_nothing() {
    revive_in::<f64>();
    revive_in::<f32>();
}

#[test]
fn only_as_many_atoms_are_revived_as_samples_are_badly_reconstructed() {
    let first = in_ball::<f64>(3, 6, 1.0, 1);
    let idle = Matrix::zeros(6, 4);
    let moments = Matrix::zeros(6, 6);
    let mut atoms = first.clone();
    assert_eq!(revive(&mut atoms, &noise(3, 4, 2), &idle, &moments, 1.0), (6, 4));
    assert_eq!(atoms.column(5), first.column(5));
    // Nothing to learn from: all samples zero.
    let mut atoms = first.clone();
    assert_eq!(revive(&mut atoms, &Matrix::zeros(3, 4), &idle, &moments, 1.0), (6, 0));
    assert_eq!(atoms, first);
    // Nothing left to learn: samples reconstructed exactly by atom 2.
    let samples = Matrix::from_fn(3, 4, |i, j| first.column(2)[i] * (j + 1) as f64);
    let codes = Matrix::from_fn(6, 4, |k, j| if k == 2 { (j + 1) as f64 } else { 0.0 });
    let moments = Statistics::of(&samples, &codes, samples.squared_norm()).moments;
    let mut atoms = first.clone();
    assert_eq!(revive(&mut atoms, &samples, &codes, &moments, 1.0), (5, 0));
    assert_eq!(atoms, first);
    // All atoms are in use.
    let busy = Matrix::from_fn(6, 6, |i, j| f64::from(i == j));
    assert_eq!(revive(&mut atoms, &samples, &codes, &busy, 1.0), (0, 0));
}

#[test]
fn first_atoms_are_samples_in_the_ball_and_follow_the_seed() {
    let samples = noise::<f64>(4, 20, 1);
    let names: Vec<Option<&str>> =
        (0..20).map(|j| (j < 6).then_some(if j % 2 == 0 { "a" } else { "b" })).collect();
    let labels = Labels::from_names(&names);
    let draw = |p, seed| first_atoms(&samples, &labels, p, 0.7, seed);
    assert_eq!(draw(12, 5), draw(12, 5));
    assert_ne!(draw(12, 5), draw(12, 6));
    assert_ne!(draw(4, 5), draw(4, 6));
    for p in [1, 4, 6, 12, 20, 50] {
        let atoms = draw(p, 1);
        assert_eq!(atoms.columns(), p.min(20));
        assert_in_ball(&atoms, 0.7, "first atoms");
    }
}
