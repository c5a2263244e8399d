# run: insert_lora_adapter
# config:
#   [passes.insert_lora_adapter]
#   rank = 1
#   lora_alpha = 2
#   lora_dropout = 0.1
graph "layer" {
  x: f32[N, 2] = placeholder
  fc = linear(x) { target = "fc", in_features = 2, out_features = 3 }
  return fc
}
----
graph "layer" {
  x: f32[N, 2] = placeholder
  fc = linear(x) { target = "fc", in_features = 2, out_features = 3 }
  fc_lora_dropout = dropout(x) { p = 0.1 }
  fc_lora_a = linear(fc_lora_dropout) { target = "fc.lora_A", in_features = 2, out_features = 1, bias = false }
  fc_lora_b = linear(fc_lora_a) { target = "fc.lora_B", in_features = 1, out_features = 3, bias = false }
  fc_lora_scale = mul(fc_lora_b) { scalar = 2.0 }
  fc_lora_add = add(fc, fc_lora_scale)
  return fc_lora_add
}
# fc.lora_A.weight = 0.4137 0.5005
# fc.lora_B.weight = 0 0 0

Node name  Rank  New parameters
---------  ----  --------------
fc            1               5
