//! The scores of classes: tables for people, JSON, CSV files and pictures.

use crate::output::{Stream, fit};
use data::{Info, Split};
use ir::{Op, Verified};
use report::{Chart, Column, Heatmap, Mark, Series, Table};
use serde_json::{Map, Value as Json, json};
use train::{ClassScores, Classification};

/// The table of classes.
pub const COLUMNS: &[Column] = &[
    Column::words("Class", "a class of the dataset"),
    Column::numbers("Rows", "the number of rows"),
    Column::numbers(
        "Precision",
        "the share of rows taken for the class that are of it",
    ),
    Column::numbers(
        "Recall",
        "the share of the class's rows that are taken for it",
    ),
    Column::numbers(
        "AUC",
        "the area under the curve of the class against all others, by its softmax: 0.5 is chance, 1 is perfect",
    ),
    Column::numbers(
        "Rejection",
        "rows of other classes for each one that is accepted, where half of the class is accepted",
    ),
];

/// More classes than this are not printed side by side.
const MAX_PRINTED: usize = 10;
/// The place of the tables that a terminal has no room for.
const WHOLE: &str = "--json";
/// Rows of the curves in CSV; more would not be seen.
const MAX_POINTS: usize = 1000;

/// The scores of classes, with their names.
pub struct ClassReport {
    names: Vec<String>,
    scores: Classification,
    dataset: String,
}

impl ClassReport {
    /// The report on the outputs for rows; nothing where a network returns something other than one number for each class.
    pub fn new(info: &Info, rows: &Split, outputs: &[f32]) -> Option<Self> {
        let labels = rows.labels_of(rows.indices());
        let width = outputs.len() / labels.len().max(1);
        if width < info.classes.len() || outputs.len() != width * labels.len() {
            return None;
        }
        let further = (info.classes.len()..width).map(|output| format!("output {output}"));
        Some(Self {
            names: info.classes.iter().cloned().chain(further).collect(),
            scores: Classification::of(outputs, &labels, width),
            dataset: info.name.clone(),
        })
    }

    /// A note on outputs that a last ReLU holds at zero on every row.
    pub fn note(&self, verified: &Verified) -> Option<String> {
        let last = verified.output_values().first()?.node;
        let node = verified.graph().node(last);
        let dead: Vec<&str> = self
            .scores
            .never_positive
            .iter()
            .map(|&class| self.names[class].as_str())
            .collect();
        if !matches!(node.op, Op::Relu(_)) || dead.is_empty() {
            return None;
        }
        let (outputs, are) = if dead.len() == 1 {
            ("output", "is")
        } else {
            ("outputs", "are")
        };
        Some(format!(
            "the {outputs} for {} {are} 0 on every row: {} ends the network in a ReLU that no row passes, so that training cannot mend it; train with another --seed, or leave {} out",
            dead.join(", "),
            node.name,
            node.name
        ))
    }

    /// The tables for people.
    pub fn text(&self) -> String {
        let top = self
            .scores
            .top5
            .map_or_else(String::new, |top5| format!("\ntop-5 accuracy {top5:.6}\n"));
        let mut text = format!("{top}\n{}", fit::table(&self.table(), Stream::Out, WHOLE));
        if self.names.len() <= MAX_PRINTED {
            text += "\nrows of each class (down) by the class they were taken for (across)\n\n";
            text += &fit::table(&self.confusion_table(), Stream::Out, WHOLE);
        } else {
            text += "\nthe confusion matrix is in the files of --out FOLDER, and in --json\n";
        }
        text
    }

    /// The scores for programs.
    pub fn json(&self) -> Map<String, Json> {
        let class = |(name, class): (&String, &ClassScores)| {
            json!({
                "class": name,
                "rows": class.support,
                "precision": class.precision,
                "recall": class.recall,
                "auc": class.auc,
                "rejection": class.rejection,
            })
        };
        let classes: Json = self
            .names
            .iter()
            .zip(&self.scores.classes)
            .map(class)
            .collect();
        let mut map = Map::new();
        map.insert("classes".to_owned(), classes);
        map.insert("confusion".to_owned(), json!(self.scores.confusion));
        map.insert("top5".to_owned(), json!(self.scores.top5));
        map
    }

