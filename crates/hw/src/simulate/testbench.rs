//! The testbenches for Icarus: of the network, `tb/net_tb.sv`, and of its serial wrapper.

use super::plain_name;
use crate::ports::{Element, Ports};
use crate::wrap::{Serial, answer_elements};
use std::fmt::Write;

/// The part before the rows: the network, the files, and the reading of a code.
const HEAD: &str = r#"// Feeds the rows of x.bin to the DEVICE and compares its answers with those of y.bin.
// Options: +x=FILE +y=FILE +rows=N +vcd=FILE, of the ports alone with +ports
`timescale 1ns / 1ps
module net_tb;
  logic clk = 1'b0;
  logic [X_HIGH:0] x;
  Y_KIND [Y_HIGH:0] y;
INSTANCE

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

/// The part behind the rows: STEPS of them, each with an EXCHANGE, whose answer is that of ROW.
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
      if ($test$plusargs("ports")) $dumpvars(1, clk, x, y);
      else $dumpvars(0, net_tb);
    end
    for (step = 0; step < STEPS; step = step + 1) begin
      if (step < rows) feed;
EXCHANGE
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

/// A cycle of the clock: inputs are there before its edge, outputs are read after it.
const CYCLE: &str = "      #5 clk = 1'b1;\n      #4 clk = 1'b0;\n      #1;";

/// The other end of the serial line. An answer that does not come ends the simulation.
const LINE: &str = "
  always #5 clk = !clk;

  integer sent, received, sent_bit, received_bit, silence;
  task send;
    for (sent = 0; sent < INPUT_BYTES; sent = sent + 1) begin
      rx = 1'b0;
      repeat (DIVISOR) @(posedge clk);
      for (sent_bit = 0; sent_bit < 8; sent_bit = sent_bit + 1) begin
        rx = x[8 * sent + sent_bit];
        repeat (DIVISOR) @(posedge clk);
      end
      rx = 1'b1;
      repeat (DIVISOR) @(posedge clk);
    end
  endtask

  task receive;
    for (received = 0; received < ANSWER_BYTES; received = received + 1) begin
      @(negedge tx);
      repeat (HALF) @(posedge clk);
      for (received_bit = 0; received_bit < 8; received_bit = received_bit + 1) begin
        repeat (DIVISOR) @(posedge clk);
        y[8 * received + received_bit] = tx;
      end
      repeat (DIVISOR) @(posedge clk);
      if (tx !== 1'b1) $display(\"FAILED a byte of row %0d has no stop bit\", step);
    end
  endtask

  initial silence = 0;
  always @(posedge clk) begin
    silence = rx && tx ? silence + 1 : 0;
    if (silence > SILENCE) begin
      $display(\"FAILED the line is silent after row %0d\", step);
      $finish;
    end
  end
";

/// A module that checks the network against the vectors and prints what differs.
pub fn testbench(ports: &Ports) -> String {
    let instance = "  net dut (.clk(clk), .x(x), .y(y));";
    let (steps, row, exchange) = match ports.latency {
        0 => ("rows".to_owned(), "step".to_owned(), "      #10;"),
        1 => ("rows".to_owned(), "step".to_owned(), CYCLE),
        latency => (
            format!("rows + {}", latency - 1),
            format!("step - {}", latency - 1),
            CYCLE,
        ),
    };
    let head = head(
        ("network", "wire", instance),
        ports.input_bits(),
        ports.output_bits(),
    );
    let body = BODY.replace("STEPS", &steps).replace("ROW", &row);
    head + &tasks(&ports.inputs, &ports.outputs) + &body.replace("EXCHANGE", exchange)
}

/// A module of the same name that does so over the serial line.
pub fn serial_testbench(ports: &Ports, serial: &Serial) -> String {
    let instance =
        "  logic rx = 1'b1;\n  wire tx;\n  top_serial dut (.clk(clk), .rx(rx), .tx(tx));";
    let (input, answer) = (serial.input_bytes(), serial.answer_bytes());
    let head = head(("serial line", "logic", instance), 8 * input, 8 * answer);
    let line = LINE
        .replace("INPUT_BYTES", &input.to_string())
        .replace("ANSWER_BYTES", &answer.to_string())
        .replace("DIVISOR", &serial.divisor.to_string())
        .replace("HALF", &(serial.divisor / 2).to_string())
        .replace(
            "SILENCE",
            &(20 * serial.divisor + ports.latency).to_string(),
        );
    let exchange = "      fork\n        send;\n        receive;\n      join";
    let body = BODY.replace("STEPS", "rows").replace("ROW", "step");
    head + &tasks(&ports.inputs, &answer_elements(ports))
        + &line
        + &body.replace("EXCHANGE", exchange)
}

fn head((device, kind, instance): (&str, &str, &str), x: u32, y: u32) -> String {
    let high = |bits: u32| (bits.max(1) - 1).to_string();
    let head = HEAD.replace("DEVICE", device).replace("Y_KIND", kind);
    let head = head.replace("X_HIGH", &high(x)).replace("Y_HIGH", &high(y));
    head.replace("INSTANCE", instance)
}

/// `feed` puts the codes of a row into `x`, and `check` compares those of `y`.
fn tasks(inputs: &[Element], outputs: &[Element]) -> String {
    let mut text = "\n  task feed;\n    begin\n".to_owned();
    for element in inputs {
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
    for element in outputs {
        text += "      next(y_file, y_bytes);\n";
        let _ = writeln!(text, "      got = {};", extended(element));
        let _ = writeln!(text, "      compare(\"{}\");", plain_name(element));
    }
    text + "    end\n  endtask\n"
}

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
