//! A plan: a graph compiled for a number of rows, ready to run forward and backward any number of times without
//! allocating.

use crate::EngineError;
use crate::input::{Input, InputInfo, input_infos};
use crate::lower::lower;
use crate::memory;
use crate::options::{Mode, PlanOptions};
use crate::profile::{Part, Profiler};
use crate::segments::Segments;
use crate::shard::{Context, Pass, Program, Shard};
use crate::sharding::shard_rows;
use crate::state::State;
use crate::step::{Step, Wires};
use crate::working_memory::SharedArenas;
use ir::Verified;
use kernels::threads::Pool;
use random::Random;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Gradients that one thread adds up at a time: they stay in its cache.
const PART: usize = 32 * 1024;

/// Elements of arenas that stay in a core's cache.
const CACHED: usize = 128 * 1024;

/// Loss and number of right answers of one batch.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Score {
    /// Mean cross-entropy over the labels.
    pub loss: f64,
    /// Labels that have the largest logit of their row.
    pub correct: usize,
    /// Number of labels.
    pub count: usize,
}

/// A compiled graph. See [`compile`].
///
/// ```
/// use engine::{Input, PlanOptions, Pool, State, compile};
///
/// let mut graph = ir::Graph::parse(
///     "graph \"rows\" {
///        x: f32[N, 4] = placeholder
///        y = relu(x)
///        return y
///      }",
/// )?;
/// graph.initialize(0);
/// let verified = ir::verify(&graph)?;
/// let mut state = State::new(&verified)?;
/// let mut plan = compile(&verified, &state, PlanOptions::eval(2))?;
/// let x = [-1.0, 2.0, 0.5, -0.5, 3.0, -3.0, 0.0, 1.0];
/// plan.forward(&mut state, &[Input::F32(&x)], &Pool::new(1))?;
/// assert_eq!(plan.output(0), [0.0, 2.0, 0.5, 0.0, 3.0, 0.0, 0.0, 1.0]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Plan {
    options: PlanOptions,
    inputs: Vec<InputInfo>,
    shards: Vec<Shard>,
    elements: usize,
    segments: Segments,
    prepared: Vec<f32>,
    prepared_for: u64,
    noise: Random,
    stores_inputs: bool,
}

/// Compiles a verified graph for a batch.
pub fn compile(
    verified: &Verified,
    state: &State,
    options: PlanOptions,
) -> Result<Plan, EngineError> {
    if options.rows == 0 {
        return Err(EngineError::EmptyBatch);
    }
    let shards = shard_rows(verified, options.rows, options.gradients.parameters);
    compile_shards(verified, state, options, &shards)
}

/// Compiles a verified graph for shards of these rows, which must add up to those of the batch.
pub(crate) fn compile_shards(
    verified: &Verified,
    state: &State,
    options: PlanOptions,
    shard_rows: &[usize],
) -> Result<Plan, EngineError> {
    options.check_ports(verified)?;
    let mut programs: Vec<Arc<Program>> = Vec::new();
    for &rows in shard_rows {
        let known = programs.iter().find(|program| program.rows == rows);
        let program = match known {
            Some(program) => Arc::clone(program),
            None => Arc::new(lower(verified, &options, state, rows)?),
        };
        programs.push(program);
    }
    let arenas = shares_arenas(&options, &programs).then(SharedArenas::default);
    memory::check(
        verified,
        options.rows,
        elements(&programs, arenas.is_some()),
    )?;
    let trained = if options.gradients.parameters {
        state.trained_len()
    } else {
        0
    };
    let mut shards = Vec::new();
    let mut first_row = 0;
    for program in &programs {
        let program = Arc::clone(program);
        let rows = program.rows;
        shards.push(match &arenas {
            Some(arenas) => Shard::sharing(program, first_row, arenas.clone()),
            None => Shard::new(program, first_row, trained),
        });
        first_row += rows;
    }
    let program = &programs[0];
    Ok(Plan {
        inputs: input_infos(verified, &options)?,
        segments: Segments::of(program),
        prepared: vec![0.0; program.prepared_len],
        prepared_for: 0,
        noise: Random::new(0, "dropout"),
        stores_inputs: options.stores_inputs(verified),
        elements: elements(&programs, arenas.is_some()),
        shards,
        options,
    })
}

