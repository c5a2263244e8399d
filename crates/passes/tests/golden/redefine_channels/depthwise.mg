# run: redefine_channels
# The depthwise layer has as many groups as channels, and the view more features.
# config:
#   [passes.redefine_channels]
#   by = "name"
#   conv1.config = { name = "output_only", channel_multiplier = 2 }
graph "convnet" {
  x: f32[N, 3, 8, 8] = placeholder
  conv1 = conv2d(x) { in_channels = 3, out_channels = 4, kernel_size = 3, padding = 1, bias = false }
  bn1 = batch_norm2d(conv1) { num_features = 4 }
  depthwise = conv2d(bn1) { in_channels = 4, out_channels = 4, kernel_size = 3, padding = 1, groups = 4, bias = false }
  pool = max_pool2d(depthwise) { kernel_size = 2, stride = 2 }
  view = view(pool) { shape = ["N", 64] }
  fc = linear(view) { in_features = 64, out_features = 2 }
  return fc
}
----
graph "convnet" {
  x: f32[N, 3, 8, 8] = placeholder
  conv1 = conv2d(x) { in_channels = 3, out_channels = 8, kernel_size = [3, 3], padding = [1, 1], bias = false }
  bn1 = batch_norm2d(conv1) { num_features = 8, eps = 1e-5, momentum = 0.1 }
  depthwise = conv2d(bn1) {
    in_channels = 8, out_channels = 8, kernel_size = [3, 3], padding = [1, 1], groups = 8, bias = false,
  }
  pool = max_pool2d(depthwise) { kernel_size = [2, 2], stride = [2, 2] }
  view = view(pool) { shape = [N, 128] }
  fc = linear(view) { in_features = 128, out_features = 2 }
  return fc
}
# conv1.weight = -0.0487 0.0425 -0.1168 0.1134 0.0662 -0.0894 0.1636 -0.108 -0.1287 -0.0767 -0.0076 0.1577 -0.0723 0.1758 -0.0261 0.0281 …
# bn1.weight = 1 1 1 1 1 1 1 1
# bn1.bias = 0 0 0 0 0 0 0 0
# bn1.running_mean = 0 0 0 0 0 0 0 0
# bn1.running_var = 1 1 1 1 1 1 1 1
# depthwise.weight = -0.1897 -0.1134 -0.2682 -0.0884 0.048 -0.1927 -0.1596 0.2877 -0.1733 -0.1928 -0.0874 -0.3052 -0.0396 -0.081 0.1033 0.057 …
# fc.weight = -0.0399 0.0368 0.04 -0.0611 0.0107 0.0321 0.0799 -0.0097 -0.0747 -0.0705 0.0565 0.0209 -0.0668 0.0872 0.0522 -0.0105 …
# fc.bias = -0.0351 0.0795

Node name  Operator      Inputs    Outputs
---------  ------------  --------  -------
conv1      conv2d        3         4 → 8
bn1        batch_norm2d  4 → 8     4 → 8
depthwise  conv2d        4 → 8     4 → 8
fc         linear        64 → 128  2

note: the channels of conv1 and depthwise change together, joined by depthwise
note: 8 of 8 parameters belong to layers of other sizes and start anew; train the network again
