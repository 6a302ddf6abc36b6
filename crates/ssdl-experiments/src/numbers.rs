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
