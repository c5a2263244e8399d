# run: redefine_channels
# config:
#   [passes.redefine_channels]
#   by = "name"
#   conv1.config = { name = "output_only", channel_multiplier = 0.75 }
graph "groups" {
  x: f32[N, 2, 4, 4] = placeholder
  conv1 = conv2d(x) { in_channels = 2, out_channels = 8, kernel_size = 1 }
  conv2 = conv2d(conv1) { in_channels = 8, out_channels = 4, kernel_size = 1, groups = 4 }
  return conv2
}
----
redefine_channels: conv2 (conv2d): its 4 groups do not divide 6 input and 4 output channels; use other multipliers
