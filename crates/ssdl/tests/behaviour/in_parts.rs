//! Fits whose samples lie in several parts: nearly the objective of one part, never a rise, and the same bits for
//! the same parts.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use crate::common::{clouds, label_first, options, pairs};
use ssdl::fit::parts::{Crew, Cuts, InProcess, Round};
use ssdl::fit::{Silent, Step};
use ssdl::graph::GraphKnobs;
use ssdl::methods::{self, FitOptions};
use ssdl::{Error, Labels, Matrix, Model, Real, Result, Samples};

const COUNT: usize = 1500;
const KNOBS: [(&str, &str); 3] = [("n_atoms", "40"), ("max_iterations", "8"), ("tolerance", "0")];

/// Samples of length about 4 on bent sheets, one for each class: few dimensions within many features, as data have
/// where a graph helps.
fn problem<T: Real>() -> (Matrix<T>, Labels, Vec<usize>) {
    let truth: Vec<usize> = (0..COUNT).map(|j| j % 4).collect();
    let (noise, _) = clouds::<f64>(4, 20, COUNT, 11);
    let features = Matrix::from_fn(20, COUNT, |i, j| {
        let (u, v) = ((j * 37 % 101) as f64 / 101.0, (j * 53 % 97) as f64 / 97.0);
        let wave = (1.0 + i as f64 * 0.37) * u + (0.5 + (i % 5) as f64) * v;
        let turn = i as f64 * 1.7 + truth[j] as f64 * 0.9 + 1.5 * wave;
        T::of(1.2 * turn.sin() + 0.1 * noise.column(j)[i])
    });
    (features, label_first(&truth, 4, 8), truth)
}

fn crew<T: Real>(n_parts: usize, graph: bool, at_random: bool) -> InProcess<T> {
    let (features, labels, _) = problem::<T>();
    let built = GraphKnobs::new().build(&features).unwrap();
    let part_of = match at_random {
        true => (0..COUNT).map(|j| j % n_parts).collect(),
        false => Cuts::new(&features, n_parts).parts_of(&features),
    };
    let laplacian = graph.then_some(&built.laplacian);
    InProcess::new(&features, labels.assigned(), laplacian, &part_of).unwrap()
}

fn fitted<T: Real>(
    method: &str,
    knobs: &[(&str, &str)],
    crew: Option<Arc<dyn Crew>>,
) -> Result<Model<T>> {
    let (features, labels, _) = problem::<T>();
    let samples = Samples::new(features, labels).unwrap();
    let options = FitOptions { crew, prepare: Vec::new(), ..options() };
    let others = KNOBS.iter().filter(|(name, _)| knobs.iter().all(|(own, _)| own != name));
    let knobs = pairs(&others.chain(knobs).copied().collect::<Vec<_>>());
    methods::find::<T>(method)?.fit(&knobs, samples, &options, &mut Silent)
}

fn total<T: Real>(model: &Model<T>) -> f64 {
    model.report().objective.total()
}

fn accuracy<T: Real>(model: &Model<T>, truth: &[usize]) -> f64 {
    let found = model.transduction().classes;
    found.iter().zip(truth).filter(|(a, b)| a == b).count() as f64 / truth.len() as f64
}

/// No coding step ends above where it began, but for rounding.
fn assert_descent<T: Real>(model: &Model<T>, what: &str) {
    let trace = &model.report().trace;
    for pair in trace.windows(2).filter(|pair| pair[1].step == Step::Codes) {
        let (before, after) = (pair[0].surrogate, pair[1].surrogate);
        assert!(after <= before * (1.0 + 1e-5), "{what}: {before} to {after}");
    }
}

fn parts_reach_the_objective_of_one<T: Real>() {
    let (_, _, truth) = problem::<T>();
    for (method, graph) in [("ssdl-ga", true), ("ussdl", false)] {
        let knobs = [("max_iterations", "12")];
        let whole = fitted::<T>(method, &knobs, None).unwrap();
        for (n_parts, bound) in [(1, 1e-4), (2, 0.005), (5, 0.005)] {
            let crew: Arc<dyn Crew> = Arc::new(crew::<T>(n_parts, graph, false));
            let parts = fitted::<T>(method, &knobs, Some(crew)).unwrap();
            let ratio = total(&parts) / total(&whole);
            assert!((ratio - 1.0).abs() < bound, "{method}, {n_parts} parts: {ratio}");
            let (here, there) = (accuracy(&whole, &truth), accuracy(&parts, &truth));
            assert!((here - there).abs() <= 0.02, "{method}, {n_parts}: {here} {there}");
            assert_descent(&parts, method);
            assert_eq!(parts.codes().columns(), COUNT);
        }
    }
}

