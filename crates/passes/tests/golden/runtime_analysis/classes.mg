# run: runtime_analysis
# Seven rows in batches of two: the last one is scored but not timed. Labels are all 0, and the larger output wins.
# config:
#   [passes.runtime_analysis]
#   num_batches = 4
#   num_GPU_warmup_batches = 1
#   batch_size = 2
#   accelerator = "cuda"
#   task = "cls"
#   sample_rate = 16000
# rows = 1 0, 2 0, 3 0, 0 1, 0 2, 4 0, 0 0
# fc.weight = 1 0 0 1
# fc.bias = 0 0
graph "two" {
  x: f32[N, 2] = placeholder
  fc = linear(x) { in_features = 2, out_features = 2 }
  return fc
}
----
# the graph is as it was

Metric (Per Batch)                   Value  Unit
----------------------------  ------------  ------
Average Test Accuracy              0.71429
Average Precision                   1.0000
Average Recall                     0.71429
Average F1 Score                   0.83333
Average Loss                       0.66289
Average Latency                          -  ms
Median Latency                           -  ms
P90 Latency                              -  ms
P95 Latency                              -  ms
P99 Latency                              -  ms
Throughput                               -  rows/s
Parameter Memory                        24  bytes
Activation Memory                      128  bytes
Average GPU Power Usage       not measured
Inference Energy Consumption  not measured

4 batches of 2 test rows, after 1 to warm up, on 1 thread
Average GPU Power Usage and Inference Energy Consumption are not measured: the network runs on the CPU, and energy counters are not read

note: sample_rate has no effect: the real-time factor of audio is not computed
note: accelerator has no effect: the network runs on the CPU
note: requested 8 rows but rows has only 7 test rows; using all of them
