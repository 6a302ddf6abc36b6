//! Steps one after another, fitted on the training samples and saved inside the model.

use std::collections::HashMap;
use std::sync::Arc;

use rand::Rng;

use super::scale::length_of;
use super::{Kind, Layout, PreparationStep, StepChoice, Tensors, candidates, check_n_features};
use crate::random::{self, Purpose};
use crate::samples::check_features;
use crate::{Error, Matrix, Real, Result};

/// Maximum number of features that a preparation may make of each raw one: more is a typing error,
/// and would fill the memory.
const MAX_GROWTH: usize = 128;
/// What the names of all tensors start with.
const PREFIX: &str = "prepare.";

/// Prepared samples, and how long each was if the last step made all of one length.
pub type Measured<T> = (Matrix<T>, Option<Vec<T>>);

/// Fitted preparation steps, applied in order.
///
/// ```
/// use ssdl::{Matrix, samples::prepare::Pipeline};
///
/// let raw = Matrix::from_fn(2, 3, |row, column| (row + 2 * column) as f64);
/// let plans = ["standardise".parse()?, "scale=5".parse()?];
/// let (pipeline, prepared) = Pipeline::fit(&plans, raw.clone(), None, 0)?;
/// assert_eq!(pipeline.apply(raw)?, prepared);
/// # Ok::<(), ssdl::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Pipeline<T> {
    layout: Layout,
    steps: Vec<Arc<dyn PreparationStep<T>>>,
}

impl<T: Real> Pipeline<T> {
    /// Fits each step on what the step before it gives; returns the steps and the prepared
    /// training samples.
    ///
    /// `features` is `n_features × n_samples`; the result has one column per sample and as many
    /// rows as the last step gives. `image` is the height and width of a sample that is an image,
    /// its pixels row by row. [`apply`](Pipeline::apply) to the same samples gives the same bits.
    ///
    /// # Errors
    /// If the samples are empty or not finite, are not of the shape `image`, a plan asks for more
    /// than the samples give or for images where there are none, or a sample leaves the range of
    /// the number type.
    #[inline(never)]
    pub fn fit(
        plans: &[StepChoice],
        features: Matrix<T>,
        image: Option<[usize; 2]>,
        seed: u64,
    ) -> Result<(Self, Matrix<T>)> {
        Self::fit_measured(plans, features, image, seed)
            .map(|(fitted, (prepared, _))| (fitted, prepared))
    }

    /// No step at all, for samples of this many features.
    ///
    /// # Errors
    /// If that is not the number of pixels of `image`.
    pub(crate) fn empty(n_features: usize, image: Option<[usize; 2]>) -> Result<Self> {
        Ok(Self { layout: Layout::new(n_features, image)?, steps: Vec::new() })
    }

    /// As [`fit`](Pipeline::fit), with the lengths of [`apply_measured`](Pipeline::apply_measured).
    ///
    /// # Errors
    /// The same.
    #[inline(never)]
    pub fn fit_measured(
        plans: &[StepChoice],
        features: Matrix<T>,
        image: Option<[usize; 2]>,
        seed: u64,
    ) -> Result<(Self, Measured<T>)> {
        check_features(&features)?;
        let layout = Layout::new(features.rows(), image)?;
        // Without labels the first candidate is as much as can be known.
        let auto = matches!(plans, [only] if only.name() == "auto");
        let found = if auto { candidates(&features, image).swap_remove(0) } else { Vec::new() };
        let plans = if auto { &found } else { plans };
        // One stream for the whole list: a second projection must not repeat the draws of the first.
        let mut rng = random::stream(seed, Purpose::Projection);
        Self::fit_steps(plans, features, layout, &mut rng)
    }

    /// The steps of [`fit`](Pipeline::fit), for features that are already checked.
    pub(super) fn fit_steps(
        plans: &[StepChoice],
        features: Matrix<T>,
        layout: Layout,
        rng: &mut dyn Rng,
    ) -> Result<(Self, Measured<T>)> {
        let mut pipeline = Self { layout, steps: Vec::with_capacity(plans.len()) };
        let (mut prepared, mut lengths) = (features, None);
        for plan in plans {
            let step =
                (Kind::named(plan.name())?.fit)(plan, &prepared, pipeline.layout_prepared(), rng)?;
            pipeline.add(step)?;
            if let Some(step) = pipeline.steps.last() {
                lengths = lengths_before(step.plan(), &prepared);
                prepared = step.apply(prepared)?;
            }
        }
        Ok((pipeline, (prepared, lengths)))
    }

