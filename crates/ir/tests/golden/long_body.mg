graph "broken over lines" {
  x: f32[N, 3, 32, 32] = placeholder
  features_stage_1_block_0_conv = conv2d(x: integer(8, 4)) { target = "features.stage_1.block_0.conv", in_channels = 3, out_channels = 16, kernel_size = [5, 3], stride = [2, 1], padding = [2, 1], dilation = [1, 2], bias = true, weight: integer(6, 5), bias: integer(16, 9), data_out_0: integer(12, 6) }
  return features_stage_1_block_0_conv
}
----
graph "broken over lines" {
  x: f32[N, 3, 32, 32] = placeholder
  features_stage_1_block_0_conv = conv2d(x: integer(8, 4)) {
    target = "features.stage_1.block_0.conv", in_channels = 3, out_channels = 16, kernel_size = [5, 3], stride = [2, 1],
    padding = [2, 1], dilation = [1, 2], weight: integer(6, 5), bias: integer(16, 9), data_out_0: integer(12, 6),
  }
  return features_stage_1_block_0_conv
}
