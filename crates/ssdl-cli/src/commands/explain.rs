//! `ssdl inspect --sample`: one training sample explained.

use serde_json::{Value, json};
use ssdl::model::Explanation;
use ssdl::{Model, Real};
use ssdl_report::{cut, short};

use crate::print::{self, Grid, Sheet, counted, percent};

/// Maximum number of classes, atoms and neighbours in a list.
const MOST: usize = 10;
/// Greys from dark to light; two columns per pixel make pixels about square.
const GREYS: [&str; 5] = ["  ", "░░", "▒▒", "▓▓", "██"];
/// Letters of a class above a column of numbers.
const LETTERS: usize = 20;
/// Maximum width of an image in the terminal.
const WIDEST: usize = 32;

/// The explanation as text.
pub fn text<T: Real>(model: &Model<T>, sample: usize, explained: &Explanation<T>) -> String {
    let class = |index: usize| short(&model.classes()[index]);
    let mut sheet = Sheet::default();
    let label = model.training_labels().assigned()[sample];
    let label = label.map_or_else(|| "unlabelled".into(), |l| format!("labelled {}", class(l)));
    sheet.row("sample", format!("training sample {sample}, {label}"));
    let probability = explained.probabilities[explained.class].wide();
    let mut prediction = format!("{} ({})", class(explained.class), percent(probability));
    if let Some(second) = explained.second {
        let share = percent(explained.probabilities[second].wide());
        prediction += &format!(", then {} ({share})", class(second));
    }
    sheet.row("prediction", prediction);
    let used = counted(explained.parts.len(), "atom", "atoms");
    if model.atoms().is_some() {
        sheet.row("made of", used);
    }
    let parts = [picture(model, sample), sheet.text(), classes(model, explained)];
    let parts = parts.into_iter().chain([atoms(model, explained), neighbours(model, explained)]);
    parts.filter(|part| !part.is_empty()).collect::<Vec<_>>().join("\n\n")
}

/// The sample itself, if the model keeps it and it is a small image.
fn picture<T: Real>(model: &Model<T>, sample: usize) -> String {
    let image = model.preparation().image_prepared().filter(|[_, width]| *width <= WIDEST);
    let Some(([_, width], training)) = image.zip(model.training()) else { return String::new() };
    let values: Vec<f64> = training.column(sample).iter().map(|value| value.wide()).collect();
    let (low, high) = values
        .iter()
        .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), v| (low.min(*v), high.max(*v)));
    let grey = |value: &f64| {
        let share = (value - low) / (high - low).max(f64::MIN_POSITIVE);
        GREYS[((share * 4.99) as usize).min(GREYS.len() - 1)]
    };
    let lines = values.chunks(width).map(|line| line.iter().map(grey).collect::<String>());
    lines.map(|line| line.trim_end().to_owned()).collect::<Vec<_>>().join("\n")
}

fn classes<T: Real>(model: &Model<T>, explained: &Explanation<T>) -> String {
    let mut order: Vec<usize> = (0..explained.scores.len()).collect();
    let score = |index: usize| explained.scores[index].wide();
    order.sort_by(|&a, &b| score(b).total_cmp(&score(a)).then(a.cmp(&b)));
    let mut grid = Grid::new(&["class", ">score", ">probability"]);
    for &index in order.iter().take(MOST) {
        let share = percent(explained.probabilities[index].wide());
        grid.row([short(&model.classes()[index]), print::number(score(index)), share]);
    }
    grid.text()
}

fn atoms<T: Real>(model: &Model<T>, explained: &Explanation<T>) -> String {
    if explained.parts.iter().all(|part| part.votes.is_empty()) {
        return String::new();
    }
    let what = if model.atoms().is_some() { "atom" } else { "feature" };
    let class = |index: usize| format!(">for {}", cut(&model.classes()[index], LETTERS));
    let second = explained.second.map(class).unwrap_or_default();
    let mut grid = Grid::new(&[what, ">amount", &class(explained.class), &second]);
    for part in explained.parts.iter().take(MOST) {
        let vote = |class: usize| print::number(part.votes[class].wide());
        let amount = print::number(part.amount.wide());
        let second = explained.second.map(vote).unwrap_or_default();
        grid.row([part.index.to_string(), amount, vote(explained.class), second]);
    }
    match explained.parts.len().saturating_sub(MOST) {
        0 => grid.text(),
        more => format!("{}\nand {more} more", grid.text()),
    }
}

fn neighbours<T: Real>(model: &Model<T>, explained: &Explanation<T>) -> String {
    if explained.neighbours.is_empty() {
        return String::new();
    }
    let (classes, predicted) = (model.classes(), model.transduction().classes);
    let mut grid = Grid::new(&["neighbour", ">weight", "class"]);
    for near in explained.neighbours.iter().take(MOST) {
        let class = match model.training_labels().assigned()[near.sample] {
            Some(label) => format!("labelled {}", short(&classes[label])),
            None => format!("unlabelled, predicted {}", short(&classes[predicted[near.sample]])),
        };
        grid.row([near.sample.to_string(), print::number(near.weight.wide()), class]);
    }
    grid.text()
}

/// The explanation as JSON.
pub fn json<T: Real>(model: &Model<T>, sample: usize, explained: &Explanation<T>) -> Value {
    let classes = model.classes();
    let named = |values: &[T]| -> Value {
        let pairs = classes.iter().cloned().zip(values.iter().map(|v| Value::from(v.wide())));
        pairs.collect::<serde_json::Map<_, _>>().into()
    };
    let label = |sample: usize| model.training_labels().assigned()[sample].map(|l| &classes[l]);
    let parts = explained.parts.iter().map(|part| {
        json!({"index": part.index, "amount": part.amount.wide(), "votes": named(&part.votes)})
    });
    let near = explained.neighbours.iter().map(|near| {
        let (sample, weight) = (near.sample, near.weight.wide());
        json!({"sample": sample, "weight": weight, "label": label(near.sample)})
    });
    json!({
        "sample": sample,
        "label": label(sample),
        "class": classes[explained.class],
        "second": explained.second.map(|second| &classes[second]),
        "scores": named(&explained.scores),
        "probabilities": named(&explained.probabilities),
        "atoms": model.atoms().is_some().then(|| parts.clone().collect::<Vec<_>>()),
        "features": model.atoms().is_none().then(|| parts.collect::<Vec<_>>()),
        "neighbours": near.collect::<Vec<_>>(),
    })
}
