//! The network behind valid and ready, `rtl/top_stream.sv`, with the names of AXI-Stream.

use super::{counter_bits, zero_extended};
use crate::ports::Ports;

const TEXT: &str = "\
// The network as a stream, with the names of AXI-Stream; a beat is a row, element 0 in the lowest bits.
// Every row that is taken in has a place in the queue of results, so nothing is lost when the reader stalls, and the
// queue is long enough to give a result in every cycle when it does not.
module top_stream (
  input logic aclk,
  input logic aresetn,
  input logic [S_HIGH:0] s_axis_tdata,
  input logic s_axis_tvalid,
  output logic s_axis_tready,
  output logic [M_HIGH:0] m_axis_tdata,
  output logic m_axis_tvalid,
  input logic m_axis_tready
);
  wire [Y_HIGH:0] y;
  net network (.clk(aclk), .x(s_axis_tdata[X_HIGH:0]), .y(y));
UNUSED
  // Rows between the two ends, and those of them that wait in the queue.
  reg [COUNT_HIGH:0] taken, stored;
  reg [PLACE_HIGH:0] first, last;
  reg [Y_HIGH:0] queue [0:DEPTH_HIGH];
  assign s_axis_tready = taken != DEPTH;
  assign m_axis_tvalid = stored != ZERO;
  assign m_axis_tdata = RESULT;
  wire take = s_axis_tvalid && s_axis_tready;
  wire give = m_axis_tvalid && m_axis_tready;
MARKS
  always @(posedge aclk) begin
    if (store) queue[last] <= y;
    if (!aresetn) begin
      taken <= ZERO;
      stored <= ZERO;
      first <= PLACE_ZERO;
      last <= PLACE_ZERO;
    end else begin
      taken <= taken + TAKE - GIVE;
      stored <= stored + STORE - GIVE;
      if (give) first <= first == PLACE_MAX ? PLACE_ZERO : first + PLACE_ONE;
      if (store) last <= last == PLACE_MAX ? PLACE_ZERO : last + PLACE_ONE;
    end
  end
endmodule
";

/// The wrapper's text. A row occupies its place for `latency` + 1 cycles, and after a stall the sender hears of a free place one
/// cycle late: `latency` + 2 places leave no bubble.
pub fn stream(ports: &Ports) -> String {
    let (x, y) = (ports.input_bits().max(1), ports.output_bits().max(1));
    let (s, m) = (x.next_multiple_of(8), y.next_multiple_of(8));
    let depth = ports.latency + 2;
    let (count, place) = (counter_bits(depth), counter_bits(depth - 1));
    let unused = match s - x {
        0 => String::new(),
        _ => format!("  wire unused = &{{1'b0, s_axis_tdata[{}:{x}]}};\n", s - 1),
    };
    let marks = match ports.latency {
        0 => "  wire store = take;\n".to_owned(),
        latency => marks(latency),
    };
    let flag = |name: &str| zero_extended(name, 1, count);
    let number = |bits: u32, value: u32| format!("{bits}'d{value}");
    let values = [
        ("S_HIGH", (s - 1).to_string()),
        ("M_HIGH", (m - 1).to_string()),
        ("Y_HIGH", (y - 1).to_string()),
        ("X_HIGH", (x - 1).to_string()),
        ("COUNT_HIGH", (count - 1).to_string()),
        ("PLACE_HIGH", (place - 1).to_string()),
        ("DEPTH_HIGH", (depth - 1).to_string()),
        ("DEPTH", number(count, depth)),
        ("PLACE_ZERO", number(place, 0)),
        ("PLACE_ONE", number(place, 1)),
        ("PLACE_MAX", number(place, depth - 1)),
        ("ZERO", number(count, 0)),
        ("RESULT", zero_extended("queue[first]", y, m)),
        ("TAKE", flag("take")),
        ("GIVE", flag("give")),
        ("STORE", flag("store")),
        ("UNUSED\n", unused),
        ("MARKS\n", marks),
    ];
    values.iter().fold(TEXT.to_owned(), |text, (name, value)| {
        text.replace(name, value)
    })
}

/// A mark walks beside each row, as many registers behind as the network has.
fn marks(latency: u32) -> String {
    let shifted = match latency {
        1 => "take".to_owned(),
        2 => "{marks[0], take}".to_owned(),
        _ => format!("{{marks[{}:0], take}}", latency - 2),
    };
    let high = latency - 1;
    format!(
        "  // One mark for each row inside the network.\n  reg [{high}:0] marks;\n  wire store = marks[{high}];\n  \
         always @(posedge aclk) marks <= aresetn ? {shifted} : {latency}'d0;\n"
    )
}
