//! Small problems whose minimum is known.

use super::*;

fn tight() -> Effort<f64> {
    Effort { rounds: 500, sweeps: 200, tolerance: 1e-12, direct: false }
}

fn weight(sparsity: f64) -> Penalty<f64> {
    Penalty { sparsity, nonnegative: false }
}

#[test]
fn without_negative_coefficients_the_others_make_up_the_difference() {
    let gram = Matrix::from_fn(3, 3, |i, j| if i == j { 1.0 } else { 0.5 });
    let penalty = Penalty { sparsity: 0.2, nonnegative: true };
    let local = Local { gram: &gram, shift: 0.0, margin: None, penalty };
    // A negative coefficient for the last atom would pay; without it the first two are alone.
    let rhs = [2.0, 1.5, -3.0];
    let mut code = vec![0.0; 3];
    WorkingSet::new().solve(local, &rhs, &mut code, tight());
    let (a, b) = ((1.9 - 0.5 * 1.4) / 0.75, (1.4 - 0.5 * 1.9) / 0.75);
    for (found, expected) in code.iter().zip([a, b, 0.0]) {
        assert!((found - expected).abs() < 1e-9, "{code:?}");
    }
}

#[test]
fn a_multiple_of_a_unit_atom_is_shrunk_by_half_lambda() {
    let gram = Matrix::from_fn(3, 3, |i, j| if i == j { 1.0 } else { 0.3 });
    let local = Local { gram: &gram, shift: 0.0, margin: None, penalty: weight(0.4) };
    let rhs: Vec<f64> = gram.column(1).iter().map(|g| 5.0 * g).collect();
    let mut code = vec![0.0; 3];
    WorkingSet::new().solve(local, &rhs, &mut code, tight());
    for (k, a) in code.iter().enumerate() {
        let expected = if k == 1 { 5.0 - 0.2 } else { 0.0 };
        assert!((a - expected).abs() < 1e-9, "{code:?}");
    }
}

#[test]
fn zero_is_kept_where_it_is_optimal_and_dead_atoms_stay_out() {
    let gram = Matrix::from_fn(2, 2, |i, j| f64::from(i == 0 && j == 0));
    let local = Local { gram: &gram, shift: 0.0, margin: None, penalty: weight(1.0) };
    let mut code = vec![0.0; 2];
    WorkingSet::new().solve(local, &[0.5, 9.0], &mut code, tight());
    assert_eq!(code, [0.0, 0.0]);
}

#[test]
fn both_forms_of_the_margin_give_the_same_code() {
    let p = 6;
    let gram = Matrix::from_fn(p, p, |i, j| if i == j { 1.5 } else { 0.2 });
    let weights = Matrix::from_fn(p, 3, |i, j| ((i * 3 + j * 5) % 7) as f64 / 7.0 - 0.4);
    let cross = Matrix::of_product(weights.view(), weights.transposed());
    let rhs: Vec<f64> = (0..p).map(|i| (i as f64 * 1.3).sin() * 2.0).collect();
    let solve = |omega| {
        let margin = Some(LocalMargin { weights: &weights, omega });
        let mut code = vec![0.0; p];
        let local = Local { gram: &gram, shift: 0.1, margin, penalty: weight(0.3) };
        WorkingSet::new().solve(local, &rhs, &mut code, tight());
        code
    };
    let shared = solve(Omega::Shared { weight: 0.7 * 0.6, cross: &cross });
    let each = solve(Omega::PerClass { strength: 0.7, weight: &[0.6; 3] });
    for (a, b) in shared.iter().zip(&each) {
        assert!((a - b).abs() < 1e-9);
    }
}
