//! Contracts of every way to decide, and class residuals on a dictionary made by hand.

use crate::common::{apart, assert_distributions, noise, options, small_problem};
use ssdl::classifier::{Coded, Decision, Known, Residual};
use ssdl::fit::Silent;
use ssdl::{Labels, Matrix, Real};

/// Two atoms of class a, one of b, none of c, in a space of three dimensions.
fn by_hand<T: Real>() -> (Matrix<T>, Residual, Labels) {
    let atoms = Matrix::from_fn(3, 3, |i, k| {
        T::of([[1.0, 0.0, 0.0], [0.6, 0.8, 0.0], [0.0, 0.0, 1.0]][k][i])
    });
    let residual = Residual {
        class_of_atoms: vec![Some(0), Some(0), Some(1)],
        n_classes: 3,
        sharpness: 2.0,
        cost: 0.0,
    };
    let labels =
        Labels::new(vec!["a".into(), "b".into(), "c".into()], vec![Some(0), None]).unwrap();
    (atoms, residual, labels)
}

fn residuals<T: Real>() {
    let (atoms, residual, labels) = by_hand::<T>();
    let samples = Matrix::from_fn(3, 2, |i, j| T::of([[2.0, 1.0, 1.0], [0.1, 0.0, 3.0]][j][i]));
    let codes = Matrix::from_fn(3, 2, |k, j| T::of([[1.0, 1.5, 0.5], [0.0, 0.0, 2.0]][j][k]));
    let decision = Decision::residual(residual);
    let known =
        Known { atoms: Some(&atoms), codes: &codes, samples: Some(&samples), labels: &labels };
    let new = Coded { samples: &samples, codes: &codes, lengths: None };
    let verdict = decision.judge(&known, &new).unwrap();
    // First sample: a explains (1.9, 1.2, 0), b explains (0, 0, 0.5), c nothing.
    let expected = [2.0 * 5.0 - (3.61 + 1.44), 2.0 * 0.5 - 0.25, 0.0];
    for (class, expected) in expected.iter().enumerate() {
        let found = verdict.scores.column(0)[class].wide();
        assert!((found - expected).abs() < 1e-5, "class {class}: {found} {expected}");
    }
    // With r = 2 probabilities are proportional to the inverse of the squared residual.
    let errors = [0.01 + 0.04 + 1.0, 4.0 + 1.0 + 0.25, 6.0].map(|error: f64| 1.0 / error);
    let sum: f64 = errors.iter().sum();
    for (class, error) in errors.iter().enumerate() {
        let found = verdict.probabilities.column(0)[class].wide();
        assert!((found - error / sum).abs() < 1e-5, "class {class}: {found}");
    }
    assert_distributions(&verdict.probabilities);
    assert!(verdict.scores.column(1)[1] > verdict.scores.column(1)[0]);
    assert_eq!(decision.of_training(&known), verdict, "the training samples are these");
    // The votes of all atoms are the score, to the last digit or two.
    for sample in 0..2 {
        let both = (samples.column(sample), codes.column(sample));
        let mut sums = vec![0.0; 3];
        for atom in 0..3 {
            let votes = decision.votes(&known, both, atom);
            sums.iter_mut().zip(votes).for_each(|(sum, vote)| *sum += vote.wide());
        }
        let scores: Vec<f64> = verdict.scores.column(sample).iter().map(|s| s.wide()).collect();
        assert!(apart(&sums, &scores) < 1e2 * T::epsilon().wide(), "{sums:?} {scores:?}");
    }
    let of_atoms: Vec<usize> =
        decision.class_of_atoms().into_iter().map(|class| class.unwrap().0).collect();
    assert_eq!(of_atoms, [0, 0, 1]);
    assert!(decision.needs_samples() && decision.classifier().is_none());
    assert!(decision.voting().is_none() && decision.sharpness() == Some(2.0));
}

#[test]
fn class_residuals_are_scores_votes_and_probabilities() {
    residuals::<f64>();
    residuals::<f32>();
}

#[test]
fn a_class_whose_atoms_give_the_sample_back_is_certain() {
    let (atoms, residual, labels) = by_hand::<f64>();
    let codes = Matrix::from_fn(3, 1, |k, _| [1.0, 2.0, 0.0][k]);
    let samples = Matrix::of_product(atoms.view(), codes.view());
    let known = Known { atoms: Some(&atoms), codes: &codes, samples: None, labels: &labels };
    let new = Coded { samples: &samples, codes: &codes, lengths: None };
    let verdict = Decision::residual(residual).judge(&known, &new).unwrap();
    assert_eq!(verdict.probabilities.column(0), [1.0, 0.0, 0.0]);
}

/// Every method predicts what its decision gives.
fn decides<T: Real>(method: &dyn ssdl::methods::Method<T>) {
    let (samples, _) = small_problem::<T>(3);
    let model = method.fit(&[], samples, &options(), &mut Silent).unwrap();
    let seen = model.see(noise(12, 9, 4)).unwrap();
    let prediction = model.judge(&seen).unwrap();
    assert_distributions(&prediction.probabilities);
    let again = model.predict(noise(12, 9, 4)).unwrap();
    assert_eq!((again.scores, again.codes), (prediction.scores.clone(), prediction.codes.clone()));
    let twice = model.judge(&model.see_again(&seen).unwrap()).unwrap();
    assert_eq!(twice.scores, prediction.scores, "seen again by the same model");
    let name = method.describe().name;
    let n_parts = model.codes().rows();
    let of_atoms = model.decision().class_of_atoms();
    let votes = model.decision().voting().is_some();
    assert_eq!(of_atoms.len(), if votes { 0 } else { n_parts }, "{name}");
    let n_classes = model.classes().len();
    assert!(of_atoms.iter().flatten().all(|(class, _)| *class < n_classes), "{name}");
    for (place, explained) in
        [4, 0].into_iter().zip(model.explain_seen(&seen, &prediction, &[4, 0]).unwrap())
    {
        assert_eq!(explained.class, prediction.classes[place], "{name}");
        assert_eq!(explained.scores, prediction.scores.column(place), "{name}");
    }
}

#[test]
fn every_method_predicts_what_its_decision_gives() {
    for_every_method!(decides);
}
