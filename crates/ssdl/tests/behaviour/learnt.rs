//! The learnt graph: conditions of optimality, a slow reference, new samples as if learnt with them.

use crate::common::{apart, assert_close, noise};
use proptest::prelude::*;
use ssdl::graph::learnt::{Joiner, Solution, learn};
use ssdl::{Error, Matrix, Real};

const SMOOTHNESS: [f64; 6] = [1e-3, 1e-2, 0.1, 1.0, 10.0, 100.0];

fn distance<T: Real>(samples: &Matrix<T>, i: usize, j: usize) -> f64 {
    let pairs = samples.column(i).iter().zip(samples.column(j));
    pairs.map(|(a, b)| (a.wide() - b.wide()).powi(2)).sum()
}

/// The weights as a full matrix, column by column.
fn dense(learnt: &Solution) -> Matrix<f64> {
    let n = learnt.weights.rows();
    let mut full = Matrix::zeros(n, n);
    for i in 0..n {
        for (j, w) in learnt.weights.row(i) {
            full.column_mut(i)[j] = w;
        }
    }
    full
}

/// The weights are those of a Laplacian of trace N and follow from potentials and level.
#[track_caller]
fn check<T: Real>(samples: &Matrix<T>, smoothness: f64, what: &str) -> Solution {
    let learnt = learn(samples, smoothness).unwrap();
    let n = samples.columns();
    let what = format!("{what}, N = {n}, smoothness {smoothness}");
    assert!(learnt.residual <= 1e-10, "{what}: residual {}", learnt.residual);
    let w = dense(&learnt);
    assert!((0..n).all(|i| learnt.weights.row(i).all(|(j, w)| w > 0.0 && j != i)), "{what}");
    let degrees: Vec<f64> = w.iter_columns().map(|row| row.iter().sum()).collect();
    assert_close(degrees.iter().sum(), n as f64, 1e-9);
    let largest = degrees.iter().copied().fold(0.0, f64::max);
    let far = (0..n).map(|i| distance(samples, 0, i)).fold(learnt.level.abs(), f64::max);
    // The level carries no more digits than the distances do.
    let tolerance = 4.0 * smoothness * 1e-8 * largest + 1e-13 * far;
    for (i, degree) in degrees.iter().enumerate() {
        let y = learnt.potentials[i];
        let expected = 2.0 * smoothness * degree;
        assert!(
            (y - expected).abs() <= 2.0 * smoothness * 1e-9 * largest,
            "{what}: {y} is not {expected}"
        );
        for j in (0..n).filter(|&j| j != i) {
            assert_eq!(w.column(i)[j], w.column(j)[i], "{what}: pair {i}, {j}");
            let pull = learnt.level - distance(samples, i, j) - y - learnt.potentials[j];
            let difference = 4.0 * smoothness * w.column(i)[j] - pull.max(0.0);
            assert!(difference.abs() <= tolerance, "{what}: pair {i}, {j} is off by {difference}");
        }
    }
    learnt
}

/// $\sum wz+\beta_L(\lVert d\rVert^2+2\lVert w\rVert^2)$ over pairs $i<j$ in a row.
fn objective(z: &[f64], w: &[f64], n: usize, smoothness: f64) -> f64 {
    let degrees: f64 = degrees(w, n).iter().map(|d| d * d).sum();
    let square: f64 = w.iter().map(|w| w * w).sum();
    z.iter().zip(w).map(|(z, w)| z * w).sum::<f64>() + smoothness * (degrees + 2.0 * square)
}

fn pairs(n: usize) -> impl Iterator<Item = (usize, usize)> {
    (0..n).flat_map(move |i| (i + 1..n).map(move |j| (i, j)))
}

fn degrees(w: &[f64], n: usize) -> Vec<f64> {
    let mut degrees = vec![0.0; n];
    for ((i, j), w) in pairs(n).zip(w) {
        degrees[i] += w;
        degrees[j] += w;
    }
    degrees
}

/// The nearest point with entries ≥ 0 that sum to `total`.
fn project(w: &mut [f64], total: f64) {
    let mut sorted = w.to_vec();
    sorted.sort_by(|a, b| b.partial_cmp(a).unwrap());
    let (mut sum, mut cut) = (0.0, 0.0);
    for (count, v) in sorted.iter().enumerate() {
        sum += v;
        let next = (sum - total) / (count + 1) as f64;
        if *v <= next {
            break;
        }
        cut = next;
    }
    w.iter_mut().for_each(|w| *w = (*w - cut).max(0.0));
}

