//! How new samples join a graph: the contract of every rule.

use crate::common::graphs::{built, graphs};
use crate::common::{apart, clouds, noise, options, small_problem};
use ssdl::fit::Silent;
use ssdl::graph::Anchors;
use ssdl::graph::GraphChoice;
use ssdl::methods::{FitOptions, GraphSc};
use ssdl::prelude::*;
use ssdl::{Matrix, Real};

/// Ties and strength of one new sample.
fn tie<T: Real>(anchors: &Anchors<T>, i: usize) -> (Vec<(usize, T)>, T) {
    (anchors.of(i).collect(), anchors.strength(i))
}

fn independent_in<T: Real>() {
    let (samples, _) = clouds::<T>(3, 8, 60, 1);
    let (mut new, _) = clouds::<T>(3, 8, 70, 2);
    // A far sample, and two that stand where training samples are.
    new.column_mut(3).iter_mut().for_each(|x| *x *= T::of(1e4));
    new.column_mut(5).copy_from_slice(samples.column(17));
    new.column_mut(66).copy_from_slice(samples.column(18));
    for (name, graph) in graphs(&samples, 4) {
        let attachment = built(&*graph, &samples).at_strength(true).attachment;
        let together = attachment.anchor(&samples, &new).unwrap();
        for chosen in [vec![0], vec![5], vec![66, 3], vec![40, 5, 66, 8, 3], (30..70).collect()] {
            let few = attachment.anchor(&samples, &new.select_columns(&chosen)).unwrap();
            for (at, &i) in chosen.iter().enumerate() {
                let what = format!("{name}, {}: sample {i} among {}", T::NAME, chosen.len());
                assert_eq!(tie(&few, at), tie(&together, i), "{what}");
            }
        }
    }
}

#[test]
fn a_new_sample_joins_the_same_way_alone_and_among_others() {
    independent_in::<f64>();
    independent_in::<f32>();
}

fn training_samples_in<T: Real>() {
    let samples = noise::<T>(20, 40, 3);
    for (name, graph) in graphs(&samples, 3) {
        for normalise in [false, true] {
            let attachment = built(&*graph, &samples).at_strength(normalise).attachment;
            let anchors = attachment.anchor(&samples, &samples).unwrap();
            for i in 0..samples.columns() {
                let what = format!("{name}, {normalise}, {}: sample {i}", T::NAME);
                let (row, strength) = tie(&anchors, i);
                assert!(strength > T::zero(), "{what} is not held");
                let own = row.iter().find(|(j, _)| *j == i).unwrap().1;
                assert!(row.iter().all(|(_, w)| *w <= own), "{what}: {row:?}");
                // Mixtures can do without the others; kernels cannot.
                if name == "lle" || name.starts_with("given") {
                    assert!((0.97..1.001).contains(&own.wide()), "{what}: {own}");
                }
            }
        }
    }
}

#[test]
fn a_training_sample_is_its_own_first_anchor() {
    training_samples_in::<f64>();
    training_samples_in::<f32>();
}

/// Codes of new samples if nothing but the graph counted.
fn means<T: Real>(anchors: &Anchors<T>, codes: &Matrix<T>, count: usize) -> Matrix<T> {
    let mut means = Matrix::zeros(codes.rows(), count);
    for i in 0..count {
        for (j, weight) in anchors.of(i) {
            ssdl::matrix::axpy(weight, codes.column(j), means.column_mut(i));
        }
    }
    means
}

#[test]
fn a_huge_graph_term_gives_the_mean_of_the_codes_of_the_anchors() {
    let choices =
        [GraphChoice::Lle, GraphChoice::Heat, GraphChoice::Threshold, GraphChoice::Learnt];
    let (new, _) = clouds::<f64>(3, 12, 20, 4);
    for choice in choices {
        let (samples, _) = small_problem::<f64>(4);
        let training = samples.features().clone();
        // Samples as they are: the attachment needs the samples of the graph.
        let options = FitOptions { prepare: Vec::new(), ..options() };
        let knobs = GraphSc::new().n_atoms(15).graph(choice).max_iterations(2).sparsity(0.05);
        let model = knobs.manifold(1e7).fit_with(samples, &options, &mut Silent).unwrap();
        let anchors = model.attachment().unwrap().anchor(&training, &new).unwrap();
        let expected = means(&anchors, model.codes(), new.columns());
        let found = model.code(new.clone()).unwrap();
        let held: Vec<usize> = (0..new.columns()).filter(|&i| anchors.strength(i) > 1e-3).collect();
        assert!(held.len() > new.columns() / 2, "{choice:?}: {}", held.len());
        let (found, expected) = (found.select_columns(&held), expected.select_columns(&held));
        assert!(expected.squared_norm() > 1e-6, "{choice:?}: the codes say something");
        let distance = apart(found.as_slice(), expected.as_slice());
        assert!(distance < 1e-2, "{choice:?}: {distance:e} apart");
    }
}

#[test]
fn only_kernels_pull_half_as_much_on_new_samples_as_printed() {
    for (choice, halved) in [
        (GraphChoice::Lle, false),
        (GraphChoice::Heat, true),
        (GraphChoice::Threshold, true),
        (GraphChoice::Learnt, false),
    ] {
        let scale = |halve_new: bool| {
            let (samples, _) = small_problem::<f64>(5);
            let knobs = GraphSc::new().n_atoms(9).graph(choice).max_iterations(1);
            let model =
                knobs.halve_new(halve_new).fit_with(samples, &options(), &mut Silent).unwrap();
            model.attachment().unwrap().scale
        };
        let expected = if halved { 0.5 } else { 1.0 };
        assert_eq!(scale(true) / scale(false), expected, "{choice:?}");
    }
}
