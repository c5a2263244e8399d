# run: prune
# config:
#   [passes.prune.weight]
#   fan_in = 1
#   method = "level-pruner"
#   criterion = "l1"
#   scope = "global"
# fc.weight = 1 -2 3 4, -9 8 7 6
graph "two_outputs" {
  x: f32[N, 4] = placeholder
  fc = linear(x) { in_features = 4, out_features = 2 }
  return fc
}
----
# fc.weight = 0 0 0 4 -9 0 0 0
# fc.weight_mask = 0 0 0 1 1 0 0 0

Node name  Port    Elements  Pruned  Sparsity
---------  ------  --------  ------  --------
fc         weight         8       6    0.7500
---------  ------  --------  ------  --------
total                     8       6    0.7500
