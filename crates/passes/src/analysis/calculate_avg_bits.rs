//! Average bits of weights and activations.

use crate::cost::average_bits;
use crate::{Context, Pass, PassError, PassReport};
use config::Reader;
use ir::{Graph, verify};

/// `[passes.calculate_avg_bits]`: see [`Pass::DOC`].
pub struct CalculateAvgBits;

impl Pass for CalculateAvgBits {
    const NAME: &'static str = "calculate_avg_bits";
    const ABOUT: &'static str = "bits per weight and per activation, weighted by size";
    const DOC: &'static str = "\
What it does: averages the bits of all trained parameters, and of all data inputs, each weighted by its number of elements.
A port without a format has 32 bits; integer(8, 4) has 8.

Differs from MASE: there integer(8, 4) counts as 12 bits, width and frac_width together.

Example:
  [passes.calculate_avg_bits]

Config: none. Reads: the graph. Writes: nothing. Limits: running statistics of batch norms are not counted.";

    fn read(_: &mut Reader) -> Self {
        Self
    }

    fn run(&self, graph: &mut Graph, context: &mut Context) -> Result<PassReport, PassError> {
        let verified = verify(graph)?;
        let bits = average_bits(&verified, context.batch_size).ok_or_else(|| {
            PassError::Refused(format!("a batch of {} is too large", context.batch_size))
        })?;
        let row = |what: &str, count: u64, bits: f64| {
            [what.to_owned(), count.to_string(), format!("{bits:.4}")]
        };
        let rows = [
            row("weights", bits.weights, bits.weight),
            row("activations", bits.activations, bits.activation),
        ];
        let headings = ["What", "Elements", "Average bits"];
        Ok(PassReport::table("average_bits", &headings, rows)
            .with_fact("w_avg_bit", bits.weight)
            .with_fact("data_avg_bit", bits.activation))
    }
}
