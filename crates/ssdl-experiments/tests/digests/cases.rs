//! What is fitted, and what is taken of a fit.

use std::path::Path;

use ssdl::fit::Silent;
use ssdl::methods::{self, FitOptions, Method};
use ssdl::samples::split::per_class;
use ssdl::{Labels, Matrix, Model, Real, Samples};

use crate::table::{Digest, Row, processor};

/// The paper's form of the methods that have another.
const PAPER: &str = "voting=paper ridge=1";
/// Knobs beside the defaults, so that every solver, graph and ending has its turn.
pub const VARIANTS: &[(&str, &str)] = &[
    ("ssdl-ga", "voting=paper ridge=1"),
    ("ssdl-ga", "coder=fista dictionary_update=fista active_points=frozen voting=paper ridge=1"),
    ("ssdl-ga", "coder=batches batch_size=100 dictionary_update=dual voting=paper ridge=1"),
    ("ssdl-ga", "discrimination=0 voting=paper ridge=1"),
    ("ssdl-ga", "graph=heat normalise_trace=true halve_new=true revive=false voting=paper ridge=1"),
    ("ssdl-ga", "graph=threshold width=0.5x normalise_trace=true voting=paper ridge=1"),
    ("ssdl-ga", "graph=learnt normalise_trace=true voting=paper ridge=1"),
    ("ssdl-ga", "denoise=2 n_atoms=60 sharpness=1 voting=paper ridge=1"),
    ("ssdl-ga", "manifold=0 voting=paper ridge=1"),
    ("ussdl", "voting=paper ridge=1"),
    ("ussdl", "discrimination=5 n_atoms=30 voting=paper ridge=1"),
    ("ssdl-ga", ""),
    ("ssdl-ga", "prior=even balance=0.5 unlabelled_weight=0.3"),
    ("ussdl", ""),
    ("auto", ""),
    ("graph-sc", ""),
    ("graph-sc", "graph=threshold denoise=2 loss=squared-hinge n_atoms=500"),
    ("jdl", ""),
    ("ossdl", ""),
    ("lc-rlsdla", ""),
    ("ksvd", ""),
    ("ksvd", "update=exact-ksvd n_nonzero=4"),
    ("lc-ksvd", ""),
    ("lc-ksvd", "discrimination=0 exact=true n_nonzero=4"),
    ("sup-graph-dl", ""),
    ("sup-graph-dl", "learn_features=true"),
    ("graph-sc", "graph=expressive"),
    ("s2d2", ""),
    ("ssd-lp", ""),
    ("ssd-lp", "spread_graph=expressive spreading=0.5"),
    ("ssr-d", ""),
    ("ssp-dl", ""),
    ("pssdl", ""),
    ("src", ""),
    ("src-by-class", ""),
    ("linear-svm", ""),
    ("linear-svm", "loss=squared-hinge box_constraints=1"),
    ("ridge", ""),
    ("nearest", "n_neighbors=3"),
    ("forest", ""),
    ("label-spreading", ""),
    ("label-spreading", "clamp=true kernel=neighbours"),
    ("self-training", ""),
    ("self-training", "base=ridge per_round=0.3"),
];

/// A few labels, some unlabelled samples and new ones of the bundled digits; then every variant.
pub fn digits<T: Real>() -> Vec<Row> {
    let table = ssdl_data::digits();
    let truth = Labels::from_names(&table.labels.unwrap());
    let split = per_class(&truth, 6, Some(24), 12, 5).unwrap();
    let features: Matrix<T> = table.features.cast();
    let case = Case { features: &features, truth: &truth, image: table.image, n_seed: 3 };
    let parts = (&split.labelled[..], &split.unlabelled[..], &split.test[..]);
    let set = format!("digits-{}", T::NAME);
    VARIANTS.iter().map(|(method, knobs)| case.run(&set, method, knobs, parts)).collect()
}

/// The first published split of USPS with every method's defaults.
pub fn usps(folder: &Path) -> Vec<Row> {
    let lists: serde_json::Value =
        serde_json::from_str(include_str!("../../../../experiments/splits/usps.json")).unwrap();
    let list = |name: &str| -> Vec<usize> {
        let places = lists["runs"][0][name].as_array().unwrap();
        places.iter().map(|place| place.as_u64().unwrap() as usize).collect()
    };
    let (labelled, unlabelled, test) = (list("labelled"), list("unlabelled"), list("test"));
    let options = ssdl_data::ReadOptions {
        label_column: Some(ssdl_data::Column::Index(0)),
        ..ssdl_data::ReadOptions::default()
    };
    let (mut values, mut names) = (Vec::new(), Vec::new());
    for file in ["usps/zip.train.gz", "usps/zip.test.gz"] {
        let plain = folder.join(file.trim_end_matches(".gz"));
        let path = if plain.exists() { plain } else { folder.join(file) };
        let part = ssdl_data::read(&path, &options).unwrap();
        values.extend(part.features.as_slice().iter().map(|v| ((v + 1.0) * 0.5) as f32));
        names.extend(part.labels.unwrap());
    }
    let features = Matrix::from_columns(values.len() / names.len(), names.len(), values).unwrap();
    let truth = Labels::from_names(&names);
    let case = Case { features: &features, truth: &truth, image: Some([16, 16]), n_seed: 0 };
    let parts = (&labelled[..], &unlabelled[..], &test[..]);
    let defaults = VARIANTS
        .iter()
        .filter(|(method, knobs)| knobs.is_empty() || *knobs == PAPER || *method == "nearest");
    defaults.map(|(method, knobs)| case.run("usps", method, knobs, parts)).collect()
}

