//! The memory of a plan against that of the machine, before any of it is taken.

use crate::EngineError;
use ir::{NodeId, Verified};
use std::sync::OnceLock;

/// Refuses a plan of so many elements that the machine cannot hold, and names the node with the largest result.
pub(crate) fn check(verified: &Verified, rows: usize, elements: usize) -> Result<(), EngineError> {
    let needed = bytes(elements);
    let memory = of_machine();
    if needed <= memory {
        return Ok(());
    }
    let largest = (0..verified.graph().nodes().len() as u32)
        // Of equal results the first.
        .rev()
        .map(NodeId)
        .max_by_key(|&id| elements_of(verified, id, rows));
    let node = largest.map_or_else(String::new, |id| verified.graph().node(id).name.clone());
    let largest = largest.map_or(0, |id| elements_of(verified, id, rows));
    Err(EngineError::Memory {
        node,
        largest: gigabytes(bytes(largest)),
        rows,
        needed: gigabytes(needed),
        memory: gigabytes(memory),
    })
}

fn elements_of(verified: &Verified, id: NodeId, rows: usize) -> usize {
    let results = verified.outputs(id).iter();
    let sizes = results.filter_map(|result| result.shape.bind(rows));
    let elements = sizes.map(|sizes| sizes.into_iter().fold(1, usize::saturating_mul));
    elements.fold(0, usize::saturating_add)
}

fn bytes(elements: usize) -> u64 {
    (elements as u64).saturating_mul(size_of::<f32>() as u64)
}

fn gigabytes(bytes: u64) -> String {
    format!("{:.1} GB", bytes as f64 / 1e9)
}

/// The memory of this machine; no limit where the system does not tell.
fn of_machine() -> u64 {
    static MEMORY: OnceLock<u64> = OnceLock::new();
    *MEMORY.get_or_init(|| {
        let facts = std::fs::read_to_string("/proc/meminfo").unwrap_or_default();
        total(&facts).unwrap_or(u64::MAX)
    })
}

/// The first line of the kernel's table: `MemTotal:       24581234 kB`.
fn total(facts: &str) -> Option<u64> {
    let line = facts.lines().find(|line| line.starts_with("MemTotal:"))?;
    let kilobytes: u64 = line.split_whitespace().nth(1)?.parse().ok()?;
    Some(kilobytes * 1024)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_total_is_read_from_the_kernels_table() {
        assert_eq!(
            total("MemTotal:       16 kB\nMemFree: 3 kB\n"),
            Some(16_384)
        );
        assert_eq!(total(""), None);
    }
}
