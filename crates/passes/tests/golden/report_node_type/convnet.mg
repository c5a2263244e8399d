# run: report_node_type
graph "convnet" {
  x: f32[N, 1, 4, 4] = placeholder
  conv = conv2d(x) { in_channels = 1, out_channels = 2, kernel_size = [3, 3], padding = [1, 1] }
  norm = batch_norm2d(conv) { num_features = 2 }
  act = relu(norm)
  pool = max_pool2d(act) { kernel_size = [2, 2] }
  flat = flatten(pool)
  fc = linear(flat) { in_features = 8, out_features = 2 }
  return fc
}
----
# the graph is as it was

Node name  Fx Node op     Mase type            Mase op       Value type
---------  -------------  -------------------  ------------  ----------
x          placeholder    placeholder          placeholder   NA
conv       call_function  module_related_func  conv2d        float
norm       call_module    module               batch_norm2d  float
act        call_function  module_related_func  relu          float
pool       call_function  module_related_func  max_pool2d    float
flat       call_function  implicit_func        flatten       float
fc         call_function  module_related_func  linear        float
output     output         output               output        NA
