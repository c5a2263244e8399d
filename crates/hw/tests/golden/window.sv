// Bits that a rounding drops are computed for their carries and not read.
/* verilator lint_off UNUSEDSIGNAL */
module net (
  input logic clk,
  input logic [23:0] x,
  output logic [2:0] y
);
  logic [2:0] conv_n0_i0;
  logic [2:0] conv_n1_i0;
  logic [2:0] conv_n2_i0;
  logic [2:0] conv_n3_i0;
  logic [2:0] conv_n4_i0;
  logic [2:0] conv_n5_i0;
  logic [2:0] conv_n6_i0;
  logic [2:0] conv_n7_i0;
  logic [3:0] conv_n0_a0;
  logic [4:0] conv_n0_a1;
  logic [4:0] conv_n0_r0;
  logic [3:0] conv_n0_r1;
  logic [4:0] conv_n0_a2;
  logic [3:0] conv_n1_a0;
  logic [4:0] conv_n1_a1;
  logic [4:0] conv_n1_r0;
  logic [3:0] conv_n1_r1;
  logic [4:0] conv_n1_a2;
  logic [3:0] conv_n2_a0;
  logic [4:0] conv_n2_a1;
  logic [4:0] conv_n2_r0;
  logic [3:0] conv_n2_r1;
  logic [4:0] conv_n2_a2;
  logic [3:0] conv_n3_a0;
  logic [4:0] conv_n3_a1;
  logic [4:0] conv_n3_r0;
  logic [3:0] conv_n3_r1;
  logic [4:0] conv_n3_a2;
  logic [2:0] conv_n0_q0;
  logic [2:0] conv_n1_q0;
  logic [2:0] conv_n2_q0;
  logic [2:0] conv_n3_q0;
  logic [2:0] conv_n0_r2;
  logic [2:0] conv_n1_r2;
  logic [2:0] pool_n0_g0;
  logic [2:0] conv_n2_r2;
  logic [2:0] conv_n3_r2;
  logic [2:0] pool_n0_g1;
  logic [2:0] pool_n0_g2;
  logic [2:0] pool_n0_r0;
  assign conv_n0_i0 = x[2:0];
  assign conv_n1_i0 = x[5:3];
  assign conv_n2_i0 = x[8:6];
  assign conv_n3_i0 = x[11:9];
  assign conv_n4_i0 = x[14:12];
  assign conv_n5_i0 = x[17:15];
  assign conv_n6_i0 = x[20:18];
  assign conv_n7_i0 = x[23:21];
  assign conv_n0_a0 = 4'd2 + {{1{conv_n3_i0[2]}}, conv_n3_i0};
  assign conv_n0_a1 = {{{2{conv_n1_i0[2]}}, conv_n1_i0[2:1]} + {{1{conv_n0_i0[2]}}, conv_n0_i0}, conv_n1_i0[0:0]};
  assign conv_n0_a2 = conv_n0_r0 + {{1{conv_n0_r1[3]}}, conv_n0_r1};
  assign conv_n1_a0 = 4'd2 + {{1{conv_n4_i0[2]}}, conv_n4_i0};
  assign conv_n1_a1 = {{{2{conv_n2_i0[2]}}, conv_n2_i0[2:1]} + {{1{conv_n1_i0[2]}}, conv_n1_i0}, conv_n2_i0[0:0]};
  assign conv_n1_a2 = conv_n1_r0 + {{1{conv_n1_r1[3]}}, conv_n1_r1};
  assign conv_n2_a0 = 4'd2 + {{1{conv_n6_i0[2]}}, conv_n6_i0};
  assign conv_n2_a1 = {{{2{conv_n4_i0[2]}}, conv_n4_i0[2:1]} + {{1{conv_n3_i0[2]}}, conv_n3_i0}, conv_n4_i0[0:0]};
  assign conv_n2_a2 = conv_n2_r0 + {{1{conv_n2_r1[3]}}, conv_n2_r1};
  assign conv_n3_a0 = 4'd2 + {{1{conv_n7_i0[2]}}, conv_n7_i0};
  assign conv_n3_a1 = {{{2{conv_n5_i0[2]}}, conv_n5_i0[2:1]} + {{1{conv_n4_i0[2]}}, conv_n4_i0}, conv_n5_i0[0:0]};
  assign conv_n3_a2 = conv_n3_r0 + {{1{conv_n3_r1[3]}}, conv_n3_r1};
  assign conv_n0_q0 = {conv_n0_a2[4:3], conv_n0_a2[2] & |conv_n0_a2[1:0]};
  assign conv_n1_q0 = {conv_n1_a2[4:3], conv_n1_a2[2] & |conv_n1_a2[1:0]};
  assign conv_n2_q0 = {conv_n2_a2[4:3], conv_n2_a2[2] & |conv_n2_a2[1:0]};
  assign conv_n3_q0 = {conv_n3_a2[4:3], conv_n3_a2[2] & |conv_n3_a2[1:0]};
  assign pool_n0_g0 = ($signed(conv_n0_r2) < $signed(conv_n1_r2)) ? conv_n1_r2 : conv_n0_r2;
  assign pool_n0_g1 = ($signed(conv_n2_r2) < $signed(conv_n3_r2)) ? conv_n3_r2 : conv_n2_r2;
  assign pool_n0_g2 = ($signed(pool_n0_g0) < $signed(pool_n0_g1)) ? pool_n0_g1 : pool_n0_g0;
  always_ff @(posedge clk) begin
    conv_n0_r0 <= conv_n0_a1;
    conv_n0_r1 <= conv_n0_a0;
    conv_n1_r0 <= conv_n1_a1;
    conv_n1_r1 <= conv_n1_a0;
    conv_n2_r0 <= conv_n2_a1;
    conv_n2_r1 <= conv_n2_a0;
    conv_n3_r0 <= conv_n3_a1;
    conv_n3_r1 <= conv_n3_a0;
    conv_n0_r2 <= conv_n0_q0;
    conv_n1_r2 <= conv_n1_q0;
    conv_n2_r2 <= conv_n2_q0;
    conv_n3_r2 <= conv_n3_q0;
    pool_n0_r0 <= pool_n0_g2;
  end
  assign y[2:0] = pool_n0_r0;
endmodule
