//! The chart of a sweep: training and validation loss over one setting, a colour for every combination of the others.

use super::results::Results;
use super::summary::{Spread, Summary};
use super::{Axis, SEED};
use report::{Chart, Mark, Scale, Series};

/// Training and validation loss over the first setting that is no seed, one whose values are numbers before others. What the
/// seeds give is shown as mean and deviation, if anything else was varied too.
pub fn chart(results: &Results) -> Chart {
    let x = x_axis(results.axes);
    let axis = &results.axes[x];
    let x_scale = numbers(axis).map_or_else(
        || Scale::Words(axis.values.clone()),
        |values| Scale::suiting(&values),
    );
    let has_names = matches!(x_scale, Scale::Words(_));
    let place = |summary: &Summary| {
        let value = &summary.values[x];
        let place = axis.values.iter().position(|other| other == value);
        let place = place.unwrap_or_default() as f64;
        if has_names {
            place
        } else {
            value.parse().unwrap_or(place)
        }
    };
    let others = others(results.axes, x);
    let legend: Vec<&str> = others
        .iter()
        .map(|&i| results.axes[i].setting.key)
        .collect();
    Chart {
        title: if has_names {
            "Validation loss (dark) and training loss (light)"
        } else {
            "Validation loss (solid) and training loss (dashed)"
        }
        .to_owned(),
        x_label: axis.setting.key.to_owned(),
        y_label: "loss".to_owned(),
        legend: legend.join(", "),
        series: series(results, &others, has_names, place),
        x_scale,
        levels: Vec::new(),
    }
}

/// The settings that are neither on the axis nor the seed.
fn others(axes: &[Axis], x: usize) -> Vec<usize> {
    let is_other = |&i: &usize| i != x && axes[i].setting.key != SEED;
    (0..axes.len()).filter(is_other).collect()
}

fn x_axis(axes: &[Axis]) -> usize {
    let is_seed = |axis: &Axis| axis.setting.key == SEED;
    let numeric = axes
        .iter()
        .position(|axis| !is_seed(axis) && numbers(axis).is_some());
    let other = || axes.iter().position(|axis| !is_seed(axis));
    numeric.or_else(other).unwrap_or(0)
}

fn numbers(axis: &Axis) -> Option<Vec<f64>> {
    axis.values.iter().map(|value| value.parse().ok()).collect()
}

/// Two lines for each combination of the other settings, or two sorts of points over words, between which there is nothing.
fn series(
    results: &Results,
    others: &[usize],
    has_names: bool,
    place: impl Fn(&Summary) -> f64,
) -> Vec<Series> {
    let is_only_seeds = results.axes.iter().all(|axis| axis.setting.key == SEED);
    let summaries = if is_only_seeds {
        results.single_runs()
    } else {
        results.summaries()
    };
    let marks = if has_names {
        [Mark::Points, Mark::Dots]
    } else {
        [Mark::Line, Mark::Dashes]
    };
    let mut all: Vec<Pair> = Vec::new();
    for summary in &summaries {
        let values: Vec<&str> = others.iter().map(|&i| summary.values[i].as_str()).collect();
        let name = values.join(", ");
        let known = all.iter().position(|pair| pair[0].name == name);
        let color = known.unwrap_or_else(|| {
            all.push(pair(&name, marks, all.len()));
            all.len() - 1
        });
        let at = place(summary);
        let [validation, training] = &mut all[color];
        add(validation, at, summary.val_loss);
        add(training, at, summary.train_loss);
    }
    let mut series: Vec<Series> = all.into_iter().flatten().collect();
    series.iter_mut().for_each(sort);
    series
}

/// Validation and training loss of one combination.
type Pair = [Series; 2];

/// Both lines in one colour; the second is not in the legend.
fn pair(name: &str, marks: [Mark; 2], color: usize) -> Pair {
    let names = [name, ""];
    std::array::from_fn(|i| Series {
        name: names[i].to_owned(),
        mark: marks[i],
        color: Some(color),
        ..Series::default()
    })
}

fn add(series: &mut Series, at: f64, spread: Option<Spread>) {
    let mean = spread.map_or(f64::NAN, |spread| spread.mean);
    series.points.push((at, mean));
    let deviation = spread.and_then(|spread| spread.deviation);
    series.errors.push(deviation.unwrap_or(0.0));
}

/// The points by their place, each with its bar.
fn sort(series: &mut Series) {
    let mut pairs: Vec<((f64, f64), f64)> = series
        .points
        .drain(..)
        .zip(series.errors.drain(..))
        .collect();
    pairs.sort_by(|a, b| a.0.0.total_cmp(&b.0.0));
    (series.points, series.errors) = pairs.into_iter().unzip();
}
