# run: prune
# config:
#   [passes.prune.weight]
#   method = "channel-pruner"
#   criterion = "l1"
#   config_list = [{ sparsity_per_layer = 0.5, op_types = ["Linear"] }]
#   [passes.prune.activation]
#   target = 0.25
#   strategy = "adaptive"
#   method = "l2-norm"
# rows = 3 2 0 0, 0 2 4 4
graph "old_keys" {
  x: f32[N, 4] = placeholder
  fc = linear(x) { in_features = 4, out_features = 2 }
  return fc
}
----
# fc.weight = 0.7812 -0.25 -0.9062 1 0 0 0 0
# fc.weight_mask = 1 1 1 1 0 0 0 0
# fc.data_in_0_mask = 1 0 1 1

Node name  Port    Elements  Pruned  Sparsity
---------  ------  --------  ------  --------
fc         weight         8       4    0.5000
---------  ------  --------  ------  --------
total                     8       4    0.5000

Node name  Port       Elements  Pruned  Sparsity
---------  ---------  --------  ------  --------
fc         data_in_0         4       1    0.2500
---------  ---------  --------  ------  --------
total                        4       1    0.2500

note: requested 64 rows but rows has only 2 training rows; using all of them
