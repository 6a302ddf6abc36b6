//! Contracts of every solver of the coding step: one minimum for all, and never uphill.

use crate::common::graphs::{built, graphs};
use crate::common::tiny::{POINTS, Tiny};
use crate::common::{apart, assert_close, fixture, matrix, noise, sparse_noise};
use ssdl::classifier::ActivePoints;
use ssdl::codes::{Batches, Coding, Coordinate, Descent, Fista};
use ssdl::{Matrix, Real};

const SEED: u64 = 3;

/// Every solver, run to the end.
fn tight<T: Real>(tolerance: f64) -> Vec<(&'static str, Box<dyn Descent<T>>)> {
    let inner = Fista { iterations: 2000, tolerance };
    vec![
        (
            "coordinate",
            Box::new(Coordinate { sweeps: 4000, inner_sweeps: 50, tolerance, direct: false }),
        ),
        ("fista", Box::new(Fista { iterations: 20_000, tolerance })),
        ("batches", Box::new(Batches { size: 5, epochs: 2000, inner, seed: SEED })),
    ]
}

/// Every solver, with at most this many steps.
fn brief<T: Real>(steps: usize) -> Vec<(&'static str, Box<dyn Descent<T>>)> {
    let inner = Fista { iterations: steps, tolerance: 0.0 };
    vec![
        (
            "coordinate",
            Box::new(Coordinate { sweeps: steps, inner_sweeps: 3, tolerance: 0.0, direct: false }),
        ),
        ("fista", Box::new(inner)),
        ("batches", Box::new(Batches { size: 7, epochs: 1, inner, seed: SEED })),
    ]
}

fn zeros<T: Real>(problem: &Coding<'_, T>) -> Matrix<T> {
    Matrix::zeros(problem.atoms.columns(), problem.samples.columns())
}

fn name(kind: ActivePoints) -> &'static str {
    if kind == ActivePoints::Frozen { "frozen" } else { "majorised" }
}

fn minimum_in<T: Real>(tolerance: f64, objective: f64, codes: f64) {
    let (tiny, _) = Tiny::<T>::stored();
    let stored = fixture("minimum");
    for kind in [ActivePoints::Frozen, ActivePoints::Majorised] {
        let expected = &stored["codes"][name(kind)];
        let terms = &expected["terms"];
        let total = terms["total"].as_f64().unwrap() - terms["ridge"].as_f64().unwrap();
        let least: Matrix<T> = matrix(&expected["codes"]);
        let problem = tiny.coding(true, Some(kind));
        for (solver, descent) in tight::<T>(tolerance) {
            for start in [zeros(&problem), tiny.codes.clone()] {
                let mut found = start;
                descent.code(&problem, &mut found);
                let value = problem.quadratic().value(&found) + tiny.constant(Some(kind));
                let what = format!("{solver}, {}, {}: {value}", name(kind), T::NAME);
                assert!((value - total).abs() <= objective * total, "{what} is not {total}");
                let distance = apart(found.as_slice(), least.as_slice());
                assert!(distance < codes, "{what}: codes {distance:e} apart");
            }
        }
    }
}

#[test]
fn every_solver_reaches_the_minimum_of_the_oracle() {
    minimum_in::<f64>(1e-12, 1e-8, 1e-6);
    minimum_in::<f32>(1e-5, 1e-5, 1e-3);
}

#[test]
fn the_gap_closes_at_the_minimum_and_only_there() {
    let (tiny, _) = Tiny::<f64>::stored();
    let stored = fixture("minimum");
    for kind in [ActivePoints::Frozen, ActivePoints::Majorised] {
        let quadratic = tiny.coding(true, Some(kind)).quadratic();
        let mut codes: Matrix<f64> = matrix(&stored["codes"][name(kind)]["codes"]);
        assert!(quadratic.gap(&codes) < 1e-10);
        let (at, value) =
            codes.as_slice().iter().copied().enumerate().find(|(_, a)| *a != 0.0).unwrap();
        codes.as_mut_slice()[at] = value + 0.1;
        assert!(quadratic.gap(&codes) > 1e-3);
        assert!(quadratic.gap(&tiny.codes) > 0.1);
    }
}

