//! Running a graph on rows in evaluation mode to look at its values.

use crate::PassError;
use data::Split;
use engine::{Input, Network, PlanOptions, Port};
use ir::{Graph, Verified, verify};

/// Rows at a time. It is fixed, so that sums over batches do not depend on the threads.
const ROWS: usize = 1024;

/// Calls `read` with the values at every port, batch after batch: the index of the port, the shape of the part, its
/// values. The graph is only looked at.
pub fn observe(
    graph: &Graph,
    ports: &[Port],
    rows: &Split,
    threads: usize,
    mut read: impl FnMut(usize, &[usize], &[f32]),
) -> Result<(), PassError> {
    check_width(&verify(graph)?, rows)?;
    let mut network = Network::new(graph.clone(), threads)?;
    for indices in rows.indices().chunks(ROWS) {
        let options = PlanOptions {
            observe: ports.to_vec(),
            ..PlanOptions::eval(indices.len())
        };
        let input = Input::Gather {
            values: rows.rows(),
            indices,
        };
        network.run(options, &[input])?.for_each_observed(&mut read);
    }
    Ok(())
}

/// Whether rows have the values that a network of one input takes.
pub(crate) fn check_width(verified: &Verified, rows: &Split) -> Result<(), PassError> {
    let [input] = verified.placeholders()[..] else {
        return Ok(());
    };
    let sizes = verified.ty(input.into()).shape.bind(1);
    let expected = sizes.map_or(0, |sizes| sizes.iter().product());
    if expected == rows.width() {
        return Ok(());
    }
    Err(PassError::Width {
        got: rows.width(),
        expected,
    })
}
