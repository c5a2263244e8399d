//! The chapter on training: curves over the epochs, one colour for each run.

use super::{Chapter, Place, list, plain, text};
use serde_json::Value as Json;

/// The chapter.
pub(super) const CHAPTER: Chapter = Chapter {
    entry: "training",
    place: Place::Last,
    markup: include_str!("chapter.html"),
    looks: include_str!("chapter.css"),
    program: include_str!("chapter.js"),
    plain,
};

/// The epochs of all runs as a table.
fn plain(data: &Json) -> String {
    let columns = [
        "epoch",
        "train_loss",
        "train_accuracy",
        "val_loss",
        "val_accuracy",
        "learning_rate",
    ];
    let heads: Vec<&str> = std::iter::once("run").chain(columns).collect();
    let rows = list(data, "runs").iter().flat_map(|run| {
        let epochs = 0..list(&run["columns"], "epoch").len();
        epochs.map(move |at| {
            let cell = |name: &str| plain::number(&run["columns"][name][at]);
            let name = text(run, "name").to_owned();
            std::iter::once(name).chain(columns.map(cell)).collect()
        })
    });
    plain::table(&heads, rows)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn every_epoch_of_every_run_is_a_row() {
        let run = |name: &str, losses: &[f64]| {
            let epochs: Vec<usize> = (1..=losses.len()).collect();
            json!({ "name": name, "columns": { "epoch": epochs, "train_loss": losses } })
        };
        let text = plain(&json!({ "runs": [run("a", &[0.5, 0.25]), run("b", &[1.5])] }));
        let rows = [("a", 1, "0.5"), ("a", 2, "0.25"), ("b", 1, "1.5")];
        for (name, epoch, loss) in rows {
            let cells = format!("<tr><td>{name}</td><td>{epoch}</td><td>{loss}</td><td></td>");
            assert!(text.contains(&cells), "{cells}: {text}");
        }
        assert_eq!(text.matches("<tr>").count(), 1 + rows.len());
    }
}
