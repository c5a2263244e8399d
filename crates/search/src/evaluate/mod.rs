//! Scoring a point: what it costs, and how the network answers with its formats.
//!
//! An [`Evaluator`] belongs to one thread. It cuts the graph in front of the searched nodes and keeps, for every segment
//! and every choice met so far, a compiled plan, and the values live at the cuts for earlier points: a point that begins like an
//! earlier one starts where the two part. Rows go through in blocks that stay in the caches, and layers in fixed point of
//! up to 8 bits through the engine's byte products. The score of a point does not depend on what was kept.

mod activations;
mod costs;
mod lru_cache;
mod netlist;

use crate::format_space::{FormatSpace, NodeChoice};
use crate::objectives::{Measurement, Scores};
use activations::{Activations, LiveValues};
pub use costs::Costs;
use data::Split;
use engine::{Input, Plan, PlanOptions, Pool, Port, State, compile, gather};
use format::Format;
use hw::solve::Cache;
use hw::synth::Target;
use ir::{Graph, NodeId, Verified, verify};
use lru_cache::LruCache;
pub use netlist::Netlist;
use passes::PassError;
use passes::segments::{Segment, block_rows, cut};
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;
use study::Point;

/// Bytes of activations, and of plans, that one evaluator caches at most, and that all of a search cache.
const CACHE_BYTES: usize = 256 << 20;
const ALL_CACHE_BYTES: usize = 1 << 30;
/// Bytes of a plan besides its arena and its parameters, about.
const PLAN_BYTES: usize = 32 << 10;

/// The network to evaluate and the rows to score it on.
#[derive(Clone)]
pub struct Task {
    /// The network with its weights.
    pub graph: Arc<Graph>,
    /// The searched formats.
    pub formats: Arc<FormatSpace>,
    /// The rows that a point is scored on.
    pub rows: Split,
    /// Bits that memory density compares with.
    pub compare_to: f64,
    /// The device that netlists are made for, where goals ask for their costs.
    pub target: Option<&'static Target>,
}

/// Progress of a trial over its rows.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Partial {
    /// Rows whose answer was right so far.
    pub correct: usize,
    /// Rows seen so far.
    pub seen: usize,
    /// All rows.
    pub rows: usize,
    /// The sum of losses so far.
    pub loss: f64,
}

impl Partial {
    /// The lowest and the highest accuracy that are still possible.
    pub fn accuracy(&self) -> (f64, f64) {
        let share = |correct: usize| correct as f64 / self.rows as f64;
        (
            share(self.correct),
            share(self.correct + self.rows - self.seen),
        )
    }

    /// The lowest and the highest loss that are still possible: cross-entropy is never negative, and has no upper end.
    pub fn loss(&self) -> (f64, f64) {
        let min = self.loss / self.rows as f64;
        let is_done = self.seen == self.rows;
        (min, if is_done { min } else { f64::INFINITY })
    }

    /// The bounds of the scores, costs as given.
    fn bounds(&self, costs: Costs, compare_to: f64) -> Bounds {
        let (accuracy, loss) = (self.accuracy(), self.loss());
        let scores = |accuracy, loss| {
            Scores::new(&Measurement {
                accuracy,
                loss,
                costs,
                compare_to,
            })
        };
        Bounds {
            min: scores(accuracy.0, loss.0),
            max: scores(accuracy.1, loss.1),
        }
    }
}

/// Bounds on the scores of a point that was not seen to the end.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bounds {
    /// No objective can be below these.
    pub min: Scores,
    /// No objective can be above these.
    pub max: Scores,
}

/// The result of evaluating a point.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Evaluation {
    /// All rows were seen.
    Complete(Scores),
    /// It was given up; this is what was known by then.
    Abandoned(Bounds),
}

/// Scores points on one thread.
pub struct Evaluator {
    task: Task,
    segments: Vec<Segment>,
    others: Costs,
    block_rows: usize,
    pool: Pool,
    /// By searched node: the choices met so far, their formats and costs.
    choices: Vec<HashMap<NodeChoice, u32>>,
    variants: Vec<Vec<Variant>>,
    /// By segment, combination of its searched nodes' variants, and rows.
    plans: LruCache<(usize, u32, usize), Compiled>,
    /// The labels of every block.
    labels: Vec<Vec<u32>>,
    /// By segment: the combinations of its searched nodes' variants.
    combinations: Vec<HashMap<Vec<u32>, u32>>,
    prefixes: Activations,
    /// The layers of netlists so far.
    solved: Cache,
}

/// A segment with the formats of one combination.
struct Compiled {
    state: State,
    plan: Plan,
    /// The rows that the plan holds from its last run; running on them again needs no copy.
    holds: Option<LiveValues>,
}

