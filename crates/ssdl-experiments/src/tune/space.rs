//! The settings to try: which knobs, which values, in which order.

use std::collections::BTreeSet;

use ssdl::Real;
use ssdl::methods::Method;
use ssdl::random::{Purpose, stream, uniform};

/// From this number of features on, the numbers of atoms to try do not depend on it.
const MANY: usize = 100;

/// Knobs to change together.
pub(super) type Changes = Vec<(&'static str, String)>;

/// Names of the methods that have knobs to search.
pub(super) fn searchable<T: Real>() -> String {
    let all = ssdl::methods::all::<T>();
    let some = all.into_iter().filter(|method| !stages(*method, &[], MANY).is_empty());
    some.map(|method| method.describe().name).collect::<Vec<_>>().join(", ")
}

/// Knobs that are searched, each with the values of the stages and whether it is a whole number: sparsity, which
/// matters most (with the preparation, which the search adds), then all others one at a time, then those that act on
/// the votes.
fn ranges(n_features: usize) -> [Vec<(&'static str, Vec<f64>, bool)>; 3] {
    let few = n_features.max(2) as f64;
    let atoms = if n_features >= MANY {
        vec![100.0, 200.0, 300.0]
    } else {
        vec![few, 2.0 * few, 4.0 * few]
    };
    [
        vec![("sparsity", vec![0.1, 0.2, 0.3, 0.5, 0.8], false)],
        vec![
            ("n_atoms", atoms, true),
            ("manifold", vec![0.1, 0.25, 0.5, 1.0, 2.0], false),
            ("n_neighbors", vec![4.0, 6.0, 8.0, 12.0], true),
        ],
        vec![
            ("discrimination", vec![0.1, 0.25, 0.5, 1.0, 2.0], false),
            ("sharpness", vec![1.3, 1.5, 1.7, 2.0, 2.5], false),
        ],
    ]
}

/// Whether a method has a knob that the user did not fix.
fn is_free<T: Real>(method: &dyn Method<T>, fixed: &[(String, String)], name: &str) -> bool {
    method.knobs().iter().any(|knob| knob.name == name) && fixed.iter().all(|(own, _)| own != name)
}

/// The stages of the search, each a list of candidates. Knobs that the method lacks or the user fixed are omitted.
pub(super) fn stages<T: Real>(
    method: &dyn Method<T>,
    fixed: &[(String, String)],
    n_features: usize,
) -> Vec<Vec<Changes>> {
    let stages = ranges(n_features).into_iter().map(|stage| {
        let free = stage.into_iter().filter(|(name, ..)| is_free(method, fixed, name));
        let each = |(name, values, _): (&'static str, Vec<f64>, bool)| {
            values.into_iter().map(move |value| vec![(name, value.to_string())])
        };
        free.flat_map(each).collect()
    });
    stages.filter(|stage: &Vec<Changes>| !stage.is_empty()).collect()
}

/// Draws for each setting that is asked for, at most: where few values are free, there are not as many settings.
const DRAWS: usize = 20;

/// As many different settings at random, each with all free knobs between the smallest and the largest value of the
/// stages, evenly by their logarithm; fewer where there are not as many.
pub(super) fn drawn<T: Real>(
    method: &dyn Method<T>,
    fixed: &[(String, String)],
    (n_features, count, seed): (usize, usize, u64),
) -> Vec<Changes> {
    let mut random = stream(seed, Purpose::Settings);
    let free: Vec<_> = ranges(n_features).into_iter().flatten().collect();
    let free = free.into_iter().filter(|(name, ..)| is_free(method, fixed, name));
    let free: Vec<(&str, Vec<f64>, bool)> = free.collect();
    let mut draw = |(name, values, is_whole): &(&'static str, Vec<f64>, bool)| {
        let (low, high) =
            (values.iter().copied().reduce(f64::min)?, values.iter().copied().reduce(f64::max)?);
        let value = low * (high / low).powf(uniform(&mut random));
        // Three digits tell settings apart; more would only be longer.
        let text = if *is_whole {
            value.round().to_string()
        } else {
            format!("{value:.2e}").parse::<f64>().ok()?.to_string()
        };
        Some((*name, text))
    };
    let mut found: Vec<Changes> = Vec::with_capacity(count);
    let mut seen = BTreeSet::new();
    let mut left = DRAWS * count;
    while found.len() < count && left > 0 {
        let setting: Changes = free.iter().filter_map(&mut draw).collect();
        if seen.insert(setting.clone()) {
            found.push(setting);
        }
        left -= 1;
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use ssdl::methods;

    #[test]
    fn drawn_settings_stay_between_the_values_of_the_stages_and_repeat_by_seed() {
        let method = methods::find::<f64>("ssdl-ga").expect("known");
        let fixed = [("manifold".to_owned(), "1".to_owned())];
        let all = drawn(method, &fixed, (784, 60, 3));
        assert_eq!((all.len(), &all), (60, &drawn(method, &fixed, (784, 60, 3))));
        assert_ne!(all, drawn(method, &fixed, (784, 60, 4)));
        for changes in &all {
            let names: Vec<&str> = changes.iter().map(|(name, _)| *name).collect();
            assert_eq!(
                names,
                ["sparsity", "n_atoms", "n_neighbors", "discrimination", "sharpness"]
            );
            for (name, text) in changes {
                let value: f64 = text.parse().expect("a number");
                let range = ranges(784).into_iter().flatten().find(|(own, ..)| own == name);
                let (_, values, is_whole) = range.expect("one of them");
                assert!(values[0] <= value && value <= values[values.len() - 1], "{name}={text}");
                assert!(!is_whole || value.fract() == 0.0, "{name}={text}");
            }
        }
        let sparsities: Vec<&String> = all.iter().map(|changes| &changes[0].1).collect();
        assert!(sparsities.iter().any(|one| **one != *sparsities[0]));
        let svm = methods::find::<f64>("linear-svm").expect("known");
        assert_eq!(drawn(svm, &[], (784, 2, 0)), [Vec::new()]);
        // Nine values of one knob are nine settings, however many are asked for.
        let names = ["sparsity", "n_atoms", "manifold", "discrimination", "sharpness"];
        let fixed = names.map(|name| (name.to_owned(), "1".to_owned()));
        let mut few = drawn(method, &fixed, (784, 200, 0));
        few.sort();
        let numbers = (4..=12).map(|k| vec![("n_neighbors", k.to_string())]);
        let mut all: Vec<Changes> = numbers.collect();
        all.sort();
        assert_eq!(few, all);
    }
}
