//! The little arithmetic that the tables need.

/// The middle value, or the mean of the two middle ones; not a number for no values.
pub fn median(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let half = sorted.len() / 2;
    match sorted.len() {
        0 => f64::NAN,
        n if n % 2 == 1 => sorted[half],
        _ => f64::midpoint(sorted[half - 1], sorted[half]),
    }
}

/// The mean; not a number for no values.
pub fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

/// The exponent e of the power law `y = c·xᵉ` that fits best in logarithms.
pub fn exponent(points: &[(f64, f64)]) -> f64 {
    let logs: Vec<(f64, f64)> = points.iter().map(|(x, y)| (x.ln(), y.ln())).collect();
    let centre_x = mean(&logs.iter().map(|log| log.0).collect::<Vec<_>>());
    let centre_y = mean(&logs.iter().map(|log| log.1).collect::<Vec<_>>());
    let (mut shared, mut spread) = (0.0, 0.0);
    for (x, y) in logs {
        shared += (x - centre_x) * (y - centre_y);
        spread += (x - centre_x).powi(2);
    }
    shared / spread
}

/// The share of places where two lists of class names agree; `None` if their lengths differ.
pub fn accuracy(found: &[String], truth: &[String]) -> Option<f64> {
    let right = found.iter().zip(truth).filter(|(one, other)| one == other).count();
    (found.len() == truth.len() && !truth.is_empty()).then(|| right as f64 / truth.len() as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn median_of_odd_and_even_counts() {
        assert_eq!(median(&[3.0, 1.0, 2.0]), 2.0);
        assert_eq!(median(&[4.0, 1.0, 2.0, 3.0]), 2.5);
        assert!(median(&[]).is_nan());
    }

    #[test]
    fn exponent_of_a_power_law_is_found() {
        let points: Vec<(f64, f64)> =
            [5e3, 1e4, 2e4].iter().map(|&n: &f64| (n, 0.3 * n.powf(1.25))).collect();
        assert!((exponent(&points) - 1.25).abs() < 1e-12);
    }

    #[test]
    fn accuracy_needs_lists_of_one_length() {
        let names = |text: &str| text.chars().map(String::from).collect::<Vec<_>>();
        assert_eq!(accuracy(&names("0123"), &names("0121")), Some(0.75));
        assert_eq!(accuracy(&names("012"), &names("0121")), None);
        assert_eq!(accuracy(&[], &[]), None);
    }
}
