# run: redefine_channels
# An activation has the channels of what it reads.
# config:
#   [passes.redefine_channels]
#   by = "name"
#   act.config = { name = "both", channel_multiplier = 2 }
#   fc1.config = { name = "NA", channel_multiplier = 2 }
graph "mlp" {
  x: f32[N, 4] = placeholder
  fc1 = linear(x) { in_features = 4, out_features = 3 }
  norm = batch_norm1d(fc1) { num_features = 3 }
  act = relu(norm)
  fc2 = linear(act) { in_features = 3, out_features = 2 }
  return fc2
}
----
# the graph is as it was

Node name  Operator  Inputs  Outputs
---------  --------  ------  -------

note: act (relu) follows the layers before it; its rule has no effect