/// Accelerated projected gradient on all pairs: convexity at least $4\beta_L$, curvature at most
/// $4\beta_LN$.
fn reference(samples: &Matrix<f64>, smoothness: f64) -> (Vec<f64>, Vec<f64>) {
    let n = samples.columns();
    let z: Vec<f64> = pairs(n).map(|(i, j)| distance(samples, i, j)).collect();
    let root = (n as f64).sqrt();
    let momentum = (root - 1.0) / (root + 1.0);
    let step = 1.0 / (4.0 * smoothness * n as f64);
    let mut w = vec![n as f64 / 2.0 / z.len() as f64; z.len()];
    let mut ahead = w.clone();
    for _ in 0..400 {
        let d = degrees(&ahead, n);
        let mut next: Vec<f64> = pairs(n)
            .zip(ahead.iter().zip(&z))
            .map(|((i, j), (w, z))| w - step * (z + smoothness * (2.0 * (d[i] + d[j]) + 4.0 * w)))
            .collect();
        project(&mut next, n as f64 / 2.0);
        ahead = next.iter().zip(&w).map(|(new, old)| new + momentum * (new - old)).collect();
        w = next;
    }
    (z, w)
}

#[test]
fn the_objective_and_the_weights_are_those_of_projected_gradients() {
    // Distances of about 100, as between raw images of digits.
    for (n, seed) in [(14, 1), (33, 2)] {
        let samples = Matrix::from_fn(6, n, |i, j| 3.0 * noise::<f64>(6, n, seed).column(j)[i]);
        for smoothness in SMOOTHNESS {
            let (z, slow) = reference(&samples, smoothness);
            let full = dense(&check(&samples, smoothness, "against projected gradients"));
            let fast: Vec<f64> = pairs(n).map(|(i, j)| full.column(i)[j]).collect();
            let [a, b] = [&fast, &slow].map(|w| objective(&z, w, n, smoothness));
            assert_close(a, b, 1e-9);
            let off = apart(&fast, &slow);
            assert!(off < 1e-8, "N = {n}, smoothness {smoothness}: weights differ by {off}");
        }
    }
}

#[test]
fn conditions_hold_over_many_sizes_scales_and_precisions() {
    for smoothness in SMOOTHNESS {
        for n in [2, 3, 17, 40, 150] {
            let samples = noise::<f64>(5, n, n as u64);
            check(&samples, smoothness, "noise");
            check(&samples.cast::<f32>(), smoothness, "single precision");
            for scale in [1e-3, 1e3] {
                let scaled = Matrix::from_fn(5, n, |i, j| scale * samples.column(j)[i]);
                check(&scaled, smoothness, &format!("scale {scale}"));
            }
            let moved = Matrix::from_fn(5, n, |i, j| 1e4 + samples.column(j)[i]);
            check(&moved, smoothness, "far from zero");
        }
    }
}

#[test]
fn distances_and_smoothness_scale_together() {
    let samples = noise::<f64>(4, 30, 6);
    let scaled = Matrix::from_fn(4, 30, |i, j| 1e3 * samples.column(j)[i]);
    let (a, b) = (learn(&samples, 0.2).unwrap(), learn(&scaled, 0.2e6).unwrap());
    assert!(apart(dense(&a).as_slice(), dense(&b).as_slice()) < 1e-9);
    assert_close(b.level, 1e6 * a.level, 1e-9);
}

#[test]
fn the_smallest_graphs_are_known() {
    for n in [0, 1] {
        let learnt = learn(&noise::<f64>(3, n, 1), 0.5).unwrap();
        assert_eq!((learnt.weights.rows(), learnt.weights.entries()), (n, 0));
        assert_eq!((learnt.potentials, learnt.level), (vec![0.0; n], 0.0));
    }
    let two = check(&noise::<f64>(3, 2, 1), 0.5, "two samples");
    assert_close(dense(&two).column(0)[1], 1.0, 1e-12);
    let corners = Matrix::from_fn(3, 3, |i, j| f64::from(i == j));
    let three = dense(&check(&corners, 0.1, "equal sides"));
    assert!(pairs(3).all(|(i, j)| (three.column(i)[j] - 0.5).abs() < 1e-12));
}

