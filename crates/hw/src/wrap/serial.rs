//! The network behind a serial line, `rtl/top_serial.sv`: 8 bits, no parity, one stop bit.
//!
//! A row comes in as the bits of `x` in bytes, lowest first, the last byte filled with zeros. The answer is every element of `y` in
//! as few bytes as hold it, lowest first, signed ones with their sign: one byte of class for an argmax. A host waits for the
//! answer before it sends the next row. A row that stops in its middle is forgotten after sixteen silent bytes.

use super::{counter_bits, zero_extended};
use crate::ports::{Element, Ports};
use crate::tools::ToolError;

const TEXT: &str = "\
// The network behind a serial line: 8 data bits, no parity, one stop bit, DIVISOR cycles each.
// In: the bits of x in INPUT_BYTES bytes, lowest first. Out: the elements of y in ANSWER_BYTES bytes, lowest first.
module top_serial (
  input logic clk,
  input logic rx,
  output logic tx
);
  // The receiver samples each bit in its middle.
  reg [1:0] line;
  reg is_receiving, is_received;
  reg [TIMER_HIGH:0] rx_timer;
  reg [3:0] rx_bit;
  reg [7:0] rx_byte;
  always @(posedge clk) begin
    line <= {line[0], rx};
    is_received <= 1'b0;
    if (!is_receiving) begin
      is_receiving <= !line[1];
      rx_timer <= HALF;
      rx_bit <= 4'd0;
    end else if (rx_timer != TIMER_ZERO) begin
      rx_timer <= rx_timer - TIMER_ONE;
    end else begin
      rx_timer <= WHOLE;
      rx_bit <= rx_bit + 4'd1;
      if (rx_bit == 4'd0) begin
        is_receiving <= !line[1];
      end else if (rx_bit == 4'd9) begin
        is_receiving <= 1'b0;
        is_received <= line[1];
      end else begin
        rx_byte <= {line[1], rx_byte[7:1]};
      end
    end
  end

  // Bytes become a row; silence in its middle begins a new one.
  reg [ROW_HIGH:0] row;
  reg [BYTES_HIGH:0] bytes;
  reg [SILENCE_HIGH:0] silence;
  wire is_row = is_received && bytes == LAST_BYTE;
  always @(posedge clk) begin
    silence <= is_receiving || is_received ? SILENCE_ZERO : silence == SILENCE_MAX ? silence : silence + SILENCE_ONE;
    if (is_received) begin
      row <= NEXT_ROW;
      bytes <= is_row ? BYTES_ZERO : bytes + BYTES_ONE;
    end else if (silence == SILENCE_MAX) begin
      bytes <= BYTES_ZERO;
    end
  end

  wire [Y_HIGH:0] y;
  net network (.clk(clk), .x(row[X_HIGH:0]), .y(y));
UNUSED
  // Cycles until the result of the row is there.
  reg [SETTLE_HIGH:0] settle;
  always @(posedge clk) begin
    if (is_row) settle <= SETTLE_MAX;
    else if (settle != SETTLE_ZERO) settle <= settle - SETTLE_ONE;
  end

  // The sender shifts the frames of the whole answer out.
  reg [FRAMES_HIGH:0] frames;
  reg [LEFT_HIGH:0] left;
  reg [TIMER_HIGH:0] tx_timer;
  assign tx = frames[0];
  always @(posedge clk) begin
    if (settle == SETTLE_ONE) begin
      frames <= {
FRAMES
      };
      left <= LEFT_MAX;
      tx_timer <= WHOLE;
    end else if (tx_timer != TIMER_ZERO) begin
      tx_timer <= tx_timer - TIMER_ONE;
    end else if (left != LEFT_ZERO) begin
      frames <= {1'b1, frames[FRAMES_HIGH:1]};
      left <= left - LEFT_ONE;
      tx_timer <= WHOLE;
    end
  end

  initial begin
    line = 2'b11;
    is_receiving = 1'b0;
    is_received = 1'b0;
    rx_timer = TIMER_ZERO;
    rx_bit = 4'd0;
    rx_byte = 8'd0;
    row = ROW_BITS'd0;
    bytes = BYTES_ZERO;
    silence = SILENCE_ZERO;
    settle = SETTLE_ZERO;
    frames = {FRAMES_BITS{1'b1}};
    left = LEFT_ZERO;
    tx_timer = TIMER_ZERO;
  end
endmodule
";

/// A serial wrapper that can be printed.
#[derive(Clone, Copy, Debug)]
pub struct Serial<'a> {
    ports: &'a Ports,
    /// Cycles of the clock in a bit.
    pub divisor: u32,
}

/// Cycles of a bit, at least: the receiver finds the middle of a bit to half a cycle.
const MIN_DIVISOR: u32 = 4;

/// Cycles of a bit, at most: the counter of silence has 32 bits.
const MAX_DIVISOR: u32 = u32::MAX / SILENCE;

/// Silent bits after which a row begins anew.
const SILENCE: u32 = 160;

impl<'a> Serial<'a> {
    /// A wrapper for one placeholder whose result is there before the next byte.
    pub fn new(ports: &'a Ports, divisor: u32) -> Result<Self, ToolError> {
        let refused = |message| Err(ToolError::Request(message));
        let stem = |element: &'a Element| element.name.split('[').next().unwrap_or_default();
        let mut stems: Vec<&str> = ports.inputs.iter().map(stem).collect();
        stems.dedup();
        if let [first, second, ..] = stems[..] {
            return refused(format!(
                "a serial line carries one placeholder, and the network has {first} and {second}; use rtl/top_stream.sv"
            ));
        }
        if ports.input_bits() == 0 {
            return refused("no bit of the input is read: the network is a constant".to_owned());
        }
        if !(MIN_DIVISOR..=MAX_DIVISOR).contains(&divisor) {
            return refused(format!(
                "a bit of {divisor} cycles cannot be received; it has {MIN_DIVISOR} to {MAX_DIVISOR}"
            ));
        }
        if ports.latency >= 8 * divisor {
            let latency = ports.latency;
            return refused(format!(
                "the next byte would come before a result of {latency} cycles; use fewer stages or a slower line"
            ));
        }
        Ok(Self { ports, divisor })
    }

    /// Bytes of a row.
    pub fn input_bytes(&self) -> u32 {
        self.ports.input_bits().div_ceil(8)
    }

    /// Bytes of an answer.
    pub fn answer_bytes(&self) -> u32 {
        let bytes = answer_elements(self.ports)
            .into_iter()
            .map(|element| element.width / 8);
        bytes.sum()
    }

    /// The wrapper's text.
    pub fn print(&self) -> String {
        let (x, y) = (self.ports.input_bits(), self.ports.output_bits().max(1));
        let (row, answer) = (8 * self.input_bytes(), self.answer_bytes());
        let unused = match row - x {
            0 => String::new(),
            _ => format!("  wire unused = &{{1'b0, row[{}:{x}]}};\n", row - 1),
        };
        let next_row = match row {
            8 => "rx_byte".to_owned(),
            _ => format!("{{rx_byte, row[{}:8]}}", row - 1),
        };
        let texts = [
            ("DIVISOR", self.divisor.to_string()),
            ("INPUT_BYTES", self.input_bytes().to_string()),
            ("ANSWER_BYTES", answer.to_string()),
            ("ROW_HIGH", (row - 1).to_string()),
            ("ROW_BITS", row.to_string()),
            ("NEXT_ROW", next_row),
            ("X_HIGH", (x - 1).to_string()),
            ("Y_HIGH", (y - 1).to_string()),
            ("UNUSED\n", unused),
            ("FRAMES_HIGH", (10 * answer - 1).to_string()),
            ("FRAMES_BITS", (10 * answer).to_string()),
            ("FRAMES\n", self.frames()),
        ];
        let counters = [
            (
                "TIMER",
                self.divisor - 1,
                vec![("HALF", self.divisor / 2 - 1), ("WHOLE", self.divisor - 1)],
            ),
            ("BYTES", row / 8 - 1, vec![("LAST_BYTE", row / 8 - 1)]),
            (
                "SILENCE",
                SILENCE * self.divisor,
                vec![("SILENCE_MAX", SILENCE * self.divisor)],
            ),
            (
                "SETTLE",
                self.ports.latency + 1,
                vec![("SETTLE_MAX", self.ports.latency + 1)],
            ),
            ("LEFT", 10 * answer, vec![("LEFT_MAX", 10 * answer)]),
        ];
        let mut text = TEXT.to_owned();
        for (name, value) in &texts {
            text = text.replace(name, value);
        }
        for (name, max, values) in &counters {
            let bits = counter_bits(*max);
            for (word, value) in values {
                text = text.replace(word, &format!("{bits}'d{value}"));
            }
            text = text.replace(&format!("{name}_HIGH"), &(bits - 1).to_string());
            text = text.replace(&format!("{name}_ZERO"), &format!("{bits}'d0"));
            text = text.replace(&format!("{name}_ONE"), &format!("{bits}'d1"));
        }
        text
    }

    /// The frames of an answer, the last byte first as a concatenation has it: stop bit, byte, start bit.
    fn frames(&self) -> String {
        let mut bytes = Vec::new();
        for element in &self.ports.outputs {
            let high = element.offset + element.width;
            for low in (element.offset..high).step_by(8) {
                let count = (high - low).min(8);
                let bits = match count {
                    1 => format!("y[{low}]"),
                    _ => format!("y[{}:{low}]", low + count - 1),
                };
                bytes.push(match (8 - count, element.signed) {
                    (0, _) | (_, false) => zero_extended(&bits, count, 8),
                    (1, true) => format!("y[{}], {bits}", high - 1),
                    (rest, true) => format!("{{{rest}{{y[{}]}}}}, {bits}", high - 1),
                });
            }
        }
        if bytes.is_empty() {
            bytes.push("7'd0, y".to_owned());
        }
        let frames: Vec<String> = bytes
            .iter()
            .rev()
            .map(|byte| format!("        1'b1, {byte}, 1'b0"))
            .collect();
        frames.join(",\n") + "\n"
    }
}

/// The elements of the output as they lie in an answer: whole bytes. A network whose every output is constant answers one byte.
pub fn answer_elements(ports: &Ports) -> Vec<Element> {
    let mut offset = 0;
    let mut all = Vec::new();
    for element in &ports.outputs {
        let width = element.width.next_multiple_of(8);
        all.push(Element {
            offset,
            width,
            ..element.clone()
        });
        offset += width;
    }
    if let (0, Some(first)) = (offset, all.first_mut()) {
        first.width = 8;
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ports::packed;

    fn ports(inputs: &[&str], latency: u32) -> Ports {
        let elements =
            |names: &[&str]| packed(names.iter().map(|name| ((*name).to_owned(), 0, -5, 5)));
        Ports {
            inputs: elements(inputs),
            outputs: elements(&["y[0]", "y[1]"]),
            latency,
        }
    }

    #[test]
    fn what_a_line_cannot_carry_is_refused() {
        let error = |inputs: &[&str], latency, divisor| {
            let ports = ports(inputs, latency);
            Serial::new(&ports, divisor).unwrap_err().to_string()
        };
        assert_eq!(
            error(&["a[0]", "a[1]", "b[0]"], 0, 10),
            "a serial line carries one placeholder, and the network has a and b; use rtl/top_stream.sv"
        );
        assert!(error(&["x[0]"], 0, 3).contains("a bit of 3 cycles"));
        assert!(error(&["x[0]"], 80, 10).contains("a result of 80 cycles"));
    }

    #[test]
    fn answers_are_whole_bytes() {
        let mut ports = ports(&["x[0]"], 0);
        ports.outputs = packed([
            ("y[0]".to_owned(), 0, -5, 5),
            ("y[1]".to_owned(), 0, 0, 256),
            ("y[2]".to_owned(), 0, 0, 0),
        ]);
        let places: Vec<_> = answer_elements(&ports)
            .iter()
            .map(|e| (e.offset, e.width))
            .collect();
        assert_eq!(places, [(0, 8), (8, 16), (24, 0)]);
        assert_eq!(Serial::new(&ports, 10).unwrap().answer_bytes(), 3);
    }
}
