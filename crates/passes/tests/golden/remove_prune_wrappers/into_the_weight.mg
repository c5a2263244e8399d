# run: remove_prune_wrappers
# The input that the mask drops becomes zeros in the column of the weight that meets it.
# fc1.weight = 0 2 3 4 5 6 7 8 9 10 11 12
# fc1.weight_mask = 0 1 1 1 1 1 1 1 1 1 1 1
# fc1.data_in_0_mask = 1 1 0 1
graph "mlp" {
  x: f32[N, 4] = placeholder
  fc1 = linear(x) { in_features = 4, out_features = 3 }
  act = relu(fc1)
  fc2 = linear(act) { in_features = 3, out_features = 2 }
  return fc2
}
----
# fc1.weight = 0 2 0 4 5 6 0 8 9 10 0 12

Node name  Port       Pruned  Result
---------  ---------  ------  -------------------
fc1        data_in_0       1  zeros in the weight
fc1        weight          1  zeros stay