/// True when shards lend each other one arena: in a forward pass of which only the results are read, where the arenas of all
/// would not stay in the cache together.
fn shares_arenas(options: &PlanOptions, programs: &[Arc<Program>]) -> bool {
    let runs_through = |(step, _): &(Box<dyn Step>, Wires)| step.whole_batch().is_none();
    let is_forward = options.mode == Mode::Eval
        && !options.gradients.any()
        && programs[0].steps.iter().all(runs_through);
    let all: usize = programs.iter().map(|program| program.arena_len).sum();
    is_forward && options.observe.is_empty() && programs.len() > 1 && all >= CACHED
}

/// Elements of the memory of all shards, run by one thread.
fn elements(programs: &[Arc<Program>], share: bool) -> usize {
    let lens = programs.iter().map(|program| program.arena_len);
    if share {
        let kept = programs.iter().map(|program| program.kept_len());
        return lens
            .max()
            .unwrap_or(0)
            .saturating_add(kept.fold(0, usize::saturating_add));
    }
    lens.fold(0, usize::saturating_add)
}

impl Plan {
    /// The options it was compiled with.
    pub fn options(&self) -> &PlanOptions {
        &self.options
    }

    /// Elements that the plan holds in memory besides parameters when one thread runs it.
    pub fn arena_len(&self) -> usize {
        self.elements
    }

    /// The number of shards the batch is cut into.
    pub fn shard_count(&self) -> usize {
        self.shards.len()
    }

    /// The random numbers of dropout, until they are set again.
    pub fn set_noise(&mut self, noise: Random) {
        self.noise = noise;
    }

    /// Runs the graph on a batch. Batch norms in training update the running statistics in `state`.
    pub fn forward(
        &mut self,
        state: &mut State,
        inputs: &[Input],
        pool: &Pool,
    ) -> Result<(), EngineError> {
        self.forward_profiled(state, inputs, pool, &mut Profiler::default())
    }

    /// Runs the graph on a batch, and gives it up before the next step when the flag is set.
    pub(crate) fn forward_until(
        &mut self,
        state: &mut State,
        inputs: &[Input],
        pool: &Pool,
        stop: &AtomicBool,
    ) -> Result<(), EngineError> {
        self.load(inputs, pool)?;
        self.run_forward(state, pool, &mut Profiler::default(), Some(stop));
        if stop.load(Ordering::Relaxed) {
            return Err(EngineError::Interrupted);
        }
        Ok(())
    }

    pub(crate) fn forward_profiled(
        &mut self,
        state: &mut State,
        inputs: &[Input],
        pool: &Pool,
        profiler: &mut Profiler,
    ) -> Result<(), EngineError> {
        profiler.time(Part::Data, || self.load(inputs, pool))?;
        self.run_forward(state, pool, profiler, None);
        Ok(())
    }

    /// Runs the graph once more on the inputs of the last [`Plan::forward`], which a plan keeps when it observes
    /// `data_out_0` of every placeholder.
    pub fn forward_again(&mut self, state: &mut State, pool: &Pool) -> Result<(), EngineError> {
        if !self.stores_inputs {
            return Err(EngineError::InputsNotStored);
        }
        self.run_forward(state, pool, &mut Profiler::default(), None);
        Ok(())
    }

    fn run_forward(
        &mut self,
        state: &mut State,
        pool: &Pool,
        profiler: &mut Profiler,
        stop: Option<&AtomicBool>,
    ) {
        self.prepare(state, pool, profiler, stop);
        for segment in &self.segments.forward {
            let context = Context {
                state,
                prepared: &self.prepared,
                noise: self.noise,
                is_timed: profiler.is_on(),
                stop,
            };
            profiler.run_shards(&mut self.shards, pool, |shard| {
                shard.run(&context, Pass::FinishForward, segment.finish.into_iter());
                shard.run(&context, Pass::Forward, segment.steps.clone());
            });
            if context.is_stopped() {
                return;
            }
            if let Some(at) = segment.combine {
                let program = Arc::clone(&self.shards[0].program);
                if let Some(step) = program.steps[at].0.whole_batch() {
                    profiler.time(Part::Forward(program.nodes[at]), || {
                        step.combine_forward(at, &mut self.shards, state);
                    });
                }
            }
        }
    }

