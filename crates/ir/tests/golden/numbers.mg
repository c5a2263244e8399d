graph "numbers" {
  x: f32[N, 16] = placeholder
  a = batch_norm1d(x) { num_features = 16, eps = 1E+2, momentum = 1.25e-1 }
  b = batch_norm1d(a) { num_features = 16, eps = 25E-4, momentum = 0.5e0 }
  c = hardtanh(b) { min_val = -2.5, max_val = -1 }
  d = hardtanh(c) { min_val = -1e2, max_val = 12345678901234567890 }
  e = softmax(d) { dim = -1 }
  return e
}
----
graph "numbers" {
  x: f32[N, 16] = placeholder
  a = batch_norm1d(x) { num_features = 16, eps = 100.0, momentum = 0.125 }
  b = batch_norm1d(a) { num_features = 16, eps = 0.0025, momentum = 0.5 }
  c = hardtanh(b) { min_val = -2.5, max_val = -1.0 }
  d = hardtanh(c) { min_val = -100.0, max_val = 1.2345678901234567e19 }
  e = softmax(d) { dim = -1 }
  return e
}
