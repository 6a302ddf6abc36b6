//! The member of `auto` that tells classes apart by distances, alone and among others.

use ssdl::fit::Silent;
use ssdl::methods::{Auto, FitOptions, KernelRidge};
use ssdl::prelude::*;
use ssdl::random::{self, Purpose, normal};
use ssdl::{Labels, Matrix, Model, Real, Samples};

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
