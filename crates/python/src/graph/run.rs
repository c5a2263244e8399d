//! Running a graph: the network that was compiled of it, block by block, with the interpreter's lock free.

use super::Graph;
use super::inputs::{Arrays, Signature, Slices};
use crate::arrays::give;
use crate::errors::{sentence, wrong_type};
use crate::work;
use engine::{EngineError, IntegerPlan, Network, PlanOptions, Port, State};
use ir::DType;
use pyo3::IntoPyObjectExt;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// A network that was made of a graph.
pub struct Compiled {
    /// The value of the graph that it was made of.
    version: u64,
    threads: usize,
    /// The process that its threads live in: after a fork they are gone.
    process: u32,
    network: Network,
    integer: Option<(usize, IntegerPlan)>,
    signature: Signature,
}

/// The options of a run.
pub struct RunOptions {
    /// True to compute in exact integers.
    pub integer: bool,
    /// Nodes and ports whose values are asked for.
    pub observe: Vec<String>,
    /// Threads that may be used.
    pub threads: usize,
}

/// The results of a run: values of each output, and shape and values of each observed port.
#[derive(Default)]
struct Results {
    outputs: Vec<Vec<f32>>,
    observed: Vec<(Vec<usize>, Vec<f32>)>,
}

impl Graph {
    /// Runs the network on arrays; see `Graph.run` in Python.
    pub(super) fn compute<'py>(
        &self,
        py: Python<'py>,
        inputs: &Bound<'py, PyTuple>,
        how: RunOptions,
    ) -> PyResult<Bound<'py, PyAny>> {
        let Ok(mut compiled) = self.compiled.try_lock() else {
            return Err(sentence(
                "the graph is running in another thread; give each thread a copy() of its own",
            ));
        };
        let compiled = self.compile(py, &mut compiled, how.threads)?;
        let arrays = Arrays::of_arguments(&compiled.signature, inputs)?;
        let rows = arrays.rows;
        let is_long = compiled.signature.is_long(rows);
        let slices = arrays.slices()?;
        let names = how.observe;
        let ports = self.ports(&names)?;
        let results = if how.integer {
            if !ports.is_empty() {
                return Err(wrong_type(
                    "observe: what a run in integers computes cannot be observed; leave integer out",
                ));
            }
            let graph = self.value();
            watched(py, is_long, |stop| {
                compiled.run_integers(&graph, &slices, rows, stop)
            })?
        } else {
            watched(py, is_long, |stop| {
                compiled.run(&slices, rows, &ports, stop)
            })?
        };
        let outputs = outputs(py, &compiled.signature, rows, results.outputs)?;
        if names.is_empty() {
            return Ok(outputs);
        }
        let seen = PyDict::new(py);
        for (name, (shape, values)) in names.iter().zip(results.observed) {
            seen.set_item(name, give(py, values, &shape)?)?;
        }
        (outputs, seen).into_bound_py_any(py)
    }

    /// The network of the present value, made anew where it has changed.
    fn compile<'a>(
        &self,
        py: Python,
        compiled: &'a mut Option<Compiled>,
        threads: usize,
    ) -> PyResult<&'a mut Compiled> {
        let (graph, version) = {
            let state = self.state();
            (state.graph.clone(), state.version)
        };
        let process = std::process::id();
        let is_present = |compiled: &Compiled| {
            let made = (compiled.version, compiled.threads, compiled.process);
            made == (version, threads, process)
        };
        if !compiled.as_ref().is_some_and(is_present) {
            *compiled = None;
            let signature = Signature::of(&graph)?;
            let value = Arc::clone(&graph);
            let network = work::run(py, move || Network::new((*value).clone(), threads))?;
            let network = network.map_err(sentence)?;
            *compiled = Some(Compiled {
                version,
                threads,
                process,
                network,
                integer: None,
                signature,
            });
        }
        compiled
            .as_mut()
            .ok_or_else(|| sentence("the network is gone"))
    }

    /// The ports of names such as `seq_blocks_2` and `seq_blocks_2.data_in_0`.
    fn ports(&self, names: &[String]) -> PyResult<Vec<Port>> {
        let port = |name: &String| {
            let (node, port) = match name.rsplit_once('.') {
                Some((node, port)) if port.starts_with("data_") => (node, port),
                _ => (name.as_str(), "data_out_0"),
            };
            let (_, id) = self.find(node)?;
            Ok(Port {
                node: id,
                port: port.to_owned(),
            })
        };
        names.iter().map(port).collect()
    }
}

