# run: report_node_shape
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

Node name  In                                                                                         Out
---------  -----------------------------------------------------------------------------------------  -------------------------
x                                                                                                     data_out_0 = [8, 1, 4, 4]
conv       data_in_0 = [8, 1, 4, 4], weight = [2, 1, 3, 3], bias = [2]                                data_out_0 = [8, 2, 4, 4]
norm       data_in_0 = [8, 2, 4, 4], weight = [2], bias = [2], running_mean = [2], running_var = [2]  data_out_0 = [8, 2, 4, 4]
act        data_in_0 = [8, 2, 4, 4]                                                                   data_out_0 = [8, 2, 4, 4]
pool       data_in_0 = [8, 2, 4, 4]                                                                   data_out_0 = [8, 2, 2, 2]
flat       data_in_0 = [8, 2, 2, 2]                                                                   data_out_0 = [8, 8]
fc         data_in_0 = [8, 8], weight = [2, 8], bias = [2]                                            data_out_0 = [8, 2]
output     data_in_0 = [8, 2]
