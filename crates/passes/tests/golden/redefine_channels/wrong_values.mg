# run: redefine_channels
# config:
#   [passes.redefine_channels]
#   by = "name"
#   fc1.config = { name = "output_onyl", channel_multiplier = 2 }
#   fc2.config = { name = "both", channel_multiplier = 0 }
#   act.config = { name = "both", channel_multiplier = -1 }
#   norm.config = { name = "both" }
#   x.config = { name = "both", channel_multiplier = [1, 2] }
graph "mlp" {
  x: f32[N, 4] = placeholder
  fc1 = linear(x) { in_features = 4, out_features = 3 }
  norm = batch_norm1d(fc1) { num_features = 3 }
  act = relu(norm)
  fc2 = linear(act) { in_features = 3, out_features = 2 }
  return fc2
}
----
name in [passes.redefine_channels.fc1.config]: 'output_onyl' is not one of output_only, both, input_only, NA; did you mean 'output_only'?
channel_multiplier in [passes.redefine_channels.fc2.config]: 0 must be more than 0 and at most 1024
channel_multiplier in [passes.redefine_channels.act.config]: -1 must be more than 0 and at most 1024
channel_multiplier in [passes.redefine_channels.norm.config] is missing; say by what the outputs are multiplied
there are several choices; a pass takes one, a search takes lists
