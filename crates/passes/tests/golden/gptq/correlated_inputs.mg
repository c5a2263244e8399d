# run: gptq
# Both inputs are equal, so only the sum of the weights counts: 1.4. Steps are halves. Rounded to nearest the weights
# would be 0.5 and 0.5; the error of the first is made good by the second.
# rows = 1 1, 2 2, -1 -1, 3 3, -2 -2
# fc.weight = 0.7 0.7
graph "layer" {
  x: f32[N, 2] = placeholder
  fc = linear(x) { in_features = 2, out_features = 1, bias = false, weight: integer(4, 1) }
  return fc
}
----
# fc.weight = 0.5 1

Node name  Weight         Columns  Loss nearest  Loss GPTQ  Output MSE nearest  Output MSE GPTQ  Milliseconds
---------  -------------  -------  ------------  ---------  ------------------  ---------------  ------------
fc         integer(4, 1)        2      1.200000   0.075000            0.640000         0.040000             -

all layers: loss 0.075000 instead of 1.200000 (6.3%)

note: requested 1280 rows but rows has only 5 training rows; using all of them
