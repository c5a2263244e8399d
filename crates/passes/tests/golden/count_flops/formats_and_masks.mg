# run: count_flops
# A node with a format on its data input has no float operations; a mask leaves half of those of the other.
# fc2.weight_mask = 1 0 1 0 1 0
graph "mlp" {
  x: f32[N, 4] = placeholder
  fc1 = linear(x: integer(8, 4)) { in_features = 4, out_features = 3, weight: integer(8, 6), bias: integer(8, 4) }
  act = relu(fc1)
  fc2 = linear(act) { in_features = 3, out_features = 2 }
  return fc2
}
----
# the graph is as it was

Node name  Mase op      FLOPs  MACs  Parameters  Weight bytes  Bytes moved  Effective FLOPs
---------  -----------  -----  ----  ----------  ------------  -----------  ---------------
x          placeholder      0     0           0             0            0                0
fc1        linear           0    96          15            15          143                0
act        relu            24     0           0             0          192               24
fc2        linear          48    48           8            32          192               24
output     output           0     0           0             0            0                0
---------  -----------  -----  ----  ----------  ------------  -----------  ---------------
total                      72   144          23            47          527               48

FLOPs for a batch of 8: 72
