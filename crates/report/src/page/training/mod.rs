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
