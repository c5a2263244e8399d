# run: calculate_avg_bits
# Of ten inputs a row, the four of fc1 have 8 bits and the others 32.
graph "mlp" {
  x: f32[N, 4] = placeholder
  fc1 = linear(x: integer(8, 4)) { in_features = 4, out_features = 3, weight: integer(8, 6), bias: integer(8, 4) }
  act = relu(fc1)
  fc2 = linear(act) { in_features = 3, out_features = 2 }
  return fc2
}
----
# the graph is as it was

What           Elements  Average bits
-------------  --------  ------------
layer weights        18       16.0000
parameters           23       16.3478
activations          80       22.4000

Node name  Parameters  Bits of a parameter  Inputs  Bits of an input
---------  ----------  -------------------  ------  ----------------
fc1                15               8.0000      32            8.0000
act                 0                           24           32.0000
fc2                 8              32.0000      24           32.0000
