# run: report_node_type
# The value type is the format of the first data input.
graph "mlp" {
  x: f32[N, 4] = placeholder
  fc1 = linear(x: integer(8, 4)) { in_features = 4, out_features = 3, weight: integer(8, 6), bias: integer(8, 4) }
  act = relu(fc1)
  fc2 = linear(act) { in_features = 3, out_features = 2 }
  return fc2
}
----
# the graph is as it was

Node name  Fx Node op     Mase type            Mase op      Value type
---------  -------------  -------------------  -----------  ----------
x          placeholder    placeholder          placeholder  NA
fc1        call_function  module_related_func  linear       integer
act        call_function  module_related_func  relu         float
fc2        call_function  module_related_func  linear       float
output     output         output               output       NA
