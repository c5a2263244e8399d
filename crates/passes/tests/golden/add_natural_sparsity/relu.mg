# run: add_natural_sparsity
# Two rows, of which relu drops what is negative: the input of fc2 has zeros.
# config:
#   [passes.add_natural_sparsity]
#   num_samples = 2
# rows = 1 0 0 0, 0 1 0 0
# fc1.weight = 1 -1 0 0 0 0 0 0 -1 -1 0 0
# fc1.bias = 0 0 0
graph "mlp" {
  x: f32[N, 4] = placeholder
  fc1 = linear(x) { in_features = 4, out_features = 3 }
  act = relu(fc1)
  fc2 = linear(act) { in_features = 3, out_features = 2 }
  return fc2
}
----
# statistics of fc1.bias: natural_sparsity
# statistics of fc1.data_in_0: natural_sparsity
# statistics of fc1.weight: natural_sparsity
# statistics of act.data_in_0: natural_sparsity
# statistics of fc2.bias: natural_sparsity
# statistics of fc2.data_in_0: natural_sparsity
# statistics of fc2.weight: natural_sparsity

Node name  Port       Elements  Zeros  Sparsity
---------  ---------  --------  -----  --------
fc1        weight           12      8    0.6667
fc1        bias              3      3    1.0000
fc1        data_in_0         8      6    0.7500
act        data_in_0         6      2    0.3333
fc2        weight            6      0    0.0000
fc2        bias              2      0    0.0000
fc2        data_in_0         6      5    0.8333
