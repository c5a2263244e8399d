//! The errors between a verified graph and its results.

/// The reason why a graph cannot be compiled or a call cannot be carried out.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum EngineError {
    /// A parameter has no value yet.
    #[error("{node} ({op}): {port} has no value; initialise the graph or load a checkpoint")]
    MissingParameter {
        /// The node.
        node: String,
        /// Its operator.
        op: &'static str,
        /// The parameter.
        port: String,
    },
    /// Operators of another program.
    #[error(
        "{nodes} cannot run: no such operator is known here; the network can be shown, counted and written, but not computed"
    )]
    Opaque {
        /// The nodes with their operators.
        nodes: String,
    },
    /// A run that was given up because its flag was set.
    #[error("the run was interrupted")]
    Interrupted,
    /// A batch without rows.
    #[error("the batch is empty; give at least one row")]
    EmptyBatch,
    /// Training statistics of a single sample.
    #[error("{node} ({op}): training needs more than one value per channel, got {got}")]
    TooFewSamples {
        /// The node.
        node: String,
        /// Its operator.
        op: &'static str,
        /// Values per channel in the batch.
        got: usize,
    },
    /// A tensor that no memory holds.
    #[error("{node}: a batch of {rows} rows is too large to lay out in memory")]
    TooLarge {
        /// The node.
        node: String,
        /// Rows asked for.
        rows: usize,
    },
    /// A plan that the machine cannot hold.
    #[error(
        "{node}: its result for {rows} rows takes {largest}, and the whole network {needed}, more than the {memory} of this machine; use a smaller batch or a smaller network"
    )]
    Memory {
        /// The node with the largest result.
        node: String,
        /// The size of its result.
        largest: String,
        /// Rows asked for.
        rows: usize,
        /// The size of all results that are alive together.
        needed: String,
        /// The memory of the machine.
        memory: String,
    },
    /// The wrong number of inputs.
    #[error("the graph takes {expected} inputs, got {got}")]
    InputCount {
        /// Placeholders of the graph.
        expected: usize,
        /// Inputs given.
        got: usize,
    },
    /// An input whose length is not a whole number of rows.
    #[error("input {name}: expected {expected} values for {rows} rows, got {got}")]
    InputLength {
        /// The placeholder.
        name: String,
        /// Rows in the batch.
        rows: usize,
        /// Values that many rows have.
        expected: usize,
        /// Values given.
        got: usize,
    },
    /// An input of the wrong element type.
    #[error("input {name}: expected {expected}, got {got}")]
    InputType {
        /// The placeholder.
        name: String,
        /// The placeholder's element type.
        expected: String,
        /// The element type given.
        got: &'static str,
    },
    /// An index that an embedding does not have.
    #[error("input {name}: index {index} is not in 0 to {}", .bound.saturating_sub(1))]
    IndexOutOfRange {
        /// The placeholder.
        name: String,
        /// The offending index.
        index: i64,
        /// The number of embeddings.
        bound: usize,
    },
    /// An integer that an f32, in which plans hold them, does not have.
    #[error(
        "input {name}: {value} is larger than 2^24, beyond which a plan does not hold every integer"
    )]
    IntegerTooLarge {
        /// The placeholder.
        name: String,
        /// The value.
        value: i64,
    },
    /// The wrong number of labels, or a label that is not a class.
    #[error("labels: expected {expected} numbers below {classes}, got {got}")]
    Labels {
        /// Labels wanted.
        expected: usize,
        /// Number of classes.
        classes: usize,
        /// The given value.
        got: String,
    },
    /// A loss needs exactly one f32 result with a class axis.
    #[error("cross-entropy needs one f32 result of shape […, classes], the graph returns {got}")]
    NotClassification {
        /// The results of the graph.
        got: String,
    },
    /// Gradients were asked of a plan made without them.
    #[error("this plan was compiled without gradients")]
    NoGradients,
    /// The plan does not keep its inputs.
    #[error(
        "the plan does not keep its inputs: observe data_out_0 of every placeholder to run it again on the same rows"
    )]
    InputsNotStored,
    /// A port to observe that does not exist.
    #[error("cannot observe {node}.{port}: no such port")]
    UnknownPort {
        /// The node asked for.
        node: String,
        /// The port asked for.
        port: String,
    },
}
