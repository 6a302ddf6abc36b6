//! Seeded draws: which samples are labelled, unlabelled or held out.

use crate::random::{self, Purpose};
use crate::{Error, Labels, Result, order};

/// Three disjoint parts of a set of samples. Each list is ascending.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Split {
    /// Samples whose labels the method sees.
    pub labelled: Vec<usize>,
    /// Samples the method sees without their labels.
    pub unlabelled: Vec<usize>,
    /// Samples the method does not see.
    pub test: Vec<usize>,
}

/// Draws the given number of samples of every class for each part; `unlabelled: None` takes all that
/// are neither labelled nor test, samples of unknown class included.
///
/// The same seed gives the same split. With fixed seed and `test`, the test samples stay the same
/// and smaller labelled sets lie within larger ones, so curves over the number of labels compare
/// like with like. Cost $O(N \log N)$.
///
/// ```
/// use ssdl::{Labels, samples::split::per_class};
///
/// let names: Vec<_> = ["a", "b"].iter().cycle().take(20).map(Some).collect();
/// let split = per_class(&Labels::from_names(&names), 2, None, 3, 7)?;
/// assert_eq!((split.labelled.len(), split.unlabelled.len(), split.test.len()), (4, 10, 6));
/// # Ok::<(), ssdl::Error>(())
/// ```
///
/// # Errors
/// If no class is known, or a class has fewer samples than requested (it is named with its size).
pub fn per_class(
    labels: &Labels,
    labelled: usize,
    unlabelled: Option<usize>,
    test: usize,
    seed: u64,
) -> Result<Split> {
    let wanted = Wanted { labelled, unlabelled, test };
    deal(labels, unlabelled.is_none(), seed, |sizes, _| vec![wanted; sizes.len()])
}

/// Sizes of a draw in which unlabelled and test samples keep the class shares of the data.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Shares {
    /// Labelled samples of each class.
    pub labelled: usize,
    /// Every other class, in an order drawn with the seed, gets this many times fewer labels,
    /// rounded up; 1 leaves them even.
    pub uneven: usize,
    /// Share of all samples that are held out, rounded up; above 0 and below 1.
    pub test: f64,
    /// Maximum number of test samples.
    pub max_test: usize,
    /// Maximum number of unlabelled samples; the others are not used.
    pub max_unlabelled: usize,
}

/// Draws labelled samples by the class, and unlabelled and test samples by the shares that the
/// classes have: test samples those of all samples, unlabelled samples those of what is left. Counts
/// are rounded so that their sum is exact, the largest remainders up.
///
/// The same seed gives the same split; the test samples are the same for any number of labels, even
/// or not, and smaller labelled sets lie within larger ones. Samples of unknown class are omitted.
/// Cost $O(N \log N)$.
///
/// ```
/// use ssdl::{Labels, samples::split::{Shares, by_shares}};
///
/// let names: Vec<_> = ["a", "a", "b"].iter().cycle().take(60).map(Some).collect();
/// let shares = Shares { labelled: 4, uneven: 2, test: 0.3, max_test: 90, max_unlabelled: 12 };
/// let split = by_shares(&Labels::from_names(&names), &shares, 7)?;
/// assert_eq!((split.labelled.len(), split.unlabelled.len(), split.test.len()), (6, 12, 18));
/// # Ok::<(), ssdl::Error>(())
/// ```
///
/// # Errors
/// If no class is known, a class has fewer samples than requested (it is named with its size), the
/// share is not between 0 and 1, or `uneven` is 0.
pub fn by_shares(labels: &Labels, shares: &Shares, seed: u64) -> Result<Split> {
    if !(shares.test > 0.0 && shares.test < 1.0) {
        let share = shares.test;
        return Err(Error::Labels(format!("a test share of {share} is not between 0 and 1")));
    }
    if shares.uneven == 0 {
        return Err(Error::Labels("labels cannot be 0 times fewer; even labels are 1".into()));
    }
    deal(labels, false, seed, |sizes, order| {
        let all = sizes.iter().sum::<usize>();
        let n_test = ((all as f64 * shares.test).ceil() as usize).min(shares.max_test);
        let test = apportion(n_test, sizes);
        let mut labelled = vec![shares.labelled; sizes.len()];
        for class in order.iter().skip(1).step_by(2) {
            labelled[*class] = shares.labelled.div_ceil(shares.uneven);
        }
        // Classes that are too small are refused by the caller.
        let left: Vec<usize> = (0..sizes.len())
            .map(|class| sizes[class].saturating_sub(test[class]).saturating_sub(labelled[class]))
            .collect();
        let n_unlabelled = left.iter().sum::<usize>().min(shares.max_unlabelled);
        let unlabelled = apportion(n_unlabelled, &left);
        (0..sizes.len())
            .map(|class| Wanted {
                labelled: labelled[class],
                unlabelled: Some(unlabelled[class]),
                test: test[class],
            })
            .collect()
    })
}