struct Variant {
    formats: BTreeMap<String, Format>,
    costs: Costs,
}

impl Evaluator {
    /// An evaluator for one of some threads; fails when the graph cannot be run.
    pub fn new(task: Task, threads: usize) -> Result<Self, PassError> {
        Self::with_memory(task, CACHE_BYTES.min(ALL_CACHE_BYTES / threads.max(1)))
    }

    /// An evaluator that caches about so many bytes of activations, and as many of plans.
    pub fn with_memory(task: Task, max_bytes: usize) -> Result<Self, PassError> {
        let verified = verify(&task.graph)?;
        let searched: Vec<NodeId> = task.formats.nodes.iter().map(|node| node.id).collect();
        let segments = cut(&verified, &searched, usize::MAX);
        let others = Costs::of_others(&task.graph, &verified, &searched);
        let label = |&row: &u32| task.rows.labels()[row as usize];
        let block_rows = block_rows(&verified);
        let blocks = task.rows.indices().chunks(block_rows);
        let labels: Vec<Vec<u32>> = blocks
            .map(|rows| rows.iter().map(label).collect())
            .collect();
        Ok(Self {
            others,
            block_rows,
            pool: Pool::new(1),
            choices: vec![HashMap::new(); searched.len()],
            variants: searched.iter().map(|_| Vec::new()).collect(),
            plans: LruCache::new(max_bytes),
            combinations: vec![HashMap::new(); segments.len()],
            prefixes: Activations::new(labels.len(), max_bytes),
            labels,
            segments,
            solved: Cache::default(),
            task,
        })
    }

    /// Scores a point. After every block of rows `is_hopeless` is shown between which scores the point will end; when it
    /// says so, the point is given up.
    pub fn evaluate(
        &mut self,
        point: &Point,
        mut is_hopeless: impl FnMut(&Bounds) -> bool,
    ) -> Result<Evaluation, PassError> {
        let variants = self.variants_of(point)?;
        let costs = self.costs_of(&variants)?;
        let names: Vec<u32> = (0..self.segments.len())
            .map(|segment| self.combination(segment, &variants))
            .collect();
        let indices = self.task.rows.clone();
        let rows = indices.len();
        let mut partial = Partial {
            correct: 0,
            seen: 0,
            rows,
            loss: 0.0,
        };
        for (block, indices) in indices.indices().chunks(self.block_rows).enumerate() {
            let (loss, correct) = self.block(block, indices, &names, &variants)?;
            partial.loss += loss * indices.len() as f64;
            partial.correct += correct;
            partial.seen += indices.len();
            if partial.seen < rows {
                let bounds = partial.bounds(costs, self.task.compare_to);
                if is_hopeless(&bounds) {
                    return Ok(Evaluation::Abandoned(bounds));
                }
            }
        }
        let bounds = partial.bounds(costs, self.task.compare_to);
        Ok(Evaluation::Complete(bounds.min))
    }

    /// Layers of netlists that were solved; those whose formats and operands came before are not counted.
    pub fn solved_layers(&self) -> usize {
        self.solved.solved()
    }

    /// The costs of a point.
    pub fn costs(&mut self, point: &Point) -> Result<Costs, PassError> {
        let variants = self.variants_of(point)?;
        Ok(self.sum_costs(&variants))
    }

    /// The costs, with those of the netlist where they are asked for.
    fn costs_of(&mut self, variants: &[u32]) -> Result<Costs, PassError> {
        let mut costs = self.sum_costs(variants);
        if let Some(target) = self.task.target {
            let mut graph = (*self.task.graph).clone();
            for (node, &variant) in variants.iter().enumerate() {
                let id = self.task.formats.nodes[node].id;
                let formats = &self.variants[node][variant as usize].formats;
                graph.node_mut(id).formats.clone_from(formats);
            }
            costs.netlist = Netlist::of(&graph, target, &mut self.solved)?;
        }
        Ok(costs)
    }

    fn sum_costs(&self, variants: &[u32]) -> Costs {
        let mut sum = self.others;
        for (node, &variant) in variants.iter().enumerate() {
            sum.add(&self.variants[node][variant as usize].costs);
        }
        sum
    }

    /// For each searched node, the number of what the point chooses for it.
    fn variants_of(&mut self, point: &Point) -> Result<Vec<u32>, PassError> {
        let formats = Arc::clone(&self.task.formats);
        (0..formats.nodes.len())
            .map(|node| {
                let choice = formats.choice(point, node);
                if let Some(&variant) = self.choices[node].get(&choice) {
                    return Ok(variant);
                }
                let variant = self.new_variant(node, &choice)?;
                let number = self.variants[node].len() as u32;
                self.variants[node].push(variant);
                self.choices[node].insert(choice, number);
                Ok(number)
            })
            .collect()
    }