#[test]
fn the_objective_and_its_slopes_are_those_of_the_oracle() {
    let (tiny, stored) = Tiny::<f64>::stored();
    for kind in [ActivePoints::Frozen, ActivePoints::Majorised] {
        let expected = &stored[name(kind)];
        let terms = &expected["terms"];
        let total = terms["total"].as_f64().unwrap() - terms["ridge"].as_f64().unwrap();
        let problem = tiny.coding(true, Some(kind));
        let value = problem.quadratic().value(&tiny.codes) + tiny.constant(Some(kind));
        assert_close(value, total, 1e-10);
        // Without the l1 term the value is quadratic, so central differences are exact.
        let smooth = Coding { sparsity: 0.0, ..problem }.quadratic();
        let slopes: Matrix<f64> = matrix(&expected["gradient_codes"]);
        let mut codes = tiny.codes.clone();
        for (at, slope) in slopes.as_slice().iter().enumerate() {
            let mut side = |shift: f64| {
                codes.as_mut_slice()[at] += shift;
                let value = smooth.value(&codes);
                codes.as_mut_slice()[at] = tiny.codes.as_slice()[at];
                value
            };
            let found = (side(1e-2) - side(-1e-2)) / 2e-2;
            assert!((found - slope).abs() < 1e-7 * (1.0 + slope.abs()), "{at}: {found} {slope}");
        }
    }
}

#[test]
fn all_solvers_agree_on_random_problems_of_every_kind() {
    for (seed, n_classes) in [(10, 2), (20, 3), (30, 5)] {
        let tiny = Tiny::<f64>::random(9, 8, 24, n_classes, seed);
        for points in POINTS {
            for graph in [false, true] {
                let problem = tiny.coding(graph, points);
                let quadratic = problem.quadratic();
                let mut least: Option<(f64, Matrix<f64>)> = None;
                for (solver, descent) in tight::<f64>(1e-11) {
                    let mut codes = sparse_noise(8, 24, seed + 7);
                    let done = descent.code(&problem, &mut codes);
                    let what = format!("{solver}, graph {graph}, {points:?}, seed {seed}");
                    assert!(done.steps > 0, "{what}: {done:?}");
                    assert!(quadratic.gap(&codes) < 1e-9, "{what}: {}", quadratic.gap(&codes));
                    let value = quadratic.value(&codes);
                    let (best, first) = least.get_or_insert_with(|| (value, codes.clone()));
                    assert!((value - *best).abs() <= 1e-7 * best.abs(), "{what}: {value} {best}");
                    assert!(apart(codes.as_slice(), first.as_slice()) < 1e-6, "{what}: codes");
                }
            }
        }
    }
}

fn never_uphill_in<T: Real>(slack: f64) {
    for seed in [1, 2, 3] {
        let tiny = Tiny::<T>::random(7, 10, 30, 3, seed);
        for points in POINTS {
            for graph in [false, true] {
                let problem = tiny.coding(graph, points);
                let quadratic = problem.quadratic();
                let mut near = zeros(&problem);
                Coordinate { sweeps: 6, inner_sweeps: 4, tolerance: 0.0, direct: false }
                    .code(&problem, &mut near);
                for start in [zeros(&problem), tiny.codes.clone(), near] {
                    let before = quadratic.value(&start);
                    for steps in [1, 2, 3, 5, 8, 13, 21, 34] {
                        for (solver, descent) in brief::<T>(steps) {
                            let mut codes = start.clone();
                            descent.code(&problem, &mut codes);
                            let after = quadratic.value(&codes);
                            assert!(
                                after <= before + slack * (1.0 + before.abs()),
                                "{solver}, {steps} steps, graph {graph}, {points:?}, {}: {before} \
                                 rises to {after}",
                                T::NAME
                            );
                        }
                    }
                }
            }
        }
    }
}

#[test]
fn no_solver_ever_raises_the_objective_it_is_given() {
    never_uphill_in::<f64>(1e-12);
    never_uphill_in::<f32>(1e-5);
}

#[test]
fn every_single_step_goes_down() {
    let tiny = Tiny::<f64>::random(7, 10, 30, 3, 4);
    for points in POINTS {
        for graph in [false, true] {
            let problem = tiny.coding(graph, points);
            let quadratic = problem.quadratic();
            for (solver, descent) in brief::<f64>(1) {
                let mut codes = tiny.codes.clone();
                let mut before = quadratic.value(&codes);
                for step in 0..25 {
                    descent.code(&problem, &mut codes);
                    let after = quadratic.value(&codes);
                    let slack = 1e-12 * (1.0 + before.abs());
                    assert!(after <= before + slack, "{solver}, step {step}: {before} {after}");
                    before = after;
                }
            }
        }
    }
}

