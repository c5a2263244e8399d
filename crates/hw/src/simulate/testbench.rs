//! The testbench for Icarus, `tb/net_tb.sv`.

use super::plain_name;
use crate::ports::{Element, Ports};
use std::fmt::Write;

/// The part before the rows: the network, the files, and the reading of a code.
const HEAD: &str = r#"// Feeds the rows of x.bin to the network and compares its answers with those of y.bin.
// Options: +x=FILE +y=FILE +rows=N +vcd=FILE
`timescale 1ns / 1ps
module net_tb;
  logic clk = 1'b0;
  logic [X_HIGH:0] x;
  wire [Y_HIGH:0] y;
  net dut (.clk(clk), .x(x), .y(y));

  string name;
  integer x_file, y_file, x_bytes, y_bytes, rows, limit, row, differing, count;
  logic row_differs;
  logic signed [63:0] code, got;
  logic [31:0] word, last;
  logic [63:0] swapped;

  // The header of a file is big-endian to $fread and little-endian to its writer.
  task open(input string file_name, output integer file, output integer bytes);
    begin
      file = $fopen(file_name, "rb");
      if (file == 0 || $fread(swapped, file) != 8 || swapped != "MASEVEC1" || $fread(word, file) != 4 || $fread(last, file) != 4) begin
        $display("FAILED %0s cannot be read", file_name);
        $finish;
      end
      rows = {word[7:0], word[15:8], word[23:16], word[31:24]};
      bytes = {24'd0, last[15:8]};
    end
  endtask

  task next(input integer file, input integer bytes);
    begin
      count = $fread(word, file);
      last = 32'd0;
      if (bytes == 8) count = count + $fread(last, file);
      if (count != bytes) begin
        $display("FAILED a file of vectors is too short");
        $finish;
      end
      code[31:0] = {word[7:0], word[15:8], word[23:16], word[31:24]};
      code[63:32] = bytes == 8 ? {last[7:0], last[15:8], last[23:16], last[31:24]} : {32{code[31]}};
    end
  endtask

  task compare(input string element);
    if (got !== code) begin
      if (differing == 0 && !row_differs)
        $display("DIFFERS row %0d element %0s expected %0d got %0d", row, element, code, got);
      row_differs = 1'b1;
    end
  endtask
"#;

/// The part behind the rows, for a latency of 0 or more.
const BODY: &str = r#"
  integer step;
  initial begin
    x = '0;
    differing = 0;
    if (!$value$plusargs("x=%s", name)) name = "x.bin";
    open(name, x_file, x_bytes);
    if (!$value$plusargs("y=%s", name)) name = "y.bin";
    open(name, y_file, y_bytes);
    if ($value$plusargs("rows=%d", limit) && limit < rows) rows = limit;
    if ($value$plusargs("vcd=%s", name)) begin
      $dumpfile(name);
      $dumpvars(0, net_tb);
    end
    for (step = 0; step < STEPS; step = step + 1) begin
      if (step < rows) feed;
EDGE
      row = ROW;
      if (row >= 0) begin
        row_differs = 1'b0;
        check;
        if (row_differs) differing = differing + 1;
      end
    end
    $display("DONE rows %0d differing %0d", rows, differing);
    $finish;
  end
endmodule
"#;

/// A module that checks the network against the vectors and prints what differs.
pub fn testbench(ports: &Ports) -> String {
    let high = |bits: u32| bits.max(1) - 1;
    let head = HEAD.replace("X_HIGH", &high(ports.input_bits()).to_string());
    let mut text = head.replace("Y_HIGH", &high(ports.output_bits()).to_string());
    text += "\n  task feed;\n    begin\n";
    for element in &ports.inputs {
        text += "      next(x_file, x_bytes);\n";
        if let Some((high, low)) = bits(element) {
            let _ = writeln!(
                text,
                "      x[{high}:{low}] = code[{}:0];",
                element.width - 1
            );
        }
    }
    text += "    end\n  endtask\n\n  task check;\n    begin\n";
    for element in &ports.outputs {
        text += "      next(y_file, y_bytes);\n";
        let _ = writeln!(text, "      got = {};", extended(element));
        let _ = writeln!(text, "      compare(\"{}\");", plain_name(element));
    }
    text += "    end\n  endtask\n";
    let (steps, row, edge) = match ports.latency {
        0 => ("rows".to_owned(), "step".to_owned(), "      #10;"),
        1 => ("rows".to_owned(), "step".to_owned(), EDGE),
        latency => (
            format!("rows + {}", latency - 1),
            format!("step - {}", latency - 1),
            EDGE,
        ),
    };
    let body = BODY.replace("STEPS", &steps).replace("ROW", &row);
    text + &body.replace("EDGE", edge)
}

/// A cycle of the clock: inputs are there before its edge, outputs are read after it.
const EDGE: &str = "      #5 clk = 1'b1;\n      #4 clk = 1'b0;\n      #1;";

/// The highest and lowest bit of an element in its port.
fn bits(element: &Element) -> Option<(u32, u32)> {
    let high = (element.offset + element.width).checked_sub(1)?;
    (element.width > 0).then_some((high, element.offset))
}

/// An element of `y` as 64 bits.
fn extended(element: &Element) -> String {
    let Some((high, low)) = bits(element) else {
        return "64'sd0".to_owned();
    };
    match (64 - element.width, element.signed) {
        (0, _) => format!("y[{high}:{low}]"),
        (rest, true) => format!("{{{{{rest}{{y[{high}]}}}}, y[{high}:{low}]}}"),
        (rest, false) => format!("{{{rest}'d0, y[{high}:{low}]}}"),
    }
}
