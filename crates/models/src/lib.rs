//! The model zoo: graphs with PyTorch's parameter names and initialisation.
//!
//! A model is a function from the shape of one sample and the number of classes to an [`ir::Graph`]. One file of `zoo`
//! holds one family and reads like the layer list it is published as; [`MODELS`] is the table of all of them. Targets and
//! dotted parameter names are those of the PyTorch modules, so that checkpoints load by name.
//!
//! ```
//! use models::{ModelInfo, build};
//!
//! let info = ModelInfo { input: Some(vec![16]), classes: Some(5) };
//! let mut graph = build("jsc-tiny", &info)?;
//! graph.initialize(0);
//! let names: Vec<String> = graph.parameters().map(|(name, _)| name).collect();
//! assert!(names.contains(&"seq_blocks.2.weight".to_owned()));
//! # Ok::<(), models::ModelError>(())
//! ```
//!
//! Adding one: a function in a family's file or in a new one, and its lines in `zoo/mod.rs`.
#![forbid(unsafe_code)]
#![expect(
    clippy::doc_markdown,
    reason = "names of people and networks are prose"
)]

pub mod weights;

mod error;
mod layers;
mod network;
mod zoo;

pub use error::ModelError;
pub use zoo::{Classes, MODELS, ModelEntry, build, default_input, find};

/// The sizes that a dataset prescribes; those that it leaves open are the model's defaults.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ModelInfo {
    /// The shape of one sample, without the batch.
    pub input: Option<Vec<usize>>,
    /// The number of classes.
    pub classes: Option<usize>,
}

/// [`ModelInfo`] with nothing left open.
#[derive(Clone, Debug)]
struct Sizes {
    /// The shape of one sample, of the rank that the model takes.
    input: Vec<usize>,
    /// The number of classes; what is returned when there are none is the model's own affair.
    classes: usize,
}

impl Sizes {
    /// Elements of one sample.
    fn features(&self) -> usize {
        self.input.iter().product()
    }
}
