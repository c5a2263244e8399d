# run: check_quantization
graph "mlp" {
  x: f32[N, 4] = placeholder
  fc1 = linear(x) { in_features = 4, out_features = 3 }
  act = relu(fc1)
  fc2 = linear(act) { in_features = 3, out_features = 2 }
  return fc2
}
----
# the graph is as it was

Node name  Port  Format  Elements  On grid  Codes used  Saturated  Largest error  First codes
---------  ----  ------  --------  -------  ----------  ---------  -------------  -----------

nothing is quantised

note: requested 64 rows but rows has only 8 training rows; using all of them
