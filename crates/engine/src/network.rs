//! A network that trains and answers: parameters, a thread pool, and a plan for every batch size met so far.

use crate::learning::{self, Learning};
use crate::optimizer::{Gradients, Optimizer};
use crate::options::{Mode, PlanOptions};
use crate::plan::{Plan, Score, compile};
use crate::profile::{Part, Profile, Profiler};
use crate::state::State;
use crate::{EngineError, Input};
use ir::{Graph, Verified, VerifyError, verify};
use kernels::threads::Pool;
use random::Random;
use std::sync::atomic::AtomicBool;

/// Plans kept; the oldest goes first. A training run needs two sizes in two modes.
const MAX_PLANS: usize = 8;

/// A graph with the state to run it.
pub struct Network {
    /// Without values of parameters, which the state has.
    graph: Graph,
    state: State,
    pool: Pool,
    plans: Vec<Plan>,
    noise: Random,
    passes: u64,
    /// Gradients of the micro-batches since the last update; empty until some are collected.
    collected: Vec<f32>,
    /// The network with its norms folded, for evaluation, and the version of the parameters that it was made from.
    folded: Option<(u64, Box<Network>)>,
    profiler: Profiler,
}

/// The reason why a network cannot be made.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum NetworkError {
    /// The graph breaks rules.
    #[error(transparent)]
    Graph(#[from] VerifyError),
    /// The graph cannot be run.
    #[error(transparent)]
    Engine(#[from] EngineError),
}

impl Network {
    /// A network on `threads` threads. Results do not depend on their number.
    pub fn new(graph: Graph, threads: usize) -> Result<Self, NetworkError> {
        Self::learning(graph, Learning::default(), threads)
    }

    /// A network whose training goes beyond the parameters of the graph.
    pub fn learning(
        mut graph: Graph,
        learning: impl Into<Learning>,
        threads: usize,
    ) -> Result<Self, NetworkError> {
        let state = State::with_learning(&verify(&graph)?, learning.into())?;
        state.remove_from(&mut graph);
        Ok(Self {
            graph,
            state,
            pool: Pool::new(threads),
            plans: Vec::new(),
            noise: Random::new(0, "dropout"),
            passes: 0,
            collected: Vec::new(),
            folded: None,
            profiler: Profiler::default(),
        })
    }

    /// Seeds the random numbers of dropout.
    pub fn seed(&mut self, seed: u64) {
        self.noise = Random::new(seed, "dropout");
    }

    /// Training passes so far: together with the seed they determine what dropout drops next.
    pub fn passes(&self) -> u64 {
        self.passes
    }

    /// Goes on as after this number of training passes.
    pub fn set_passes(&mut self, passes: u64) {
        self.passes = passes;
    }

    /// The parameters.
    pub fn state(&self) -> &State {
        &self.state
    }

    /// The parameters, for loading others.
    pub fn state_mut(&mut self) -> &mut State {
        &mut self.state
    }

    /// The graph it was made from, without values of parameters: [`Network::state`] has them.
    pub fn graph(&self) -> &Graph {
        &self.graph
    }

    /// The graph with the present values of all parameters, learned scales in its formats, and batch norms folded where
    /// training folds them: what evaluation runs.
    pub fn to_graph(&self) -> Graph {
        let mut graph = self.training_graph();
        // From the last on, so that the places of the others stay.
        for folded in self.state.folded_norms(Mode::Train).iter().rev() {
            let folds = learning::fold(&mut graph, folded);
            debug_assert!(folds.is_some(), "the state has all parameters of a norm");
        }
        graph
    }

    /// The graph that is trained, with the present values of all parameters and learned scales in its formats.
    pub fn training_graph(&self) -> Graph {
        let mut graph = self.graph.clone();
        self.state.write_to(&mut graph);
        graph
    }

    /// Goes on with another graph, or with other weights and masks in the same one; seed and passes stay. Nothing is
    /// changed when it cannot be run.
    pub fn replace(&mut self, mut graph: Graph) -> Result<(), NetworkError> {
        let mut state = State::with_learning(&verify(&graph)?, self.state.learning().clone())?;
        if self.state.base_is_frozen() {
            state.freeze_base(&graph);
        }
        state.remove_from(&mut graph);
        self.state = state;
        self.graph = graph;
        self.plans.clear();
        self.collected.clear();
        self.folded = None;
        Ok(())
    }

    /// Measures all further training, from nothing, until [`Network::take_profile`].
    pub fn start_profile(&mut self) {
        self.profiler = Profiler::started();
    }

    /// The profiler of its training, for a loop to say where batches begin and end.
    pub fn profiler(&mut self) -> &mut Profiler {
        &mut self.profiler
    }

    /// The profile of the training since [`Network::start_profile`], which ends; none when it was not measured.
    pub fn take_profile(&mut self) -> Option<Profile> {
        let (graph, options) = (verified(&self.graph), PlanOptions::train(1));
        self.profiler.finish(&graph, &options, self.pool.threads())
    }

    /// The profile of forward passes in evaluation mode over one batch, after one that is not measured.
    pub fn forward_profile(
        &mut self,
        inputs: &[Input],
        rows: usize,
        passes: usize,
    ) -> Result<Profile, EngineError> {
        let options = PlanOptions::eval(rows);
        let at = self.plan(options.clone())?;
        let plan = &mut self.plans[at];
        plan.forward(&mut self.state, inputs, &self.pool)?;
        let mut profiler = Profiler::started();
        for _ in 0..passes {
            profiler.begin_batch();
            plan.forward_profiled(&mut self.state, inputs, &self.pool, &mut profiler)?;
            profiler.end_batch();
        }
        let graph = verified(&self.graph);
        let Some(profile) = profiler.finish(&graph, &options, self.pool.threads()) else {
            unreachable!("the profiler was started")
        };
        Ok(profile)
    }

    /// One step of training: forward, cross-entropy, backward, update.
    pub fn train_step(
        &mut self,
        inputs: &[Input],
        labels: &[u32],
        rows: usize,
        optimizer: &mut Optimizer,
    ) -> Result<Score, EngineError> {
        let at = self.plan(PlanOptions::train(rows))?;
        let score = self.train_pass(at, inputs, labels)?;
        let gradients: Vec<&[f32]> = self.plans[at].shard_gradients().collect();
        self.profiler.time(Part::Optimizer, || {
            optimizer.step_sum(&mut self.state, Gradients(&gradients), &self.pool);
        });
        Ok(score)
    }

    /// Forward and backward over one micro-batch; its gradients are collected until [`Network::update`].
    pub fn accumulate(
        &mut self,
        inputs: &[Input],
        labels: &[u32],
        rows: usize,
    ) -> Result<Score, EngineError> {
        let at = self.plan(PlanOptions::train(rows))?;
        let score = self.train_pass(at, inputs, labels)?;
        let plan = &mut self.plans[at];
        self.profiler.time(Part::Gradients, || {
            plan.sum_gradients(&self.pool);
            let gradients = plan.gradients();
            if self.collected.is_empty() {
                self.collected.extend_from_slice(gradients);
            } else {
                kernels::elementwise::add_assign(gradients, &mut self.collected);
            }
        });
        Ok(score)
    }

    /// One update with the mean of the gradients of `micro_batches` collected micro-batches.
    pub fn update(&mut self, optimizer: &mut Optimizer, micro_batches: usize) {
        self.profiler.time(Part::Optimizer, || {
            kernels::elementwise::scale(&mut self.collected, 1.0 / micro_batches as f32);
            optimizer.step(&mut self.state, &self.collected, &self.pool);
        });
        self.collected.clear();
    }

    fn train_pass(
        &mut self,
        at: usize,
        inputs: &[Input],
        labels: &[u32],
    ) -> Result<Score, EngineError> {
        let (plan, profiler) = (&mut self.plans[at], &mut self.profiler);
        plan.set_noise(self.noise.at(self.passes));
        plan.forward_profiled(&mut self.state, inputs, &self.pool, profiler)?;
        let score = profiler.time(Part::Loss, || plan.cross_entropy(labels, &self.pool))?;
        plan.backward_profiled(&self.state, &self.pool, profiler)?;
        self.passes += 1;
        Ok(score)
    }

    /// Loss and accuracy in evaluation mode.
    pub fn evaluate(
        &mut self,
        inputs: &[Input],
        labels: &[u32],
        rows: usize,
    ) -> Result<Score, EngineError> {
        let (score, _) = self.evaluate_plan(inputs, labels, rows)?;
        Ok(score)
    }

    /// The same, with the plan to read results from.
    pub fn evaluate_plan(
        &mut self,
        inputs: &[Input],
        labels: &[u32],
        rows: usize,
    ) -> Result<(Score, &Plan), EngineError> {
        if self.folds(Mode::Eval) {
            return self.folded()?.evaluate_plan(inputs, labels, rows);
        }
        let at = self.plan(PlanOptions::eval(rows))?;
        let plan = &mut self.plans[at];
        plan.forward(&mut self.state, inputs, &self.pool)?;
        let score = plan.cross_entropy(labels, &self.pool)?;
        Ok((score, plan))
    }

    /// Runs a batch with any options and gives the plan to read results from.
    pub fn run(&mut self, options: PlanOptions, inputs: &[Input]) -> Result<&Plan, EngineError> {
        if self.folds(options.mode) {
            return self.folded()?.run(options, inputs);
        }
        let at = self.plan(options)?;
        self.plans[at].forward(&mut self.state, inputs, &self.pool)?;
        Ok(&self.plans[at])
    }

    /// Runs a batch as [`Network::run`] does, and gives it up before the next step when the flag is set.
    pub fn run_until(
        &mut self,
        options: PlanOptions,
        inputs: &[Input],
        stop: &AtomicBool,
    ) -> Result<&Plan, EngineError> {
        if self.folds(options.mode) {
            return self.folded()?.run_until(options, inputs, stop);
        }
        let at = self.plan(options)?;
        self.plans[at].forward_until(&mut self.state, inputs, &self.pool, stop)?;
        Ok(&self.plans[at])
    }

    /// True when this mode runs the network with its norms folded.
    fn folds(&self, mode: Mode) -> bool {
        mode == Mode::Eval && !self.state.folded_norms(Mode::Train).is_empty()
    }

    /// The network with its norms folded.
    fn folded(&mut self) -> Result<&mut Self, EngineError> {
        let (version, threads) = (self.state.version, self.pool.threads());
        if self
            .folded
            .as_ref()
            .is_none_or(|(made, _)| *made != version)
        {
            let folded = Self::new(self.to_graph(), threads).map_err(|error| match error {
                NetworkError::Engine(error) => error,
                NetworkError::Graph(error) => unreachable!("folding keeps a graph valid: {error}"),
            });
            self.folded = Some((version, Box::new(folded?)));
        }
        let (_, folded) = self.folded.as_mut().expect("made above");
        Ok(folded)
    }

    /// The place of the plan with these options, compiled if it is new.
    fn plan(&mut self, options: PlanOptions) -> Result<usize, EngineError> {
        if let Some(at) = self
            .plans
            .iter()
            .position(|plan| *plan.options() == options)
        {
            return Ok(at);
        }
        let verified = verified(&self.graph);
        let plan = if options.mode == Mode::Train {
            let compile = || compile(&verified, &self.state, options);
            self.profiler.time(Part::Compile, compile)?
        } else {
            compile(&verified, &self.state, options)?
        };
        if self.plans.len() == MAX_PLANS {
            self.plans.remove(0);
        }
        self.plans.push(plan);
        Ok(self.plans.len() - 1)
    }
}

/// The graph of a network, which was verified when it was made.
fn verified(graph: &Graph) -> Verified<'_> {
    verify(graph).expect("the graph was verified when the network was made")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::OptimizerKind;

    const NET: &str = "graph \"net\" { x: f32[N, 8] = placeholder
        d = dropout(x) { target = \"d\", p = 0.5 }
        l = linear(d) { target = \"l\", in_features = 8, out_features = 3 }
        return l }";

    fn network() -> Network {
        let mut graph = Graph::parse(NET).unwrap_or_else(|errors| panic!("{errors}"));
        graph.initialize(1);
        Network::new(graph, 1).unwrap_or_else(|error| panic!("{error}"))
    }

    fn rows(count: usize) -> Vec<f32> {
        (0..8 * count).map(|k| (k * 7 % 13) as f32 - 6.0).collect()
    }

    #[test]
    fn seed_and_passes_decide_what_dropout_drops() {
        let mut network = network();
        let kind = OptimizerKind::Sgd {
            momentum: 0.0,
            nesterov: false,
            weight_decay: 0.0,
        };
        // Nothing is learned, so that only dropout makes losses differ.
        let mut optimizer = Optimizer::new(kind, 0.0, network.state());
        let x = rows(3);
        let mut step = |network: &mut Network| {
            let score = network.train_step(&[Input::F32(&x)], &[0, 1, 2], 3, &mut optimizer);
            score.expect("a step").loss
        };
        network.seed(5);
        let losses = [(); 3].map(|()| step(&mut network));
        assert!(
            losses[0] != losses[1] && losses[1] != losses[2],
            "{losses:?}"
        );
        assert_eq!(network.passes(), 3);
        network.set_passes(1);
        assert_eq!(step(&mut network), losses[1]);
        assert_eq!(network.passes(), 2);
        let evaluated = network.evaluate(&[Input::F32(&x)], &[0, 1, 2], 3);
        assert!(evaluated.is_ok() && network.passes() == 2);
        network.seed(6);
        network.set_passes(0);
        assert_ne!(step(&mut network), losses[0]);
        network.seed(5);
        network.set_passes(0);
        assert_eq!(step(&mut network), losses[0]);
    }

    #[test]
    fn plans_for_the_last_few_sizes_are_kept() {
        let mut network = network();
        let mut answers = |rows_of: usize| {
            let x = rows(rows_of);
            let plan = network.run(PlanOptions::eval(rows_of), &[Input::F32(&x)]);
            let answers = plan.expect("a plan").output(0);
            (answers, network.plans.len())
        };
        for rows in 1..=MAX_PLANS {
            let (answers, kept) = answers(rows);
            assert_eq!((answers.len(), kept), (3 * rows, rows));
        }
        let (first, kept) = answers(1);
        assert_eq!(kept, MAX_PLANS);
        let (_, kept) = answers(MAX_PLANS + 1);
        assert_eq!(kept, MAX_PLANS);
        assert_eq!(answers(1), (first, MAX_PLANS));
    }
}
