//! The part of a page that shows one model in detail.

use std::borrow::Cow;

use ssdl::graph::Rule;
use ssdl::model::Seen;
use ssdl::{Matrix, Model, Prediction, Real};

use crate::Result;
use crate::choice::{choose_samples, unsure};
use crate::confusion::{Case, Confusion};
use crate::inside::Inside;
use crate::mosaic::groups;
use crate::names::short;
use crate::page::Fact;
use crate::plots::{self, Figure};
use crate::tiles::Pictures;

/// Maximum number of atoms per class in the page; `ssdl atoms` draws them all.
const MOST_ATOMS: usize = 24;
/// Maximum number of atoms in the page.
const MOST_ATOMS_IN_ALL: usize = 300;

/// The model, and the samples to show.
pub struct Subject<'a, T> {
    /// The model.
    pub model: &'a Model<T>,
    /// Its raw training samples; if omitted, the prepared ones that the model keeps.
    pub training: Option<&'a Matrix<T>>,
    /// Names of the training samples, if any.
    pub training_names: Option<&'a [String]>,
    /// Names of the features, if any.
    pub feature_names: Option<&'a [String]>,
    /// The samples to show.
    pub judged: Judged<'a, T>,
}

/// Which samples are shown, with their predictions and labels.
pub enum Judged<'a, T> {
    /// The training samples; the least certain are chosen among the unlabelled.
    Training {
        /// The predictions for labelled samples while their labels were hidden; `None` for the
        /// others.
        hidden: Option<&'a [Option<usize>]>,
    },
    /// Samples that the fit did not see.
    Others {
        /// The raw samples.
        raw: &'a Matrix<T>,
        /// The samples as the model sees them.
        seen: &'a Seen<T>,
        /// Their predictions.
        prediction: &'a Prediction<T>,
        /// Their labels, if known.
        truth: &'a [Option<String>],
        /// Their names, if any.
        names: Option<&'a [String]>,
    },
}

/// The part of a page about one model.
pub struct Look {
    pub(crate) cards: Vec<Fact>,
    pub(crate) facts: Vec<Fact>,
    pub(crate) objective: Option<Figure>,
    pub(crate) sparsity: Option<Figure>,
    pub(crate) confusion: Option<Confusion>,
    /// How the counts were made, or why there are none.
    pub(crate) about_confusion: String,
    pub(crate) about_unsure: String,
    pub(crate) atoms: Vec<AtomsOfClass>,
    pub(crate) about_atoms: String,
    pub(crate) inside: Inside,
    /// What the page cannot show, and why.
    pub(crate) missing: Vec<String>,
}

pub(crate) struct AtomsOfClass {
    pub name: String,
    pub short: String,
    pub atoms: Vec<usize>,
    pub more: usize,
}

impl Look {
    /// Predicts, explains and draws. Cost: explanations of a few hundred samples, $O(nN)$ each.
    ///
    /// # Errors
    /// If the samples do not fit the model.
    #[inline(never)]
    pub fn new<T: Real>(subject: &Subject<'_, T>) -> Result<Self> {
        let model = subject.model;
        let mut names = model.classes().to_vec();
        let cases = cases(subject, &mut names);
        let confusion = Confusion::new(&cases, &names, model.classes().len());
        let assigned = model.training_labels().assigned();
        let of_training = matches!(subject.judged, Judged::Training { .. });
        let unsure = unsure(&cases, |place| of_training && assigned[place].is_some());
        let places = choose_samples(&cases, &unsure);
        let inside = Inside::new(subject, &cases, &places, &unsure, &names)?;
        let (atoms, about_atoms) = atoms(model);
        let codes = model.atoms().is_some().then(|| model.codes());
        Ok(Self {
            cards: cards(model, confusion.as_ref(), of_training),
            facts: facts(model),
            objective: plots::objective(&model.report().trace),
            sparsity: codes.and_then(plots::sparsity),
            about_confusion: about_confusion(&subject.judged, confusion.as_ref(), model),
            about_unsure: about_unsure(of_training, model),
            missing: missing(subject, &inside),
            confusion,
            atoms,
            about_atoms,
            inside,
        })
    }
}

