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

What         Elements  Average bits
-----------  --------  ------------
weights            23       16.3478
activations        80       22.4000
