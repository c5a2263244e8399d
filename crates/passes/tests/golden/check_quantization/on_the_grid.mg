# run: check_quantization
# Weights are multiples of 1/32 and inputs of 1/8, which their grids hold; a bias loses up to half a step of 1/16.
# config:
#   [passes.check_quantization]
#   num_samples = 4
graph "mlp" {
  x: f32[N, 4] = placeholder
  fc1 = linear(x: integer(8, 4)) { in_features = 4, out_features = 3, weight: integer(8, 6), bias: integer(8, 4) }
  act = relu(fc1)
  fc2 = linear(act) { in_features = 3, out_features = 2 }
  return fc2
}
----
# the graph is as it was

Node name  Port       Format         Elements  On grid  Codes used  Saturated  Largest error  First codes
---------  ---------  -------------  --------  -------  ----------  ---------  -------------  -----------------------------------
fc1        bias       integer(8, 4)         3        3           3      0.00%       0.031250  11110100 00000001 11111010
fc1        weight     integer(8, 6)        12       12          11      0.00%       0.000000  00101010 11100100 11011100 00010010
fc1        data_in_0  integer(8, 4)        16       16          15      0.00%       0.000000  11100010 11100000 11110100 11101100

outputs of 4 rows with the decoded weights in place: equal to the bit
3 tensors lie on their grids