    fn add(&mut self, step: Arc<dyn PreparationStep<T>>) -> Result<()> {
        let max = self.layout.n_features().saturating_mul(MAX_GROWTH);
        if step.n_out() > max {
            return Err(step.plan().refuse(format!(
                "at most {MAX_GROWTH} features of one: {max} of {}, but this makes {}",
                self.layout.n_features(),
                step.n_out()
            )));
        }
        self.steps.push(step);
        Ok(())
    }

    /// Prepares samples, `n_features × n_samples` to `n_prepared × n_samples`.
    ///
    /// # Errors
    /// If the number of features is wrong, there are no samples, a value is not finite, or a
    /// sample leaves the range of the number type.
    #[inline(never)]
    pub fn apply(&self, features: Matrix<T>) -> Result<Matrix<T>> {
        self.apply_measured(features).map(|(prepared, _)| prepared)
    }

    /// As [`apply`](Pipeline::apply), with what the last step takes from each sample if it is `scale`: its length.
    ///
    /// # Errors
    /// The same.
    #[inline(never)]
    pub fn apply_measured(&self, features: Matrix<T>) -> Result<Measured<T>> {
        check_n_features(self.layout.n_features(), &features)?;
        check_features(&features)?;
        let (mut prepared, mut lengths) = (features, None);
        for step in &self.steps {
            lengths = lengths_before(step.plan(), &prepared);
            prepared = step.apply(prepared)?;
        }
        Ok((prepared, lengths))
    }

    /// Features per raw sample.
    #[must_use]
    pub fn n_features(&self) -> usize {
        self.layout.n_features()
    }

    /// Features per prepared sample.
    #[must_use]
    pub fn n_prepared(&self) -> usize {
        self.layout_prepared().n_features()
    }

    /// Height and width of a prepared sample, where it is still an image.
    #[must_use]
    pub fn image_prepared(&self) -> Option<[usize; 2]> {
        self.layout_prepared().image()
    }

    fn layout_prepared(&self) -> Layout {
        self.steps.last().map_or(self.layout, |step| step.layout_out())
    }

    /// The fitted steps, in the order they are applied.
    #[must_use]
    pub fn steps(&self) -> &[Arc<dyn PreparationStep<T>>] {
        &self.steps
    }

    /// The plans of the steps, in order.
    #[must_use]
    pub fn plans(&self) -> Vec<StepChoice> {
        self.steps.iter().map(|step| step.plan().clone()).collect()
    }