#[test]
fn parts_reach_the_objective_of_one_in_both_precisions() {
    parts_reach_the_objective_of_one::<f32>();
    parts_reach_the_objective_of_one::<f64>();
}

#[test]
fn the_same_parts_give_the_same_bits() {
    let (a, b) = (fitted_codes(3), fitted_codes(3));
    assert!(a == b);
    assert!(a != fitted_codes(2), "the bits depend on the parts");
}

#[test]
fn parts_recount_together() {
    let knobs = [("prior", "recounted"), ("max_iterations", "3")];
    let whole = fitted::<f64>("ussdl", &knobs, None).unwrap();
    let crew: Arc<dyn Crew> = Arc::new(crew::<f64>(4, false, true));
    let parts = fitted::<f64>("ussdl", &knobs, Some(crew)).unwrap();
    let ratio = total(&parts) / total(&whole);
    assert!((ratio - 1.0).abs() < 1e-4, "{ratio}");
}

fn fitted_codes(n_parts: usize) -> (Matrix<f32>, Matrix<f32>) {
    let crew: Arc<dyn Crew> = Arc::new(crew::<f32>(n_parts, true, false));
    let model = fitted::<f32>("ssdl-ga", &[], Some(crew)).unwrap();
    (model.codes().clone(), model.atoms().unwrap().clone())
}

#[test]
fn parts_at_random_descend_with_a_strong_graph() {
    let knobs = [("manifold", "20")];
    let whole = fitted::<f64>("ssdl-ga", &knobs, None).unwrap();
    let crew: Arc<dyn Crew> = Arc::new(crew::<f64>(6, true, true));
    let parts = fitted::<f64>("ssdl-ga", &knobs, Some(crew)).unwrap();
    assert_descent(&parts, "at random");
    let ratio = total(&parts) / total(&whole);
    assert!(ratio < 1.1, "{ratio}");
}

#[test]
fn frozen_points_work_in_parts() {
    let knobs = [("active_points", "frozen"), ("voting", "paper")];
    let whole = fitted::<f64>("ssdl-ga", &knobs, None).unwrap();
    let crew: Arc<dyn Crew> = Arc::new(crew::<f64>(2, true, false));
    let parts = fitted::<f64>("ssdl-ga", &knobs, Some(crew)).unwrap();
    let ratio = total(&parts) / total(&whole);
    // Frozen points give no objective that must fall.
    assert!((ratio - 1.0).abs() < 0.05, "{ratio}");
}

/// A crew that keeps checkpoints, and that fails after so many steps.
struct Mortal {
    inner: Arc<InProcess<f64>>,
    steps_left: AtomicUsize,
    kept: Arc<Mutex<Option<Kept>>>,
}

/// Iteration, progress and states of a checkpoint.
type Kept = (usize, Vec<u8>, Vec<Vec<u8>>);

impl Crew for Mortal {
    fn n_parts(&self) -> usize {
        self.inner.n_parts()
    }

    fn counts(&self) -> (usize, usize) {
        self.inner.counts()
    }

    fn step(&self, message: &[u8], round: Round) -> Result<Vec<Vec<u8>>> {
        if self.steps_left.fetch_sub(1, Ordering::Relaxed) == 0 {
            return Err(Error::Samples("the worker is gone".into()));
        }
        self.inner.step(message, round)
    }

    fn keep(&self, iteration: usize, progress: &[u8]) -> Result<()> {
        let kept = (iteration, progress.to_vec(), self.inner.states());
        *self.kept.lock().unwrap() = Some(kept);
        Ok(())
    }

    fn earlier(&self) -> Option<(usize, Vec<u8>)> {
        let kept = self.kept.lock().unwrap();
        let (iteration, progress, states) = kept.as_ref()?;
        self.inner.set_states(states.clone());
        Some((*iteration, progress.clone()))
    }
}

