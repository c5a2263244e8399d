//! Average bits of weights and activations.

use crate::cost::{NodeBits, PortBits, node_bits};
use crate::{Context, Pass, PassError, PassReport};
use config::Reader;
use ir::{Graph, verify};
use report::Table;

/// `[passes.calculate_avg_bits]`: see [`Pass::DOC`].
pub struct CalculateAvgBits;

impl Pass for CalculateAvgBits {
    const NAME: &'static str = "calculate_avg_bits";
    const ABOUT: &'static str = "bits per weight and per activation, weighted by size";
    const DOC: &'static str = "\
What it does: averages the bits of all layer weights, of all trained parameters, and of all data inputs, each weighted by
its number of elements; then the same for every node. A port without a format has 32 bits; integer(8, 4) has 8.
Layer weights are those of linear, convolution and embedding layers, without biases and norms: their average is the
average_bitwidth of a search.

Differs from MASE: there integer(8, 4) counts as 12 bits, width and frac_width together.

Example:
  [passes.calculate_avg_bits]

Config: none. Reads: the graph. Writes: nothing. Limits: running statistics of batch norms are not counted.";

    fn read(_: &mut Reader) -> Self {
        Self
    }

    fn run(&self, graph: &mut Graph, context: &mut Context) -> Result<PassReport, PassError> {
        let verified = verify(graph)?;
        let mut total = NodeBits::default();
        let headings = [
            "Node name",
            "Parameters",
            "Bits of a parameter",
            "Inputs",
            "Bits of an input",
        ];
        let mut nodes = Table::new(&headings);
        for (id, node) in graph.iter() {
            let bits = node_bits(&verified, id, context.batch_size).ok_or_else(|| {
                PassError::Refused(format!("a batch of {} is too large", context.batch_size))
            })?;
            total += bits;
            if bits != NodeBits::default() {
                let [parameters, inputs] = [bits.parameters, bits.activations].map(cells);
                nodes.push([&[node.name.clone()][..], &parameters, &inputs].concat());
            }
        }
        let row = |what: &str, bits: PortBits| {
            let [elements, mean] = cells(bits);
            [what.to_owned(), elements, mean]
        };
        let rows = [
            row("layer weights", total.layer_weights),
            row("parameters", total.parameters),
            row("activations", total.activations),
        ];
        let headings = ["What", "Elements", "Average bits"];
        Ok(PassReport::table("average_bits", &headings, rows)
            .with_table("node_bits", nodes)
            .with_fact("average_bitwidth", total.layer_weights.mean())
            .with_fact("w_avg_bit", total.parameters.mean())
            .with_fact("data_avg_bit", total.activations.mean()))
    }
}

/// The number of elements and their average bits, which nothing has none of.
fn cells(bits: PortBits) -> [String; 2] {
    let mean = match bits.elements {
        0 => String::new(),
        _ => format!("{:.4}", bits.mean()),
    };
    [bits.elements.to_string(), mean]
}
