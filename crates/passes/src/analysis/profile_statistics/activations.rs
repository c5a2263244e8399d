//! Statistics of what data ports read, and of results, while the network runs in evaluation mode.
//!
//! Every thread runs batches of its own and collects their statistics while the values are in its cache. Batches are
//! the same on any number of threads, and profiles merge without rounding, so the results have the same bits.

use super::{Found, at_port};
use crate::observe::check_width;
use crate::statistics::{Profile, Statistic, StatisticError};
use crate::{Context, PassError};
use data::Split;
use engine::{EngineError, Plan, PlanOptions, Pool, Port, State, compile, gather};
use ir::{NodeId, Shape, Value, Verified};

/// Values of a batch, over all nodes: what stays in the second cache of a core.
const BATCH_VALUES: usize = 1 << 17;
/// Rows of a batch, at most.
const MAX_ROWS: usize = 1024;
/// Batches that a thread runs before it waits for the others.
const BATCHES: usize = 8;

/// The data ports of a node: its inputs, and its results if asked for.
pub(super) fn ports(verified: &Verified, id: NodeId, with_results: bool) -> Vec<String> {
    let mut ports = verified.graph().node(id).data_ports();
    if with_results {
        let results = 0..verified.outputs(id).len();
        ports.extend(results.map(|k| format!("data_out_{k}")));
    }
    ports
}

/// Computes the statistics of each port over these rows.
pub(super) fn profile(
    verified: &Verified,
    ports: &[Port],
    statistics: &[Statistic],
    rows: &Split,
    context: &Context,
) -> Result<Vec<Found>, PassError> {
    check_width(verified, rows)?;
    let watched = Watched::new(verified, ports, statistics)?;
    let pool = Pool::new(context.threads);
    let profiles = watched.collect(rows, &pool)?;
    let mut work: Vec<_> = profiles.into_iter().map(Work::Collected).collect();
    pool.for_each(&mut work, |k, work| work.finish(&ports[k], statistics));
    let mut all = Vec::new();
    for (port, work) in ports.iter().zip(work) {
        if let Work::Done(result) = work {
            all.extend(result.map_err(|error| at_port(verified.graph(), port, error))?);
        }
    }
    Ok(all)
}

/// A network and the ports that are looked at while it runs.
struct Watched<'a> {
    verified: &'a Verified<'a>,
    state: State,
    ports: &'a [Port],
    /// For each port, a profile that has seen nothing.
    blank: Vec<Profile>,
    /// For each port, whether its value is the same for all rows.
    is_constant: Vec<bool>,
    batch: usize,
}

/// A thread's own network, and what it has seen since the others know.
struct Worker {
    plan: Option<Plan>,
    state: State,
    profiles: Vec<Profile>,
    result: Result<(), EngineError>,
}

impl<'a> Watched<'a> {
    fn new(
        verified: &'a Verified,
        ports: &'a [Port],
        statistics: &[Statistic],
    ) -> Result<Self, PassError> {
        let mut blank = Vec::new();
        let mut is_constant = Vec::new();
        for port in ports {
            let refuse = |error: String| at_port(verified.graph(), port, error);
            let shape = shape(verified, port).ok_or_else(|| refuse("does not exist".to_owned()))?;
            let (sample, constant) = sample(shape).ok_or_else(|| {
                refuse(format!("the rows of a batch are not outermost in {shape}"))
            })?;
            let profile = Profile::new(statistics, &sample);
            blank.push(profile.map_err(|error| refuse(error.to_string()))?);
            is_constant.push(constant);
        }
        Ok(Self {
            state: State::new(verified)?,
            batch: batch_rows(verified),
            verified,
            ports,
            blank,
            is_constant,
        })
    }

    /// Collects the profile of every port over all rows.
    fn collect(&self, rows: &Split, pool: &Pool) -> Result<Vec<Profile>, EngineError> {
        let count = pool.threads().min(rows.len().div_ceil(self.batch));
        let mut workers: Vec<Worker> = (0..count).map(|_| self.worker()).collect();
        let mut all = self.blank.clone();
        for (profile, &is_constant) in all.iter_mut().zip(&self.is_constant) {
            profile.reserve(if is_constant { 1 } else { rows.len() });
        }
        // Every worker runs some batches, then what they have seen is put together in the order of the rows.
        let (piece, mut is_first) = (BATCHES * self.batch, true);
        for rows_of_all in rows.indices().chunks(piece * count) {
            let pieces: Vec<&[u32]> = rows_of_all.chunks(piece).collect();
            pool.for_each(&mut workers[..pieces.len()], |k, worker| {
                let takes_constants = is_first && k == 0;
                worker.result = self.run(worker, rows, pieces[k], takes_constants);
            });
            is_first = false;
            for worker in &mut workers {
                std::mem::replace(&mut worker.result, Ok(()))?;
            }
            put_together(&mut all, &mut workers, pool);
        }
        Ok(all)
    }

