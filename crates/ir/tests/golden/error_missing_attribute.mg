graph "errors" {
  x: f32[N, 16] = placeholder
  a = linear(x) { in_features = 16 }
  b = softmax(a)
  return b
}
----
3:7: linear: missing attribute 'out_features'
    a = linear(x) { in_features = 16 }
        ^^^^^^
4:7: softmax: missing attribute 'dim'
    b = softmax(a)
        ^^^^^^^
