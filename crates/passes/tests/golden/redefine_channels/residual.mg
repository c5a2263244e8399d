# run: redefine_channels
# Both sides of an addition change together.
# config:
#   [passes.redefine_channels]
#   by = "name"
#   conv1.config = { name = "output_only", channel_multiplier = 3 }
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
graph "residual" {
  x: f32[N, 2, 4, 4] = placeholder
  conv1 = conv2d(x) { in_channels = 2, out_channels = 12, kernel_size = [3, 3], padding = [1, 1], bias = false }
  conv2 = conv2d(conv1) { in_channels = 12, out_channels = 12, kernel_size = [3, 3], padding = [1, 1], bias = false }
  add = add(conv2, conv1)
  mean = mean(add) { dim = [2, 3] }
  fc = linear(mean) { in_features = 12, out_features = 2 }
  return fc
}
# conv1.weight = -0.0596 0.0521 -0.143 0.1389 0.0811 -0.1095 0.2003 -0.1323 -0.1576 -0.0939 -0.0093 0.1932 -0.0886 0.2153 -0.0319 0.0345 …
# conv2.weight = 0.0312 -0.0027 -0.0698 -0.0617 0.0745 -0.0533 -0.0433 0.0562 0.0095 0.0845 0.0473 0.0579 -0.0748 0.027 0.0765 -0.0906 …
# fc.weight = -0.1303 0.1201 0.1308 -0.1996 0.035 0.1049 0.2611 -0.0318 -0.244 -0.2303 0.1844 0.0683 -0.2182 0.285 0.1704 -0.0344 …
# fc.bias = -0.1148 0.2595

Node name  Operator  Inputs  Outputs
---------  --------  ------  -------
conv1      conv2d    2       4 → 12
conv2      conv2d    4 → 12  4 → 12
fc         linear    4 → 12  2

note: the channels of conv1 and conv2 change together, joined by add
note: 4 of 4 parameters belong to layers of other sizes and start anew; train the network again
