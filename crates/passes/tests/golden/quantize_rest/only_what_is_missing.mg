# run: quantize_rest
# Formats stay, and what no reader needs rounded stays exact.
# config:
#   [passes.quantize_rest]
#   width = 6
#   frac_width = 3
graph "net" {
  x: f32[N, 2, 4, 4] = placeholder
  c = conv2d(x: integer(8, 4)) { in_channels = 2, out_channels = 3, kernel_size = 3, weight: integer(4, 3) }
  n = batch_norm2d(c) { num_features = 3 }
  r = relu(n)
  f = flatten(r) { start_dim = 1 }
  fc = linear(f: integer(5, 2)) { in_features = 12, out_features = 4 }
  t = gelu(fc: integer(7, 3))
  last = linear(t) { in_features = 4, out_features = 3, bias = false }
  best = argmax(last)
  return best
}
----
graph "net" {
  x: f32[N, 2, 4, 4] = placeholder
  c = conv2d(x: integer(8, 4)) {
    in_channels = 2, out_channels = 3, kernel_size = [3, 3], weight: integer(4, 3), bias: integer(6, 3),
  }
  n = batch_norm2d(c) { num_features = 3, eps = 1e-5, momentum = 0.1, weight: integer(6, 3), bias: integer(6, 3) }
  r = relu(n)
  f = flatten(r) { start_dim = 1 }
  fc = linear(f: integer(5, 2)) { in_features = 12, out_features = 4, weight: integer(6, 3), bias: integer(6, 3) }
  t = gelu(fc: integer(7, 3)) { data_out_0: integer(6, 3) }
  last = linear(t) { in_features = 4, out_features = 3, bias = false, weight: integer(6, 3) }
  best = argmax(last)
  return best
}

Node  Op            Port        Format
----  ------------  ----------  -------------
c     conv2d        bias        integer(6, 3)
n     batch_norm2d  bias        integer(6, 3)
n     batch_norm2d  weight      integer(6, 3)
fc    linear        bias        integer(6, 3)
fc    linear        weight      integer(6, 3)
t     gelu          data_out_0  integer(6, 3)
last  linear        weight      integer(6, 3)
