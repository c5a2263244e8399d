//! A walk along a network, segment after segment: nothing in front of the walker is computed again.

use super::sampling::{Seen, up_to, with_probe};
use crate::PassError;
use crate::observe::check_width;
use crate::segments::{Segment, block_rows, cut};
use data::Split;
use engine::{Input, Plan, PlanOptions, Pool, Port, State, compile, gather};
use ir::{Graph, NodeId, Value, verify};
use std::collections::BTreeMap;

/// Values that are held where the walker stands, at most: 256 MiB. Where more cross there is no cut, and what is in front is
/// computed again for each look.
const MAX_LIVE: usize = 1 << 26;

/// A place in front of a segment of a network, with the values that rows have there.
pub(super) struct Walk<'a> {
    rows: &'a Split,
    pub pool: Pool,
    /// The network between cuts.
    pub segments: Vec<Segment>,
    block_rows: usize,
    /// The segment ahead.
    pub at: usize,
    /// By block of rows, the values that cross into the segment ahead; none at the first, which reads the rows themselves.
    live: Vec<Vec<Vec<f32>>>,
}

impl<'a> Walk<'a> {
    /// A walk along a network that is cut in front of these nodes where that is possible.
    pub fn new(
        graph: &Graph,
        nodes: &[NodeId],
        rows: &'a Split,
        threads: usize,
    ) -> Result<Self, PassError> {
        let verified = verify(graph)?;
        check_width(&verified, rows)?;
        Ok(Self {
            rows,
            pool: Pool::new(threads),
            segments: cut(&verified, nodes, MAX_LIVE / rows.len().max(1)),
            block_rows: block_rows(&verified),
            at: 0,
            live: Vec::new(),
        })
    }

    /// The numbers of the rows of each block.
    pub fn blocks(&self) -> impl ExactSizeIterator<Item = &'a [u32]> + use<'a> {
        self.rows.indices().chunks(self.block_rows)
    }

    /// Returns to the first segment.
    pub fn rewind(&mut self) {
        self.at = 0;
        self.live.clear();
    }

    /// Goes behind the segment ahead, with the formats and parameters that it has now.
    pub fn advance(&mut self, graph: &Graph) -> Result<(), PassError> {
        let mut part = self.part(self.at, graph)?;
        self.advance_through(&mut part)
    }

    /// Goes behind the segment ahead, which is compiled already.
    pub fn advance_through(&mut self, part: &mut Part) -> Result<(), PassError> {
        let blocks = self.blocks().enumerate();
        let behind = blocks.map(|(block, _)| Ok(outputs(self.run(part, block)?)));
        self.live = behind.collect::<Result<_, PassError>>()?;
        self.at += 1;
        Ok(())
    }

    /// Goes on until a node lies in the segment ahead.
    pub fn advance_to(&mut self, graph: &Graph, id: NodeId) -> Result<(), PassError> {
        while !self.segments[self.at].contains(id) {
            self.advance(graph)?;
        }
        Ok(())
    }

    /// A segment, compiled for the blocks.
    pub fn part(&self, segment: usize, graph: &Graph) -> Result<Part, PassError> {
        let segment = self.segments[segment].graph(graph, &BTreeMap::new());
        self.compiled(&segment, &[])
    }

    /// A part of the network that begins at the segment ahead, compiled for the blocks.
    pub fn compiled(&self, graph: &Graph, observe: &[Port]) -> Result<Part, PassError> {
        let mut sizes: Vec<usize> = self.blocks().map(<[u32]>::len).collect();
        sizes.dedup();
        Part::new(graph, observe, &sizes)
    }

    /// Runs the segment ahead on a block.
    pub fn run<'p>(&self, part: &'p mut Part, block: usize) -> Result<&'p mut Plan, PassError> {
        let indices = self.blocks().nth(block).expect("there is such a block");
        let inputs = match self.live.get(block) {
            Some(live) => live_inputs(live),
            None => gather(self.rows.elements(), indices),
        };
        part.run(&inputs, indices.len(), &self.pool)
    }

    /// Calls `read` with the shape and the values of a data input or a result of a node of the segment ahead, block after
    /// block: an input as it is seen, a result before its format rounds it.
    pub fn observe(
        &self,
        graph: &Graph,
        (id, port): (NodeId, &str),
        seen: Seen,
        mut read: impl FnMut(&[usize], &[f32]),
    ) -> Result<(), PassError> {
        let mut ahead = self.segments[self.at].graph(graph, &BTreeMap::new());
        let id = ahead
            .find(&graph.node(id).name)
            .expect("the node is in the segment ahead");
        let value = if let Some(output) = port.strip_prefix("data_out_") {
            ahead.node_mut(id).formats.remove(port);
            let output = output.parse().unwrap_or(0);
            Value { node: id, output }
        } else {
            let (probed, value) = with_probe(&ahead, id, port);
            ahead = probed;
            if seen == Seen::Unrounded {
                ahead.node_mut(value.node).formats.clear();
            }
            value
        };
        let (ahead, port) = up_to(&ahead, value);
        let mut part = self.compiled(&ahead, &[port])?;
        for block in 0..self.blocks().len() {
            let plan = self.run(&mut part, block)?;
            plan.for_each_observed(|_, shape, values| read(shape, values));
        }
        Ok(())
    }
}

/// A part of a network, compiled for blocks of rows.
pub(super) struct Part {
    state: State,
    /// One for each size of a block.
    plans: Vec<Plan>,
}

impl Part {
    fn new(graph: &Graph, observe: &[Port], sizes: &[usize]) -> Result<Self, PassError> {
        let verified = verify(graph)?;
        let state = State::new(&verified)?;
        let plan = |&rows: &usize| {
            let options = PlanOptions {
                observe: observe.to_vec(),
                ..PlanOptions::eval(rows)
            };
            compile(&verified, &state, options)
        };
        let plans = sizes.iter().map(plan).collect::<Result<_, _>>()?;
        Ok(Self { state, plans })
    }

    /// Runs on a block of so many rows.
    pub fn run(
        &mut self,
        inputs: &[Input],
        rows: usize,
        pool: &Pool,
    ) -> Result<&mut Plan, PassError> {
        let mut plans = self.plans.iter_mut();
        let plan = plans
            .find(|plan| plan.options().rows == rows)
            .expect("there is a plan for every size of a block");
        plan.forward(&mut self.state, inputs, pool)?;
        Ok(plan)
    }
}

/// The values that cross a cut, as the inputs of the segment behind it.
pub(super) fn live_inputs(live: &[Vec<f32>]) -> Vec<Input<'_>> {
    live.iter().map(|values| Input::F32(values)).collect()
}

/// The results of a plan, one after the other.
pub(super) fn outputs(plan: &Plan) -> Vec<Vec<f32>> {
    (0..plan.output_count()).map(|k| plan.output(k)).collect()
}