impl Compiled {
    fn run(
        &mut self,
        inputs: &Slices,
        rows: usize,
        ports: &[Port],
        stop: &AtomicBool,
    ) -> PyResult<Results> {
        let mut results = Results {
            outputs: vec![Vec::new(); self.signature.outputs.len()],
            observed: vec![(Vec::new(), Vec::new()); ports.len()],
        };
        let network = &mut self.network;
        blocks(rows, self.signature.block, stop, |start, count| {
            let options = PlanOptions {
                observe: ports.to_vec(),
                ..PlanOptions::eval(count)
            };
            let plan = network.run_until(options, &inputs.part(start, count), stop);
            let plan = plan.map_err(sentence)?;
            for (k, output) in results.outputs.iter_mut().enumerate() {
                plan.for_each_output(k, |part| output.extend_from_slice(part));
            }
            plan.for_each_observed(|index, shape, values| {
                let (all, seen) = &mut results.observed[index];
                seen.extend_from_slice(values);
                match (all.first_mut(), shape.first()) {
                    (Some(total), Some(part)) => *total += part,
                    _ => *all = shape.to_vec(),
                }
            });
            Ok(())
        })?;
        Ok(results)
    }

    fn run_integers(
        &mut self,
        graph: &ir::Graph,
        inputs: &Slices,
        rows: usize,
        stop: &AtomicBool,
    ) -> PyResult<Results> {
        let verified = ir::verify(graph).map_err(sentence)?;
        let mut outputs = vec![Vec::new(); self.signature.outputs.len()];
        let cached = &mut self.integer;
        blocks(rows, self.signature.block, stop, |start, count| {
            if cached.as_ref().is_none_or(|(planned, _)| *planned != count) {
                let state = State::new(&verified).map_err(sentence)?;
                let plan = IntegerPlan::compile(&verified, &state, count);
                let refuse = |why| sentence(format!("the network cannot run in integers: {why}"));
                *cached = Some((count, plan.map_err(refuse)?));
            }
            if let Some((_, plan)) = cached {
                let part = inputs.part(start, count);
                plan.run_until(&part, stop).map_err(sentence)?;
                for (k, output) in outputs.iter_mut().enumerate() {
                    output.extend(plan.output(k));
                }
            }
            Ok(())
        })?;
        Ok(Results {
            outputs,
            ..Results::default()
        })
    }
}

/// Runs work beside the interpreter: on a thread of its own that Ctrl-C stops, if it is long.
fn watched<T: Send>(
    py: Python,
    is_long: bool,
    work: impl FnOnce(&AtomicBool) -> PyResult<T> + Send,
) -> PyResult<T> {
    if is_long {
        return work::scoped(py, work);
    }
    py.detach(|| work(&AtomicBool::new(false)))
}

/// Calls `run` for blocks of rows, until the flag is set.
fn blocks(
    rows: usize,
    block: Option<usize>,
    stop: &AtomicBool,
    mut run: impl FnMut(usize, usize) -> PyResult<()>,
) -> PyResult<()> {
    let block = block.unwrap_or(rows).max(1);
    if rows == 0 {
        return run(0, 0);
    }
    for start in (0..rows).step_by(block) {
        if stop.load(Ordering::Relaxed) {
            return Err(sentence(EngineError::Interrupted));
        }
        run(start, block.min(rows - start))?;
    }
    Ok(())
}

/// The results as arrays: one, or a tuple of them.
fn outputs<'py>(
    py: Python<'py>,
    signature: &Signature,
    rows: usize,
    values: Vec<Vec<f32>>,
) -> PyResult<Bound<'py, PyAny>> {
    let array = |((dtype, shape), values): (&(DType, ir::Shape), Vec<f32>)| {
        let shape = shape.bind(rows).unwrap_or_default();
        match dtype {
            DType::F32 => give(py, values, &shape)?.into_bound_py_any(py),
            DType::I64 => {
                let whole = values.into_iter().map(|value| value as i64).collect();
                give::<i64>(py, whole, &shape)?.into_bound_py_any(py)
            }
            DType::Bool => {
                let flags = values.into_iter().map(|value| value != 0.0).collect();
                give::<bool>(py, flags, &shape)?.into_bound_py_any(py)
            }
        }
    };
    let all = signature.outputs.iter().zip(values).map(array);
    let all: Vec<Bound<PyAny>> = all.collect::<PyResult<_>>()?;
    match all.as_slice() {
        [only] => Ok(only.clone()),
        several => PyTuple::new(py, several)?.into_bound_py_any(py),
    }
}
