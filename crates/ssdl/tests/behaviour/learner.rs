//! Sparse coding on given atoms, and atoms learnt without labels: contracts of both.

use crate::common::{Recorder, noise, pairs};
use ssdl::codes::{Coordinate, Encoder, Quadratic};
use ssdl::fit::{DictionaryLearner, Flow, LearntAtoms, Progress, Silent, Stop, Watch};
use ssdl::knobs::Knobbed;
use ssdl::matrix::{absolute_sum, squared_norm};
use ssdl::{Error, Matrix, Real, threads};

/// Samples that a few directions write sparsely, with a little noise.
fn mixtures<T: Real>(n: usize, count: usize, seed: u64) -> Matrix<T> {
    let (directions, noise) = (noise::<T>(n, 12, seed), noise::<T>(n, count, seed + 1));
    let mut samples = noise;
    for j in 0..count {
        let column = samples.column_mut(j);
        column.iter_mut().for_each(|x| *x *= T::of(0.02));
        for turn in 0..3 {
            let direction = directions.column((j * 7 + turn * 5) % 12);
            let weight = T::of(1.0 - 0.3 * turn as f64);
            column.iter_mut().zip(direction).for_each(|(x, &d)| *x += weight * d);
        }
    }
    samples
}

fn objective<T: Real>(samples: &Matrix<T>, atoms: &Matrix<T>, codes: &Matrix<T>, λ: f64) -> f64 {
    let mut left = samples.clone();
    left.add_product(-T::one(), atoms.view(), codes.view());
    left.squared_norm() + λ * absolute_sum(codes.as_slice())
}

fn learner() -> DictionaryLearner {
    DictionaryLearner::new().n_atoms(15).sparsity(0.2).batch_size(40).max_iterations(8)
}

fn fit<T: Real>(learner: &DictionaryLearner, samples: &Matrix<T>) -> LearntAtoms<T> {
    learner.fit(samples, 3, &mut Silent).unwrap()
}

#[test]
fn codes_are_optimal_and_independent_of_other_samples_and_threads() {
    let atoms = noise::<f64>(20, 30, 1);
    let samples = noise::<f64>(20, 70, 2);
    for nonnegative in [false, true] {
        let encoder = Encoder::new(&atoms, 0.8).nonnegative(nonnegative);
        let codes = threads::run(1, || encoder.encode(&samples));
        assert_eq!(codes, threads::run(3, || encoder.encode(&samples)));
        assert_eq!(encoder.encode(&samples.select_columns(&[41])).column(0), codes.column(41));
        let own = atoms.gram();
        let rhs = Matrix::of_product(atoms.transposed(), samples.view());
        let lasso = Quadratic::individual(&own, Vec::new(), rhs, 0.8);
        let lasso = if nonnegative { lasso.nonnegative() } else { lasso };
        assert!(lasso.gap(&codes) <= 1.1e-4, "{}", lasso.gap(&codes));
        assert_eq!(nonnegative, codes.as_slice().iter().all(|a| *a >= 0.0));
    }
}

#[test]
fn both_ways_to_end_a_code_agree() {
    let (atoms, samples) = (noise::<f64>(12, 40, 5), noise::<f64>(12, 30, 6));
    let own = atoms.gram();
    let solve = |direct| {
        let rhs = Matrix::of_product(atoms.transposed(), samples.view());
        let lasso = Quadratic::individual(&own, Vec::new(), rhs, 0.3);
        let mut codes = Matrix::zeros(40, 30);
        let tight = Coordinate { sweeps: 3000, inner_sweeps: 100, tolerance: 1e-11, direct };
        tight.minimise(&lasso, &mut codes);
        lasso.value(&codes)
    };
    assert!((solve(true) - solve(false)).abs() < 1e-8);
}

#[test]
fn atoms_stay_in_the_ball_and_write_the_samples() {
    let samples = mixtures::<f64>(10, 200, 1);
    for norm in [1.0, 0.4] {
        let learnt = fit(&learner().atom_norm(norm), &samples);
        for atom in learnt.atoms.iter_columns() {
            assert!(squared_norm(atom).sqrt() <= norm * (1.0 + 1e-12));
        }
        let codes = Encoder::new(&learnt.atoms, 0.2).encode(&samples);
        let exact = objective(&samples, &learnt.atoms, &codes, 0.2);
        let reported = learnt.objective.total();
        // The codes of the last pass were for atoms that have moved a little since.
        assert!(exact <= reported * (1.0 + 1e-9) && exact > 0.97 * reported, "{exact} {reported}");
    }
}

