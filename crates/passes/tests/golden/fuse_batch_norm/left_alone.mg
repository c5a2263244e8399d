# run: fuse_batch_norm
# One follows no layer, one a layer with another reader, one a layer with formats.
graph "norms_that_stay" {
  x: f32[N, 2] = placeholder
  first = batch_norm1d(x) { num_features = 2 }
  fc1 = linear(first) { in_features = 2, out_features = 2 }
  second = batch_norm1d(fc1) { num_features = 2 }
  fc2 = linear(second: integer(8, 4)) { in_features = 2, out_features = 2, weight: integer(8, 4) }
  third = batch_norm1d(fc2) { num_features = 2 }
  sum = add(third, fc1)
  return sum
}
----
# the graph is as it was

Batch norm  Folded into  Why
----------  -----------  -----------------------------------
first                 -  follows x (placeholder)
second                -  fc1 has other readers
third                 -  has formats; fold before quantising
