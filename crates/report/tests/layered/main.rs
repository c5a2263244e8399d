//! Layered drawings: laws over random graphs, fixed cases, and figures of real networks.
#![expect(clippy::unwrap_used, reason = "a test may panic")]

mod cases;
mod frames;
mod groups;
mod laws;
mod measure;
mod networks;
