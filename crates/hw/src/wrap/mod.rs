//! Modules around the network: a stream with valid and ready, and a serial line for boards.

mod serial;
mod stream;

pub use serial::{Serial, answer_elements};
pub use stream::stream;

use crate::folder::Emitted;
use crate::tools::ToolError;

/// The divisor of `rtl/top_serial.sv` as it is emitted: 115 200 baud at 25 MHz. Each board gets its own.
pub const DEFAULT_DIVISOR: u32 = 217;

/// Writes `rtl/top_stream.sv`, and `rtl/top_serial.sv` where the network has one input.
pub fn write_wrappers(emitted: &Emitted) -> Result<(), ToolError> {
    emitted.write("rtl/top_stream.sv", &stream(&emitted.ports))?;
    if let Ok(serial) = Serial::new(&emitted.ports, DEFAULT_DIVISOR) {
        emitted.write("rtl/top_serial.sv", &serial.print())?;
    }
    Ok(())
}

/// Bits of a counter from 0 to `max`.
fn counter_bits(max: u32) -> u32 {
    (32 - max.leading_zeros()).max(1)
}

/// A value that is extended by zeros to `bits` bits.
fn zero_extended(name: &str, from: u32, bits: u32) -> String {
    match bits - from {
        0 => name.to_owned(),
        rest => format!("{{{rest}'d0, {name}}}"),
    }
}
