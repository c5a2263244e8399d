# run: report_graph
# config:
#   [passes.report_graph]
#   file_name = "graph.txt"
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

graph "convnet" {
  x: f32[N, 1, 4, 4] = placeholder
  conv = conv2d(x) { in_channels = 1, out_channels = 2, kernel_size = [3, 3], padding = [1, 1] }
  norm = batch_norm2d(conv) { num_features = 2, eps = 1e-5, momentum = 0.1 }
  act = relu(norm)
  pool = max_pool2d(act) { kernel_size = [2, 2], stride = [2, 2] }
  flat = flatten(pool) { start_dim = 1 }
  fc = linear(flat) { in_features = 8, out_features = 2 }
  return fc
}
Network overview:
{'placeholder': 1, 'get_attr': 0, 'call_function': 5, 'call_method': 0, 'call_module': 1, 'output': 1}
Layer types:
[BatchNorm2d(2, eps=1e-05, momentum=0.1, affine=True, track_running_stats=True)]

file graph.txt:
graph "convnet" {
  x: f32[N, 1, 4, 4] = placeholder
  conv = conv2d(x) { in_channels = 1, out_channels = 2, kernel_size = [3, 3], padding = [1, 1] }
  norm = batch_norm2d(conv) { num_features = 2, eps = 1e-5, momentum = 0.1 }
  act = relu(norm)
  pool = max_pool2d(act) { kernel_size = [2, 2], stride = [2, 2] }
  flat = flatten(pool) { start_dim = 1 }
  fc = linear(flat) { in_features = 8, out_features = 2 }
  return fc
}
Network overview:
{'placeholder': 1, 'get_attr': 0, 'call_function': 5, 'call_method': 0, 'call_module': 1, 'output': 1}
Layer types:
[BatchNorm2d(2, eps=1e-05, momentum=0.1, affine=True, track_running_stats=True)]