    fn new_variant(&self, node: usize, choice: &NodeChoice) -> Result<Variant, PassError> {
        let formats = self.task.formats.formats(&self.task.graph, node, choice)?;
        let id = self.task.formats.nodes[node].id;
        let mut graph = (*self.task.graph).clone();
        graph.node_mut(id).formats.clone_from(&formats);
        let costs = Costs::of(&verify(&graph)?, id);
        Ok(Variant { formats, costs })
    }

    /// The number of what the searched nodes of a segment are under these variants.
    fn combination(&mut self, segment: usize, variants: &[u32]) -> u32 {
        let searched = &self.segments[segment].marked;
        let own: Vec<u32> = searched.iter().map(|&node| variants[node]).collect();
        let known = &mut self.combinations[segment];
        let next = known.len() as u32;
        *known.entry(own).or_insert(next)
    }

    /// Mean loss and right answers of one block.
    fn block(
        &mut self,
        block: usize,
        indices: &[u32],
        names: &[u32],
        variants: &[u32],
    ) -> Result<(f64, usize), PassError> {
        let last = self.segments.len() - 1;
        let (mut at, mut live) = match self.prefixes.longest(block, &names[..last]) {
            Some((length, live)) => (length, Some(live)),
            None => (0, None),
        };
        loop {
            let key = self.planned(at, names[at], variants, indices.len())?;
            let compiled = self.plans.get_mut(&key).expect("it was planned");
            let rows = gather(self.task.rows.elements(), indices);
            compiled.run(live.as_ref(), &rows, &self.pool)?;
            let plan = &mut compiled.plan;
            if at == last {
                let score = plan.cross_entropy(&self.labels[block], &self.pool)?;
                return Ok((score.loss, score.correct));
            }
            // What is not cached is written over.
            let mut values = live.take().and_then(Arc::into_inner).unwrap_or_default();
            values.resize_with(self.segments[at + 1].input_count(), Vec::new);
            for (k, values) in values.iter_mut().enumerate() {
                values.clear();
                plan.for_each_output(k, |part| values.extend_from_slice(part));
            }
            let values = Arc::new(values);
            self.prefixes.admit(block, &names[..=at], &values);
            live = Some(values);
            at += 1;
        }
    }

    /// Makes sure that a segment has a plan for these variants, whose combination has the number `name`.
    fn planned(
        &mut self,
        segment: usize,
        name: u32,
        variants: &[u32],
        rows: usize,
    ) -> Result<(usize, u32, usize), PassError> {
        let key = (segment, name, rows);
        let searched = &self.segments[segment].marked;
        if !self.plans.contains(&key) {
            let formats = searched
                .iter()
                .map(|&node| {
                    let variant = &self.variants[node][variants[node] as usize];
                    (self.task.formats.nodes[node].id, variant.formats.clone())
                })
                .collect();
            let graph = self.segments[segment].graph(&self.task.graph, &formats);
            let verified = verify(&graph)?;
            let state = State::new(&verified)?;
            let plan = compile(&verified, &state, keeping_inputs(&verified, rows))?;
            let elements = plan.arena_len() + 2 * state.trained_len();
            let bytes = PLAN_BYTES + elements * size_of::<f32>();
            let compiled = Compiled {
                state,
                plan,
                holds: None,
            };
            self.plans.insert(key, compiled, bytes);
        }
        Ok(key)
    }
}

/// Options under which a plan keeps its inputs.
fn keeping_inputs(verified: &Verified, rows: usize) -> PlanOptions {
    let port = |node| Port {
        node,
        port: "data_out_0".to_owned(),
    };
    PlanOptions {
        observe: verified.placeholders().into_iter().map(port).collect(),
        ..PlanOptions::eval(rows)
    }
}

impl Compiled {
    /// Runs on the values live at the cut before, or on rows of the dataset.
    fn run(
        &mut self,
        live: Option<&LiveValues>,
        rows: &[Input],
        pool: &Pool,
    ) -> Result<(), PassError> {
        let Some(live) = live else {
            self.holds = None;
            return Ok(self.plan.forward(&mut self.state, rows, pool)?);
        };
        if self
            .holds
            .as_ref()
            .is_some_and(|held| Arc::ptr_eq(held, live))
        {
            return Ok(self.plan.forward_again(&mut self.state, pool)?);
        }
        let inputs: Vec<Input> = live.iter().map(|values| Input::F32(values)).collect();
        self.plan.forward(&mut self.state, &inputs, pool)?;
        // One that nobody else has will not be met again.
        let is_kept = Arc::strong_count(live) > 1;
        self.holds = is_kept.then(|| Arc::clone(live));
        Ok(())
    }
}
