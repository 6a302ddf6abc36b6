//! Plots as SVG; their colours come from the page, so that they suit light and dark themes.

use kuva::backend::svg::SvgBackend;
use kuva::plot::histogram::Histogram;
use kuva::plot::{LinePlot, ScatterPlot, StackedAreaPlot};
use kuva::render::layout::{Layout, TickFormat};
use kuva::render::plots::Plot;
use kuva::render::render::render_multiple;
use kuva::render::theme::Theme;
use ssdl::fit::{TraceRow, term_names};
use ssdl::{Matrix, Real};
use ssdl_experiments::Curve;

use crate::names::escaped;

/// Size of every plot; two of them share a line of the page.
const SIZE: [f64; 2] = [520.0, 300.0];
/// Number of colours in the style of the page.
const COLOURS: usize = 6;

/// A plot, ready for the page.
pub(crate) struct Figure {
    /// The picture; generated here, so the template need not escape it.
    pub svg: String,
    /// The plot described in words.
    pub words: String,
    /// What the colours mean; outside the picture, so that it is readable on a phone.
    pub legend: Vec<Key>,
}

/// One entry of a legend.
pub(crate) struct Key {
    pub name: String,
    pub colour: String,
    pub dashed: bool,
}

/// The curve as a plot.
pub(crate) fn curve(curve: &Curve) -> Figure {
    let mut plots = Vec::new();
    let mut words = Vec::new();
    let mut legend: Vec<Key> = Vec::new();
    let mut lines = 0;
    for series in &curve.series {
        // A dashed line has the colour of our line before it.
        lines += usize::from(!series.dashed || lines == 0);
        let colour = colour(lines - 1);
        let points: Vec<(f64, f64)> = series.points.iter().map(|p| (p.x, p.y)).collect();
        let mut line = LinePlot::new()
            .with_data(points.iter().copied())
            .with_color(colour.as_str())
            .with_stroke_width(2.0);
        if series.dashed {
            line = line.with_dashed();
        } else {
            line = line.with_y_err(series.points.iter().map(|p| p.spread));
            let dots = ScatterPlot::new().with_data(points).with_color(colour.as_str());
            plots.push(Plot::Scatter(dots.with_size(3.0)));
        }
        plots.push(Plot::Line(line));
        let values = series.points.iter().map(|p| format!("{} at {}", decimal(p.y), p.x));
        words.push(format!("{}: {}", series.name, values.collect::<Vec<_>>().join(", ")));
        legend.push(Key { name: series.name.clone(), colour, dashed: series.dashed });
    }
    let heights = curve.series.iter().flat_map(|series| &series.points);
    let (low, high) = heights.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), p| {
        (low.min(p.y - p.spread), high.max(p.y + p.spread))
    });
    let layout = layout(&plots, curve.along.name(), curve.judged.name())
        .with_y_axis_min((low - 0.5).floor().max(0.0))
        .with_y_axis_max((high + 0.5).ceil().min(100.0));
    figure(plots, layout, format!("{}. {}", curve.heading, words.join(". ")), legend)
}

/// The objective of every epoch; `None` if there are not two of them.
pub(crate) fn epochs(objectives: &[f64]) -> Option<Figure> {
    let [first, .., last] = objectives else { return None };
    let points = objectives.iter().enumerate().map(|(at, value)| ((at + 1) as f64, *value));
    let line = LinePlot::new().with_data(points).with_color(colour(0).as_str());
    let plots = vec![Plot::Line(line.with_stroke_width(2.0))];
    let layout = layout(&plots, "epoch", "objective")
        .with_x_axis_min(1.0)
        .with_x_axis_max(objectives.len() as f64)
        .with_x_tick_step(step(objectives.len()))
        .with_x_tick_format(TickFormat::Integer);
    let words = format!(
        "The objective went from {} to {} in {} epochs.",
        decimal(*first),
        decimal(*last),
        objectives.len()
    );
    Some(figure(plots, layout, words, Vec::new()))
}

