//! The file of predictions: outputs, the predicted classes and the labels, in the kind that its ending names.

use crate::missing;
use anyhow::{Context, Result, bail};
use interop::npy::{self, Numbers, Values};
use interop::npz;
use report::Table;
use serde::Serialize;
use std::path::Path;
use train::argmax;

/// A kind of file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A table with a header.
    Csv,
    /// The outputs alone, as a NumPy array.
    Npy,
    /// NumPy arrays by name.
    Npz,
    /// The same in JSON.
    Json,
}

/// Every kind with its ending.
const KINDS: &[(&str, Kind)] = &[
    ("csv", Kind::Csv),
    ("npy", Kind::Npy),
    ("npz", Kind::Npz),
    ("json", Kind::Json),
];

impl Kind {
    /// The kind of a file that can be written, before anything is computed for it.
    pub fn of(path: &Path) -> Result<Self> {
        let shown = path.display();
        let ending = path.extension().and_then(|ending| ending.to_str());
        let known = KINDS.iter().find(|(word, _)| Some(*word) == ending);
        let Some((_, kind)) = known else {
            let endings: Vec<String> = KINDS.iter().map(|(word, _)| format!(".{word}")).collect();
            bail!(
                "--out {shown}: the ending names the kind of file, one of {}",
                endings.join(", ")
            );
        };
        missing::check_output(path)?;
        Ok(*kind)
    }
}

/// The predictions of a network for some rows.
pub struct Predictions<'a> {
    /// The axes of the outputs, rows first.
    pub shape: &'a [usize],
    /// The outputs, the last axis fastest.
    pub outputs: &'a [f32],
    /// The names of the classes; empty where none are known.
    pub classes: &'a [String],
    /// The class of each row, where the rows have labels.
    pub labels: Option<&'a [u32]>,
}

/// The content of a JSON file.
#[derive(Serialize)]
struct Content<'a> {
    classes: &'a [String],
    outputs: Vec<&'a [f32]>,
    predicted: Option<Vec<String>>,
    labels: Option<Vec<String>>,
}

impl Predictions<'_> {
    /// Writes the file, whole or not at all.
    pub fn write(&self, path: &Path, kind: Kind) -> Result<()> {
        let bytes = match kind {
            Kind::Csv => self.table().to_csv().into_bytes(),
            Kind::Npy => npy::encode(self.shape, self.outputs),
            Kind::Npz => npz::encode(&self.arrays())?,
            Kind::Json => (serde_json::to_string(&self.content())? + "\n").into_bytes(),
        };
        interop::write_file(path, &bytes)
            .with_context(|| format!("cannot write {}", path.display()))
    }

    /// Values of a row.
    pub fn width(&self) -> usize {
        self.outputs.len() / self.shape.first().copied().unwrap_or(1).max(1)
    }

    fn rows(&self) -> impl Iterator<Item = &[f32]> {
        self.outputs.chunks(self.width().max(1))
    }

    /// The place of the largest output of each row, the first of equal ones; nothing where outputs are not one value for each
    /// class.
    fn predicted(&self) -> Option<Vec<u32>> {
        let is_choice = matches!(self.shape, [_, width] if *width > 1);
        is_choice.then(|| self.rows().map(|row| argmax(row) as u32).collect())
    }

    /// The name of a class, or its number.
    fn class(&self, place: u32) -> String {
        let name = self.classes.get(place as usize);
        name.cloned().unwrap_or_else(|| place.to_string())
    }

    fn names(&self, places: &[u32]) -> Vec<String> {
        places.iter().map(|&place| self.class(place)).collect()
    }

    fn table(&self) -> Table {
        let output = |place: usize| {
            let is_choice = self.shape.len() == 2;
            let name = self.classes.get(place).filter(|_| is_choice);
            name.cloned().unwrap_or_else(|| format!("output_{place}"))
        };
        let mut headings: Vec<String> = (0..self.width()).map(output).collect();
        let predicted = self.predicted().map(|places| self.names(&places));
        let labels = self.labels.map(|labels| self.names(labels));
        let further = [("predicted", predicted), ("label", labels)];
        let further: Vec<(&str, Vec<String>)> = further
            .into_iter()
            .filter_map(|(name, column)| Some((name, column?)))
            .collect();
        headings.extend(further.iter().map(|(name, _)| (*name).to_owned()));
        let mut table = Table::new(&headings);
        for (i, row) in self.rows().enumerate() {
            let outputs = row.iter().map(ToString::to_string);
            let further = further.iter().map(|(_, column)| column[i].clone());
            table.push(outputs.chain(further));
        }
        table
    }

    fn arrays(&self) -> Vec<(String, Numbers)> {
        let outputs = Numbers {
            shape: self.shape.to_vec(),
            values: Values::F32(self.outputs.to_vec()),
        };
        let places = |places: &[u32]| Numbers {
            shape: vec![places.len()],
            values: Values::I64(places.iter().map(|&place| i64::from(place)).collect()),
        };
        let all = [
            ("outputs", Some(outputs)),
            ("predicted", self.predicted().as_deref().map(places)),
            ("labels", self.labels.map(places)),
        ];
        all.into_iter()
            .filter_map(|(name, array)| Some((name.to_owned(), array?)))
            .collect()
    }

    fn content(&self) -> Content<'_> {
        Content {
            classes: self.classes,
            outputs: self.rows().collect(),
            predicted: self.predicted().map(|places| self.names(&places)),
            labels: self.labels.map(|labels| self.names(labels)),
        }
    }
}
