# run: gptq
# Inputs that never meet cannot make each other good: each weight goes to its nearest value.
# rows = 1 0, 0 1, -1 0, 0 -1, 1 0
# fc.weight = 0.7 0.7
graph "layer" {
  x: f32[N, 2] = placeholder
  fc = linear(x) { in_features = 2, out_features = 1, bias = false, weight: integer(4, 1) }
  return fc
}
----
# fc.weight = 0.5 0.5

Node name  Weight         Columns  Loss nearest  Loss GPTQ  Output MSE nearest  Output MSE GPTQ  Milliseconds
---------  -------------  -------  ------------  ---------  ------------------  ---------------  ------------
fc         integer(4, 1)        2      0.080000   0.080000            0.040000         0.040000             -

all layers: loss 0.080000 instead of 0.080000 (100.0%)

note: requested 1280 rows but rows has only 5 training rows; using all of them