struct Case<'a, T> {
    features: &'a Matrix<T>,
    truth: &'a Labels,
    image: Option<[usize; 2]>,
    n_seed: u64,
}

impl<T: Real> Case<'_, T> {
    fn run(
        &self,
        set: &str,
        method: &str,
        knobs: &str,
        (labelled, unlabelled, test): (&[usize], &[usize], &[usize]),
    ) -> Row {
        let pairs: Vec<(String, String)> = knobs
            .split_whitespace()
            .map(|knob| knob.split_once('=').unwrap())
            .map(|(name, value)| (name.to_owned(), value.to_owned()))
            .collect();
        let places: Vec<usize> = labelled.iter().chain(unlabelled).copied().collect();
        let classes = self.truth.assigned();
        let given =
            places.iter().enumerate().map(|(at, &j)| classes[j].filter(|_| at < labelled.len()));
        let labels = Labels::new(self.truth.classes().to_vec(), given.collect()).unwrap();
        let samples = Samples::new(self.features.select_columns(&places), labels).unwrap();
        let (seed, image) = (self.n_seed, self.image);
        let prepare = vec!["scale=5".parse().unwrap()];
        let options =
            FitOptions { seed, image, prepare, calibrate: false, ..FitOptions::default() };
        let found: &dyn Method<T> = methods::find(method).unwrap();
        let model = found.fit(&pairs, samples, &options, &mut Silent).unwrap();
        let new = self.features.select_columns(test);
        let prediction = model.predict(new).unwrap();
        let right =
            prediction.classes.iter().zip(test).filter(|(class, j)| Some(**class) == classes[**j]);
        Row {
            set: set.to_owned(),
            method: method.to_owned(),
            knobs: knobs.to_owned(),
            predictions: predictions(&model, &prediction),
            trace: trace(&model),
            accuracy: 100.0 * right.count() as f64 / test.len() as f64,
            objective: model.report().objective.total(),
            processor: processor(),
        }
    }
}

/// Everything that a model says: of its training samples, of new ones, and why.
fn predictions<T: Real>(model: &Model<T>, new: &ssdl::Prediction<T>) -> Digest {
    let mut digest = Digest::new();
    for said in [&model.transduction(), new] {
        said.classes.iter().for_each(|class| digest.add(&class.to_le_bytes()));
        for numbers in [&said.scores, &said.probabilities, &said.codes] {
            numbers.as_slice().iter().for_each(|value| digest.add(&value.wide().to_le_bytes()));
        }
    }
    if let Some(atoms) = model.atoms() {
        atoms.as_slice().iter().for_each(|value| digest.add(&value.wide().to_le_bytes()));
    }
    for explained in model.explain(&[0, 7, 100]).unwrap() {
        for part in explained.parts {
            digest.add(&part.index.to_le_bytes());
            part.votes.iter().for_each(|vote| digest.add(&vote.wide().to_le_bytes()));
        }
        for near in explained.neighbours {
            digest.add(&near.sample.to_le_bytes());
            digest.add(&near.weight.wide().to_le_bytes());
        }
    }
    model.query(5).unwrap().iter().for_each(|place| digest.add(&place.to_le_bytes()));
    digest
}

/// The trace but for its seconds; terms that are zero are left out, as a method may not have them.
fn trace<T: Real>(model: &Model<T>) -> Digest {
    let mut digest = Digest::new();
    let report = model.report();
    digest.add(report.stop.to_string().as_bytes());
    digest.add(&report.iterations.to_le_bytes());
    digest.add(&[report.dead_atoms, report.revived_atoms].map(|n| n as u8));
    for row in &report.trace {
        digest.add(&row.iteration.to_le_bytes());
        digest.add(row.step.name().as_bytes());
        for (name, value) in row.objective.terms() {
            if value != 0.0 {
                digest.add(name.as_bytes());
                digest.add(&value.to_le_bytes());
            }
        }
        digest.add(&row.surrogate.to_le_bytes());
        digest.add(&row.flips.to_le_bytes());
    }
    digest
}
