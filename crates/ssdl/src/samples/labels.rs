//! Which class each sample has, where that is known.

use crate::{Error, Result, order};

/// Class names and, for each sample, its class or nothing.
///
/// "Unlabelled" is `None` here; markers such as `-1` or an empty cell exist only in files.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Labels {
    classes: Vec<String>,
    assigned: Vec<Option<usize>>,
}

impl Labels {
    /// Labels by class index; `classes` may name classes that no sample has.
    ///
    /// # Errors
    /// If an index is outside the list of classes, or a name is listed twice.
    pub fn new(classes: Vec<String>, assigned: Vec<Option<usize>>) -> Result<Self> {
        if let Some(&bad) = assigned.iter().flatten().find(|&&class| class >= classes.len()) {
            let n = classes.len();
            return Err(Error::Labels(format!("class index {bad}, but there are {n} classes")));
        }
        let mut sorted: Vec<&String> = classes.iter().collect();
        sorted.sort_unstable();
        if let Some(twice) = sorted.windows(2).find(|pair| pair[0] == pair[1]) {
            return Err(Error::Labels(format!("class `{}` is named twice", twice[0])));
        }
        Ok(Self { classes, assigned })
    }

    /// Labels by name; `None` is unlabelled. Classes are sorted, as numbers if all are numbers.
    #[must_use]
    pub fn from_names<S: AsRef<str>>(names: &[Option<S>]) -> Self {
        let mut classes: Vec<&str> = names.iter().flatten().map(AsRef::as_ref).collect();
        classes.sort_unstable();
        classes.dedup();
        let numbers: Option<Vec<f64>> = classes.iter().map(|name| name.parse().ok()).collect();
        if let Some(numbers) = numbers {
            let mut order: Vec<usize> = (0..classes.len()).collect();
            order::places_by(&mut order, |a, b| numbers[a].total_cmp(&numbers[b]));
            classes = order.into_iter().map(|i| classes[i]).collect();
        }
        let index: std::collections::HashMap<&str, usize> =
            classes.iter().enumerate().map(|(i, &name)| (name, i)).collect();
        let assigned = names.iter().map(|n| n.as_ref().map(|n| index[n.as_ref()])).collect();
        Self { classes: classes.into_iter().map(str::to_owned).collect(), assigned }
    }

    /// Labels of samples that are all unlabelled.
    #[must_use]
    pub fn none(n_samples: usize) -> Self {
        Self { classes: Vec::new(), assigned: vec![None; n_samples] }
    }

    /// The class names, in the order of the class indices.
    #[must_use]
    pub fn classes(&self) -> &[String] {
        &self.classes
    }

    /// Class index of each sample.
    #[must_use]
    pub fn assigned(&self) -> &[Option<usize>] {
        &self.assigned
    }

    /// Number of samples.
    #[must_use]
    pub fn len(&self) -> usize {
        self.assigned.len()
    }

    /// Whether there are no samples.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.assigned.is_empty()
    }

    /// Number of labelled samples.
    #[must_use]
    pub fn n_labelled(&self) -> usize {
        self.assigned.iter().flatten().count()
    }

    /// Indices of the labelled samples, ascending.
    #[must_use]
    pub fn labelled(&self) -> Vec<usize> {
        (0..self.len()).filter(|&place| self.assigned[place].is_some()).collect()
    }

    /// Indices of the unlabelled samples, ascending.
    #[must_use]
    pub fn unlabelled(&self) -> Vec<usize> {
        (0..self.len()).filter(|&place| self.assigned[place].is_none()).collect()
    }

    /// The classes of the labelled samples, in the order of [`Labels::labelled`].
    #[must_use]
    pub fn known_classes(&self) -> Vec<usize> {
        self.assigned.iter().flatten().copied().collect()
    }

    /// Number of labelled samples of each class.
    #[must_use]
    pub fn counts(&self) -> Vec<usize> {
        let mut counts = vec![0; self.classes.len()];
        for &class in self.assigned.iter().flatten() {
            counts[class] += 1;
        }
        counts
    }

    /// The same samples, with only the chosen ones labelled.
    #[must_use]
    pub fn keep_only(&self, labelled: &[usize]) -> Self {
        let mut assigned = vec![None; self.len()];
        for &i in labelled {
            assigned[i] = self.assigned[i];
        }
        Self { classes: self.classes.clone(), assigned }
    }

    /// The labels of the chosen samples, in the order given.
    #[must_use]
    pub fn select(&self, chosen: &[usize]) -> Self {
        let assigned = chosen.iter().map(|&i| self.assigned[i]).collect();
        Self { classes: self.classes.clone(), assigned }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_sort_as_numbers_when_they_are_numbers() {
        let labels = Labels::from_names(&[Some("10"), None, Some("9"), Some("10")]);
        assert_eq!(labels.classes(), ["9", "10"]);
        assert_eq!(labels.assigned(), [Some(1), None, Some(0), Some(1)]);
        let words = Labels::from_names(&[Some("b"), Some("10"), Some("a")]);
        assert_eq!(words.classes(), ["10", "a", "b"]);
    }

    #[test]
    fn bad_indices_and_twins_are_refused() {
        assert!(Labels::new(vec!["a".into()], vec![Some(1)]).is_err());
        assert!(Labels::new(vec!["a".into(), "a".into()], vec![]).is_err());
    }
}