/// Every sample with its prediction and its true class.
fn cases<T: Real>(subject: &Subject<'_, T>, names: &mut Vec<String>) -> Vec<Case> {
    let model = subject.model;
    let (prediction, truth): (Cow<'_, Prediction<T>>, Vec<Option<usize>>) = match &subject.judged {
        Judged::Training { .. } => {
            (Cow::Owned(model.transduction()), model.training_labels().assigned().to_vec())
        }
        Judged::Others { prediction, truth, .. } => {
            let mut row_of = |name: &String| {
                names.iter().position(|known| known == name).unwrap_or_else(|| {
                    names.push(name.clone());
                    names.len() - 1
                })
            };
            let truth = truth.iter().map(|name| name.as_ref().map(&mut row_of)).collect();
            (Cow::Borrowed(*prediction), truth)
        }
    };
    let case = |place: usize| Case {
        place,
        truth: truth.get(place).copied().flatten(),
        predicted: match &subject.judged {
            Judged::Training { hidden } => hidden.and_then(|hidden| hidden[place]),
            Judged::Others { .. } => Some(prediction.classes[place]),
        },
        lead: prediction.lead(place),
    };
    (0..prediction.classes.len()).map(case).collect()
}

fn cards<T: Real>(model: &Model<T>, confusion: Option<&Confusion>, of_training: bool) -> Vec<Fact> {
    let (report, labels) = (model.report(), model.training_labels());
    let mut cards = Vec::new();
    if let Some(table) = confusion {
        let what = if of_training { "hidden labels" } else { "samples" };
        cards.push(Fact::new(
            format!("of {} {what} correct", table.judged),
            format!("{:.1} %", 100.0 * table.accuracy()),
        ));
    }
    let free = labels.len() - labels.n_labelled();
    cards.push(Fact::new("labelled samples", labels.n_labelled().to_string()));
    cards.push(Fact::new("unlabelled samples", free.to_string()));
    cards.push(Fact::new("classes", model.classes().len().to_string()));
    if let Some(atoms) = model.atoms() {
        cards.push(Fact::new("atoms", atoms.columns().to_string()));
    }
    cards.push(Fact::new("seconds to fit", format!("{:.2}", report.seconds)));
    cards
}

fn facts<T: Real>(model: &Model<T>) -> Vec<Fact> {
    let report = model.report();
    let knobs = model.knobs().iter().map(|(name, value)| format!("{name}={value}"));
    let steps: Vec<String> = model.preparation().plans().iter().map(ToString::to_string).collect();
    let mut facts = vec![
        Fact::new("method", model.method()),
        Fact::new("knobs", knobs.collect::<Vec<_>>().join(" ")),
        Fact::new("features", model.n_features().to_string()),
        Fact::new(
            "preparation",
            if steps.is_empty() { "none".into() } else { steps.join(", then ") },
        ),
    ];
    if let Some(attachment) = model.attachment() {
        facts.push(Fact::new("new samples", joined(attachment.rule)));
    }
    if let Some(trees) = model.decision().trees() {
        let text = format!("labelled samples in the same leaves of {} trees vote", trees.n_trees());
        facts.push(Fact::new("new samples", text));
    }
    let stop = match report.iterations {
        0 => report.stop.to_string(),
        1 => format!("{} after 1 iteration", report.stop),
        n => format!("{} after {n} iterations", report.stop),
    };
    facts.push(Fact::new("stop", stop));
    facts.push(Fact::new("seed", report.seed.to_string()));
    facts.push(Fact::new("numbers", T::NAME));
    facts.push(Fact::new("made by", format!("ssdl {}", report.version)));
    facts
}

