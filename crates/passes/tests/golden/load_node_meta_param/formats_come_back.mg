# run: load_node_meta_param
# config:
#   [passes.save_node_meta_param]
#   save_path = "meta.toml"
#   [passes.quantize.linear.config]
#   name = "integer"
#   data_in_width = 2
#   weight_width = 2
#   [passes.load_node_meta_param]
#   load_path = "meta.toml"
graph "layer" {
  x: f32[N, 4] = placeholder
  fc1 = linear(x: integer(8, 4)) { in_features = 4, out_features = 3, weight: integer(8, 6), bias: integer(8, 4) }
  return fc1
}
----
# the graph is as it was

meta.toml: formats and statistics of 3 nodes
