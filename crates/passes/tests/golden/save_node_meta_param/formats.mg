# run: save_node_meta_param
# config:
#   [passes.save_node_meta_param]
#   save_path = "meta.toml"
graph "layer" {
  x: f32[N, 4] = placeholder
  fc1 = linear(x: integer(8, 4)) { in_features = 4, out_features = 3, weight: integer(8, 6), bias: integer(8, 4) }
  return fc1
}
----
# the graph is as it was

meta.toml: metadata of 3 nodes

file meta.toml:
[x.common]
mase_type = "placeholder"
mase_op = "placeholder"

[x.common.results.data_out_0]
shape = [8, 4]
torch_dtype = "torch.float32"
type = "float"
precision = [32]

[fc1.common]
mase_type = "module_related_func"
mase_op = "linear"

[fc1.common.args.data_in_0]
shape = [8, 4]
torch_dtype = "torch.float32"
type = "integer"
precision = [8, 4]
format = "integer(8, 4)"

[fc1.common.args.weight]
shape = [3, 4]
torch_dtype = "torch.float32"
type = "integer"
precision = [8, 6]
format = "integer(8, 6)"

[fc1.common.args.bias]
shape = [3]
torch_dtype = "torch.float32"
type = "integer"
precision = [8, 4]
format = "integer(8, 4)"

[fc1.common.results.data_out_0]
shape = [8, 3]
torch_dtype = "torch.float32"
type = "integer"
precision = [18, 10]

[output.common]
mase_type = "output"
mase_op = "output"

[output.common.args.data_in_0]
shape = [8, 3]
torch_dtype = "torch.float32"
type = "float"
precision = [32]
