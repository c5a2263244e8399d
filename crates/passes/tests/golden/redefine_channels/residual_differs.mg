# run: redefine_channels
# config:
#   [passes.redefine_channels]
#   by = "name"
#   conv1.config = { name = "output_only", channel_multiplier = 2 }
#   conv2.config = { name = "both", channel_multiplier = 3 }
graph "residual" {
  x: f32[N, 2, 4, 4] = placeholder
  conv1 = conv2d(x) { in_channels = 2, out_channels = 4, kernel_size = 3, padding = 1, bias = false }
  conv2 = conv2d(conv1) { in_channels = 4, out_channels = 4, kernel_size = 3, padding = 1, bias = false }
  add = add(conv2, conv1)
  mean = mean(add) { dim = [2, 3] }
  fc = linear(mean) { in_features = 4, out_features = 2 }
  return fc
}
----
redefine_channels: conv2 (conv2d): channel_multiplier 3 differs from 2 of conv1, but their channels are joined by add; give both the same