/// How a new sample joins the graph, in words.
fn joined(rule: Rule) -> String {
    match rule {
        Rule::Lle { n_neighbors } => {
            format!("combined from their {n_neighbors} nearest neighbours (LLE)")
        }
        Rule::Heat { n_neighbors, width, .. } => {
            format!("joined to their {n_neighbors} nearest by a heat kernel of width {width:.3}")
        }
        Rule::Neighbours { n_neighbors, .. } => format!("joined to their {n_neighbors} nearest"),
        Rule::Threshold { radius, .. } => format!("joined to all within {radius:.3}"),
        Rule::Learnt { smoothness, .. } => {
            format!("joined to the learnt graph (smoothness {smoothness})")
        }
        Rule::Expressive { .. } => "written with the few others that express them".into(),
        other => format!("{other:?}"),
    }
}

fn about_confusion<T: Real>(
    judged: &Judged<'_, T>,
    confusion: Option<&Confusion>,
    model: &Model<T>,
) -> String {
    match (judged, confusion) {
        (Judged::Training { .. }, Some(_)) => "Cross-validation on the labels: the labels of one \
             fold at a time were hidden, and a fit without them predicted these labels. Rows are \
             labels, columns are predictions."
            .into(),
        (Judged::Others { .. }, Some(_)) => {
            "Samples that the fit did not see, by true class (rows) and predicted class (columns)."
                .into()
        }
        (Judged::Training { hidden: None }, None) => {
            "There are no counts: no predictions can be compared with labels. `ssdl fit --report` \
             uses cross-validation on the labels, `ssdl predict --report` new samples with labels."
                .into()
        }
        (Judged::Training { .. }, None) => format!(
            "There are no counts: with {} labels, none can be hidden without emptying its class.",
            model.training_labels().n_labelled()
        ),
        (Judged::Others { .. }, None) => {
            "There are no counts: no label of these samples is known. \
             Name their column with --label-column, or give --labels FILE."
                .into()
        }
    }
}

fn about_unsure(of_training: bool, model: &Model<impl Real>) -> String {
    let labels = model.training_labels();
    let which = match (of_training, labels.n_labelled() < labels.len()) {
        (true, true) => "Unlabelled training samples whose two most likely classes are closest.",
        (true, false) => "Training samples whose two most likely classes are closest.",
        (false, _) => "Samples whose two most likely classes are closest.",
    };
    format!("{which} Labels for these would help the model most. Select one to see why.")
}

fn atoms<T: Real>(model: &Model<T>) -> (Vec<AtomsOfClass>, String) {
    let groups = match groups(model) {
        Ok((_, groups)) => groups,
        Err(error) => return (Vec::new(), format!("There is no picture: {error}.")),
    };
    let most = (MOST_ATOMS_IN_ALL / groups.len().max(1)).clamp(1, MOST_ATOMS);
    let of_class = |group: crate::mosaic::Group| {
        let name = model.classes()[group.class].clone();
        let more = group.atoms.len().saturating_sub(most);
        let atoms = group.atoms.into_iter().take(most).collect();
        AtomsOfClass { short: short(&name), name, atoms, more }
    };
    let about = "The atoms that raise the score of each class most, strongest first; grey is zero, \
                 white positive, black negative.";
    let bars = "The atoms that raise the score of each class most, strongest first; one bar per \
                feature, upwards if positive.";
    let is_image = model.preparation().image_prepared().is_some();
    (groups.into_iter().map(of_class).collect(), if is_image { about } else { bars }.into())
}

fn missing<T: Real>(subject: &Subject<'_, T>, inside: &Inside) -> Vec<String> {
    let mut missing = Vec::new();
    if matches!(inside.samples, Pictures::None) {
        missing.push(
            "The samples cannot be shown: the model does not keep its training samples. Use \
             `ssdl fit --report`, or `ssdl predict --report` with your own samples."
                .into(),
        );
    }
    let model = subject.model;
    if model.attachment().is_none() && model.decision().trees().is_none() {
        missing.push(format!(
            "There are no neighbours to show: {} does not join new samples to training samples.",
            model.method()
        ));
    }
    missing
}
