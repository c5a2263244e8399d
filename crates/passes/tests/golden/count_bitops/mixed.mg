# run: count_bitops
# fc1 has 8 bits, fc2 32.
graph "mlp" {
  x: f32[N, 4] = placeholder
  fc1 = linear(x: integer(8, 4)) { in_features = 4, out_features = 3, weight: integer(8, 6), bias: integer(8, 4) }
  act = relu(fc1)
  fc2 = linear(act) { in_features = 3, out_features = 2 }
  return fc2
}
----
# the graph is as it was

Node name  Mase op      Formats                                                               BitOPs
---------  -----------  --------------------------------------------------------------------  ------
x          placeholder                                                                             0
fc1        linear       data_in_0: integer(8, 4), weight: integer(8, 6), bias: integer(8, 4)    6912
act        relu                                                                                  768
fc2        linear                                                                              50688
output     output                                                                                  0
---------  -----------  --------------------------------------------------------------------  ------
total                                                                                          58368

BitOPs for a batch of 8: 58368
