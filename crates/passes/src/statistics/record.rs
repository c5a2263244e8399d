//! The values themselves.

use super::Dims;
use super::accumulator::Needs;
use super::entry::{ConfigField, Measure, ResultField, StatisticEntry};
use super::summary::{Seen, Summary};
use config::{Reader, Table};
use serde_json::{Map, json};

/// Keeps every sample.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Record {
    /// True to give every sample an axis of its own before it is put behind the others.
    pub add_new_dim_before_concat: bool,
}

impl Record {
    /// The shape of all samples together.
    pub(super) fn shape(&self, rows: usize, sample: &[usize]) -> Vec<usize> {
        let own = self.add_new_dim_before_concat.then_some(1);
        [rows]
            .into_iter()
            .chain(own)
            .chain(sample.iter().copied())
            .collect()
    }
}

impl Measure for Record {
    const ENTRY: StatisticEntry = StatisticEntry {
        name: "record",
        about: "the values themselves, as an array",
        doc: "Keeps all samples one after another, [samples, …]. The values are written to a .npy file; the metadata names the file.",
        fields: &[ConfigField::new(
            "add_new_dim_before_concat",
            "false",
            "whether every sample keeps an axis of its own: [samples, 1, …]",
        )],
        results: &[
            ResultField::new("data", "the file of the values"),
            ResultField::new("count", "how many samples there are"),
            ResultField::new("size_in_bytes", "bytes of the values, four each"),
        ],
    };

    fn read(reader: &mut Reader, _: &Table) -> Self {
        reader.item("device");
        let add_new_dim_before_concat = reader.flag("add_new_dim_before_concat").unwrap_or(false);
        Self {
            add_new_dim_before_concat,
        }
    }

    fn dims(&self) -> &Dims {
        &Dims::All
    }

    fn needs(&self) -> Needs {
        Needs {
            values: true,
            ..Needs::default()
        }
    }

    /// The values are put beside by whoever owns them.
    fn summarize(&self, seen: &Seen) -> Summary {
        let fields = Map::from_iter([
            ("count".to_owned(), json!(seen.rows)),
            (
                "size_in_bytes".to_owned(),
                json!(seen.count() * size_of::<f32>() as u64),
            ),
        ]);
        Summary { fields, data: None }
    }
}
