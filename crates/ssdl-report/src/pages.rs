//! The pages about one model: its training samples, or samples that its fit did not see.

use ssdl::model::Seen;
use ssdl::{Matrix, Model, Prediction, Real};

use crate::names::counted;
use crate::{Judged, Look, Page, Result, Subject};

/// Names of samples and features, if the file has them.
#[derive(Default)]
pub struct Names {
    /// One name per sample.
    pub samples: Option<Vec<String>>,
    /// One name per feature.
    pub features: Option<Vec<String>>,
}

/// Samples that the fit did not see, with their predictions and labels.
pub struct Test<'a, T> {
    /// The raw samples.
    pub raw: &'a Matrix<T>,
    /// The samples as the model sees them, and its predictions.
    pub predicted: (&'a Seen<T>, &'a Prediction<T>),
    /// Their labels, where they are known; may be empty.
    pub truth: &'a [Option<String>],
    /// Names of the samples and of their features.
    pub names: &'a Names,
}

/// One sentence: what was learnt from which samples.
pub fn lead<T: Real>(model: &Model<T>) -> String {
    let labels = model.training_labels();
    let free = labels.len() - labels.n_labelled();
    format!(
        "{} learnt from {} and {}.",
        counted(model.classes().len(), "class", "classes"),
        counted(labels.n_labelled(), "label", "labels"),
        counted(free, "unlabelled sample", "unlabelled samples")
    )
}

/// Raw samples as the model sees them, and its predictions: a page shows and explains them.
///
/// # Errors
/// If the number of features is wrong or a value is not finite.
pub fn see<T: Real>(model: &Model<T>, raw: Matrix<T>) -> ssdl::Result<(Seen<T>, Prediction<T>)> {
    let seen = model.see(raw)?;
    let prediction = model.judge(&seen)?;
    Ok((seen, prediction))
}

/// The page of a model alone: its training samples as far as it keeps them.
///
/// # Errors
/// If a picture cannot be drawn.
pub fn of_model<T: Real>(title: String, model: &Model<T>) -> Result<Page> {
    let subject = Subject {
        model,
        training: None,
        training_names: None,
        feature_names: None,
        judged: Judged::Training { hidden: None },
    };
    Ok(Page { look: Some(Look::new(&subject)?), ..Page::new(title, lead(model)) })
}

/// The page of a model on other samples; `training` are its raw training samples, if they are at hand.
///
/// # Errors
/// If a picture cannot be drawn.
pub fn of_test<T: Real>(
    title: String,
    model: &Model<T>,
    training: Option<&Matrix<T>>,
    test: &Test<'_, T>,
) -> Result<Page> {
    let others = counted(test.raw.columns(), "other sample", "other samples");
    let subject = Subject {
        model,
        training,
        training_names: None,
        feature_names: test.names.features.as_deref(),
        judged: Judged::Others {
            raw: test.raw,
            seen: test.predicted.0,
            prediction: test.predicted.1,
            truth: test.truth,
            names: test.names.samples.as_deref(),
        },
    };
    let page = Page::new(title, format!("{} Tested on {others}.", lead(model)));
    Ok(Page { look: Some(Look::new(&subject)?), ..page })
}
