# run: profile_statistics
# config:
#   [passes.profile_statistics]
#   by = "type"
#   target_weight_nodes = ["linear"]
#   target_activation_nodes = ["relu"]
#   num_samples = 4
#   [passes.profile_statistics.weight_statistics]
#   range_min_max = {}
#   [passes.profile_statistics.activation_statistics]
#   abs_mean = {}
#   variance_precise = {}
graph "mlp" {
  x: f32[N, 4] = placeholder
  fc1 = linear(x) { in_features = 4, out_features = 3 }
  act = relu(fc1)
  fc2 = linear(act) { in_features = 3, out_features = 2 }
  return fc2
}
----
# statistics of fc1.bias: range_min_max
# statistics of fc1.weight: range_min_max
# statistics of act.data_in_0: abs_mean, variance_precise
# statistics of fc2.bias: range_min_max
# statistics of fc2.weight: range_min_max

Node name  Port       Statistic         Field         Value
---------  ---------  ----------------  --------  ---------
fc1        weight     range_min_max     min       -0.562500
fc1        weight     range_min_max     max        0.906250
fc1        weight     range_min_max     range      1.468750
fc1        weight     range_min_max     count            12
fc1        bias       range_min_max     min       -0.781250
fc1        bias       range_min_max     max        0.062500
fc1        bias       range_min_max     range      0.843750
fc1        bias       range_min_max     count             3
act        data_in_0  abs_mean          abs_mean   0.964518
act        data_in_0  abs_mean          count            12
act        data_in_0  variance_precise  mean      -0.305013
act        data_in_0  variance_precise  variance   1.806620
act        data_in_0  variance_precise  count            12
fc2        weight     range_min_max     min       -0.593750
fc2        weight     range_min_max     max        0.718750
fc2        weight     range_min_max     range      1.312500
fc2        weight     range_min_max     count             6
fc2        bias       range_min_max     min       -0.093750
fc2        bias       range_min_max     max        0.187500
fc2        bias       range_min_max     range      0.281250
fc2        bias       range_min_max     count             2