/// `count` in proportion to the sizes: each rounded down, then the largest remainders up, the first
/// of equals. No part exceeds its size if `count` does not exceed their sum.
fn apportion(count: usize, sizes: &[usize]) -> Vec<usize> {
    let all = sizes.iter().sum::<usize>().max(1) as u128;
    let scaled = |class: usize| count as u128 * sizes[class] as u128;
    let mut parts: Vec<usize> =
        (0..sizes.len()).map(|class| (scaled(class) / all) as usize).collect();
    let mut order: Vec<usize> = (0..sizes.len()).collect();
    order::places_by(&mut order, |a, b| (scaled(b) % all).cmp(&(scaled(a) % all)));
    let missing = count.saturating_sub(parts.iter().sum());
    order.into_iter().take(missing).for_each(|class| parts[class] += 1);
    parts
}

/// How many samples of one class each part gets; `unlabelled: None` is all that are left.
#[derive(Clone, Copy)]
struct Wanted {
    labelled: usize,
    unlabelled: Option<usize>,
    test: usize,
}

/// Shuffles every class and deals its samples. `wanted` gets the sizes of the classes and an order
/// of them drawn with the seed.
fn deal(
    labels: &Labels,
    with_unknown: bool,
    seed: u64,
    wanted: impl FnOnce(&[usize], &[usize]) -> Vec<Wanted>,
) -> Result<Split> {
    if labels.n_labelled() == 0 {
        return Err(Error::Labels("no sample has a class, so there is nothing to draw".into()));
    }
    let mut members = vec![Vec::new(); labels.classes().len()];
    let mut split = Split::default();
    for (sample, class) in labels.assigned().iter().enumerate() {
        match class {
            Some(class) => members[*class].push(sample),
            None if with_unknown => split.unlabelled.push(sample),
            None => {}
        }
    }
    let mut rng = random::stream(seed, Purpose::Split);
    members.iter_mut().for_each(|class| random::shuffle(class, &mut rng));
    // Drawn last: which samples come first does not depend on who asks for the order.
    let mut order: Vec<usize> = (0..members.len()).collect();
    random::shuffle(&mut order, &mut rng);
    let sizes: Vec<usize> = members.iter().map(Vec::len).collect();
    let wanted = wanted(&sizes, &order);
    for ((name, class), wanted) in labels.classes().iter().zip(&members).zip(wanted) {
        let Wanted { labelled, unlabelled, test } = wanted;
        let needed = labelled.saturating_add(unlabelled.unwrap_or(0)).saturating_add(test);
        if class.len() < needed {
            return Err(Error::Labels(format!(
                "class `{name}` has {} samples, but {needed} are requested \
                 ({labelled} labelled, {} unlabelled, {test} test)",
                class.len(),
                unlabelled.unwrap_or(0)
            )));
        }
        // Test first: a larger labelled set then takes only from the unlabelled samples.
        let (held_out, rest) = class.split_at(test);
        let (shown, rest) = rest.split_at(labelled);
        split.test.extend(held_out);
        split.labelled.extend(shown);
        split.unlabelled.extend(&rest[..unlabelled.unwrap_or(rest.len())]);
    }
    for part in [&mut split.labelled, &mut split.unlabelled, &mut split.test] {
        part.sort_unstable();
    }
    Ok(split)
}

