//! Readers of operators: from a node of a file to nodes of a graph.

pub mod activation;
pub mod arithmetic;
pub mod attention;
pub mod cast;
pub mod conv;
pub mod create;
pub mod cut;
pub mod logic;
pub mod norm;
pub mod pool;
pub mod product;
pub mod quantize;
pub mod reduce;
pub mod resize;
pub mod shape;
mod window;
