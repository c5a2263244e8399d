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
