# run: fuse_batch_norm
# Scales are 3/2, 1/0.5 and 1/2.
# conv.weight = 1 2
# norm1.weight = 3 1
# norm1.bias = 0.5 -0.5
# norm1.running_mean = 1 0
# norm1.running_var = 4 0.25
# fc.weight = 1 2 3 4 5 6 7 8
# fc.bias = 1
# norm2.weight = 1
# norm2.bias = 0
# norm2.running_mean = 3
# norm2.running_var = 4
graph "two_norms" {
  x: f32[N, 1, 2, 2] = placeholder
  conv = conv2d(x) { in_channels = 1, out_channels = 2, kernel_size = [1, 1], bias = false }
  norm1 = batch_norm2d(conv) { num_features = 2, eps = 0.0 }
  flat = flatten(norm1)
  fc = linear(flat) { in_features = 8, out_features = 1 }
  norm2 = batch_norm1d(fc) { num_features = 1, eps = 0.0 }
  return norm2
}
----
graph "two_norms" {
  x: f32[N, 1, 2, 2] = placeholder
  conv = conv2d(x) { in_channels = 1, out_channels = 2, kernel_size = [1, 1] }
  flat = flatten(conv) { start_dim = 1 }
  fc = linear(flat) { in_features = 8, out_features = 1 }
  return fc
}
# conv.weight = 1.5 4
# conv.bias = -1 -0.5
# fc.weight = 0.5 1 1.5 2 2.5 3 3.5 4
# fc.bias = -1

Batch norm  Folded into  Why
----------  -----------  ------
norm1       conv         folded
norm2       fc           folded
