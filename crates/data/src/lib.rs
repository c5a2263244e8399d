//! Datasets: found, prepared once, held once, sampled by index.
#![forbid(unsafe_code)]
