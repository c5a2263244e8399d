graph "a small convnet" {
  x: f32[N, 1, 28, 28] = placeholder
  conv = conv2d(x) { target = "conv", in_channels = 1, out_channels = 8, kernel_size = 3, padding = 1, stride = [2, 2] }
  norm = batch_norm2d(conv) { target = "norm", num_features = 8 }
  act = hardtanh(norm)
  pool = max_pool2d(act) { kernel_size = 2 }
  mean = adaptive_avg_pool2d(pool) { output_size = [1, 1] }
  flat = flatten(mean)
  fc = linear(flat) { target = "fc", in_features = 8, out_features = 10, bias = false, data_out_0: integer(8, 4) }
  return fc
}
----
graph "a small convnet" {
  x: f32[N, 1, 28, 28] = placeholder
  conv = conv2d(x) {
    target = "conv", in_channels = 1, out_channels = 8, kernel_size = [3, 3], stride = [2, 2], padding = [1, 1],
  }
  norm = batch_norm2d(conv) { target = "norm", num_features = 8, eps = 1e-5, momentum = 0.1 }
  act = hardtanh(norm) { min_val = -1.0, max_val = 1.0 }
  pool = max_pool2d(act) { kernel_size = [2, 2], stride = [2, 2] }
  mean = adaptive_avg_pool2d(pool) { output_size = [1, 1] }
  flat = flatten(mean) { start_dim = 1 }
  fc = linear(flat) { target = "fc", in_features = 8, out_features = 10, bias = false, data_out_0: integer(8, 4) }
  return fc
}
