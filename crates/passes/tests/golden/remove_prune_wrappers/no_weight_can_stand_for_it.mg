# run: remove_prune_wrappers
# act.data_in_0_mask = 1 0 1
graph "mlp" {
  x: f32[N, 4] = placeholder
  fc1 = linear(x) { in_features = 4, out_features = 3 }
  act = relu(fc1)
  fc2 = linear(act) { in_features = 3, out_features = 2 }
  return fc2
}
----
# the graph is as it was

Node name  Port       Pruned  Result
---------  ---------  ------  --------------------------------
act        data_in_0       1  kept: no weight can stand for it