#[test]
fn much_smoothness_connects_all_and_little_only_the_nearest() {
    let samples = noise::<f64>(3, 120, 4);
    let all = check(&samples, 1e7, "much");
    assert_eq!(all.weights.entries(), 120 * 119);
    let even = dense(&all);
    assert!(pairs(120).all(|(i, j)| (even.column(i)[j] * 119.0 - 1.0).abs() < 1e-3));
    let (_, a, b) = pairs(120)
        .map(|(i, j)| (distance(&samples, i, j), i, j))
        .min_by(|a, b| a.0.partial_cmp(&b.0).unwrap())
        .unwrap();
    let one = check(&samples, 1e-6, "little");
    assert_eq!(one.weights.entries(), 2);
    assert_close(dense(&one).column(a)[b], 60.0, 1e-9);
}

#[test]
fn duplicates_share_evenly() {
    for smoothness in SMOOTHNESS {
        let same = Matrix::from_fn(3, 25, |i, _| i as f64 - 1.0);
        let learnt = check(&same, smoothness, "all the same");
        let full = dense(&learnt);
        assert!(pairs(25).all(|(i, j)| (full.column(i)[j] * 24.0 - 1.0).abs() < 1e-9));
        let thrice = noise::<f64>(4, 30, 1).select_columns(&[1, 2, 3, 4, 9, 11, 12].repeat(3));
        let full = dense(&check(&thrice, smoothness, "each three times"));
        let (ab, bc) = (full.column(0)[7], full.column(7)[14]);
        assert!(ab > 0.0 && (ab - bc).abs() < 1e-9, "{ab} is not {bc}");
    }
}

#[test]
fn far_apart_groups_stay_apart() {
    let mut samples = noise::<f64>(4, 24, 4);
    (12..24).for_each(|j| samples.column_mut(j).iter_mut().for_each(|x| *x += 100.0));
    let mut new = noise::<f64>(4, 2, 8);
    new.column_mut(1).iter_mut().for_each(|x| *x += 100.0);
    let learnt = check(&samples, 5.0, "two groups");
    let within = |i: usize| learnt.weights.row(i).all(|(j, _)| (j < 12) == (i < 12));
    assert!((0..24).all(within));
    let ties = joiner(&samples, 5.0).join(&new);
    assert!(ties.iter().all(|tie| !tie.is_empty()));
    assert!(ties[0].iter().all(|&(j, _)| j < 12) && ties[1].iter().all(|&(j, _)| j >= 12));
}

fn joiner<T: Real>(samples: &Matrix<T>, smoothness: f64) -> Joiner {
    let learnt = learn(samples, smoothness).unwrap();
    Joiner::new(samples, smoothness, &learnt.potentials, learnt.level).unwrap()
}

/// Joining equals the last row of the graph learnt with the new sample.
#[track_caller]
fn check_join<T: Real>(samples: &Matrix<T>, new: &Matrix<T>, smoothness: f64, what: &str) {
    let n = samples.columns();
    let ties = joiner(samples, smoothness).join(new);
    for (x, tie) in new.iter_columns().zip(&ties) {
        let data = [samples.as_slice(), x].concat();
        let whole =
            learn(&Matrix::from_columns(x.len(), n + 1, data).unwrap(), smoothness).unwrap();
        let full = dense(&whole);
        let size = full.as_slice().iter().copied().fold(0.0, f64::max);
        let mut found = vec![0.0; n];
        tie.iter().for_each(|&(j, w)| found[j as usize] = w);
        assert!(tie.iter().all(|&(_, w)| w > 0.0) && tie.is_sorted_by_key(|&(j, _)| j), "{what}");
        for (j, (a, b)) in found.iter().zip(full.column(n)).enumerate() {
            let close = (a - b).abs() <= 1e-8 * size;
            assert!(close, "{what}, N = {n}, smoothness {smoothness}: tie to {j} is {a}, not {b}");
        }
    }
}

#[test]
fn joining_is_learning_with_one_more_sample() {
    for smoothness in SMOOTHNESS {
        for n in [1, 2, 3, 20, 90] {
            let samples = noise::<f64>(4, n, 2);
            let mut new = noise::<f64>(4, 6, 9);
            // A twin, zero, an outlier, one near the middle of everything.
            new.column_mut(1).copy_from_slice(samples.column(0));
            new.column_mut(2).fill(0.0);
            new.column_mut(3).iter_mut().for_each(|x| *x *= 1e4);
            new.column_mut(4).iter_mut().for_each(|x| *x *= 0.1);
            check_join(&samples, &new, smoothness, "noise");
            check_join(&samples.cast::<f32>(), &new.cast(), smoothness, "single precision");
            let large = |m: &Matrix<f64>| {
                Matrix::from_fn(m.rows(), m.columns(), |i, j| 1e3 * m.column(j)[i])
            };
            check_join(&large(&samples), &large(&new), smoothness, "large samples");
        }
    }
}

