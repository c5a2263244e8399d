# run: prune
# config:
#   [passes.prune.weight]
#   sparsity = { act = 0.5 }
graph "mlp" {
  x: f32[N, 4] = placeholder
  fc1 = linear(x) { in_features = 4, out_features = 3 }
  act = relu(fc1)
  fc2 = linear(act) { in_features = 3, out_features = 2 }
  return fc2
}
----
prune: sparsity of act: relu has no weight to prune
