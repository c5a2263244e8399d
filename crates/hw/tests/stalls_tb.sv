// Sends the rows of x.hex round and round through the stream, with random gaps and stalls, and compares what comes out.
// Two parts without gaps count cycles: a full run, and one after a long stall of the reader.
`timescale 1ns / 1ps
module stalls_tb;
  logic clk = 1'b0, resetn = 1'b0;
  always #5 clk = !clk;
  logic [X_BITS-1:0] s_data, x_rows [0:ROWS-1];
  logic [Y_BITS-1:0] m_data, held, y_rows [0:ROWS-1];
  logic s_valid, s_ready, m_valid, m_ready, is_held, always_send, always_read, never_read;
  integer sent, received, faults, bubbles, k;
  top_stream dut (
    .aclk(clk), .aresetn(resetn),
    .s_axis_tdata(s_data), .s_axis_tvalid(s_valid), .s_axis_tready(s_ready),
    .m_axis_tdata(m_data), .m_axis_tvalid(m_valid), .m_axis_tready(m_ready)
  );

  // Signals change after the edge; a beat that is offered stays until it is taken.
  always @(posedge clk) begin
    if (!resetn) begin
      s_valid <= #1 1'b0;
      m_ready <= #1 1'b0;
      is_held <= 1'b0;
    end else begin
      if (s_valid && s_ready) sent = sent + 1;
      if (!s_valid || s_ready) begin
        s_valid <= #1 sent < BEATS && (always_send || ($urandom & 3) != 0);
        s_data <= #1 x_rows[sent % ROWS];
      end
      if (is_held && (!m_valid || m_data !== held)) begin
        $display("wrong: beat %0d changed while it was offered", received);
        faults = faults + 1;
      end
      is_held <= m_valid && !m_ready;
      held <= m_data;
      if (m_valid && m_ready) begin
        if (m_data !== y_rows[received % ROWS] && faults < 5) begin
          $display("wrong: beat %0d is %h, not %h", received, m_data, y_rows[received % ROWS]);
          faults = faults + 1;
        end
        received = received + 1;
      end
      if (always_send && always_read && m_ready && !m_valid) bubbles = bubbles + 1;
      m_ready <= #1 !never_read && (always_read || ($urandom & 3) != 0);
    end
  end

  initial begin
    $readmemh("x.hex", x_rows);
    $readmemh("y.hex", y_rows);
    sent = 0;
    received = 0;
    faults = 0;
    {always_send, always_read, never_read} = 3'b000;
    repeat (3) @(negedge clk);
    resetn = 1'b1;
    repeat (4000) @(negedge clk);
    // A full run: once the first result has passed, there is one in every cycle.
    {always_send, always_read} = 2'b11;
    repeat (LATENCY + 4) @(negedge clk);
    bubbles = 0;
    repeat (1000) @(negedge clk);
    // A long stall, and on: the queue must last until new rows arrive.
    never_read = 1'b1;
    repeat (50) @(negedge clk);
    never_read = 1'b0;
    repeat (1000) @(negedge clk);
    if (bubbles != 0) $display("bubble: %0d cycles without a result", bubbles);
    {always_send, always_read} = 2'b00;
    for (k = 0; k < 100000 && received < BEATS && faults == 0; k = k + 1) @(negedge clk);
    repeat (100) @(negedge clk);
    if (received != BEATS || faults != 0) $display("wrong: %0d of BEATS beats received, %0d faults", received, faults);
    else if (bubbles == 0) $display("BEATS beats right, no bubble");
    $finish;
  end
endmodule
