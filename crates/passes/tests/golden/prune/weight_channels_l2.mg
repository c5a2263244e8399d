# run: prune
# config:
#   [passes.prune.weight]
#   sparsity = 0.5
#   granularity = "channelwise"
#   method = "l2-norm"
#   scope = "layer"
# fc.weight = 3 0 0 0, 1 1 1 1
graph "two_channels" {
  x: f32[N, 4] = placeholder
  fc = linear(x) { in_features = 4, out_features = 2 }
  return fc
}
----
# fc.weight = 3 0 0 0 0 0 0 0
# fc.weight_mask = 1 1 1 1 0 0 0 0

Node name  Port    Elements  Pruned  Sparsity
---------  ------  --------  ------  --------
fc         weight         8       4    0.5000
---------  ------  --------  ------  --------
total                     8       4    0.5000
