# Words of the grammar are names too, and lines end where you like.
graph "" { return: f32[N, 4] = placeholder graph = relu(return) f32 = tanh(graph)
target = identity(f32) true = add(target, f32) placeholder = cat(true) { dim = 0 } pi = constant { shape = [] } out = output(placeholder, pi) }
----
graph "" {
  return: f32[N, 4] = placeholder
  graph = relu(return)
  f32 = tanh(graph)
  target = identity(f32)
  true = add(target, f32)
  placeholder = cat(true) { dim = 0 }
  pi = constant { shape = [] }
  out = output(placeholder, pi)
}
