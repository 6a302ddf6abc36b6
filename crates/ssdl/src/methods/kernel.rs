//! Least squares with a Gaussian kernel on the labelled samples: the member of the choice among methods for classes
//! that distances tell apart.

use super::{Description, Learner, Ridge};
use crate::classifier::{Decision, KernelClassifier};
use crate::fit::{Given, Learnt, Objective, Sizes, Stop, Turns, array};
use crate::{Real, Result};

crate::knobs! {
    /// The knobs of kernel least squares.
    pub struct KernelRidge {
        /// Labelled samples that are kept, about, at most.
        n_support "": usize = 2000, WholeFrom(2);
    }
}

impl Learner for KernelRidge {
    const DESCRIPTION: Description = Description {
        name: "kernel",
        class: "KernelRidge",
        title: "Least squares with a Gaussian kernel on the labelled samples",
        reference: "Suykens, Vandewalle (1999)",
        link: "https://doi.org/10.1023/A:1018628609742",
        objective: r"\min_{\alpha,b}\ \sum_{i\text{ labelled}}\frac{N_l}{CN_{y_i}}\lVert s(x_i)-y_i\rVert^2
+\lambda\operatorname{tr}(\alpha^\top K\alpha)",
        objective_text: "sum_labelled |scores - targets|^2 / size of its class + ridge tr(a'Ka)",
        summary: "A bump around each labelled sample; width and ridge by leaving out one label at a time.",
        ..Ridge::DESCRIPTION
    };

    fn uses_weights(&self) -> bool {
        true
    }

    fn bytes(&self, sizes: &Sizes) -> u64 {
        let side = sizes.n_samples.min(self.n_support.saturating_add(sizes.n_classes));
        let systems = array(side, side, 8).saturating_mul(6);
        let copies = array(sizes.n_features, sizes.n_samples, 8).saturating_mul(2);
        let own = sizes.bytes(2 * sizes.n_classes).saturating_mul(2);
        own.saturating_add(systems).saturating_add(copies)
    }

    /// Cost: $S^3+nS^2$ for $S$ labelled samples, $nSN$ for the scores of all.
    fn learn<T: Real>(&self, given: &Given<'_, T>, turns: &mut Turns<'_>) -> Result<Learnt<T>> {
        let (known, _) = given.labelled();
        let of_samples = (&*given.label_weights(), given.lengths.as_deref());
        let found = KernelClassifier::train((&known, &given.labels), of_samples, self.n_support)?;
        turns.end(1, Objective::default());
        Ok(Learnt::without_atoms(Decision::kernel(found), Stop::Converged))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fit::Silent;
    use crate::methods::{Auto, FitOptions};
    use crate::model::Model;
    use crate::random::{self, Purpose, normal};
    use crate::{Labels, Matrix, Samples};

    /// A cloud within another; the labels of the first `n_labels`.
    fn ring<T: Real>(n_labels: usize) -> (Samples<T>, Vec<usize>) {
        let mut rng = random::stream(4, Purpose::Noise);
        let wide = |j: usize| if j.is_multiple_of(2) { 1.0 } else { 3.0 };
        let features = Matrix::from_fn(12, 240, |_, j| T::of(wide(j) * normal(&mut rng)));
        let truth: Vec<usize> = (0..240).map(|j| j % 2).collect();
        let assigned = truth.iter().enumerate().map(|(j, &c)| (j < n_labels).then_some(c));
        let labels = Labels::new(vec!["in".into(), "out".into()], assigned.collect());
        (Samples::new(features, labels.expect("sound")).expect("sound"), truth)
    }

    fn fitted<T: Real>(method: &impl Learner, n_labels: usize, threads: usize) -> Model<T> {
        let prepare = ["standardise", "scale=5"].map(|step| step.parse().expect("a step")).to_vec();
        let options = FitOptions { prepare, threads, calibrate: true, ..FitOptions::default() };
        method.fit_with(ring(n_labels).0, &options, &mut Silent).expect("fits")
    }

    /// Everything a user may ask of a model, and the accuracy on samples without labels.
    fn asked<T: Real>(model: &Model<T>, n_labels: usize) -> f64 {
        let (samples, truth) = ring::<T>(n_labels);
        let bytes = model.to_bytes().expect("sound");
        let again = Model::<T>::from_bytes(&bytes).expect("sound");
        let found = model.transduction();
        assert_eq!(found.probabilities, again.transduction().probabilities);
        assert_eq!(bytes, again.to_bytes().expect("sound"));
        let new = model.predict(samples.features().clone()).expect("predicts");
        let same = again.predict(samples.features().clone()).expect("predicts");
        assert_eq!((&new.scores, &new.probabilities), (&same.scores, &same.probabilities));
        assert!(new.probabilities.as_slice().iter().all(|p| *p > T::zero() && *p < T::one()));
        assert_eq!(model.explain(&[0, 100]).expect("explains").len(), 2);
        assert_eq!(model.explain_new(samples.features().clone()).expect("explains").len(), 240);
        assert_eq!(model.query(5).expect("asks").len(), 5);
        let open = n_labels..240;
        let right = open.clone().filter(|&j| found.classes[j] == truth[j]).count();
        right as f64 / open.len() as f64
    }

    #[test]
    fn a_model_of_a_kernel_alone_answers_everything() {
        let model = fitted::<f64>(&KernelRidge::new(), 40, 1);
        assert!(asked(&model, 40) > 0.9);
        let other = fitted::<f64>(&KernelRidge::new(), 40, 2);
        assert_eq!(model.to_bytes().expect("sound"), other.to_bytes().expect("sound"));
        assert!(asked(&fitted::<f32>(&KernelRidge::new(), 40, 2), 40) > 0.9);
        // One label a class.
        asked(&fitted::<f64>(&KernelRidge::new(), 2, 1), 2);
        let few = fitted::<f64>(&KernelRidge::new().n_support(10), 40, 1);
        assert!(few.to_bytes().expect("sound").len() < model.to_bytes().expect("sound").len());
        asked(&few, 40);
    }

    #[test]
    fn auto_leaves_a_cloud_within_another_to_the_kernel() {
        let model = fitted::<f64>(&Auto::new(), 40, 2);
        let compared = &model.report().compared;
        let kernel = compared.iter().find(|member| member.method == "kernel").expect("a member");
        assert!(compared.iter().all(|member| member.weight <= kernel.weight), "{compared:?}");
        assert!(asked(&model, 40) > 0.9);
        asked(&fitted::<f32>(&Auto::new(), 40, 1), 40);
    }
}
