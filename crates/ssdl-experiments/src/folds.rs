//! Folds of the labels: every sample stays in the fit, those of one fold without their labels.

use ssdl::Labels;
use ssdl::classifier::svm::stratified_folds;

use crate::Result;

/// Maximum number of folds; fewer if a class has fewer labels.
const FOLDS: usize = 5;

/// Samples whose labels are hidden together.
pub(crate) struct Folds {
    /// Indices of the samples, fold by fold.
    pub hidden: Vec<Vec<usize>>,
}

impl Folds {
    /// Distributes the labels of each class evenly; the only label of a class is never hidden.
    /// `None` if that leaves nothing to hide.
    pub fn new(labels: &Labels, seed: u64) -> Option<Self> {
        let counts = labels.counts();
        let count = counts.iter().copied().filter(|&count| count > 1).min()?.min(FOLDS);
        let class_of = |place: usize| labels.assigned()[place].filter(|&class| counts[class] > 1);
        let places: Vec<usize> = (0..labels.len()).filter(|&at| class_of(at).is_some()).collect();
        let classes: Vec<usize> = places.iter().filter_map(|&place| class_of(place)).collect();
        let mut hidden = vec![Vec::new(); count];
        let fold_of = stratified_folds(&classes, count, seed);
        places.iter().zip(fold_of).for_each(|(&place, fold)| hidden[fold].push(place));
        Some(Self { hidden })
    }

    /// The labels without those of one fold.
    pub fn without(&self, fold: usize, labels: &Labels) -> Result<Labels> {
        let mut assigned = labels.assigned().to_vec();
        self.hidden[fold].iter().for_each(|&place| assigned[place] = None);
        Ok(Labels::new(labels.classes().to_vec(), assigned)?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_class_never_loses_its_last_label() {
        let names = ["a", "a", "a", "b", "b", "c"].map(Some);
        let labels = Labels::from_names(&names);
        let folds = Folds::new(&labels, 0).expect("some labels can be hidden");
        assert_eq!((folds.hidden.len(), folds.hidden.iter().map(Vec::len).sum::<usize>()), (2, 5));
        for fold in &folds.hidden {
            assert!(!fold.contains(&5));
            let kept = |class: usize| {
                let of_class = (0..6).filter(|&at| labels.assigned()[at] == Some(class));
                of_class.filter(|at| !fold.contains(at)).count()
            };
            assert!((0..3).all(|class| kept(class) > 0), "{fold:?}");
        }
        assert!(Folds::new(&Labels::from_names(&[Some("a"), Some("b"), None]), 0).is_none());
    }
}