#[test]
fn a_large_sparsity_leaves_nothing() {
    let tiny = Tiny::<f64>::random(7, 10, 20, 3, 5);
    for points in POINTS {
        for graph in [false, true] {
            // Half the slope at zero is the right-hand side; nothing exceeds this.
            let problem = Coding { sparsity: 1e4, ..tiny.coding(graph, points) };
            for (solver, descent) in tight::<f64>(1e-9) {
                for start in [zeros(&problem), tiny.codes.clone()] {
                    let mut codes = start;
                    descent.code(&problem, &mut codes);
                    assert!(codes.as_slice().iter().all(|a| *a == 0.0), "{solver}, {points:?}");
                }
            }
        }
    }
}

#[test]
fn no_sparsity_gives_least_squares() {
    let tiny = Tiny::<f64>::random(12, 6, 20, 3, 6);
    for points in POINTS {
        for graph in [false, true] {
            let problem = Coding { sparsity: 0.0, ..tiny.coding(graph, points) };
            let quadratic = problem.quadratic();
            let mut least = None;
            for (solver, descent) in tight::<f64>(1e-11) {
                let mut codes = zeros(&problem);
                descent.code(&problem, &mut codes);
                assert!(quadratic.gap(&codes) < 1e-9, "{solver}: {}", quadratic.gap(&codes));
                let value = quadratic.value(&codes);
                assert_close(value, *least.get_or_insert(value), 1e-9);
            }
        }
    }
}

/// Atoms 1 and 4 are zero vectors.
fn with_dead_atoms<T: Real>(seed: u64) -> Tiny<T> {
    let mut tiny = Tiny::<T>::random(7, 6, 18, 3, seed);
    [1, 4].iter().for_each(|&k| tiny.atoms.column_mut(k).fill(T::zero()));
    tiny.gram = tiny.atoms.gram();
    tiny
}

fn dead_atoms_in<T: Real>() {
    let tiny = with_dead_atoms::<T>(7);
    for points in POINTS {
        for graph in [false, true] {
            let problem = tiny.coding(graph, points);
            let before = problem.quadratic().value(&tiny.codes);
            for (solver, descent) in brief::<T>(30) {
                let what = format!("{solver}, graph {graph}, {points:?}, {}", T::NAME);
                let mut cold = zeros(&problem);
                descent.code(&problem, &mut cold);
                assert!(cold.as_slice().iter().all(|a| a.is_finite()), "cold {what}");
                // Codes may still point at an atom that has just died.
                let mut warm = tiny.codes.clone();
                descent.code(&problem, &mut warm);
                assert!(warm.as_slice().iter().all(|a| a.is_finite()), "warm {what}");
                assert!(problem.quadratic().value(&warm) <= before, "{what}");
                if points.is_none() && !graph {
                    for j in 0..cold.columns() {
                        assert_eq!((cold.column(j)[1], cold.column(j)[4]), (T::zero(), T::zero()));
                    }
                }
            }
        }
    }
}

#[test]
fn zero_atoms_never_spoil_the_codes() {
    dead_atoms_in::<f64>();
    dead_atoms_in::<f32>();
}

#[test]
fn all_solvers_agree_with_zero_atoms_among_the_others() {
    let tiny = with_dead_atoms::<f64>(8);
    for points in POINTS {
        for graph in [false, true] {
            let problem = tiny.coding(graph, points);
            let mut least = None;
            for (solver, descent) in tight::<f64>(1e-11) {
                let mut codes = zeros(&problem);
                descent.code(&problem, &mut codes);
                let value = problem.quadratic().value(&codes);
                let best = *least.get_or_insert(value);
                let close = (value - best).abs() <= 1e-7 * best.abs();
                assert!(close, "{solver}, graph {graph}, {points:?}: {value} is not {best}");
            }
        }
    }
}

