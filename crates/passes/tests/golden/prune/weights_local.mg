# run: prune
# config:
#   [passes.prune.weight]
#   sparsity = 0.5
# fc1.weight = 1 -2 3 -4 5 -6 7 -8 9 -10 11 -12
# fc2.weight = 6 5 4 3 2 1
graph "mlp" {
  x: f32[N, 4] = placeholder
  fc1 = linear(x) { in_features = 4, out_features = 3 }
  act = relu(fc1)
  fc2 = linear(act) { in_features = 3, out_features = 2 }
  return fc2
}
----
# fc1.weight = 0 0 0 0 0 0 7 -8 9 -10 11 -12
# fc1.weight_mask = 0 0 0 0 0 0 1 1 1 1 1 1
# fc2.weight = 6 5 4 0 0 0
# fc2.weight_mask = 1 1 1 0 0 0

Node name  Port    Elements  Pruned  Sparsity
---------  ------  --------  ------  --------
fc1        weight        12       6    0.5000
fc2        weight         6       3    0.5000
---------  ------  --------  ------  --------
total                    18       9    0.5000
