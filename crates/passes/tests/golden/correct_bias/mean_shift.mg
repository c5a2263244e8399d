# run: correct_bias
# The weight 0.7 becomes 0.5, which takes 0.2 times the mean input 2 from the mean of the first channel.
# rows = 1 1, 3 1
# fc.weight = 0.7 0.5 -0.5 1
# fc.bias = 0 0.25
graph "layer" {
  x: f32[N, 2] = placeholder
  fc = linear(x) { in_features = 2, out_features = 2, weight: integer(4, 1) }
  return fc
}
----
# fc.bias = 0.4 0.25

Node name  Channels  Mean error before  Mean error after  Largest change  Why
---------  --------  -----------------  ----------------  --------------  ---------
fc                2           0.400000          0.000000        0.400000  corrected

note: requested 1024 rows but rows has only 2 training rows; using all of them
