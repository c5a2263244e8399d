# run: redefine_channels
# config:
#   [passes.redefine_channels]
#   by = "name"
#   conv1.config = { name = "output_only", channel_multiplier = 2 }
graph "shortcut" {
  x: f32[N, 2, 4, 4] = placeholder
  conv1 = conv2d(x) { in_channels = 2, out_channels = 2, kernel_size = 3, padding = 1 }
  add = add(conv1, x)
  return add
}
----
redefine_channels: conv1 (conv2d): channel_multiplier 2 would change its output channels, but add joins them with a value of a fixed size; use name = "input_only"
