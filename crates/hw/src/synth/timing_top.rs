//! The network between registers: pins are few, and every path of the network counts for the clock.

use crate::ports::Ports;

const TEXT: &str = "\
// The network between registers, for place and route: one bit goes in and one comes out, so that pins do not matter, and the
// longest path from register to register is that of the network.
module timing_top (
  input logic clk,
  input logic bit_in,
  output logic bit_out
);
  reg [X_BITS:0] x;
  reg [Y_HIGH:0] y_held;
  reg [Y_BITS:0] y_out;
  wire [Y_HIGH:0] y;
  net network (.clk(clk), .x(x[X_HIGH:0]), .y(y));
  assign bit_out = y_out[0];
  always @(posedge clk) begin
    x <= {x[X_HIGH:0], bit_in};
    y_held <= y;
    y_out <= x[X_BITS] ? {1'b0, y_held} : {bit_in, y_out[Y_BITS:1]};
  end
endmodule
";

/// The text of the module `timing_top`.
pub fn timing_top(ports: &Ports) -> String {
    let (x, y) = (ports.input_bits().max(1), ports.output_bits().max(1));
    let text = TEXT
        .replace("X_BITS", &x.to_string())
        .replace("X_HIGH", &(x - 1).to_string());
    text.replace("Y_BITS", &y.to_string())
        .replace("Y_HIGH", &(y - 1).to_string())
}
