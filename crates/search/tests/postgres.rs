//! Studies in a real PostgreSQL: shared by workers, kept through crashes of both sides, and Optuna's own.
//!
//! `cargo test -p search --features postgres --test postgres`
#![cfg_attr(
    feature = "postgres",
    expect(clippy::unwrap_used, reason = "a test may panic")
)]

#[cfg(feature = "postgres")]
mod python;
#[cfg(feature = "postgres")]
mod server;
#[cfg(feature = "postgres")]
mod studies;
#[cfg(feature = "postgres")]
mod toy;

#[cfg(not(feature = "postgres"))]
#[test]
fn studies() {
    eprintln!("skipped: built without PostgreSQL; add --features postgres");
}