/// The objective after every iteration, its terms stacked; `None` without iterations.
pub(crate) fn objective(trace: &[TraceRow]) -> Option<Figure> {
    let mut ends: Vec<&TraceRow> = Vec::new();
    for row in trace {
        match ends.last_mut() {
            Some(last) if last.iteration == row.iteration => *last = row,
            _ => ends.push(row),
        }
    }
    let (first, last) = (ends.first()?, ends.last()?);
    if ends.len() < 2 {
        return None;
    }
    let x = ends.iter().map(|row| row.iteration as f64);
    let mut areas = StackedAreaPlot::new().with_x(x).with_fill_opacity(0.75);
    let (mut words, mut legend) = (Vec::new(), Vec::new());
    for (at, name) in term_names(trace).into_iter().enumerate() {
        let of_term = |row: &&TraceRow| row.objective.term(name);
        if ends.iter().all(|row| of_term(row) == 0.0) {
            continue;
        }
        areas = areas.with_series(ends.iter().map(of_term));
        areas = areas.with_color(colour(at).as_str());
        legend.push(Key { name: name.to_owned(), colour: colour(at), dashed: false });
        words.push(format!("{name} {}", decimal(of_term(last))));
    }
    let plots = vec![Plot::StackedArea(areas)];
    let top = ends.iter().map(|row| row.objective.total()).fold(0.0, f64::max);
    let layout = layout(&plots, "iteration", "objective")
        .with_x_axis_max(last.iteration as f64)
        .with_x_tick_step(step(last.iteration))
        .with_y_axis_min(0.0)
        .with_y_axis_max(top * 1.02)
        .with_x_tick_format(TickFormat::Integer);
    let (from, to) = (decimal(first.objective.total()), decimal(last.objective.total()));
    let text = format!(
        "The objective fell from {from} to {to} in {} iterations; at the end {}.",
        last.iteration,
        words.join(", ")
    );
    Some(figure(plots, layout, text, legend))
}

/// Histogram of the number of non-zero entries per code.
pub(crate) fn sparsity<T: Real>(codes: &Matrix<T>) -> Option<Figure> {
    let counts: Vec<usize> = codes
        .iter_columns()
        .map(|code| code.iter().filter(|value| **value != T::zero()).count())
        .collect();
    let (least, most) = (*counts.iter().min()?, *counts.iter().max()?);
    let mean = counts.iter().sum::<usize>() as f64 / counts.len() as f64;
    // Bins start at a round number, where the axis has its ticks.
    let start = if most > 20 { least / 10 * 10 } else { least };
    let width = (most - start + 1).div_ceil(24);
    let bins = (most - start + 1).div_ceil(width);
    let mut heights = vec![0.0; bins];
    counts.iter().for_each(|count| heights[(count - start) / width] += 1.0);
    let edges: Vec<f64> = (0..=bins).map(|at| (start + at * width) as f64).collect();
    let span = (edges[0], edges[bins]);
    let bars = Histogram::new().with_precomputed(edges, heights).with_color(colour(0).as_str());
    let plots = vec![Plot::Histogram(bars)];
    let layout = layout(&plots, "atoms used by a sample", "training samples")
        .with_x_axis_min(span.0)
        .with_x_axis_max(span.1)
        .with_x_tick_step(step(bins * width));
    let text = format!(
        "A training sample uses {} of {} atoms on average, between {least} and {most}.",
        decimal(mean),
        codes.rows()
    );
    Some(figure(plots, layout, text, Vec::new()))
}

fn layout(plots: &[Plot], x: &str, y: &str) -> Layout {
    let theme = Theme {
        background: "none".into(),
        axis_color: "var(--soft)".into(),
        grid_color: "var(--rule)".into(),
        tick_color: "var(--soft)".into(),
        text_color: "currentColor".into(),
        legend_bg: "none".into(),
        legend_border: "none".into(),
        ..Theme::light()
    };
    Layout::auto_from_plots(plots)
        .with_x_label(x)
        .with_y_label(y)
        .with_width(SIZE[0])
        .with_height(SIZE[1])
        .with_theme(theme)
        .with_label_size(13)
}

