# run: profile_statistics
# config:
#   [passes.profile_statistics]
#   target_weight_nodes = ["linear"]
#   [passes.profile_statistics.weight_statistics]
#   range_minmax = {}
graph "mlp" {
  x: f32[N, 4] = placeholder
  fc1 = linear(x) { in_features = 4, out_features = 3 }
  act = relu(fc1)
  fc2 = linear(act) { in_features = 3, out_features = 2 }
  return fc2
}
----
unknown statistic 'range_minmax'; did you mean 'range_min_max'?
