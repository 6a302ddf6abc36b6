//! Self-training: a classifier labels the samples it is sure of and learns from them, in rounds.

use super::compose::{SVM_SHARPNESS, fit_svm, svm_objective};
use super::request::{Admitted, Found, bytes_of, fit_without_atoms, goes_on};
use super::ridge::fit_ridge;
use super::{Description, LinearSvm, Options, register};
use crate::classifier::svm::{self, Loss};
use crate::classifier::{Decision, LinearClassifier, best, labelled, memberships};
use crate::fit::{Objective, Step, Stop, Watch};
use crate::knobs::{Grid, choice, knobs};
use crate::model::Model;
use crate::{Labels, Matrix, Real, Result, Samples};

choice! {
    /// The classifier that trains itself.
    pub enum Base {
        /// A linear support vector machine.
        Svm = "svm",
        /// Ridge regression of the labels.
        Ridge = "ridge",
    }
}

knobs! {
    /// The knobs of self-training, and the way to fit it from code.
    ///
    /// ```
    /// use ssdl::methods::{Base, SelfTraining};
    /// let method = SelfTraining::new().base(Base::Ridge).threshold(0.8);
    /// ```
    pub struct SelfTraining {
        /// Classifier that is trained, on the prepared samples.
        base "": Base = Base::Svm, OneOf(Base::WORDS);
        /// Probability from which on a sample is labelled.
        threshold "": f64 = 0.5, Between(0.0, 1.0);
        /// Share of the unlabelled samples that one round labels, at the most; 1 sets no limit.
        per_round "": f64 = 0.1, Above(0.0);
        /// Rounds of labelling, at the most.
        max_rounds "": usize = 20, WholeFrom(1);
        /// Box constraints of the `svm`; cross-validation on the given labels takes the best.
        box_constraints "C": Grid = Grid::ascending([0.1, 1.0, 10.0]), SeveralAbove(0.0);
        /// Folds of the cross-validation; cut to the labelled samples of the smallest class.
        folds "": usize = 5, WholeFrom(2);
        /// Loss of the `svm`.
        loss "": Loss = Loss::Hinge, OneOf(Loss::WORDS);
        /// Weight of the size of a `ridge` classifier; tied to the squared length of the samples.
        ridge "μ": f64 = 1.0, Above(0.0);
    }
}

const DESCRIPTION: Description = Description {
    name: "self-training",
    title: "Self-training of a linear classifier",
    reference: "Scudder (1965); Yarowsky (1995)",
    link: "https://doi.org/10.3115/981658.981684",
    objective: r"\min_{W,b,\,\hat y}\ \sum_{i\text{ labelled}}\ell(W^\top x_i+b,\,y_i)
+\sum_{i\text{ sure}}\ell(W^\top x_i+b,\,\hat y_i)+\Omega(W,b)\quad\text{in turns}",
    objective_text: "sum_labelled loss(W'x + b, y) + sum_sure loss(W'x + b, own label) + size(W, b),\n\
labels and classifier in turns",
    summary: "A linear classifier is fitted on the labelled samples, labels the unlabelled ones it \
is most sure of, and is fitted again on all labels, until it is sure of no more. Given labels never \
change, and neither do labels once they are added. A baseline for what unlabelled samples are worth \
without a graph or a dictionary.",
    semi_supervised: true,
    inductive: true,
    uses_graph: false,
    coding: "none",
    published: &[],
};

register!(SelfTraining);

impl SelfTraining {
    /// Fits raw samples, watched, with preparation, seed and threads of your own.
    ///
    /// # Errors
    /// If a knob, the labels or the samples do not allow it, or the memory limit is too low.
    pub fn fit_with<T: Real>(
        &self,
        samples: Samples<T>,
        options: &Options<T>,
        watch: &mut dyn Watch,
    ) -> Result<Model<T>> {
        self.check()?;
        fit_without_atoms(self, samples, options, watch, |admitted, watch| {
            Ok((self.values(), self.train(admitted, options.seed, watch)?))
        })
    }