/// A whole-number step between ticks, so that an axis of this length has at most eight.
fn step(length: usize) -> f64 {
    let units = (0..).map(|power| 10usize.pow(power));
    let mut steps = units.flat_map(|unit| [unit, 2 * unit, 5 * unit]);
    steps.find(|step| length / step <= 8).unwrap_or(1) as f64
}

fn colour(at: usize) -> String {
    format!("var(--series-{})", at % COLOURS + 1)
}

/// Draws a plot that scales with the page and is described in words for screen readers.
fn figure(plots: Vec<Plot>, layout: Layout, words: String, legend: Vec<Key>) -> Figure {
    let scene = render_multiple(plots, layout);
    let (width, height) = (scene.width, scene.height);
    let svg = SvgBackend::new().render_scene(&scene);
    let body = svg.split_once('>').map_or("", |(_, body)| body);
    let svg = format!(
        "<svg viewBox=\"0 0 {width} {height}\" role=\"img\" fill=\"currentColor\" \
         aria-label=\"{}\">{body}",
        escaped(&words)
    );
    Figure { svg, words, legend }
}

/// A number with few digits.
fn decimal(value: f64) -> String {
    if value.abs() >= 1000.0 { format!("{value:.0}") } else { format!("{value:.1}") }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ssdl::fit::{Objective, Step};
    use ssdl_experiments::{Along, Judged, Point, Series};

    fn row(iteration: usize, total: f64) -> TraceRow {
        let objective = Objective::new([("reconstruction", total), ("sparsity", 0.0)]);
        let (step, surrogate, flips, seconds) = (Step::Codes, 0.0, 0, 0.0);
        TraceRow { iteration, step, objective, surrogate, flips, seconds }
    }

    #[test]
    fn the_objective_is_drawn_at_the_end_of_each_iteration() {
        let trace = [row(0, 9.0), row(1, 8.0), row(1, 7.0), row(2, 5.0)];
        let figure = objective(&trace).expect("two iterations");
        assert!(figure.words.starts_with("The objective fell from 9.0 to 5.0 in 2 iterations"));
        assert!(figure.svg.starts_with("<svg viewBox=\"0 0 520 300\" role=\"img\""));
        let names: Vec<&str> = figure.legend.iter().map(|key| key.name.as_str()).collect();
        assert_eq!(names, ["reconstruction"], "terms that are always zero are omitted");
        assert!(objective(&trace[..1]).is_none() && objective(&[]).is_none());
    }

    #[test]
    fn names_in_a_plot_are_escaped() {
        let points =
            vec![Point { x: 0.0, y: 90.0, spread: 1.0 }, Point { x: 9.0, y: 95.0, spread: 0.0 }];
        let name = "<script>\"&".to_owned();
        let series = vec![
            Series { name: name.clone(), points: points.clone(), dashed: false },
            Series { name: "another".into(), points, dashed: true },
        ];
        let figure =
            curve(&Curve { heading: name, along: Along::Labelled, judged: Judged::Test, series });
        assert!(!figure.svg.contains("<script>") && figure.svg.contains("&lt;script&gt;"));
        assert_eq!(figure.legend[0].colour, figure.legend[1].colour);
    }

    #[test]
    fn sparsity_counts_non_zero_entries() {
        let codes = Matrix::from_fn(50, 40, |i, j| f64::from(u8::from(i <= j)));
        let figure = sparsity(&codes).expect("codes");
        assert!(figure.words.contains("20.5 of 50 atoms on average, between 1 and 40"));
        assert!(sparsity(&Matrix::<f64>::zeros(3, 0)).is_none());
    }

    #[test]
    fn ticks_are_whole_and_few() {
        assert_eq!([1, 8, 9, 15, 41, 70, 1000].map(step), [1.0, 1.0, 2.0, 2.0, 5.0, 10.0, 200.0]);
    }
}
