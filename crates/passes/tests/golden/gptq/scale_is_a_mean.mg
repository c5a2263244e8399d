# run: gptq
graph "layer" {
  x: f32[N, 2] = placeholder
  fc = linear(x) { in_features = 2, out_features = 1, bias = false, weight: ternary(2) }
  return fc
}
----
gptq: fc (linear): weight: ternary() takes its scale from all weights of a channel, which rounding them one by one would change; name the other layers in nodes
