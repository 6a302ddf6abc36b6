//! Arithmetic for rows and tables.

/// Rounds to this many decimals.
pub(crate) fn round(value: f64, digits: i32) -> f64 {
    let unit = 10f64.powi(digits);
    (value * unit).round() / unit
}

/// The mean; 0 if there are no values.
pub(crate) fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len().max(1) as f64
}

/// The standard deviation of all values, divided by their number.
pub(crate) fn deviation(values: &[f64]) -> f64 {
    let mean = mean(values);
    let variance = values.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / values.len() as f64;
    variance.sqrt()
}

/// Mean and standard deviation; the value alone if there is one, a dash if there are none.
pub(crate) fn with_spread(values: &[f64]) -> String {
    let mean = mean(values);
    match values {
        _ if mean.is_nan() => "–".into(),
        [value] => format!("{value:.2}"),
        _ => format!("{mean:.2} ± {:.2}", deviation(values)),
    }
}

/// The mean of differences, and its standard error.
pub(crate) fn paired(differences: &[f64]) -> (f64, f64) {
    let n = differences.len() as f64;
    if differences.is_empty() {
        return (0.0, 0.0);
    }
    let mean = differences.iter().sum::<f64>() / n;
    let squares: f64 = differences.iter().map(|d| (d - mean).powi(2)).sum();
    (mean, (squares / n / (n - 1.0).max(1.0)).sqrt())
}