/// At most `max` of the samples, ascending: labelled ones by lot up to half of them, then others by lot.
/// `None` if that is all of them.
#[must_use]
pub fn excerpt(labels: &Labels, max: usize, seed: u64) -> Option<Vec<usize>> {
    if labels.len() <= max {
        return None;
    }
    let mut rng = random::stream(seed, Purpose::Folds);
    let (mut chosen, mut open) = (labels.labelled(), labels.unlabelled());
    random::shuffle(&mut chosen, &mut rng);
    chosen.truncate(max / 2);
    random::shuffle(&mut open, &mut rng);
    chosen.extend(open.into_iter().take(max - chosen.len()));
    chosen.sort_unstable();
    Some(chosen)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples::prepare::fixed_cases;
    use proptest::prelude::*;

    /// Classes of the given sizes, interleaved, with `unknown` samples of no class among them.
    fn labels(sizes: &[usize], unknown: usize) -> Labels {
        let mut left: Vec<(Option<usize>, usize)> =
            sizes.iter().enumerate().map(|(class, &size)| (Some(class), size)).collect();
        left.push((None, unknown));
        let mut assigned = Vec::new();
        while left.iter().any(|(_, size)| *size > 0) {
            for (class, size) in left.iter_mut().filter(|(_, size)| *size > 0) {
                assigned.push(*class);
                *size -= 1;
            }
        }
        let names = (0..sizes.len()).map(|class| format!("c{class}")).collect();
        Labels::new(names, assigned).expect("indices in range")
    }

    #[test]
    fn small_classes_are_named_with_their_size() {
        let error = per_class(&labels(&[9, 4], 3), 2, Some(1), 2, 0).expect_err("4 < 5");
        assert_eq!(
            error.to_string(),
            "labels: class `c1` has 4 samples, but 5 are requested \
             (2 labelled, 1 unlabelled, 2 test)"
        );
        assert!(per_class(&labels(&[9, 4], 3), usize::MAX, Some(usize::MAX), 2, 0).is_err());
        assert!(per_class(&labels(&[3, 0], 0), 1, None, 0, 0).is_err());
        assert!(matches!(per_class(&Labels::none(5), 0, None, 0, 0), Err(Error::Labels(_))));
    }

    #[test]
    fn samples_of_unknown_class_are_unlabelled_when_all_the_rest_is() -> Result<()> {
        let labels = labels(&[3, 3], 2);
        let known = |i: &&usize| labels.assigned()[**i].is_some();
        let all = per_class(&labels, 1, None, 1, 0)?;
        assert_eq!((all.unlabelled.len(), all.unlabelled.iter().filter(known).count()), (4, 2));
        let some = per_class(&labels, 1, Some(1), 1, 0)?;
        assert_eq!((some.unlabelled.len(), some.unlabelled.iter().filter(known).count()), (2, 2));
        Ok(())
    }

    #[test]
    fn every_sample_of_a_class_is_as_likely_as_another() -> Result<()> {
        let labels = labels(&[5, 5], 0);
        let mut drawn = [0usize; 10];
        for seed in 0..2000 {
            per_class(&labels, 1, None, 1, seed)?.labelled.iter().for_each(|&i| drawn[i] += 1);
        }
        assert!(drawn.iter().all(|count| (330..470).contains(count)), "{drawn:?}");
        Ok(())
    }

    #[test]
    fn shares_are_exact_and_the_largest_remainders_are_rounded_up() {
        assert_eq!(apportion(10, &[500, 268]), [7, 3]);
        assert_eq!(apportion(5, &[1, 1, 1]), [2, 2, 1]);
        assert_eq!(apportion(3, &[3, 0, 0]), [3, 0, 0]);
        assert_eq!(apportion(0, &[0, 0]), [0, 0]);
    }

    #[test]
    fn impossible_shares_are_refused_with_the_reason() {
        let shares =
            Shares { labelled: 3, uneven: 1, test: 0.5, max_test: 9, max_unlabelled: usize::MAX };
        let refused = |sizes: &[usize], shares: Shares| {
            by_shares(&labels(sizes, 0), &shares, 0).expect_err("refused").to_string()
        };
        assert!(refused(&[9, 4], shares).contains("class `c1` has 4 samples, but 5 are requested"));
        assert!(refused(&[9, 9], Shares { uneven: 0, ..shares }).contains("times fewer"));
        for test in [0.0, 1.0, f64::NAN] {
            let error = refused(&[9, 9], Shares { test, ..shares });
            assert!(error.contains("not between 0 and 1"), "{error}");
        }
    }

    #[test]
    fn each_class_is_as_likely_to_get_fewer_labels() -> Result<()> {
        let labels = labels(&[9, 9], 0);
        let shares =
            Shares { labelled: 4, uneven: 2, test: 0.2, max_test: 9, max_unlabelled: usize::MAX };
        let mut fewer = 0usize;
        for seed in 0..1000 {
            let split = by_shares(&labels, &shares, seed)?;
            fewer += usize::from(labels.select(&split.labelled).counts()[0] == 2);
        }
        assert!((420..580).contains(&fewer), "{fewer}");
        Ok(())
    }

    proptest! {
        #![proptest_config(fixed_cases(128))]

        #[test]
        fn parts_are_stratified_disjoint_ascending_and_repeatable(
            sizes in prop::collection::vec(8usize..20, 1..5), unknown in 0usize..6,
            labelled in 0usize..4, unlabelled in prop::option::of(0usize..3), test in 0usize..3,
            seed: u64
        ) {
            let labels = labels(&sizes, unknown);
            let split = per_class(&labels, labelled, unlabelled, test, seed)?;
            prop_assert_eq!(&per_class(&labels, labelled, unlabelled, test, seed)?, &split);
            let mut seen = vec![false; labels.len()];
            for part in [&split.labelled, &split.unlabelled, &split.test] {
                prop_assert!(part.windows(2).all(|pair| pair[0] < pair[1]));
                for &i in part {
                    prop_assert!(!std::mem::replace(&mut seen[i], true));
                }
            }
            prop_assert!(unlabelled.is_some() || seen.iter().all(|&seen| seen));
            let counts = |part: &[usize]| labels.select(part).counts();
            prop_assert_eq!(counts(&split.labelled), vec![labelled; sizes.len()]);
            prop_assert_eq!(counts(&split.test), vec![test; sizes.len()]);
            let rest: Vec<usize> =
                sizes.iter().map(|size| unlabelled.unwrap_or(size - labelled - test)).collect();
            prop_assert_eq!(counts(&split.unlabelled), rest);
        }

        #[test]
        fn fewer_labels_lie_within_more_and_the_test_samples_stay(
            sizes in prop::collection::vec(8usize..20, 1..5), fewer in 0usize..4, more in 0usize..3,
            seed: u64
        ) {
            let labels = labels(&sizes, 0);
            let small = per_class(&labels, fewer, None, 2, seed)?;
            let large = per_class(&labels, fewer + more, None, 2, seed)?;
            prop_assert_eq!(&small.test, &large.test);
            prop_assert!(small.labelled.iter().all(|i| large.labelled.contains(i)));
        }

        #[test]
        fn unlabelled_and_test_samples_keep_the_class_shares(
            sizes in prop::collection::vec(20usize..60, 1..6), unknown in 0usize..4,
            labelled in 1usize..6, uneven in 1usize..4, test in 0.2f64..0.5, max_test in 1usize..40,
            max_unlabelled in 0usize..60, seed: u64
        ) {
            let labels = labels(&sizes, unknown);
            let shares = Shares { labelled, uneven, test, max_test, max_unlabelled };
            let split = by_shares(&labels, &shares, seed)?;
            prop_assert_eq!(&by_shares(&labels, &shares, seed)?, &split);
            let mut seen = vec![false; labels.len()];
            for part in [&split.labelled, &split.unlabelled, &split.test] {
                prop_assert!(part.windows(2).all(|pair| pair[0] < pair[1]));
                for &i in part {
                    prop_assert!(labels.assigned()[i].is_some());
                    prop_assert!(!std::mem::replace(&mut seen[i], true));
                }
            }
            let counts = |part: &[usize]| labels.select(part).counts();
            let all: usize = sizes.iter().sum();
            let n_test = ((all as f64 * test).ceil() as usize).min(max_test);
            prop_assert_eq!(split.test.len(), n_test);
            // Within one sample of the exact share.
            let close = |count: usize, size: usize, whole: usize, part: usize| {
                (count as f64 - part as f64 * size as f64 / whole.max(1) as f64).abs() < 1.0
            };
            let (given, held) = (counts(&split.labelled), counts(&split.test));
            let left: Vec<usize> = (0..sizes.len()).map(|c| sizes[c] - given[c] - held[c]).collect();
            let whole: usize = left.iter().sum();
            prop_assert_eq!(split.unlabelled.len(), whole.min(max_unlabelled));
            let shown = counts(&split.unlabelled);
            for class in 0..sizes.len() {
                prop_assert!(close(held[class], sizes[class], all, n_test));
                prop_assert!(close(shown[class], left[class], whole, split.unlabelled.len()));
            }
            let fewer = labelled.div_ceil(uneven);
            let n_fewer = if fewer == labelled { 0 } else { sizes.len() / 2 };
            prop_assert_eq!(given.iter().filter(|&&count| count != labelled).count(), n_fewer);
            prop_assert!(given.iter().all(|&count| count == labelled || count == fewer));
            let even = by_shares(&labels, &Shares { uneven: 1, ..shares }, seed)?;
            prop_assert_eq!(&even.test, &split.test);
            prop_assert!(split.labelled.iter().all(|i| even.labelled.contains(i)));
        }
    }
}
