//! Nobody is alarmed about sound data: the bundled digits raise no doubt.

use ssdl::fit::{Flow, Progress, Watch};
use ssdl::methods::{self, FitOptions};
use ssdl::samples::split::per_class;
use ssdl::{Labels, Matrix, Samples};

#[derive(Default)]
struct Notices(Vec<String>);

impl Watch for Notices {
    fn step(&mut self, _progress: &Progress<'_>) -> Flow {
        Flow::Continue
    }

    fn notice(&mut self, sentence: &str) {
        self.0.push(sentence.to_owned());
    }
}

#[test]
fn the_bundled_digits_raise_no_doubt() {
    let table = ssdl_data::digits();
    let truth = Labels::from_names(&table.labels.unwrap());
    let features: Matrix<f32> = table.features.cast();
    for (labelled, seed) in [(5, 0), (10, 1), (20, 2)] {
        let split = per_class(&truth, labelled, Some(40), 1, seed).unwrap();
        let mut chosen = split.labelled.clone();
        chosen.extend(&split.unlabelled);
        let mut assigned = truth.select(&chosen).assigned().to_vec();
        assigned[split.labelled.len()..].fill(None);
        let labels = Labels::new(truth.classes().to_vec(), assigned).unwrap();
        let samples = Samples::new(features.select_columns(&chosen), labels).unwrap();
        for name in ["ssdl-ga", "label-spreading", "ridge"] {
            let options = FitOptions { image: table.image, ..FitOptions::default() };
            let mut notices = Notices::default();
            let method = methods::find::<f32>(name).unwrap();
            method.fit(&[], samples.clone(), &options, &mut notices).unwrap();
            assert!(notices.0.is_empty(), "{name}, {labelled} labels a class: {:?}", notices.0);
        }
    }
}
