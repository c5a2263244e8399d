// Bits that a rounding drops are computed for their carries and not read.
/* verilator lint_off UNUSEDSIGNAL */
module net (
  input logic clk,
  input logic [5:0] x,
  output logic [0:0] y
);
  logic [2:0] fc_n0_i0;
  logic [2:0] fc_n1_i0;
  logic [3:0] fc_n0_a0;
  logic [3:0] fc_n0_a1;
  logic [2:0] fc_n1_a0;
  logic [3:0] fc_n0_r0;
  logic [2:0] fc_n0_q0;
  logic [3:0] fc_n0_t0;
  logic [1:0] fc_n1_q0;
  logic [2:0] fc_n1_t0;
  logic [2:0] fc_n1_r0;
  logic [0:0] top_n0_l0;
  logic [0:0] top_n0_m0;
  logic [0:0] top_n0_r0;
  assign fc_n0_i0 = x[2:0];
  assign fc_n1_i0 = x[5:3];
  assign fc_n0_a0 = 4'd1 + {{1{fc_n1_i0[2]}}, fc_n1_i0};
  assign fc_n0_a1 = {{1{fc_n0_i0[2]}}, fc_n0_i0} - fc_n0_a0;
  assign fc_n1_a0 = 3'd3 - fc_n1_i0;
  assign fc_n0_q0 = {fc_n0_r0[3:2], fc_n0_r0[1] & |fc_n0_r0[0:0]};
  always_comb case (fc_n0_q0)
    3'd5: fc_n0_t0 = 4'd9;
    3'd6: fc_n0_t0 = 4'd10;
    3'd7: fc_n0_t0 = 4'd12;
    3'd0: fc_n0_t0 = 4'd0;
    3'd1: fc_n0_t0 = 4'd4;
    3'd2: fc_n0_t0 = 4'd6;
    default: fc_n0_t0 = 4'd8;
  endcase
  assign fc_n1_q0 = {fc_n1_a0[2:2], fc_n1_a0[1] & |fc_n1_a0[0:0]};
  always_comb case (fc_n1_q0)
    2'd1: fc_n1_t0 = 3'd4;
    2'd2: fc_n1_t0 = 3'd6;
    2'd3: fc_n1_t0 = 3'd7;
    default: fc_n1_t0 = 3'd0;
  endcase
  assign top_n0_l0 = $signed(fc_n0_t0) < $signed({1'd0, fc_n1_r0});
  assign top_n0_m0 = top_n0_l0 ? 1'd1 : 1'd0;
  always_ff @(posedge clk) begin
    fc_n0_r0 <= fc_n0_a1;
    fc_n1_r0 <= fc_n1_t0;
    top_n0_r0 <= top_n0_m0;
  end
  assign y[0:0] = top_n0_r0;
endmodule
