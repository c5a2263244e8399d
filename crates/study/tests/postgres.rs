//! Studies in a real PostgreSQL: shared by workers, kept through crashes of both sides, and Optuna's own.
#![expect(clippy::unwrap_used, reason = "a test may panic")]

#[cfg(feature = "tls")]
mod encrypted;
mod foreign_rows;
mod locks;
mod python;
mod server;
mod studies;
mod toy;
