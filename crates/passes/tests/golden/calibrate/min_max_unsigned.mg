# run: calibrate
# What follows a relu has no sign to store.
# config:
#   [passes.calibrate]
#   method = "min_max"
#   unsigned = true
# rows = 3 -1, 0.5 2
# fc.weight = 0.75 -0.5
graph "relu_then_linear" {
  x: f32[N, 2] = placeholder
  act = relu(x)
  fc = linear(act: integer(4, 0)) { in_features = 2, out_features = 1, weight: integer(4, 0) }
  return fc
}
----
graph "relu_then_linear" {
  x: f32[N, 2] = placeholder
  act = relu(x)
  fc = linear(act: integer(4, 2, false)) { in_features = 2, out_features = 1, weight: integer(4, 3) }
  return fc
}

Node name  Port       Before         After                 Range seen         SQNR before  SQNR after  Why
---------  ---------  -------------  --------------------  -----------------  -----------  ----------  ------
fc         data_in_0  integer(4, 0)  integer(4, 2, false)  [0.0000, 3.0000]         17.24       exact  chosen
fc         weight     integer(4, 0)  integer(4, 3)         [-0.5000, 0.7500]         4.15       exact  chosen

2 of 2 formats changed

note: requested 1024 rows but rows has only 2 training rows; using all of them