    /// Runs the graph backward from gradients of its results, which [`Plan::cross_entropy`] or
    /// [`Plan::set_output_grad`] has set.
    pub fn backward(&mut self, state: &State, pool: &Pool) -> Result<(), EngineError> {
        self.backward_profiled(state, pool, &mut Profiler::default())?;
        self.sum_gradients(pool);
        Ok(())
    }

    /// Runs the graph backward; the gradients of parameters are those of shards until they are added up.
    pub(crate) fn backward_profiled(
        &mut self,
        state: &State,
        pool: &Pool,
        profiler: &mut Profiler,
    ) -> Result<(), EngineError> {
        if !self.options.gradients.any() {
            return Err(EngineError::NoGradients);
        }
        for segment in &self.segments.backward {
            let context = Context {
                state,
                prepared: &self.prepared,
                noise: self.noise,
                is_timed: profiler.is_on(),
                stop: None,
            };
            profiler.run_shards(&mut self.shards, pool, |shard| {
                shard.run(&context, Pass::FinishBackward, segment.finish.into_iter());
                shard.run(&context, Pass::Backward, segment.steps.clone().rev());
            });
            if let Some(at) = segment.combine {
                let program = Arc::clone(&self.shards[0].program);
                if let Some(step) = program.steps[at].0.whole_batch() {
                    profiler.time(Part::Backward(program.nodes[at]), || {
                        step.combine_backward(at, &mut self.shards, state);
                    });
                }
            }
        }
        Ok(())
    }

    /// Mean cross-entropy of the only result against labels, and its gradient for [`Plan::backward`].
    pub fn cross_entropy(&mut self, labels: &[u32], pool: &Pool) -> Result<Score, EngineError> {
        let per_row = self.check_labels(labels)?;
        let scale = 1.0 / labels.len() as f32;
        pool.for_each(&mut self.shards, |_, shard| {
            let own =
                &labels[shard.first_row * per_row..(shard.first_row + shard.rows()) * per_row];
            let classes = shard.program.outputs[0].shape.last().copied().unwrap_or(1);
            shard.loss = if let Some((logits, grad)) = shard.output_with_grad(0) {
                kernels::softmax::cross_entropy(classes, logits, own, Some(grad), scale)
            } else {
                kernels::softmax::cross_entropy(classes, shard.output(0), own, None, scale)
            };
        });
        let (loss, correct) = self
            .shards
            .iter()
            .fold((0.0, 0), |(l, c), s| (l + s.loss.0, c + s.loss.1));
        Ok(Score {
            loss: loss / labels.len() as f64,
            correct,
            count: labels.len(),
        })
    }

    /// Sets the gradient of result `k` to start [`Plan::backward`] from.
    pub fn set_output_grad(&mut self, k: usize, grad: &[f32]) -> Result<(), EngineError> {
        let mut rest = grad;
        let expected: usize = self
            .shards
            .iter()
            .map(|s| s.program.outputs[k].value.len())
            .sum();
        if expected != grad.len() {
            let name = format!("gradient of result {k}");
            return Err(EngineError::InputLength {
                name,
                rows: self.options.rows,
                expected,
                got: grad.len(),
            });
        }
        for shard in &mut self.shards {
            let Some(span) = shard.program.outputs[k].grad.clone() else {
                return Err(EngineError::NoGradients);
            };
            let (own, later) = rest.split_at(span.len());
            shard.values_mut(&span).copy_from_slice(own);
            rest = later;
        }
        Ok(())
    }

    /// The number of results of the graph.
    pub fn output_count(&self) -> usize {
        self.shards[0].program.outputs.len()
    }

    /// Calls `read` with every part of result `k`, in row order.
    pub fn for_each_output(&self, k: usize, mut read: impl FnMut(&[f32])) {
        for shard in &self.shards {
            read(shard.output(k));
        }
    }

    /// Result `k` for the whole batch.
    pub fn output(&self, k: usize) -> Vec<f32> {
        let mut all = Vec::new();
        self.for_each_output(k, |part| all.extend_from_slice(part));
        all
    }

    /// The gradient of placeholder `k`, when the plan computes it.
    pub fn input_grad(&self, k: usize) -> Option<Vec<f32>> {
        let mut all = Vec::new();
        for shard in &self.shards {
            all.extend_from_slice(shard.values(shard.program.input_grads[k].as_ref()?));
        }
        Some(all)
    }

