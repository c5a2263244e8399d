//! A network that trains and answers: parameters, a thread pool, and a plan for every batch size met so far.

use crate::optimizer::Optimizer;
use crate::options::PlanOptions;
use crate::plan::{Plan, Score, compile};
use crate::state::State;
use crate::{EngineError, Input};
use ir::{Graph, VerifyError, verify};
use kernels::threads::Pool;

/// Plans kept; the oldest goes first. A training run needs two sizes in two modes.
const MOST_PLANS: usize = 8;

/// A graph with the state to run it.
pub struct Network {
    graph: Graph,
    state: State,
    pool: Pool,
    plans: Vec<Plan>,
    seed: u64,
}

/// Why a network cannot be made.
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
        let state = State::new(&verify(&graph)?)?;
        Ok(Self {
            graph,
            state,
            pool: Pool::new(threads),
            plans: Vec::new(),
            seed: 0,
        })
    }

    /// Seeds the random numbers of dropout.
    pub fn seed(&mut self, seed: u64) {
        self.seed = seed;
        self.plans.clear();
    }

    /// The parameters.
    pub fn state(&self) -> &State {
        &self.state
    }

    /// The graph with the present values of all parameters.
    pub fn to_graph(&self) -> Graph {
        let mut graph = self.graph.clone();
        self.state.write_to(&mut graph);
        graph
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
        let plan = &mut self.plans[at];
        plan.forward(&mut self.state, inputs, &self.pool)?;
        let score = plan.cross_entropy(labels, &self.pool)?;
        plan.backward(&self.state, &self.pool)?;
        optimizer.step(&mut self.state, plan.gradients());
        Ok(score)
    }

    /// Loss and accuracy in evaluation mode.
    pub fn evaluate(
        &mut self,
        inputs: &[Input],
        labels: &[u32],
        rows: usize,
    ) -> Result<Score, EngineError> {
        let at = self.plan(PlanOptions::eval(rows))?;
        let plan = &mut self.plans[at];
        plan.forward(&mut self.state, inputs, &self.pool)?;
        plan.cross_entropy(labels, &self.pool)
    }

    /// Runs a batch with any options and gives the plan to read results from.
    pub fn run(&mut self, options: PlanOptions, inputs: &[Input]) -> Result<&Plan, EngineError> {
        let at = self.plan(options)?;
        self.plans[at].forward(&mut self.state, inputs, &self.pool)?;
        Ok(&self.plans[at])
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
        let verified =
            verify(&self.graph).expect("the graph was verified when the network was made");
        let mut plan = compile(&verified, &self.state, options)?;
        plan.seed(self.seed);
        if self.plans.len() == MOST_PLANS {
            self.plans.remove(0);
        }
        self.plans.push(plan);
        Ok(self.plans.len() - 1)
    }
}
