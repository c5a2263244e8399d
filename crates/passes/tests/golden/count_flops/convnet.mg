# run: count_flops
# config:
#   [passes.count_flops]
#   batch_size = 2
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

Node name  Mase op       FLOPs  MACs  Parameters  Weight bytes  Bytes moved
---------  ------------  -----  ----  ----------  ------------  -----------
x          placeholder       0     0           0             0            0
conv       conv2d          576   576          20            80          464
norm       batch_norm2d    256     0           4            32          544
act        relu             64     0           0             0          512
pool       max_pool2d       64     0           0             0          320
flat       flatten           0     0           0             0          128
fc         linear           32    32          18            72          152
output     output            0     0           0             0            0
---------  ------------  -----  ----  ----------  ------------  -----------
total                      992   608          42           184         2120

FLOPs for a batch of 2: 992
