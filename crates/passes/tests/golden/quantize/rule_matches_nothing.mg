# run: quantize
# config:
#   [passes.quantize]
#   by = "name"
#   [passes.quantize.fc3.config]
#   name = "integer"
#   weight_width = 8
graph "mlp" {
  x: f32[N, 4] = placeholder
  fc1 = linear(x) { in_features = 4, out_features = 3 }
  act = relu(fc1)
  fc2 = linear(act) { in_features = 3, out_features = 2 }
  return fc2
}
----
quantize: rule 'fc3' matches nothing: mlp has no node of this name; did you mean 'fc1', 'fc2' or 'act'?
