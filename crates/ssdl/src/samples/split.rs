//! Seeded draws: which samples are labelled, unlabelled or held out.

use crate::random::{self, Purpose};
use crate::{Error, Labels, Result};

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
    if labels.n_labelled() == 0 {
        return Err(Error::Labels("no sample has a class, so there is nothing to draw".into()));
    }
    let mut members = vec![Vec::new(); labels.classes().len()];
    let mut split = Split::default();
    for (sample, class) in labels.assigned().iter().enumerate() {
        match class {
            Some(class) => members[*class].push(sample),
            None if unlabelled.is_none() => split.unlabelled.push(sample),
            None => {}
        }
    }
    let needed = labelled.saturating_add(unlabelled.unwrap_or(0)).saturating_add(test);
    let mut rng = random::stream(seed, Purpose::Split);
    for (name, class) in labels.classes().iter().zip(&mut members) {
        if class.len() < needed {
            return Err(Error::Labels(format!(
                "class `{name}` has {} samples, but {needed} are requested \
                 ({labelled} labelled, {} unlabelled, {test} test)",
                class.len(),
                unlabelled.unwrap_or(0)
            )));
        }
        random::shuffle(class, &mut rng);
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
    }
}
