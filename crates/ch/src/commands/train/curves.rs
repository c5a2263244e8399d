//! The curves of a training: loss and accuracy over its epochs, on training and validation rows.

use crate::output::Console;
use crate::output::folder::write_file;
use anyhow::Result;
use report::{Chart, Mark, Series};
use std::path::Path;
use train::EpochScores;

/// A measure of an epoch: its loss or its accuracy.
type Measure = fn((f64, f64)) -> f64;

/// The files with their titles and measures.
const CURVES: &[(&str, &str, &str, Measure)] = &[
    ("curves.svg", "Loss over the epochs", "loss", |pair| pair.0),
    (
        "accuracy.svg",
        "Accuracy over the epochs",
        "accuracy",
        |pair| pair.1,
    ),
];

/// Draws the epochs of `metrics.csv` beside it, those of earlier parts of a resumed run too; nothing before the first epoch.
pub fn write(software: &Path, console: &mut Console) -> Result<()> {
    let epochs = train::epoch_scores(&software.join("metrics.csv"))?;
    if epochs.is_empty() {
        return Ok(());
    }
    for (file, title, label, measure) in CURVES {
        let chart = chart(title, label, &epochs, *measure);
        write_file(&software.join(file), chart.to_svg().as_bytes(), console)?;
    }
    Ok(())
}

fn chart(title: &str, label: &str, epochs: &[EpochScores], measure: Measure) -> Chart {
    let place = |epoch: &EpochScores| epoch.epoch as f64 + 1.0;
    let line =
        |name: &str, mark: Mark, color: usize, score: fn(&EpochScores) -> (f64, f64)| Series {
            name: name.to_owned(),
            mark,
            color: Some(color),
            points: epochs
                .iter()
                .map(|epoch| (place(epoch), measure(score(epoch))))
                .collect(),
            ..Series::default()
        };
    let training = line("training", Mark::Dashes, 0, |epoch| epoch.train);
    let validation = line("validation", Mark::Line, 1, |epoch| epoch.val);
    let best = best(epochs).map(|best| Series {
        name: format!("best: epoch {}, {:.4}", best.epoch + 1, measure(best.val)),
        mark: Mark::Points,
        color: Some(2),
        points: vec![(place(best), measure(best.val))],
        ..Series::default()
    });
    Chart {
        title: title.to_owned(),
        x_label: "epoch".to_owned(),
        y_label: label.to_owned(),
        series: [training, validation].into_iter().chain(best).collect(),
        ..Chart::default()
    }
}

/// The first epoch of the lowest validation loss, whose network is `best.ckpt`.
fn best(epochs: &[EpochScores]) -> Option<&EpochScores> {
    let by_loss = |a: &&EpochScores, b: &&EpochScores| a.val.0.total_cmp(&b.val.0);
    epochs.iter().min_by(by_loss)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_best_epoch_is_the_first_of_the_lowest_validation_loss() {
        let losses = [0.9, 0.5, 0.7, 0.5];
        let epochs: Vec<EpochScores> = losses
            .iter()
            .enumerate()
            .map(|(epoch, &loss)| EpochScores {
                epoch: epoch as u64,
                learning_rate: 0.1,
                train: (loss / 2.0, 0.3),
                val: (loss, 0.4),
            })
            .collect();
        let chart = chart("t", "loss", &epochs, |pair| pair.0);
        let labels = [&chart.title, &chart.x_label, &chart.y_label];
        assert_eq!(labels, ["t", "epoch", "loss"]);
        let [training, validation, best] = chart.series.as_slice() else {
            panic!("three series");
        };
        assert_eq!(training.points[3], (4.0, 0.25));
        assert_eq!(validation.points[2], (3.0, 0.7));
        assert_eq!(best.points, [(2.0, 0.5)]);
        assert_eq!(best.name, "best: epoch 2, 0.5000");
    }
}
