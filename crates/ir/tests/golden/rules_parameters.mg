graph "parameters" {
  x: f32[N, 4] = placeholder
  a = linear(x) { target = "fc", in_features = 4, out_features = 4 }
  b = linear(a) { target = "fc", in_features = 4, out_features = 4 }
  c = linear(b) { in_features = 4, out_features = 18446744073709551615 }
  return b
  d = relu(b)
}
----
output (output): must be the last node, but d follows
b (linear): weight: a already has the parameter fc.weight
b (linear): bias: a already has the parameter fc.bias
c (linear): data_out_0: f32[N, 18446744073709551615] has more elements than memory holds
c (linear): weight: shape [18446744073709551615, 4] has more than 2^32 elements
c (linear): bias: shape [18446744073709551615] has more than 2^32 elements
