//! The graph: nodes, operators, formats on ports, metadata, text form, verifier.
#![forbid(unsafe_code)]
