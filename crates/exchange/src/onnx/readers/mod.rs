//! Readers of operators: from a node of a file to nodes of a graph.

pub mod activation;
pub mod arithmetic;
pub mod attention;
pub mod cast;
pub mod channels_last;
pub mod coded;
pub mod conv;
pub mod create;
pub mod cut;
mod decode;
pub mod logic;
pub mod norm;
pub mod pool;
pub mod product;
pub mod quantize;
pub mod quantizers;
pub mod recurrent;
pub mod reduce;
pub mod resize;
pub mod shape;
pub mod thresholds;
mod window;

pub use activation::wide;
