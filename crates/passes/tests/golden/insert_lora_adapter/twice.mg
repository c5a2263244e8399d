# run: insert_lora_adapter
# config:
#   [passes.insert_lora_adapter]
#   rank = 1
#   [passes.insert_lora_adapter_2]
#   rank = 1
graph "layer" {
  x: f32[N, 2] = placeholder
  fc = linear(x) { in_features = 2, out_features = 3 }
  return fc
}
----
insert_lora_adapter_2: fc (linear): has an adapter already
