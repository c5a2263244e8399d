# run: prune
# config:
#   [passes.prune.activation]
#   sparsity = { fc1 = 0.5 }
#   granularity = "channel"
# rows = 1 -4 2 0.5, 1 4 -3 0.5
graph "mlp" {
  x: f32[N, 4] = placeholder
  fc1 = linear(x) { in_features = 4, out_features = 3 }
  act = relu(fc1)
  fc2 = linear(act) { in_features = 3, out_features = 2 }
  return fc2
}
----
# fc1.data_in_0_mask = 0 1 1 0

Node name  Port       Elements  Pruned  Sparsity
---------  ---------  --------  ------  --------
fc1        data_in_0         4       2    0.5000
---------  ---------  --------  ------  --------
total                        4       2    0.5000

note: requested 64 rows but rows has only 2 training rows; using all of them