#[test]
fn one_batch_of_all_is_fista_and_batches_of_one_reach_the_same_minimum() {
    let tiny = Tiny::<f64>::random(7, 8, 20, 3, 9);
    for points in POINTS {
        for graph in [false, true] {
            let problem = tiny.coding(graph, points);
            let inner = Fista { iterations: 40, tolerance: 1e-12 };
            let mut whole = tiny.codes.clone();
            inner.code(&problem, &mut whole);
            for size in [20, 1000] {
                let mut batch = tiny.codes.clone();
                Batches { size, epochs: 1, inner, seed: SEED }.code(&problem, &mut batch);
                assert!(apart(batch.as_slice(), whole.as_slice()) < 1e-9, "size {size}");
            }
            let inner = Fista { iterations: 300, tolerance: 1e-12 };
            let mut single = zeros(&problem);
            Batches { size: 1, epochs: 500, inner, seed: SEED }.code(&problem, &mut single);
            assert!(problem.quadratic().gap(&single) < 1e-9);
        }
    }
}

#[test]
fn all_solvers_agree_on_every_graph() {
    let tiny = Tiny::<f64>::random(9, 8, 24, 3, 40);
    for (name, graph) in graphs(&tiny.samples, 4) {
        let laplacian = built(&*graph, &tiny.samples).at_strength(true).laplacian;
        for points in [None, Some(ActivePoints::Majorised)] {
            let problem = Coding { graph: Some((0.5, &laplacian)), ..tiny.coding(false, points) };
            let quadratic = problem.quadratic();
            let mut least: Option<(f64, Matrix<f64>)> = None;
            for (solver, descent) in tight::<f64>(1e-11) {
                let mut codes = sparse_noise(8, 24, 47);
                let done = descent.code(&problem, &mut codes);
                let what = format!("{solver}, {name}, {points:?}");
                assert!(quadratic.gap(&codes) < 1e-9, "{what}: {}", quadratic.gap(&codes));
                if let Some(energy) = done.graph_energy {
                    assert_close(energy, laplacian.energy(&codes), 1e-9);
                }
                let value = quadratic.value(&codes);
                let (best, first) = least.get_or_insert_with(|| (value, codes.clone()));
                assert!((value - *best).abs() <= 1e-7 * best.abs(), "{what}: {value} {best}");
                assert!(apart(codes.as_slice(), first.as_slice()) < 1e-6, "{what}: codes");
            }
        }
    }
}

fn never_uphill_on_graphs_in<T: Real>(slack: f64) {
    let tiny = Tiny::<T>::random(7, 10, 30, 3, 41);
    for (name, graph) in graphs(&tiny.samples, 4) {
        let laplacian = built(&*graph, &tiny.samples).at_strength(true).laplacian;
        for points in POINTS {
            let strength = T::of(2.0);
            let problem =
                Coding { graph: Some((strength, &laplacian)), ..tiny.coding(false, points) };
            let quadratic = problem.quadratic();
            for (solver, descent) in brief::<T>(2) {
                let mut codes = tiny.codes.clone();
                let mut before = quadratic.value(&codes);
                for step in 0..12 {
                    descent.code(&problem, &mut codes);
                    let after = quadratic.value(&codes);
                    let what = format!("{solver}, {name}, {points:?}, {}, step {step}", T::NAME);
                    let allowed = before + slack * (1.0 + before.abs());
                    assert!(after <= allowed, "{what}: {before} rises to {after}");
                    before = after;
                }
            }
        }
    }
}

#[test]
fn no_solver_ever_goes_up_on_any_graph() {
    never_uphill_on_graphs_in::<f64>(1e-12);
    never_uphill_on_graphs_in::<f32>(1e-5);
}

#[test]
fn a_graph_of_no_weight_is_no_graph() {
    let tiny = Tiny::<f64>::random(7, 8, 20, 3, 10);
    for points in POINTS {
        let free = tiny.coding(false, points);
        let weightless = Coding { graph: Some((0.0, &tiny.laplacian)), ..free };
        for (solver, descent) in tight::<f64>(1e-12) {
            let (mut a, mut b) = (noise(8, 20, 1), noise(8, 20, 1));
            descent.code(&free, &mut a);
            descent.code(&weightless, &mut b);
            assert!(apart(a.as_slice(), b.as_slice()) < 1e-8, "{solver}, {points:?}");
        }
    }
}