    /// Whether there are no steps, so that samples pass unchanged.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.steps.is_empty()
    }

    /// The fitted numbers of all steps, named by position: `prepare.0.mean`.
    #[must_use]
    pub fn tensors(&self) -> Vec<(String, Matrix<T>)> {
        self.named_tensors(PREFIX)
    }

    /// The fitted numbers of all steps, their names starting with `prefix`.
    pub(super) fn named_tensors(&self, prefix: &str) -> Vec<(String, Matrix<T>)> {
        let mut tensors = Vec::new();
        for (position, step) in self.steps.iter().enumerate() {
            let named = step.tensors().into_iter();
            tensors.extend(named.map(|(name, t)| (format!("{prefix}{position}.{name}"), t)));
        }
        tensors
    }

    /// Builds a pipeline from its [`plans`](Pipeline::plans), the number and shape of its raw
    /// features and its [`tensors`](Pipeline::tensors), which `find` looks up by name; nothing is
    /// trusted.
    ///
    /// # Errors
    /// If a tensor is missing, has another shape or holds a value that no fit produces, or a step
    /// does not fit the shape of the samples.
    #[inline(never)]
    pub fn restore(
        plans: &[StepChoice],
        n_features: usize,
        image: Option<[usize; 2]>,
        find: &mut dyn FnMut(&str) -> Option<Matrix<T>>,
    ) -> Result<Self> {
        if n_features == 0 {
            return Err(Error::Samples("a preparation needs at least one feature".into()));
        }
        let layout = Layout::new(n_features, image)?;
        Self::restore_steps(plans, layout, &mut Tensors { prefix: PREFIX.into(), find })
    }

    /// The steps of [`restore`](Pipeline::restore), for a layout that is already checked.
    pub(super) fn restore_steps(
        plans: &[StepChoice],
        layout: Layout,
        tensors: &mut Tensors<'_, T>,
    ) -> Result<Self> {
        let mut pipeline = Self { layout, steps: Vec::with_capacity(plans.len()) };
        for (position, plan) in plans.iter().enumerate() {
            let (kind, mut own) = (Kind::named(plan.name())?, tensors.within(position));
            pipeline.add((kind.restore)(plan, pipeline.layout_prepared(), &mut own)?)?;
        }
        Ok(pipeline)
    }

    /// The same steps in another precision.
    ///
    /// # Errors
    /// If a fitted number leaves the range of the new number type.
    pub fn cast<U: Real>(&self) -> Result<Pipeline<U>> {
        let named = self.tensors().into_iter();
        let mut tensors: HashMap<String, Matrix<U>> =
            named.map(|(name, tensor)| (name, tensor.cast())).collect();
        let (n_features, image) = (self.layout.n_features(), self.layout.image());
        Pipeline::restore(&self.plans(), n_features, image, &mut |name| tensors.remove(name))
    }
}

