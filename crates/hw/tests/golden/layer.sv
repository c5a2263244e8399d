// Bits that a rounding drops are computed for their carries and not read.
/* verilator lint_off UNUSEDSIGNAL */
module net (
  input logic clk,
  input logic [11:0] x,
  output logic [3:0] y
);
  logic [3:0] fc_n0_i0;
  logic [3:0] fc_n1_i0;
  logic [3:0] fc_n2_i0;
  logic [4:0] fc_n0_a0;
  logic [5:0] fc_n0_a1;
  logic [6:0] fc_n0_a2;
  logic [4:0] fc_n1_a0;
  logic [5:0] fc_n1_a1;
  logic [7:0] fc_n1_a2;
  logic [0:0] fc_n0_q0;
  logic [2:0] fc_n0_q0_f;
  logic [2:0] fc_n1_q0;
  logic [3:0] fc_n1_q0_f;
  assign fc_n0_i0 = x[3:0];
  assign fc_n1_i0 = x[7:4];
  assign fc_n2_i0 = x[11:8];
  assign fc_n0_a0 = {{1{fc_n1_i0[3]}}, fc_n1_i0} - 5'd8;
  assign fc_n0_a1 = {{{2{fc_n0_i0[3]}}, fc_n0_i0[3:1]} - {{1{fc_n1_i0[3]}}, fc_n1_i0}, fc_n0_i0[0:0]};
  assign fc_n0_a2 = {{{2{fc_n0_a0[4]}}, fc_n0_a0[4:1]} + fc_n0_a1, fc_n0_a0[0:0]};
  assign fc_n1_a0 = 5'd16 + {{1{fc_n1_i0[3]}}, fc_n1_i0};
  assign fc_n1_a1 = {{{2{fc_n2_i0[3]}}, fc_n2_i0[3:1]} + {{1{fc_n0_i0[3]}}, fc_n0_i0}, fc_n2_i0[0:0]};
  assign fc_n1_a2 = {{3'd0, fc_n1_a0[4:1]} - {{1{fc_n1_a1[5]}}, fc_n1_a1}, fc_n1_a0[0:0]};
  assign fc_n0_q0_f = {fc_n0_a2[6:5], fc_n0_a2[4] & |fc_n0_a2[3:0]};
  assign fc_n0_q0 = fc_n0_q0_f[2] ? 1'd0 : (fc_n0_q0_f[0:0]);
  assign fc_n1_q0_f = {fc_n1_a2[7:5], fc_n1_a2[4] & |fc_n1_a2[3:0]};
  assign fc_n1_q0 = fc_n1_q0_f[3] ? 3'd0 : (fc_n1_q0_f[2:0]);
  assign y[0:0] = fc_n0_q0;
  assign y[3:1] = fc_n1_q0;
endmodule
