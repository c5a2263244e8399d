//! `num_batches_tracked`: the counter that every batch norm of PyTorch carries.
//!
//! Nothing we compute depends on it, so graphs do not have it; a state dict without it would not load strictly.

use super::NamedTensor;
use std::collections::BTreeSet;

const COUNTER: &str = "num_batches_tracked";

/// An entry of a state dict to write.
pub enum Entry<'a> {
    /// Floats.
    Float(&'a NamedTensor),
    /// A counter, an int64 without axes.
    Counter(String, i64),
}

impl Entry<'_> {
    /// The dotted name.
    pub fn name(&self) -> &str {
        match self {
            Self::Float(tensor) => &tensor.name,
            Self::Counter(name, _) => name,
        }
    }
}

/// The tensors in order; behind every `running_var` the counter that belongs there, `steps` if the tensors lack it.
pub fn with_counters(tensors: &[NamedTensor], steps: u64) -> Vec<Entry<'_>> {
    let present: BTreeSet<&str> = tensors.iter().map(|tensor| tensor.name.as_str()).collect();
    let mut entries = Vec::with_capacity(tensors.len());
    for tensor in tensors {
        if is_counter(&tensor.name) && tensor.shape.is_empty() {
            entries.push(Entry::Counter(tensor.name.clone(), tensor.values[0] as i64));
            continue;
        }
        entries.push(Entry::Float(tensor));
        if let Some(module) = tensor.name.strip_suffix("running_var") {
            let counter = format!("{module}{COUNTER}");
            if !present.contains(counter.as_str()) {
                entries.push(Entry::Counter(counter, steps as i64));
            }
        }
    }
    entries
}

/// True for names of tensors that an optimiser does not update.
pub fn is_buffer(name: &str) -> bool {
    let leaf = name.rsplit('.').next().unwrap_or(name);
    is_counter(name) || matches!(leaf, "running_mean" | "running_var")
}

fn is_counter(name: &str) -> bool {
    name.rsplit('.').next() == Some(COUNTER)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tensor(name: &str, shape: &[usize], value: f32) -> NamedTensor {
        NamedTensor {
            name: name.to_owned(),
            shape: shape.to_vec(),
            values: vec![value],
        }
    }

    /// A counter is one number without axes; a norm that has one keeps its own.
    #[test]
    fn every_running_variance_has_a_counter() {
        let tensors = [
            tensor("a.running_var", &[1], 0.5),
            tensor("b.num_batches_tracked", &[], 7.0),
            tensor("b.running_var", &[1], 0.5),
            tensor("c.num_batches_tracked", &[1], 9.0),
            tensor("scale", &[], 3.0),
        ];
        let entries: Vec<(String, Option<i64>)> = with_counters(&tensors, 12)
            .iter()
            .map(|entry| match entry {
                Entry::Float(tensor) => (tensor.name.clone(), None),
                Entry::Counter(name, count) => (name.clone(), Some(*count)),
            })
            .collect();
        let expected = [
            ("a.running_var", None),
            ("a.num_batches_tracked", Some(12)),
            ("b.num_batches_tracked", Some(7)),
            ("b.running_var", None),
            ("c.num_batches_tracked", None),
            ("scale", None),
        ];
        assert_eq!(
            entries,
            expected.map(|(name, count)| (name.to_owned(), count))
        );
    }

    #[test]
    fn buffers_are_known_by_the_end_of_their_names() {
        for (name, expected) in [
            ("bn.running_mean", true),
            ("running_var", true),
            ("bn.num_batches_tracked", true),
            ("bn.weight", false),
            ("running_mean.weight", false),
        ] {
            assert_eq!(is_buffer(name), expected, "{name}");
        }
    }
}