    /// The files, by name.
    pub fn files(&self) -> [(&'static str, String); 5] {
        [
            ("classes.csv", self.table().to_csv()),
            ("confusion.csv", self.confusion_table().to_csv()),
            ("confusion.svg", self.heatmap().to_svg()),
            ("roc.csv", self.curves().to_csv()),
            ("roc.svg", self.chart().to_svg()),
        ]
    }

    fn table(&self) -> Table {
        let mut table = Table::with_columns(COLUMNS);
        let shown = |value: Option<f64>, decimals: usize| match value {
            Some(value) if value.is_finite() => format!("{value:.decimals$}"),
            Some(_) => "∞".to_owned(),
            None => "–".to_owned(),
        };
        for (name, class) in self.names.iter().zip(&self.scores.classes) {
            table.push([
                name.clone(),
                class.support.to_string(),
                shown(class.precision, 4),
                shown(class.recall, 4),
                shown(class.auc, 4),
                shown(class.rejection, 1),
            ]);
        }
        table
    }

    fn confusion_table(&self) -> Table {
        let headings: Vec<&str> = std::iter::once("Class")
            .chain(self.names.iter().map(String::as_str))
            .collect();
        let mut table = Table::new(&headings);
        for (name, counts) in self.names.iter().zip(&self.scores.confusion) {
            let counts = counts.iter().map(ToString::to_string);
            table.push(std::iter::once(name.clone()).chain(counts));
        }
        table
    }

    fn heatmap(&self) -> Heatmap {
        Heatmap {
            title: format!("Classes of {}", self.dataset),
            row_label: "class".to_owned(),
            column_label: "taken for".to_owned(),
            names: self.names.clone(),
            counts: self.scores.confusion.clone(),
        }
    }

    fn curves(&self) -> Table {
        let mut table = Table::new(&["class", "accepted_others", "accepted_own"]);
        for (name, class) in self.names.iter().zip(&self.scores.classes) {
            for (others, own) in thinned(&class.roc) {
                table.push([name.clone(), others.to_string(), own.to_string()]);
            }
        }
        table
    }

    fn chart(&self) -> Chart {
        let series = self
            .names
            .iter()
            .zip(&self.scores.classes)
            .map(|(name, class)| Series {
                name: class
                    .auc
                    .map_or_else(|| name.clone(), |auc| format!("{name}, AUC {auc:.4}")),
                mark: Mark::Curve,
                points: thinned(&class.roc),
                ..Series::default()
            });
        Chart {
            title: "Each class against all others".to_owned(),
            x_label: "share of other rows that are accepted".to_owned(),
            y_label: "share of the class that is accepted".to_owned(),
            series: series.collect(),
            ..Chart::default()
        }
    }
}

/// At most so many points of a curve, its ends among them.
fn thinned(curve: &[(f64, f64)]) -> Vec<(f64, f64)> {
    let count = curve.len().min(MAX_POINTS);
    let last = count.saturating_sub(1).max(1);
    let place = |k: usize| curve[k * (curve.len() - 1) / last];
    (0..count).map(place).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_curve_keeps_its_ends_when_it_is_thinned() {
        let curve: Vec<(f64, f64)> = (0..=1000).map(|k| (f64::from(k), 0.5)).collect();
        let found = thinned(&curve);
        assert_eq!(found.len(), MAX_POINTS);
        assert_eq!([found[0].0, found[MAX_POINTS - 1].0], [0.0, 1000.0]);
        assert!(found.is_sorted_by(|a, b| a.0 < b.0));
        for count in [0, 1, 2, MAX_POINTS] {
            assert_eq!(thinned(&curve[..count]), curve[..count]);
        }
    }
}
