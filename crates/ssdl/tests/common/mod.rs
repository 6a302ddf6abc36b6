//! What the test files share: fixtures, seeded problems, a way to fit by name.

// The test of memory is a program of its own and uses only some of this.
#![allow(dead_code, clippy::unwrap_used)]

pub mod graphs;
pub mod parts;
pub mod tiny;
pub mod toy;

use serde_json::Value;
use ssdl::fit::{Flow, Progress, Silent, Step, TraceRow, Watch};
use ssdl::methods::{FitOptions, Method};
use ssdl::random::{Purpose, normal, stream};
use ssdl::{Labels, Matrix, Model, Real, Result, Samples};

/// Every method in both precisions; a new method is tested by being in the register.
#[allow(unused_macros, reason = "not every test file loops over the methods")]
macro_rules! for_every_method {
    ($check:ident) => {
        for method in crate::common::every_method::<f64>() {
            $check::<f64>(method);
        }
        for method in crate::common::every_method::<f32>() {
            $check::<f32>(method);
        }
    };
}

/// The methods of the register, and one that a test brings: one file, one line.
pub fn every_method<T: Real>() -> Vec<&'static dyn Method<T>> {
    let mut methods = ssdl::methods::all();
    methods.push(ssdl::methods::registered::<toy::NearestMean, T>());
    methods
}

/// A fixture of the NumPy oracle.
pub fn fixture(name: &str) -> Value {
    let path = format!("{}/tests/oracle/{name}.json", env!("CARGO_MANIFEST_DIR"));
    serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
}

/// A `{"rows", "columns", "data"}` of a fixture.
pub fn matrix<T: Real>(value: &Value) -> Matrix<T> {
    let size = |name: &str| value[name].as_u64().unwrap() as usize;
    let data = numbers(&value["data"]).into_iter().map(T::of).collect();
    Matrix::from_columns(size("rows"), size("columns"), data).unwrap()
}

/// A list of numbers of a fixture.
pub fn numbers(value: &Value) -> Vec<f64> {
    value.as_array().unwrap().iter().map(|v| v.as_f64().unwrap()).collect()
}

/// A list of indices of a fixture.
pub fn indices(value: &Value) -> Vec<usize> {
    value.as_array().unwrap().iter().map(|v| v.as_u64().unwrap() as usize).collect()
}

/// Standard normal entries.
pub fn noise<T: Real>(rows: usize, columns: usize, seed: u64) -> Matrix<T> {
    let mut rng = stream(seed, Purpose::Split);
    Matrix::from_fn(rows, columns, |_, _| T::of(normal(&mut rng)))
}

/// The transpose, copied.
pub fn flip<T: Real>(m: &Matrix<T>) -> Matrix<T> {
    Matrix::from_fn(m.columns(), m.rows(), |i, j| m.column(i)[j])
}

/// Half normal, half zero: what codes look like.
pub fn sparse_noise<T: Real>(rows: usize, columns: usize, seed: u64) -> Matrix<T> {
    let gate = noise::<f64>(rows, columns, seed ^ 0x5eed);
    let value = noise::<T>(rows, columns, seed);
    Matrix::from_fn(rows, columns, |i, j| {
        if gate.column(j)[i] > 0.0 { value.column(j)[i] } else { T::zero() }
    })
}

/// Overlapping clouds, one per class, that take turns; the true class of each sample beside them.
pub fn clouds<T: Real>(
    n_classes: usize,
    n_features: usize,
    n_samples: usize,
    seed: u64,
) -> (Matrix<T>, Vec<usize>) {
    let centres = noise::<f64>(n_features, n_classes, seed ^ 0xc3);
    let spread = noise::<f64>(n_features, n_samples, seed);
    let truth: Vec<usize> = (0..n_samples).map(|j| j % n_classes).collect();
    let features = Matrix::from_fn(n_features, n_samples, |i, j| {
        T::of(1.4 * centres.column(truth[j])[i] + 0.6 * spread.column(j)[i])
    });
    (features, truth)
}

pub fn class_names(n: usize) -> Vec<String> {
    (0..n).map(|c| format!("class {c}")).collect()
}

/// Labels for the first `per_class` samples of each class, the rest unlabelled.
pub fn label_first(truth: &[usize], n_classes: usize, per_class: usize) -> Labels {
    let mut given = vec![0; n_classes];
    let assigned = truth.iter().map(|&c| {
        given[c] += 1;
        (given[c] <= per_class).then_some(c)
    });
    Labels::new(class_names(n_classes), assigned.collect()).unwrap()
}

/// The problem most tests of whole fits use: 3 classes, 12 features, 90 samples, 4 labels per class.
pub fn small_problem<T: Real>(seed: u64) -> (Samples<T>, Vec<usize>) {
    let (features, truth) = clouds(3, 12, 90, seed);
    (Samples::new(features, label_first(&truth, 3, 4)).unwrap(), truth)
}

/// Options for tests: one thread, so that many small fits side by side do not compete for cores.
pub fn options<T: Real>() -> FitOptions<T> {
    FitOptions { threads: 1, calibrate: false, ..FitOptions::default() }
}

pub fn pairs(knobs: &[(&str, &str)]) -> Vec<(String, String)> {
    knobs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
}

