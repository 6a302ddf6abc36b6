//! Predictions with a lent device, which here knows the codes beforehand and gives them block by block.

use std::sync::Arc;

use ssdl::codes::Coordinate;
use ssdl::device::{self, Device, Engine, Found, Individual, NewSamples};
use ssdl::fit::{FirstCodes, Holder, Holding, Silent};
use ssdl::methods::{Auto, FitOptions, SsdlGa};
use ssdl::prelude::*;
use ssdl::random::{self, Purpose, normal};
use ssdl::{Error, Labels, Matrix, Model, Result, Samples};

/// Codes in single precision, handed out this many samples at a time; it can do nothing else.
struct Knowing {
    codes: Matrix<f32>,
    block: usize,
}

fn cannot<R>() -> Result<R> {
    Err(Error::Device("it can only code".into()))
}

impl Device for Knowing {
    fn name(&self) -> String {
        "codes that are known".into()
    }

    fn single(&self) -> &dyn Engine<f32> {
        self
    }

    fn double(&self) -> &dyn Engine<f64> {
        unreachable!("the test is in single precision")
    }
}

impl Engine<f32> for Knowing {
    fn prepare(&self) -> Result<()> {
        Ok(())
    }

    fn neighbours(&self, _: &Matrix<f32>, _: Option<&Matrix<f32>>, _: usize) -> Result<Vec<u32>> {
        cannot()
    }

    fn mixtures(
        &self,
        _: &Matrix<f32>,
        _: Option<&Matrix<f32>>,
        _: usize,
    ) -> Result<(Vec<u32>, Vec<f32>)> {
        cannot()
    }

    fn code(&self, _: Coordinate, _: &Individual<'_, f32>, _: &mut Matrix<f32>) -> Result<()> {
        cannot()
    }

    fn code_new(
        &self,
        problem: &NewSamples<'_, f32>,
        meanwhile: &mut dyn FnMut(&[f32]),
    ) -> Result<Found<f32>> {
        assert_eq!(problem.samples.columns(), self.codes.columns());
        let block = self.block * self.codes.rows();
        self.codes.as_slice().chunks(block).for_each(meanwhile);
        Ok(Found { codes: self.codes.clone(), mixtures: None })
    }

    fn hold<'a>(
        &self,
        _: Holding<'a, f32>,
        _: FirstCodes<'_, f32>,
    ) -> Result<Box<dyn Holder<f32> + 'a>> {
        cannot()
    }
}

/// Three clouds, of which few samples are labelled.
fn clouds(count: usize, n_labels: usize) -> Samples<f32> {
    let mut rng = random::stream(7, Purpose::Noise);
    let features = Matrix::from_fn(8, count, |i, j| {
        (normal(&mut rng) + if i == j % 3 { 4.0 } else { 0.0 }) as f32
    });
    let names = ["a", "b", "c"].map(String::from).to_vec();
    let known = (0..count).map(|j| (j < n_labels).then_some(j % 3)).collect();
    Samples::new(features, Labels::new(names, known).expect("sound")).expect("sound")
}

fn model(method: &impl Learner) -> Model<f32> {
    method.fit_with(clouds(200, 30), &FitOptions::default(), &mut Silent).expect("fits")
}

fn the_same_in_blocks(model: &Model<f32>) {
    let new = clouds(1500, 0).features().clone();
    let plain = model.predict(new.clone()).expect("predicts");
    let codes = model.see(new.clone()).expect("sees").codes().clone();
    for block in [1500, 1024, 600] {
        let knowing: Arc<dyn Device> = Arc::new(Knowing { codes: codes.clone(), block });
        let found = device::lend(Some(knowing), || model.predict(new.clone())).expect("predicts");
        // Votes ask for neighbours, too, which are then the processor's.
        let _ = device::check();
        assert_eq!(found.labels, plain.labels, "blocks of {block}");
        assert_eq!(found.probabilities, plain.probabilities, "blocks of {block}");
    }
}

#[test]
fn codes_that_come_block_by_block_give_the_same_predictions() {
    the_same_in_blocks(&model(&SsdlGa::new().n_atoms(20)));
}

#[test]
fn so_do_those_of_a_mixture_which_codes_alone_do_not_decide() {
    let model = model(&Auto::new());
    assert!(model.decision().classifier().is_none() && model.atoms().is_some());
    the_same_in_blocks(&model);
}
