# run: calibrate
# Inputs and weights are on their grids already. The bias reaches to -0.78, so that it can have steps of 1/128.
# config:
#   [passes.calibrate]
#   method = "mse"
#   num_samples = 8
graph "mlp" {
  x: f32[N, 4] = placeholder
  fc1 = linear(x: integer(8, 4)) { in_features = 4, out_features = 3, weight: integer(8, 6), bias: integer(8, 4) }
  act = relu(fc1)
  fc2 = linear(act) { in_features = 3, out_features = 2 }
  return fc2
}
----
graph "mlp" {
  x: f32[N, 4] = placeholder
  fc1 = linear(x: integer(8, 4)) { in_features = 4, out_features = 3, weight: integer(8, 6), bias: integer(8, 7) }
  act = relu(fc1)
  fc2 = linear(act) { in_features = 3, out_features = 2 }
  return fc2
}

Node name  Port       Before         After          Range seen         SQNR before  SQNR after  Why
---------  ---------  -------------  -------------  -----------------  -----------  ----------  ------
fc1        data_in_0  integer(8, 4)  integer(8, 4)  [-2.0000, 2.0000]        exact       exact  chosen
fc1        weight     integer(8, 6)  integer(8, 6)  [-0.5625, 0.9062]        exact       exact  chosen
fc1        bias       integer(8, 4)  integer(8, 7)  [-0.7812, 0.0625]        25.74       exact  chosen

1 of 3 formats changed