    /// Calls `read` with the values at every observed port, port after port and row after row: the index of the port
    /// in the options, the shape of the part, its values.
    pub fn for_each_observed(&self, mut read: impl FnMut(usize, &[usize], &[f32])) {
        for index in 0..self.options.observe.len() {
            for shard in &self.shards {
                let (span, shape) = &shard.program.observed[index];
                read(index, shape, shard.values(span));
            }
        }
    }

    /// The gradients of the trained parameters after a backward pass, laid out as the parameters.
    pub fn gradients(&self) -> &[f32] {
        &self.shards[0].grads
    }

    fn prepare(
        &mut self,
        state: &State,
        pool: &Pool,
        profiler: &mut Profiler,
        stop: Option<&AtomicBool>,
    ) {
        if self.prepared_for == state.version {
            return;
        }
        let is_stopped = || stop.is_some_and(|stop| stop.load(Ordering::Relaxed));
        let program = &self.shards[0].program;
        if profiler.is_on() || self.prepared.len() <= PART {
            for ((step, wires), &node) in program.steps.iter().zip(&program.nodes) {
                if !wires.prepared.is_empty() {
                    profiler.time(Part::Forward(node), || {
                        step.prepare(state, &mut self.prepared[wires.prepared.clone()]);
                    });
                }
            }
        } else {
            pool.for_each_span(&mut self.prepared, &program.prepared, |at, prepared| {
                if !prepared.is_empty() && !is_stopped() {
                    program.steps[at].0.prepare(state, prepared);
                }
            });
        }
        // What was given up is prepared anew.
        if !is_stopped() {
            self.prepared_for = state.version;
        }
    }

    /// The gradients of the trained parameters over the rows of each shard.
    pub(crate) fn shard_gradients(&self) -> impl Iterator<Item = &[f32]> {
        self.shards.iter().map(|shard| shard.grads.as_slice())
    }

    /// Adds the shards' gradients to those of the first, in shard order.
    pub(crate) fn sum_gradients(&mut self, pool: &Pool) {
        if let [first, rest @ ..] = self.shards.as_mut_slice()
            && !rest.is_empty()
        {
            pool.for_each_part([&mut first.grads], PART, |from, [sum]| {
                for shard in rest.iter() {
                    kernels::elementwise::add_assign(&shard.grads[from..][..sum.len()], sum);
                }
            });
        }
    }

    fn load(&mut self, inputs: &[Input], pool: &Pool) -> Result<(), EngineError> {
        if inputs.len() != self.inputs.len() {
            return Err(EngineError::InputCount {
                expected: self.inputs.len(),
                got: inputs.len(),
            });
        }
        let (infos, rows) = (&self.inputs, self.options.rows);
        for (info, input) in infos.iter().zip(inputs) {
            info.check(input, rows)?;
        }
        pool.for_each(&mut self.shards, |_, shard| {
            for (k, (info, input)) in infos.iter().zip(inputs).enumerate() {
                input.copy_to(shard.first_row, info.width(rows), shard.input_mut(k));
            }
        });
        Ok(())
    }

    /// Labels per row of the batch.
    fn check_labels(&self, labels: &[u32]) -> Result<usize, EngineError> {
        let shape = match self.shards[0].program.outputs.as_slice() {
            [only] => &only.shape,
            several => {
                return Err(EngineError::NotClassification {
                    got: format!("{} results", several.len()),
                });
            }
        };
        let Some((&classes, rows)) = shape.split_last().filter(|(_, rows)| !rows.is_empty()) else {
            return Err(EngineError::NotClassification {
                got: format!("shape {shape:?}"),
            });
        };
        let per_row = rows.iter().product::<usize>() / self.shards[0].rows();
        let expected = per_row * self.options.rows;
        if labels.len() != expected {
            return Err(EngineError::Labels {
                expected,
                classes,
                got: format!("{} labels", labels.len()),
            });
        }
        if let Some(wrong) = labels.iter().find(|&&label| label as usize >= classes) {
            return Err(EngineError::Labels {
                expected,
                classes,
                got: wrong.to_string(),
            });
        }
        Ok(per_row)
    }
}