#[test]
fn joining_copes_with_duplicates_nothing_and_values_that_are_no_numbers() {
    let same = Matrix::from_fn(3, 12, |i, _| i as f64);
    let mut new = noise::<f64>(3, 3, 1);
    new.column_mut(0).copy_from_slice(same.column(0));
    check_join(&same, &new, 0.3, "duplicates");
    let ties = joiner(&Matrix::<f64>::zeros(3, 0), 0.3).join(&new);
    assert!(ties.len() == 3 && ties.iter().all(Vec::is_empty));
    new.column_mut(1).fill(f64::NAN);
    new.column_mut(2).fill(f64::INFINITY);
    let ties = joiner(&same, 0.3).join(&new);
    assert!(ties[0].len() == 12 && ties[1].is_empty() && ties[2].is_empty());
}

#[test]
fn threads_and_other_samples_do_not_change_a_bit() {
    let samples = noise::<f64>(6, 700, 3);
    let new = noise::<f64>(6, 40, 5);
    // The second smoothness gives enough pairs that a single evaluation is shared out.
    for smoothness in [0.5, 200.0] {
        let run = |threads| {
            ssdl::threads::run(threads, || {
                let learnt = learn(&samples, smoothness).unwrap();
                let joiner =
                    Joiner::new(&samples, smoothness, &learnt.potentials, learnt.level).unwrap();
                let count = if smoothness < 1.0 { 40 } else { 4 };
                let some = new.select_columns(&(0..count).collect::<Vec<_>>());
                let ties = joiner.join(&some);
                let alone = joiner.join(&new.select_columns(&[3]));
                assert_eq!(alone[0], ties[3]);
                (learnt.weights, learnt.potentials, learnt.level, ties)
            })
        };
        assert_eq!(run(1), run(2), "smoothness {smoothness}");
    }
}

#[test]
fn unusable_input_is_refused_with_a_reason() {
    let samples = noise::<f64>(3, 8, 1);
    for bad in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        let error = learn(&samples, bad).unwrap_err();
        assert!(matches!(&error, Error::Knob { name, .. } if name == "smoothness"), "{error}");
        let error = Joiner::new(&samples, bad, &[0.0; 8], 1.0).unwrap_err();
        assert!(matches!(error, Error::Knob { .. }), "{error}");
    }
    let error = Joiner::new(&samples, 1.0, &[0.0; 7], 1.0).unwrap_err();
    assert!(matches!(error, Error::Shape { expected: 8, got: 7, .. }), "{error}");
    let error = Joiner::new(&samples, 1.0, &[f64::NAN; 8], 1.0).unwrap_err();
    assert!(matches!(error, Error::Graph(_)), "{error}");
    let mut holes = samples.clone();
    holes.column_mut(2)[1] = f64::NAN;
    let error = learn(&holes, 1.0).unwrap_err();
    assert!(matches!(error, Error::NotFinite { row: 3, column: 2, .. }), "{error}");
    let huge = Matrix::from_fn(3, 8, |i, j| 1e90 * samples.column(j)[i]);
    assert!(matches!(learn(&huge, 1.0).unwrap_err(), Error::Diverged { .. }));
}

proptest! {
    #![proptest_config(crate::common::fixed_cases(64))]

    #[test]
    fn any_small_cloud_is_learnt_and_joined(
        features in 1usize..5, n in 2usize..40, seed in 0u64..10_000, power in -3.0f64..3.0,
        grid in prop_oneof![Just(0.0), Just(1.0), Just(2.0)],
    ) {
        // Values on a coarse grid make duplicates and exact ties common.
        let round = |v: f64| if grid > 0.0 { (v * grid).round() } else { v };
        let cloud = |count, seed| {
            let noise = noise::<f64>(features, count, seed);
            Matrix::from_fn(features, count, |i, j| round(noise.column(j)[i]))
        };
        let (samples, new) = (cloud(n, seed), cloud(3, seed ^ 0xabc));
        let smoothness = 10f64.powf(power);
        check(&samples, smoothness, "small cloud");
        check_join(&samples, &new, smoothness, "small cloud");
    }
}
