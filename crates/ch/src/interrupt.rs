//! The signals that end a long command early.

use anyhow::{Context, Result};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// The exit code of a command that Ctrl-C ended early.
pub const EXIT_CODE: u8 = 130;

/// A flag that Ctrl-C sets, and SIGTERM, which batch systems send. A second one ends the program at once.
pub fn stop_flag() -> Result<Arc<AtomicBool>> {
    let stop = Arc::new(AtomicBool::new(false));
    for signal in [signal_hook::consts::SIGINT, signal_hook::consts::SIGTERM] {
        let code = i32::from(EXIT_CODE);
        signal_hook::flag::register_conditional_shutdown(signal, code, Arc::clone(&stop))
            .context("cannot watch for Ctrl-C")?;
        signal_hook::flag::register(signal, Arc::clone(&stop))
            .context("cannot watch for Ctrl-C")?;
    }
    Ok(stop)
}
