//! Running a graph on rows in evaluation mode to look at its values.

use crate::{Context, PassError};
use config::Reader;
use data::{Split, SplitName};
use engine::{Network, PlanOptions, Port, gather};
use ir::{Graph, Verified, verify};

/// The text of a report without rows to run the network on.
pub(crate) const NO_ROWS: &str = "no dataset: activations were not looked at";

/// The number and the split of the rows to run the network on.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sample {
    num_samples: usize,
    split: SplitName,
}

impl Sample {
    /// Reads `num_samples` and `split`.
    pub fn read(reader: &mut Reader, num_samples: usize) -> Self {
        Self {
            num_samples: reader.count("num_samples").unwrap_or(num_samples),
            split: reader.choice("split", SplitName::WORDS).unwrap_or_default(),
        }
    }

    /// The rows.
    pub fn rows(self, context: &mut Context) -> Result<Split, PassError> {
        context.rows(self.split, self.num_samples)
    }

    /// The rows; nothing without a dataset.
    pub fn rows_if_any(self, context: &mut Context) -> Result<Option<Split>, PassError> {
        context.rows_if_any(self.split, self.num_samples)
    }

    /// The same with more rows.
    pub fn with_more(self, more: impl FnOnce(usize) -> usize) -> Self {
        Self {
            num_samples: self.num_samples + more(self.num_samples),
            ..self
        }
    }
}

/// Rows at a time. It is fixed, so that sums over batches do not depend on the threads.
pub(crate) const ROWS: usize = 1024;

/// Calls `read` with the values at every port, batch after batch: the index of the port, the shape of the part, its
/// values. The graph is only looked at.
pub fn observe(
    graph: &Graph,
    ports: &[Port],
    rows: &Split,
    threads: usize,
    mut read: impl FnMut(usize, &[usize], &[f32]),
) -> Result<(), PassError> {
    let mut observer = Observer::new(graph, ports.to_vec(), rows, threads)?;
    for indices in rows.indices().chunks(ROWS) {
        observer.read(indices, &mut read)?;
    }
    Ok(())
}

/// A graph that is watched at some ports.
pub(crate) struct Observer<'a> {
    network: Network,
    ports: Vec<Port>,
    rows: &'a Split,
}

impl<'a> Observer<'a> {
    /// Watches `ports` of a graph that will run on some of these rows.
    pub fn new(
        graph: &Graph,
        ports: Vec<Port>,
        rows: &'a Split,
        threads: usize,
    ) -> Result<Self, PassError> {
        check_width(&verify(graph)?, rows)?;
        let network = Network::new(graph.clone(), threads)?;
        Ok(Self {
            network,
            ports,
            rows,
        })
    }

    /// Runs one batch and shows what is at the ports.
    pub fn read(
        &mut self,
        indices: &[u32],
        read: impl FnMut(usize, &[usize], &[f32]),
    ) -> Result<(), PassError> {
        let options = PlanOptions {
            observe: self.ports.clone(),
            ..PlanOptions::eval(indices.len())
        };
        let inputs = gather(self.rows.elements(), indices);
        let run = self.network.run(options, &inputs)?;
        run.for_each_observed(read);
        Ok(())
    }
}

/// Checks that rows have as many values as the inputs of a network take.
pub(crate) fn check_width(verified: &Verified, rows: &Split) -> Result<(), PassError> {
    let expected = verified.input_width();
    if expected == rows.width() {
        return Ok(());
    }
    Err(PassError::Width {
        got: rows.width(),
        expected,
    })
}
