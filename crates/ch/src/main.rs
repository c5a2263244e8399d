//! The command line of MASE.
#![forbid(unsafe_code)]
fn main() {}