#[test]
fn a_fit_goes_on_after_its_last_checkpoint_as_if_nothing_had_happened() {
    let kept = Arc::new(Mutex::new(None));
    let run = |steps: usize, kept: &Arc<Mutex<Option<Kept>>>| {
        let inner = Arc::new(crew::<f64>(3, true, false));
        let crew = Mortal { inner, steps_left: AtomicUsize::new(steps), kept: kept.clone() };
        fitted::<f64>("ssdl-ga", &[], Some(Arc::new(crew)))
    };
    let whole = run(usize::MAX, &Arc::default()).unwrap();
    let failure = run(60, &kept).map(drop).expect_err("a step fails").to_string();
    assert!(failure.contains("the worker is gone"), "{failure}");
    let reached = kept.lock().unwrap().as_ref().map(|(iteration, ..)| *iteration).unwrap();
    assert!((1..8).contains(&reached), "{reached}");
    let resumed = run(usize::MAX, &kept).unwrap();
    assert_eq!(resumed.report().iterations, whole.report().iterations);
    assert!(resumed.codes() == whole.codes() && resumed.atoms() == whole.atoms());
}

#[test]
fn what_does_not_work_in_parts_is_refused_with_its_name() {
    let crew = || -> Option<Arc<dyn Crew>> { Some(Arc::new(crew::<f64>(2, true, false))) };
    let cases = [
        ("ssdl-ga", ("graph", "heat"), "`graph`"),
        ("ssdl-ga", ("denoise", "2"), "`denoise`"),
        ("ssdl-ga", ("normalise_trace", "true"), "`normalise_trace`"),
        ("ssdl-ga", ("coder", "fista"), "`coder`"),
        ("graph-sc", ("manifold", "1"), "`graph-sc`"),
    ];
    for (method, knob, word) in cases {
        let error = fitted::<f64>(method, &[knob], crew()).map(drop).expect_err(word).to_string();
        assert!(error.contains(word), "{error}");
    }
}

#[test]
fn a_graph_of_affinities_has_no_parts() {
    let (features, labels, _) = problem::<f64>();
    let heat = GraphKnobs::new().graph(ssdl::graph::GraphChoice::Heat).build(&features).unwrap();
    let parts = vec![0; COUNT];
    let error = InProcess::new(&features, labels.assigned(), Some(&heat.laplacian), &parts);
    assert!(error.map(drop).expect_err("affinities").to_string().contains("`lle`"));
}

#[test]
fn samples_count_by_their_weights_in_parts_too() {
    // One label in three counts ten times as much, and unlabelled samples differ as well.
    let (features, labels, _) = problem::<f64>();
    let mut weights: Vec<f64> = (0..COUNT).map(|j| if j % 3 == 0 { 10.0 } else { 1.0 }).collect();
    let known = labels.labelled();
    let mean = known.iter().map(|&j| weights[j]).sum::<f64>() / known.len() as f64;
    let fit = |crew: Option<Arc<dyn Crew>>, sample_weight: Option<Vec<f64>>| {
        let samples = Samples::new(features.clone(), labels.clone()).unwrap();
        let options = FitOptions { crew, sample_weight, prepare: Vec::new(), ..options() };
        let method = methods::find::<f64>("ssdl-ga").unwrap();
        let knobs = [("n_atoms", "40"), ("max_iterations", "12"), ("tolerance", "0")];
        method.fit(&pairs(&knobs), samples, &options, &mut Silent).unwrap()
    };
    let (even, whole) = (fit(None, None), fit(None, Some(weights.clone())));
    let given = Some(weights.clone());
    weights.iter_mut().for_each(|weight| *weight /= mean);
    let parts = crew::<f64>(3, true, false).weighing(&weights).unwrap();
    let parts = fit(Some(Arc::new(parts)), given);
    let ratio = total(&parts) / total(&whole);
    assert!((ratio - 1.0).abs() < 0.01, "{ratio}");
    // Without the weights the classifier is another one.
    let away = |model: &Model<f64>| {
        let of = |model: &Model<f64>| model.classifier().unwrap().weights.clone();
        let (one, other) = (of(model), of(&whole));
        let pairs = one.as_slice().iter().zip(other.as_slice());
        pairs.map(|(a, b)| (a - b) * (a - b)).sum::<f64>().sqrt()
    };
    assert!(away(&parts) < 0.5 * away(&even), "{} {}", away(&parts), away(&even));
    assert!(crew::<f64>(2, true, false).weighing(&weights[1..]).is_err());
    assert!(crew::<f64>(2, true, false).weighing(&vec![0.0; COUNT]).is_err());
}
