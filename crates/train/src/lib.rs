//! The training loop: optimisers, schedules, metrics, checkpoints, resuming.
#![forbid(unsafe_code)]
