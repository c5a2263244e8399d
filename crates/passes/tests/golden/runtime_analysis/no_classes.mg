# run: runtime_analysis
# A map of activations has no class, so that there are times and no scores.
# config:
#   [passes.runtime_analysis_of_the_map]
#   type = "runtime_analysis"
#   num_batches = 2
#   batch_size = 4
#   test = false
graph "map" {
  x: f32[N, 3, 2] = placeholder
  act = relu(x)
  return act
}
----
# the graph is as it was

Metric (Per Batch)                   Value  Unit
----------------------------  ------------  ------
Average Latency                          -  ms
Median Latency                           -  ms
P90 Latency                              -  ms
P95 Latency                              -  ms
P99 Latency                              -  ms
Throughput                               -  rows/s
Parameter Memory                         0  bytes
Activation Memory                      256  bytes
Average GPU Power Usage       not measured
Inference Energy Consumption  not measured

2 batches of 4 validation rows, after 5 to warm up, on 1 thread
Average GPU Power Usage and Inference Energy Consumption are not measured: the network runs on the CPU, and energy counters are not read

note: the network does not return a score for each class of the rows, so there is no accuracy