    fn worker(&self) -> Worker {
        Worker {
            plan: None,
            state: self.state.clone(),
            profiles: self.blank.clone(),
            result: Ok(()),
        }
    }

    /// Runs some rows, batch after batch.
    fn run(
        &self,
        worker: &mut Worker,
        rows: &Split,
        numbers: &[u32],
        takes_constants: bool,
    ) -> Result<(), EngineError> {
        let (alone, mut takes_constants) = (Pool::new(1), takes_constants);
        for indices in numbers.chunks(self.batch) {
            let fitting = worker.plan.take();
            let fitting = fitting.filter(|plan| plan.options().rows == indices.len());
            let plan = match fitting {
                Some(plan) => plan,
                None => self.compile(indices.len())?,
            };
            let plan = worker.plan.insert(plan);
            plan.forward(&mut worker.state, &gather(rows.elements(), indices), &alone)?;
            plan.for_each_observed(|index, _, values| {
                if !self.is_constant[index] || takes_constants {
                    worker.profiles[index].add(values);
                }
            });
            takes_constants = false;
        }
        Ok(())
    }

    fn compile(&self, rows: usize) -> Result<Plan, EngineError> {
        let options = PlanOptions {
            observe: self.ports.to_vec(),
            ..PlanOptions::eval(rows)
        };
        compile(self.verified, &self.state, options)
    }
}

/// Moves what the workers have seen into the profiles of all rows, port by port.
fn put_together(all: &mut [Profile], workers: &mut [Worker], pool: &Pool) {
    let mut ports: Vec<_> = all.iter_mut().map(|all| (all, Vec::new())).collect();
    for worker in workers {
        for ((_, parts), part) in ports.iter_mut().zip(&mut worker.profiles) {
            parts.push(part);
        }
    }
    pool.for_each(&mut ports, |_, (all, parts)| {
        for part in parts {
            all.append(part);
        }
    });
}

/// A profile before and after the last part of the work, which is large for quantiles.
enum Work {
    Collected(Profile),
    Done(Result<Vec<Found>, StatisticError>),
}

impl Work {
    fn finish(&mut self, port: &Port, statistics: &[Statistic]) {
        if let Self::Collected(profile) = std::mem::replace(self, Self::Done(Ok(Vec::new()))) {
            let found = |summaries| Found::of(port, statistics, summaries);
            *self = Self::Done(profile.finish().map(found));
        }
    }
}

/// Rows of a batch: a power of two that depends on the graph alone.
fn batch_rows(verified: &Verified) -> usize {
    let graph = verified.graph();
    let results = graph.iter().flat_map(|(id, _)| verified.outputs(id));
    let sizes = results.filter_map(|ty| ty.shape.bind(1));
    let per_row: usize = sizes.map(|sizes| sizes.iter().product::<usize>()).sum();
    let rows = (BATCH_VALUES / per_row.max(1)).clamp(1, MAX_ROWS);
    1 << rows.ilog2()
}

/// The shape of the value at a data port.
fn shape<'a>(verified: &'a Verified, port: &Port) -> Option<&'a Shape> {
    let node = verified.graph().node(port.node);
    let value = if let Some(k) = port.port.strip_prefix("data_in_") {
        *node.inputs.get(k.parse::<usize>().ok()?)?
    } else {
        let output = port.port.strip_prefix("data_out_")?.parse().ok()?;
        Value {
            node: port.node,
            output,
        }
    };
    Some(&verified.ty(value).shape)
}

/// The shape of one sample, and whether it is the same for all rows; nothing where rows are not outermost.
fn sample(shape: &Shape) -> Option<(Vec<usize>, bool)> {
    let fixed = |dims: &[ir::Dim]| dims.iter().map(ir::Dim::fixed).collect::<Option<Vec<_>>>();
    if let Some(sizes) = fixed(&shape.0) {
        return Some((sizes, true));
    }
    let (first, rest) = shape.0.split_first()?;
    let mut sizes = fixed(rest)?;
    if first.factor != 1 {
        // Several lines of each row: they are an axis of the sample.
        sizes.insert(0, first.factor);
    }
    Some((sizes, false))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_batch_has_as_many_rows_as_are_held_at_a_time() {
        // An input and a result of so many values.
        for (features, wanted) in [
            (4, MAX_ROWS),
            (64, MAX_ROWS),
            (65, MAX_ROWS / 2),
            (128, MAX_ROWS / 2),
            (1 << 15, 2),
            (1 << 20, 1),
        ] {
            let text = format!(
                "graph \"g\" {{ x: f32[N, {features}] = placeholder y = relu(x) return y }}"
            );
            let graph = ir::Graph::parse(&text).unwrap_or_else(|errors| panic!("{errors}"));
            let verified = ir::verify(&graph).unwrap_or_else(|error| panic!("{error}"));
            assert_eq!(batch_rows(&verified), wanted, "{features}");
        }
    }
}
