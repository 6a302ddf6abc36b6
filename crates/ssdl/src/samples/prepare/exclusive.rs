//! Columns of words among features of 0 and 1: neighbours of which each sample has at most one.

use std::ops::Range;

use crate::{Matrix, Real};

/// The share of samples that have a word in a column of words.
const COVERED: f64 = 0.8;

/// Runs of neighbouring features that stand for the words of one column: only 0 and 1, in no sample two of 1, and in
/// nearly every sample one. Cost: four passes over bits, one for each number of the features of 0 and 1.
pub(super) fn exclusive<T: Real>(features: &Matrix<T>) -> Vec<Range<usize>> {
    let ones = marked(features);
    let count = features.columns();
    let enough = (COVERED * count as f64).ceil() as usize;
    let mut window = Window { ones: &ones, count, range: 0..0, taken: vec![0; words(count)] };
    let mut runs = Vec::new();
    while window.range.start + 1 < ones.len() {
        window.extend();
        let (run, covered) = (window.range.clone(), window.covered());
        window.begin(run.start + 1);
        if run.len() < 2 || covered < enough {
            continue;
        }
        // A mark in front of a column may exclude its first words by chance.
        window.extend();
        if window.covered() <= covered {
            window.begin(run.end);
            runs.push(run);
        }
    }
    runs
}

/// Neighbouring features of 0 and 1 that exclude each other.
struct Window<'a> {
    ones: &'a [Option<Vec<u64>>],
    /// Samples.
    count: usize,
    range: Range<usize>,
    /// The samples that have a 1 in one of them, a bit each.
    taken: Vec<u64>,
}

impl Window<'_> {
    /// Takes in all features up to the first that does not belong to them, or until every sample has a 1.
    fn extend(&mut self) {
        while let Some(Some(ones)) = self.ones.get(self.range.end)
            && ones.iter().zip(&self.taken).all(|(ones, taken)| ones & taken == 0)
            && self.covered() < self.count
        {
            self.taken.iter_mut().zip(ones).for_each(|(taken, ones)| *taken |= ones);
            self.range.end += 1;
        }
    }

    /// Leaves out the features before this one.
    fn begin(&mut self, start: usize) {
        for feature in self.range.start..start.min(self.range.end) {
            let ones = self.ones[feature].iter().flatten();
            self.taken.iter_mut().zip(ones).for_each(|(taken, ones)| *taken &= !ones);
        }
        self.range = start..self.range.end.max(start);
    }

    fn covered(&self) -> usize {
        self.taken.iter().map(|word| word.count_ones() as usize).sum()
    }
}

/// Words of 64 bits for so many samples.
fn words(count: usize) -> usize {
    count.div_ceil(64)
}

/// The samples in which a feature of 0 and 1 is 1, a bit each; `None` for other features.
fn marked<T: Real>(features: &Matrix<T>) -> Vec<Option<Vec<u64>>> {
    let mut is_marked = vec![true; features.rows()];
    for sample in features.iter_columns() {
        let each = is_marked.iter_mut().zip(sample);
        each.for_each(|(is, &x)| *is &= x == T::zero() || x == T::one());
    }
    let room = || vec![0; words(features.columns())];
    let mut ones: Vec<Option<Vec<u64>>> = is_marked.iter().map(|is| is.then(room)).collect();
    let mut marked: Vec<(usize, &mut Vec<u64>)> =
        ones.iter_mut().enumerate().filter_map(|(i, ones)| Some((i, ones.as_mut()?))).collect();
    for (j, sample) in features.iter_columns().enumerate() {
        for (i, ones) in &mut marked {
            ones[j / 64] |= u64::from(sample[*i] == T::one()) << (j % 64);
        }
    }
    ones
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples::prepare::fixed_cases;
    use proptest::prelude::*;

    /// The longest run from a feature on, feature by feature, and how many samples have a 1 in it.
    fn run_from(features: &Matrix<f64>, start: usize) -> (Range<usize>, usize) {
        let mut taken = vec![false; features.columns()];
        for end in start..features.rows() {
            let row: Vec<f64> = features.iter_columns().map(|x| x[end]).collect();
            let is_free = |(x, taken): (&f64, &bool)| *x == 0.0 || (*x == 1.0 && !taken);
            let covered = taken.iter().filter(|taken| **taken).count();
            if covered == taken.len() || !row.iter().zip(&taken).all(is_free) {
                return (start..end, covered);
            }
            taken.iter_mut().zip(row).for_each(|(taken, x)| *taken |= x == 1.0);
        }
        (start..features.rows(), taken.iter().filter(|taken| **taken).count())
    }

    /// Columns of words with gaps, some of them taken apart by numbers and by single marks.
    fn tables() -> impl Strategy<Value = Matrix<f64>> {
        let word = |count: usize| {
            prop::collection::vec(prop::collection::vec(0usize..5, count), 1..7).prop_map(
                move |columns| {
                    Matrix::from_fn(3 * columns.len(), count, |i, j| {
                        let (own, at) = (columns[i / 3][j], i % 3);
                        if columns[i / 3][0] == 4 {
                            own as f64
                        } else {
                            f64::from(u8::from(own == at))
                        }
                    })
                },
            )
        };
        (2usize..90).prop_flat_map(word)
    }

    proptest! {
        #![proptest_config(fixed_cases(128))]

        #[test]
        fn runs_are_those_of_a_plain_search(features in tables()) {
            let (mut start, mut runs) = (0, Vec::new());
            let enough = (COVERED * features.columns() as f64).ceil() as usize;
            while start + 1 < features.rows() {
                let (run, covered) = run_from(&features, start);
                let is_one = run.len() > 1
                    && covered >= enough
                    && run_from(&features, start + 1).1 <= covered;
                start = if is_one { run.end } else { start + 1 };
                runs.extend(is_one.then_some(run));
            }
            prop_assert_eq!(exclusive(&features), runs);
        }
    }
}
