//! The result of a statistic, and the values it is computed from.

use super::accumulator::Accumulator;
use super::groups::Groups;
use serde_json::{Map, Value as Json, json};

/// The result of a statistic.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Summary {
    /// By name: a number, or lists of numbers in the shape that is left. What is not defined, such as the variance of one
    /// value, is null.
    pub fields: Map<String, Json>,
    /// Shape and values of what `record` kept.
    pub data: Option<(Vec<usize>, Vec<f32>)>,
}

/// The observations at a port, for one choice of `dims`.
pub(super) struct Seen<'a> {
    pub rows: usize,
    pub groups: &'a Groups,
    /// One for each group.
    pub accumulators: &'a [Accumulator],
    /// All samples in order, if somebody asked for them.
    pub values: &'a [f32],
}

impl Seen<'_> {
    /// Values of one group.
    pub fn count(&self) -> u64 {
        self.rows as u64 * self.groups.size as u64
    }

    /// Some numbers of every group by name, and `count`.
    pub fn summary<const N: usize>(
        &self,
        names: [&str; N],
        numbers: impl Iterator<Item = [f64; N]>,
    ) -> Summary {
        let numbers: Vec<[f64; N]> = numbers.collect();
        let field = |(k, name): (usize, &str)| {
            let mut of_groups = numbers.iter().map(|numbers| numbers[k]);
            (name.to_owned(), nested(&self.groups.shape, &mut of_groups))
        };
        let mut fields: Map<String, Json> = names.into_iter().enumerate().map(field).collect();
        fields.insert("count".to_owned(), self.count().into());
        Summary { fields, data: None }
    }

    /// The two ends of every group, their distance, and `count`.
    pub fn range(&self, ends: impl Iterator<Item = [f64; 2]>) -> Summary {
        let numbers = ends.map(|[min, max]| [min, max, max - min]);
        self.summary(["min", "max", "range"], numbers)
    }
}

/// Lists in lists, or a single number where no axis is left.
fn nested(shape: &[usize], numbers: &mut impl Iterator<Item = f64>) -> Json {
    match shape {
        [] => json!(numbers.next()),
        [size, rest @ ..] => (0..*size).map(|_| nested(rest, numbers)).collect(),
    }
}
