# 16-64-32-32-5 with BatchNorm and ReLU: the network of the training and evaluation benchmarks.
graph "mlp" {
  x: f32[N, 16] = placeholder
  l1 = linear(x) { target = "0", in_features = 16, out_features = 64 }
  b1 = batch_norm1d(l1) { target = "1", num_features = 64 }
  r1 = relu(b1) { target = "2" }
  l2 = linear(r1) { target = "3", in_features = 64, out_features = 32 }
  b2 = batch_norm1d(l2) { target = "4", num_features = 32 }
  r2 = relu(b2) { target = "5" }
  l3 = linear(r2) { target = "6", in_features = 32, out_features = 32 }
  b3 = batch_norm1d(l3) { target = "7", num_features = 32 }
  r3 = relu(b3) { target = "8" }
  l4 = linear(r3) { target = "9", in_features = 32, out_features = 5 }
  return l4
}
