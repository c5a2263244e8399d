# run: calibrate
# A format that takes its scale from the data has no point to move.
graph "blocks" {
  x: f32[N, 4] = placeholder
  fc = linear(x) { in_features = 4, out_features = 2, weight: mxint(4, block_size = 4) }
  return fc
}
----
# the graph is as it was

Node name  Port    Before       After        Range seen  SQNR before  SQNR after  Why
---------  ------  -----------  -----------  ----------  -----------  ----------  --------------------------
fc         weight  mxint(4, 4)  mxint(4, 4)           -            -           -  its scales follow the data

0 of 1 formats changed

note: requested 1024 rows but rows has only 8 training rows; using all of them
