//! The time of every node in evaluation.

use crate::PassError;
use crate::observe::check_width;
use data::Split;
use engine::{Network, Subject, gather};
use ir::{Graph, verify};
use std::collections::BTreeMap;

/// Rows of the batch that is measured, and how often it runs.
const ROWS: usize = 64;
const PASSES: usize = 5;

/// The share of each node, by name, of the time that all nodes take. Nodes that run as one step count for the first of them.
pub(super) fn shares(
    graph: &Graph,
    rows: Option<&Split>,
    threads: usize,
) -> Result<BTreeMap<String, f64>, PassError> {
    let mut shares = BTreeMap::new();
    let Some(rows) = rows else {
        return Ok(shares);
    };
    check_width(&verify(graph)?, rows)?;
    let rows = rows.head(ROWS);
    let inputs = gather(rows.elements(), rows.indices());
    let mut network = Network::new(graph.clone(), threads)?;
    let profile = network.forward_profile(&inputs, rows.indices().len(), PASSES)?;
    for row in &profile.rows {
        if let Subject::Nodes { names, .. } = &row.subject {
            let mut seconds = row.forward.as_secs_f64();
            for name in names {
                shares.insert(name.clone(), std::mem::take(&mut seconds));
            }
        }
    }
    let all: f64 = shares.values().sum();
    for share in shares.values_mut() {
        *share /= all.max(f64::MIN_POSITIVE);
    }
    Ok(shares)
}
