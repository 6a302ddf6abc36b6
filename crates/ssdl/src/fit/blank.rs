//! Features that are zero in every sample, such as the margins of images: a fit need not know them.

use std::sync::Arc;

use super::{Given, Learnt};
use crate::{Matrix, Real, Result};

/// Features are left out where at least one in this many is blank: copies must pay.
const WORTHWHILE: usize = 16;

/// Learns from samples without their blank features. The atoms get them back as zeros, which is what every method
/// whose atoms are sums of samples would have found.
pub(crate) fn without_blank<T: Real>(
    given: &Given<'_, T>,
    learn: impl FnOnce(&Given<'_, T>) -> Result<Learnt<T>>,
) -> Result<Learnt<T>> {
    let n = given.samples.rows();
    let used = used_features(&given.samples);
    if used.is_empty() || (n - used.len()) * WORTHWHILE < n {
        return learn(given);
    }
    let rows = |matrix: &Matrix<T>| {
        Matrix::from_fn(used.len(), matrix.columns(), |i, j| matrix.column(j)[used[i]])
    };
    let Given { graph, start, crew, seed, .. } = *given;
    let (labels, weights, lengths) =
        (given.labels.clone(), given.weights.clone(), given.lengths.clone());
    let samples = Arc::new(rows(&given.samples));
    let mut learnt = learn(&Given {
        samples,
        parked: None,
        lengths,
        labels,
        weights,
        graph,
        start,
        crew,
        seed,
    })?;
    if let Some(dictionary) = &mut learnt.dictionary {
        let mut atoms = Matrix::zeros(n, dictionary.atoms.columns());
        for (k, short) in dictionary.atoms.iter_columns().enumerate() {
            let atom = atoms.column_mut(k);
            used.iter().zip(short).for_each(|(&i, &d)| atom[i] = d);
        }
        dictionary.atoms = atoms;
    }
    Ok(learnt)
}

/// The features in which some sample is not zero, in order.
fn used_features<T: Real>(samples: &Matrix<T>) -> Vec<usize> {
    let mut used = vec![false; samples.rows()];
    for x in samples.iter_columns() {
        used.iter_mut().zip(x).for_each(|(used, x)| *used |= *x != T::zero());
    }
    (0..used.len()).filter(|&i| used[i]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_feature_is_used_if_one_sample_is_not_zero_there() {
        let samples = Matrix::from_fn(4, 3, |i, j| [0.0, 1.0, 0.0, -2.0][i] * f64::from(j == 1));
        assert_eq!(used_features(&samples), [1, 3]);
        assert!(used_features(&Matrix::<f64>::zeros(3, 2)).is_empty());
    }
}