#[test]
fn the_objective_over_all_samples_never_rises_after_the_first_pass() {
    let samples = mixtures::<f64>(10, 230, 2);
    let mut before = f64::INFINITY;
    for passes in 1..10 {
        let learnt = fit(&learner().max_iterations(passes).tolerance(0.0), &samples);
        assert_eq!(learnt.iterations, passes);
        let now = learnt.objective.total();
        assert!(passes <= 2 || now <= before * (1.0 + 1e-9), "{passes}: {now} after {before}");
        before = now;
    }
}

#[test]
fn nonnegative_codes_and_atoms_are_nonnegative() {
    let samples = mixtures::<f32>(8, 150, 4);
    let learnt = fit(&learner().nonnegative_atoms(true).nonnegative_codes(true), &samples);
    assert!(learnt.atoms.as_slice().iter().all(|d| *d >= 0.0));
    // Samples without a positive part cannot be atoms as they are.
    let dark = Matrix::from_fn(3, 20, |i, j| -1.0 - (i * j) as f64);
    let learnt = fit(&learner().nonnegative_atoms(true), &dark);
    assert!(learnt.atoms.as_slice().iter().all(|d| *d >= 0.0));
    assert!(learnt.objective.term("reconstruction") < 0.1 * dark.squared_norm());
}

#[test]
fn the_same_seed_gives_the_same_bits_for_any_number_of_threads() {
    let samples = mixtures::<f32>(10, 200, 5);
    let one = threads::run(1, || fit(&learner(), &samples));
    let four = threads::run(4, || fit(&learner(), &samples));
    assert_eq!(one.atoms, four.atoms);
    let other = learner().fit(&samples, 4, &mut Silent).unwrap();
    assert_ne!(one.atoms, other.atoms);
}

#[test]
fn a_stream_of_batches_comes_near_the_passes() {
    let samples = mixtures::<f64>(10, 400, 6);
    let whole = fit(&learner().max_iterations(30), &samples);
    let mut learnt = None;
    for turn in 0..300 {
        let batch: Vec<usize> = (0..40).map(|at| (turn * 40 + at * 3) % 400).collect();
        let some = samples.select_columns(&batch);
        learnt = Some(learner().learn_more(learnt, &some, 3, &mut Silent).unwrap());
    }
    let exact = |atoms: &Matrix<f64>| {
        objective(&samples, atoms, &Encoder::new(atoms, 0.2).encode(&samples), 0.2)
    };
    let (stream, passes) = (exact(&learnt.unwrap().atoms), exact(&whole.atoms));
    assert!(stream < 1.1 * passes, "{stream} against {passes}");
}

struct StopAt(usize);

impl Watch for StopAt {
    fn step(&mut self, progress: &Progress<'_>) -> Flow {
        if progress.iteration >= self.0 { Flow::Stop } else { Flow::Continue }
    }
}

#[test]
fn unusable_samples_are_refused_with_a_reason() {
    let samples = mixtures::<f64>(6, 50, 7);
    let refused = |learner: DictionaryLearner, samples: &Matrix<f64>| {
        learner.fit(samples, 0, &mut Silent).expect_err("refused")
    };
    assert!(matches!(refused(learner().n_atoms(0), &samples), Error::Knob { .. }));
    assert!(matches!(refused(learner(), &Matrix::zeros(4, 9)), Error::Samples(_)));
    assert!(matches!(refused(learner(), &Matrix::zeros(4, 0)), Error::Samples(_)));
    let known = learner().learn_more(None, &samples, 0, &mut Silent).unwrap();
    let other = mixtures::<f64>(5, 50, 7);
    let error = learner().learn_more(Some(known), &other, 0, &mut Silent).expect_err("features");
    assert!(matches!(error, Error::Shape { .. }), "{error}");
    let stopped = learner().fit(&samples, 0, &mut StopAt(2)).expect_err("stopped");
    assert!(matches!(stopped, Error::Cancelled));
    assert!(DictionaryLearner::from_pairs(&pairs(&[("sparsity", "-1")])).is_err());
}

#[test]
fn too_few_samples_give_fewer_atoms_and_a_notice() {
    let mut recorder = Recorder::default();
    let learnt = learner().fit(&mixtures::<f64>(6, 9, 8), 0, &mut recorder).unwrap();
    assert_eq!(learnt.atoms.columns(), 9);
    assert!(recorder.notices.iter().any(|notice| notice.contains("9 atoms instead of 15")));
    assert_eq!(
        fit(&learner().max_iterations(200), &mixtures::<f64>(6, 90, 8)).stop,
        Stop::Converged
    );
}
