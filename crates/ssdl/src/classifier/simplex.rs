//! Memberships of samples whose classes each explain a part: the quadratic programme of S2D2.

/// $P$ on the simplex that minimises $\sum_cP_c^2e_c+(1-P_c)^2f_c$, where class $c$ leaves $e_c$ of a
/// sample and explains $f_c$ of it; written to `out`.
///
/// $P_c=\max\bigl(0,(f_c+\nu)/(e_c+f_c)\bigr)$ with $\nu$ from $\sum_cP_c=1$: the classes in the order of
/// $f_c$ join while $\nu>-f_c$. Cost $C\log C$. Classes with `None` take no part; without any, `out` is
/// zero.
pub fn simplex_memberships(energies: &[Option<(f64, f64)>], out: &mut [f64]) {
    out.fill(0.0);
    let joined = energies.iter().enumerate().filter_map(|(c, of)| of.map(|(e, f)| (c, e, f)));
    let mut order: Vec<(usize, f64, f64)> =
        joined.map(|(c, e, f)| (c, f, (e + f).max(f64::MIN_POSITIVE.sqrt()))).collect();
    order.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
    let (mut shares, mut inverse, mut nu) = (0.0, 0.0, None);
    for &(_, f, sum) in &order {
        shares += f / sum;
        inverse += 1.0 / sum;
        let next = (1.0 - shares) / inverse;
        if nu.is_some() && next <= -f {
            break;
        }
        nu = Some(next);
    }
    let Some(nu) = nu else { return };
    for &(class, f, sum) in &order {
        out[class] = ((f + nu) / sum).max(0.0);
    }
    // Rounding aside the sum is one already.
    let total: f64 = out.iter().sum();
    if total > 0.0 {
        out.iter_mut().for_each(|p| *p /= total);
    }
}

/// $P_c\propto e^{-(e_c-\min e)/T}$ over the classes with an energy; written over `energies`, with zero
/// for the others.
pub fn softmin(energies: &mut [f64], temperature: f64) {
    let least = energies.iter().fold(f64::INFINITY, |least, e| least.min(*e));
    let mut sum = 0.0;
    for e in energies.iter_mut() {
        *e = if e.is_finite() { (-(*e - least) / temperature).exp() } else { 0.0 };
        sum += *e;
    }
    if sum > 0.0 {
        energies.iter_mut().for_each(|e| *e /= sum);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn value(p: &[f64], energies: &[(f64, f64)]) -> f64 {
        p.iter().zip(energies).map(|(p, (e, f))| p * p * e + (1.0 - p) * (1.0 - p) * f).sum()
    }

    #[test]
    fn a_class_that_takes_no_part_gets_nothing_and_a_lone_one_everything() {
        let mut out = [9.0; 3];
        simplex_memberships(&[None, Some((0.5, 0.1)), None], &mut out);
        assert_eq!(out, [0.0, 1.0, 0.0]);
        simplex_memberships(&[None; 3], &mut out);
        assert_eq!(out, [0.0; 3]);
        simplex_memberships(&[Some((0.0, 0.0)), Some((0.0, 0.0)), None], &mut out);
        assert_eq!(out, [0.5, 0.5, 0.0]);
    }

    #[test]
    fn the_reference_program_finds_the_same_memberships() {
        let energies = [(0.2, 0.7), (0.5, 0.3), (0.9, 0.05)];
        let mut out = [0.0; 3];
        simplex_memberships(&energies.map(Some), &mut out);
        for (found, expected) in out.iter().zip(SIMPLEX) {
            assert!((found - expected).abs() < 1e-9, "{out:?}");
        }
    }

    /// From the NumPy prototype, to ten digits.
    const SIMPLEX: [f64; 3] = [0.705_882_352_941, 0.294_117_647_059, 0.0];

    proptest! {
        #[test]
        fn no_other_point_of_the_simplex_is_better(
            energies in prop::collection::vec((0.0f64..2.0, 0.0f64..2.0), 2..6),
            other in prop::collection::vec(0.001f64..1.0, 6),
        ) {
            let mut p = vec![0.0; energies.len()];
            let all: Vec<_> = energies.iter().map(|e| Some(*e)).collect();
            simplex_memberships(&all, &mut p);
            prop_assert!((p.iter().sum::<f64>() - 1.0).abs() < 1e-12);
            prop_assert!(p.iter().all(|p| *p >= 0.0));
            let sum: f64 = other[..p.len()].iter().sum();
            let other: Vec<f64> = other[..p.len()].iter().map(|v| v / sum).collect();
            prop_assert!(value(&p, &energies) <= value(&other, &energies) + 1e-12);
        }

        #[test]
        fn the_least_energy_is_likeliest_and_absent_classes_have_no_share(
            energies in prop::collection::vec(0.0f64..5.0, 2..6), temperature in 0.01f64..10.0,
        ) {
            let mut p = energies.clone();
            p.push(f64::INFINITY);
            softmin(&mut p, temperature);
            prop_assert!((p.iter().sum::<f64>() - 1.0).abs() < 1e-12 && p[energies.len()] == 0.0);
            let least = (0..energies.len()).fold(0, |a, b| if energies[b] < energies[a] { b } else { a });
            prop_assert!(p.iter().all(|other| *other <= p[least]));
        }
    }
}
