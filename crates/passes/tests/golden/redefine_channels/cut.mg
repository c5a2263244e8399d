# run: redefine_channels
# config:
#   [passes.redefine_channels]
#   by = "name"
#   fc1.config = { name = "output_only", channel_multiplier = 2 }
graph "cut" {
  x: f32[N, 4] = placeholder
  fc1 = linear(x) { in_features = 4, out_features = 6 }
  heads = view(fc1) { shape = [N, 2, 3] }
  flat = flatten(heads) { start_dim = 1 }
  fc2 = linear(flat) { in_features = 6, out_features = 2 }
  return fc2
}
----
redefine_channels: fc1 (linear): channel_multiplier 2 would change its output channels, but heads gives them other axes; use name = "input_only"
