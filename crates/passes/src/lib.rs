//! Passes over a graph: analyses, transformations, and the files between programs.
#![forbid(unsafe_code)]
