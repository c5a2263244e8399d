# run: quantize_rest
# A graph that runs in integers is left as it is.
graph "net" {
  x: f32[N, 4] = placeholder
  r = relu(x: integer(8, 4))
  return r
}
----
# the graph is as it was

every port that exact integers need has a format already