    /// Bytes that a fit of this size will need at its peak, samples included.
    #[must_use]
    pub fn memory_needed<T: Real>(
        &self,
        n_features: usize,
        n_samples: usize,
        n_classes: usize,
    ) -> u64 {
        let base = LinearSvm::new().memory_needed::<T>(n_features, n_samples, n_classes);
        base.saturating_add(bytes_of::<T>(n_features, n_samples, 3 * n_classes))
    }

    fn train<T: Real>(
        &self,
        admitted: &Admitted<T>,
        seed: u64,
        watch: &mut dyn Watch,
    ) -> Result<Found<T>> {
        let features = &admitted.features;
        let mut labels = admitted.labels.clone();
        let mut base = *self;
        let (mut classifier, mut objective) = base.fit_base(features, &labels, seed, watch)?;
        let n_open = labels.len() - labels.n_labelled();
        let most = (self.per_round * n_open as f64).ceil().clamp(1.0, n_open.max(1) as f64);
        let (mut rounds, mut stop) = (0, Stop::Limit);
        while rounds < self.max_rounds {
            let sure = self.sure(&classifier, features, &labels, most as usize);
            if sure.is_empty() {
                stop = Stop::Converged;
                break;
            }
            let mut assigned = labels.assigned().to_vec();
            sure.into_iter().for_each(|(i, class)| assigned[i] = Some(class));
            labels = Labels::new(labels.classes().to_vec(), assigned)?;
            (classifier, objective) = base.fit_base(features, &labels, seed, watch)?;
            rounds += 1;
            let place = (rounds, self.max_rounds);
            if !goes_on(watch, Step::Classifier, place, Some(objective)) {
                stop = Stop::Cancelled;
                break;
            }
        }
        Ok(Found {
            decision: Decision::Linear(classifier),
            objective,
            iterations: rounds,
            stop,
            graph_seconds: 0.0,
        })
    }

    /// Fits the classifier on all labels there are. The box constraint is chosen in the first call
    /// and kept: labels that the classifier gave itself would speak for whatever gave them.
    fn fit_base<T: Real>(
        &mut self,
        features: &Matrix<T>,
        labels: &Labels,
        seed: u64,
        watch: &mut dyn Watch,
    ) -> Result<(LinearClassifier<T>, Objective)> {
        match self.base {
            Base::Svm => {
                let trainer = svm::LinearSvm { loss: self.loss, seed, ..Default::default() };
                let grid = (self.box_constraints, self.folds);
                let trained = fit_svm(&trainer, features, labels, grid, watch)?;
                self.box_constraints = Grid::new(&[trained.box_constraint]).unwrap_or(grid.0);
                let objective = svm_objective(&trained);
                Ok((trained.classifier, objective))
            }
            Base::Ridge => {
                let known = features.select_columns(&labelled(labels));
                let classes: Vec<usize> = labels.assigned().iter().flatten().copied().collect();
                fit_ridge(&known, &classes, &labels.counts(), self.ridge)
            }
        }
    }

    /// The unlabelled samples that the classifier is sure enough of, with their classes: the surest
    /// first, then those whose best score is furthest above the second, then by index.
    fn sure<T: Real>(
        &self,
        classifier: &LinearClassifier<T>,
        features: &Matrix<T>,
        labels: &Labels,
        most: usize,
    ) -> Vec<(usize, usize)> {
        let open: Vec<usize> =
            (0..labels.len()).filter(|&i| labels.assigned()[i].is_none()).collect();
        let scores = classifier.scores(&features.select_columns(&open));
        let probabilities = memberships(&scores, SVM_SHARPNESS);
        let mut sure: Vec<(f64, f64, usize, usize)> = Vec::new();
        for (at, &i) in open.iter().enumerate() {
            let column = scores.column(at);
            let class = best(column);
            let probability = probabilities.column(at)[class].wide();
            let others = column.iter().enumerate().filter(|(c, _)| *c != class);
            let second = others.fold(f64::NEG_INFINITY, |top, (_, s)| top.max(s.wide()));
            if probability >= self.threshold {
                sure.push((probability, column[class].wide() - second, i, class));
            }
        }
        sure.sort_by(|a, b| {
            let margins = b.1.total_cmp(&a.1);
            b.0.total_cmp(&a.0).then(margins).then(a.2.cmp(&b.2))
        });
        sure.into_iter().take(most).map(|(_, _, i, class)| (i, class)).collect()
    }
}
