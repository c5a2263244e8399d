// Every addition and subtraction is an adder of its own before yosys looks for sums to merge: merged ones grow.
(* techmap_celltype = "$add $sub" *)
module adder (A, B, Y);
  parameter A_SIGNED = 0;
  parameter B_SIGNED = 0;
  parameter A_WIDTH = 1;
  parameter B_WIDTH = 1;
  parameter Y_WIDTH = 1;
  parameter _TECHMAP_CELLTYPE_ = "";
  (* force_downto *) input [A_WIDTH-1:0] A;
  (* force_downto *) input [B_WIDTH-1:0] B;
  (* force_downto *) output [Y_WIDTH-1:0] Y;
  localparam SUBTRACT = _TECHMAP_CELLTYPE_ == "$sub";
  wire [Y_WIDTH-1:0] propagate, carry;
  \$alu #(
    .A_SIGNED(A_SIGNED), .B_SIGNED(B_SIGNED), .A_WIDTH(A_WIDTH), .B_WIDTH(B_WIDTH), .Y_WIDTH(Y_WIDTH)
  ) _TECHMAP_REPLACE_ (
    .A(A), .B(B), .Y(Y), .CI(SUBTRACT ? 1'b1 : 1'b0), .BI(SUBTRACT ? 1'b1 : 1'b0), .X(propagate), .CO(carry)
  );
endmodule