/// The length of each sample, where this step takes it.
fn lengths_before<T: Real>(plan: &StepChoice, samples: &Matrix<T>) -> Option<Vec<T>> {
    (plan.name() == "scale").then(|| samples.iter_columns().map(length_of).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::normal;
    use crate::samples::prepare::fixed_cases;
    use proptest::prelude::*;

    const ALL: [&str; 4] = ["standardise", "projection=7", "pca=5", "scale=5"];

    fn plans(texts: &[&str]) -> Vec<StepChoice> {
        texts.iter().map(|text| text.parse().expect("plan")).collect()
    }

    fn draw(rows: usize, columns: usize, seed: u64) -> Matrix<f64> {
        let mut rng = random::stream(seed, Purpose::Atoms);
        Matrix::from_fn(rows, columns, |row, _| row as f64 + normal(&mut rng))
    }

    fn saved<T: Real>(pipeline: &Pipeline<T>) -> HashMap<String, Matrix<T>> {
        pipeline.tensors().into_iter().collect()
    }

    #[test]
    fn steps_are_applied_in_order_and_may_repeat() -> Result<()> {
        let texts = ["scale=2", "standardise", "scale=3", "scale=3"];
        let (pipeline, prepared) = Pipeline::fit(&plans(&texts), draw(4, 9, 1), None, 0)?;
        let names: Vec<String> = pipeline.plans().iter().map(ToString::to_string).collect();
        assert_eq!(names, texts);
        for sample in prepared.iter_columns() {
            assert!((crate::matrix::squared_norm(sample) - 9.0).abs() < 1e-12);
        }
        Ok(())
    }

    #[test]
    fn fit_and_apply_give_the_same_bits_in_any_number_of_threads() -> Result<()> {
        let raw = draw(10, 203, 2);
        let (pipeline, prepared) = Pipeline::fit(&plans(&ALL), raw.clone(), None, 3)?;
        assert_eq!((pipeline.n_features(), pipeline.n_prepared()), (10, 5));
        assert_eq!(pipeline.apply(raw.clone())?, prepared);
        for threads in [1, 4] {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("pool");
            let (_, again) = pool.install(|| Pipeline::fit(&plans(&ALL), raw.clone(), None, 3))?;
            assert_eq!(again, prepared);
        }
        Ok(())
    }

    fn check_company<T: Real>(texts: &[&str], raw: &Matrix<T>) -> Result<()> {
        let (pipeline, prepared) = Pipeline::fit(&plans(texts), raw.clone(), None, 3)?;
        for chosen in [vec![0], vec![31], vec![100], vec![32, 7, 99], (0..101).rev().collect()] {
            let apart = pipeline.apply(raw.select_columns(&chosen))?;
            assert_eq!(apart, prepared.select_columns(&chosen), "{chosen:?} in {}", T::NAME);
        }
        Ok(())
    }

    #[test]
    fn a_sample_does_not_depend_on_the_others() -> Result<()> {
        for (n, texts) in [(10, &ALL[..]), (300, &["pca=90", "projection=33"])] {
            let raw = draw(n, 101, 4);
            check_company(texts, &raw)?;
            check_company(texts, &raw.cast::<f32>())?;
        }
        Ok(())
    }

    #[test]
    fn the_seed_moves_projections_only_and_a_second_one_has_draws_of_its_own() -> Result<()> {
        let raw = draw(4, 9, 5);
        let fit = |texts: &[&str], seed| Pipeline::fit(&plans(texts), raw.clone(), None, seed);
        assert_eq!(fit(&["pca=2"], 1)?.1, fit(&["pca=2"], 2)?.1);
        assert_ne!(fit(&["projection=2"], 1)?.1, fit(&["projection=2"], 2)?.1);
        let twice = saved(&fit(&["projection=4", "scale=1", "projection=4"], 1)?.0);
        let behind_others = saved(&fit(&["scale=1", "projection=4"], 1)?.0);
        assert_ne!(twice["prepare.0.matrix"], twice["prepare.2.matrix"]);
        assert_eq!(twice["prepare.0.matrix"], behind_others["prepare.1.matrix"]);
        Ok(())
    }

    #[test]
    fn wrong_counts_and_values_that_are_not_finite_are_named() -> Result<()> {
        let (pipeline, _) = Pipeline::fit(&plans(&["scale=1"]), draw(64, 3, 6), None, 0)?;
        let error = pipeline.apply(draw(63, 2, 6)).expect_err("63 features");
        assert_eq!(error.to_string(), "features per sample: expected 64, got 63");
        let mut broken = draw(64, 2, 6);
        broken.column_mut(1)[4] = f64::NAN;
        let error = pipeline.apply(broken.clone()).expect_err("NaN");
        assert!(matches!(error, Error::NotFinite { row: 2, column: 5, .. }), "{error}");
        assert!(Pipeline::fit(&[], broken, None, 0).is_err());
        assert!(pipeline.apply(Matrix::zeros(64, 0)).is_err());
        let step = &pipeline.steps()[0];
        assert!(matches!(step.apply(draw(63, 2, 6)), Err(Error::Shape { expected: 64, .. })));
        Ok(())
    }

    #[test]
    fn a_length_that_is_taken_last_can_be_given_back() -> Result<()> {
        let raw = draw(3, 9, 7);
        let all = plans(&["standardise", "scale=5"]);
        let (pipeline, (prepared, lengths)) = Pipeline::fit_measured(&all, raw.clone(), None, 0)?;
        let (plain, _) = Pipeline::fit(&all[..1], raw.clone(), None, 0)?;
        let (again, same) = pipeline.apply_measured(raw.clone())?;
        assert_eq!((&again, &same), (&prepared, &lengths));
        let before = plain.apply(raw.clone())?;
        let lengths = lengths.expect("the last step takes them");
        for ((x, y), length) in prepared.iter_columns().zip(before.iter_columns()).zip(lengths) {
            x.iter().zip(y).for_each(|(x, y)| assert!((x * length / 5.0 - y).abs() < 1e-12));
        }
        assert!(plain.apply_measured(raw)?.1.is_none());
        Ok(())
    }

    #[test]
    fn overflow_is_an_error_that_names_row_and_step() -> Result<()> {
        let narrow = Matrix::from_fn(1, 2, |_, j| j as f64);
        let (pipeline, _) = Pipeline::fit(&plans(&["standardise"]), narrow, None, 0)?;
        let huge = Matrix::from_fn(1, 2, |_, j| if j == 0 { 1.0 } else { f64::MAX });
        let error = pipeline.apply(huge).expect_err("twice the largest number");
        let text = "samples: row 2 overflows in the preparation step `standardise`; \
                    rescale the samples";
        assert_eq!(error.to_string(), text);
        Ok(())
    }

    #[test]
    fn no_steps_pass_samples_unchanged_but_checked() -> Result<()> {
        let raw = draw(3, 4, 8);
        let (pipeline, prepared) = Pipeline::fit(&[], raw.clone(), None, 0)?;
        assert!(pipeline.is_empty() && pipeline.tensors().is_empty());
        assert_eq!((pipeline.n_features(), pipeline.n_prepared()), (3, 3));
        assert_eq!(prepared, raw);
        assert!(pipeline.apply(draw(2, 4, 8)).is_err());
        Ok(())
    }

    #[test]
    fn hostile_files_are_refused() -> Result<()> {
        let all = plans(&ALL);
        let (pipeline, _) = Pipeline::fit(&all, draw(10, 30, 9), None, 0)?;
        let tensors = saved(&pipeline);
        let restore = |plans: &[StepChoice], n, tensors: &HashMap<String, Matrix<f64>>| {
            Pipeline::restore(plans, n, None, &mut |name| tensors.get(name).cloned())
        };
        assert!(restore(&all, 10, &tensors).is_ok());
        for wrong in [0, 9, 11, usize::MAX] {
            assert!(restore(&all, wrong, &tensors).is_err(), "{wrong}");
        }
        for other in ["pca=4", "pca=18446744073709551615"] {
            let mut changed = all.clone();
            changed[2] = other.parse()?;
            assert!(matches!(restore(&changed, 10, &tensors), Err(Error::Shape { .. })));
        }
        for name in tensors.keys() {
            let mut lost = tensors.clone();
            let tensor = lost.remove(name).expect("it is there");
            assert!(matches!(restore(&all, 10, &lost), Err(Error::Samples(_))), "{name}");
            for value in [f64::NAN, f64::INFINITY] {
                let mut broken = tensor.clone();
                broken.as_mut_slice()[0] = value;
                lost.insert(name.clone(), broken);
                assert!(matches!(restore(&all, 10, &lost), Err(Error::Samples(_))), "{name}");
            }
            lost.insert(name.clone(), Matrix::zeros(tensor.columns(), tensor.rows()));
            assert!(matches!(restore(&all, 10, &lost), Err(Error::Shape { .. })), "{name}");
        }
        Ok(())
    }

    #[test]
    fn a_cast_that_overflows_is_refused() -> Result<()> {
        let raw = Matrix::from_fn(2, 5, |i, j| 1e200 * (i + j) as f64);
        let (pipeline, _) = Pipeline::fit(&plans(&["standardise"]), raw, None, 0)?;
        assert!(pipeline.cast::<f64>().is_ok());
        assert!(pipeline.cast::<f32>().is_err());
        Ok(())
    }

    proptest! {
        #![proptest_config(fixed_cases(32))]

        #[test]
        fn a_restored_pipeline_gives_the_same_bits(n in 7usize..14, extra in 0usize..40, seed: u64) {
            let raw = draw(n, 5 + extra, seed);
            let (pipeline, prepared) = Pipeline::fit(&plans(&ALL), raw.clone(), None, seed)?;
            let mut tensors = saved(&pipeline);
            let again =
                Pipeline::restore(&pipeline.plans(), n, None, &mut |name| tensors.remove(name))?;
            prop_assert_eq!(again.apply(raw)?, prepared);
            prop_assert!(tensors.is_empty());
        }

        #[test]
        fn single_precision_agrees_with_double(n in 7usize..14, extra in 9usize..40, seed: u64) {
            let raw = draw(n, n + extra, seed);
            let (pipeline, prepared) = Pipeline::fit(&plans(&ALL), raw.clone(), None, seed)?;
            let single: Matrix<f32> = pipeline.cast::<f32>()?.apply(raw.cast())?;
            for (a, b) in single.as_slice().iter().zip(prepared.as_slice()) {
                prop_assert!((f64::from(*a) - b).abs() < 1e-4, "{} {}", a, b);
            }
        }
    }
}
