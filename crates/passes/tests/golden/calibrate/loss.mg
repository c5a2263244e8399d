# run: calibrate
# One row reaches to 14 and owns the squared error; the answers to the others are better with finer steps.
# config:
#   [passes.calibrate]
#   num_samples = 8
# rows = 14 1, 0.5 -0.5, -0.5 0.5, 1 0.5, 0.5 1, -1 -0.5, 1.5 0.5, -0.5 -1.5
# fc1.weight = 1 -1 0.5 1
# fc1.bias = -1 0.25
# fc2.weight = 1 -0.5
# fc2.bias = 0
graph "mlp" {
  x: f32[N, 2] = placeholder
  fc1 = linear(x: integer(3, 0)) { in_features = 2, out_features = 2, weight: integer(3, 1) }
  act = relu6(fc1)
  fc2 = linear(act) { in_features = 2, out_features = 1 }
  return fc2
}
----
graph "mlp" {
  x: f32[N, 2] = placeholder
  fc1 = linear(x: integer(3, -3)) { in_features = 2, out_features = 2, weight: integer(3, 1) }
  act = relu6(fc1)
  fc2 = linear(act) { in_features = 2, out_features = 1 }
  return fc2
}

Node name  Port       Before         After           Range seen          SQNR before  SQNR after  Why
---------  ---------  -------------  --------------  ------------------  -----------  ----------  ------
fc1        data_in_0  integer(3, 0)  integer(3, -3)  [-1.5000, 14.0000]         2.23       11.47  chosen
fc1        weight     integer(3, 1)  integer(3, 1)   [-1.0000, 1.0000]         exact       exact  chosen

1 of 2 formats changed

loss 0.103397 instead of 0.103397 by mse, on 8 rows; 19 formats tried