/// Fits with small sizes unless given; knobs of the graph are omitted where there is none.
pub fn fit<T: Real>(
    method: &dyn Method<T>,
    knobs: &[(&str, &str)],
    samples: Samples<T>,
) -> Result<Model<T>> {
    fit_with(method, knobs, samples, &options(), &mut Silent)
}

pub fn fit_with<T: Real>(
    method: &dyn Method<T>,
    knobs: &[(&str, &str)],
    samples: Samples<T>,
    options: &FitOptions<T>,
    watch: &mut dyn Watch,
) -> Result<Model<T>> {
    method.fit(&small(method, knobs), samples, options, watch)
}

/// The knobs of a small fit, without those that the method does not have.
pub fn small<T: Real>(method: &dyn Method<T>, knobs: &[(&str, &str)]) -> Vec<(String, String)> {
    // Where labels are targets of a few coefficients, an atom that no labelled sample uses has no vote.
    let n_atoms = if has(method, "n_nonzero") { "12" } else { "18" };
    let mut all = vec![("n_atoms", n_atoms), ("n_neighbors", "5"), ("max_iterations", "6")];
    all.extend_from_slice(knobs);
    all.retain(|(name, _)| has(method, name));
    pairs(&all)
}

/// Whether the method has a knob of this name; a test of a knob applies to no other method.
pub fn has<T: Real>(method: &dyn Method<T>, name: &str) -> bool {
    method.knobs().iter().any(|knob| knob.name == name)
}

/// Rows of the trace in one outer iteration. In the alternation of SSDL-GA memberships and classifier are
/// there only where the classes act on the codes; other methods have the same steps in every iteration.
pub fn steps_of_iteration<T: Real>(model: &Model<T>) -> usize {
    if !model.knobs().iter().any(|(name, _)| name == "coder") {
        return model.report().trace.iter().filter(|row| row.iteration == 1).count();
    }
    let weight = model.knobs().iter().find(|(name, _)| name == "discrimination");
    let classes_count = weight.is_some_and(|(_, value)| value.parse::<f64>().unwrap() > 0.0);
    if classes_count { 4 } else { 2 }
}

/// The rows of the loop; where the classifier is fitted after it, its row is the last and omitted.
pub fn rows_of_the_loop<T: Real>(model: &Model<T>) -> &[TraceRow] {
    let trace = &model.report().trace;
    match trace.split_last() {
        Some((last, rest))
            if steps_of_iteration(model) == 2
                && last.step == Step::Classifier
                && model.knobs().iter().any(|(name, _)| name == "coder") =>
        {
            rest
        }
        _ => trace,
    }
}

/// Remembers steps and notices; stops after the step with this number, if any.
#[derive(Default)]
pub struct Recorder {
    pub steps: usize,
    pub notices: Vec<String>,
    pub stop_after: Option<usize>,
}

impl Watch for Recorder {
    fn step(&mut self, _: &Progress<'_>) -> Flow {
        self.steps += 1;
        if self.stop_after.is_some_and(|last| self.steps > last) {
            Flow::Stop
        } else {
            Flow::Continue
        }
    }

    fn notice(&mut self, sentence: &str) {
        self.notices.push(sentence.to_owned());
    }
}

/// Largest difference of two lists, relative to the largest entry of the second.
pub fn apart<T: Real>(found: &[T], expected: &[T]) -> f64 {
    assert_eq!(found.len(), expected.len(), "lengths");
    let size = expected.iter().fold(0.0f64, |top, v| top.max(v.wide().abs()));
    let worst = found.iter().zip(expected).fold(0.0f64, |top, (a, b)| {
        let distance = (a.wide() - b.wide()).abs();
        // `max` would swallow a NaN.
        if distance.is_nan() { f64::INFINITY } else { top.max(distance) }
    });
    worst / size.max(f64::MIN_POSITIVE)
}

#[track_caller]
pub fn assert_close(found: f64, expected: f64, relative: f64) {
    let distance = (found - expected).abs();
    assert!(distance <= relative * expected.abs().max(1e-300), "{found} is not {expected}");
}

/// Every probability column is a distribution.
#[track_caller]
pub fn assert_distributions<T: Real>(probabilities: &Matrix<T>) {
    for (j, column) in probabilities.iter_columns().enumerate() {
        assert!(column.iter().all(|p| *p >= T::zero() && *p <= T::one()), "column {j}: {column:?}");
        let sum: f64 = column.iter().map(|p| p.wide()).sum();
        assert!((sum - 1.0).abs() < 8.0 * T::epsilon().wide(), "column {j} sums to {sum}");
    }
}

/// Share of equal entries.
pub fn agreement<E: PartialEq>(a: &[E], b: &[E]) -> f64 {
    assert_eq!(a.len(), b.len(), "lengths");
    a.iter().zip(b).filter(|(x, y)| x == y).count() as f64 / a.len() as f64
}

/// Property tests draw the same cases in every run, so a failure never comes and goes.
pub fn fixed_cases(cases: u32) -> proptest::test_runner::Config {
    use proptest::test_runner::{Config, RngSeed};
    Config { cases, rng_seed: RngSeed::Fixed(7), failure_persistence: None, ..Config::default() }
}
