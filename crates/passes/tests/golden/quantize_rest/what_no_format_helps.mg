# run: quantize_rest
# An operator without an exact form is named.
graph "net" {
  x: f32[N, 4] = placeholder
  s = softmax(x) { dim = 1 }
  return s
}
----
quantize_rest: s (softmax): has no exact integer form; end the network before it, or put an operator that has one in its place
