# run: correct_bias
graph "layer" {
  x: f32[N, 2] = placeholder
  fc = linear(x) { in_features = 2, out_features = 1, bias = false, weight: integer(4, 1) }
  return fc
}
----
# the graph is as it was

Node name  Channels  Mean error before  Mean error after  Largest change  Why
---------  --------  -----------------  ----------------  --------------  -----------
fc                1                  -                 -               -  has no bias

note: requested 1024 rows but rows has only 8 training rows; using all of them
