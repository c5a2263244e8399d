# run: fuse_lora_weights
# The weight gains 2·B·A with B 0.5, -1 and A 1, 3.
# fc.weight = 1 1 1 1
# fc_lora_a.weight = 1 3
# fc_lora_b.weight = 0.5 -1
graph "adapted" {
  x: f32[N, 2] = placeholder
  fc = linear(x) { in_features = 2, out_features = 2 }
  fc_lora_a = linear(x) { in_features = 2, out_features = 1, bias = false }
  fc_lora_b = linear(fc_lora_a) { in_features = 1, out_features = 2, bias = false }
  fc_lora_scale = mul(fc_lora_b) { scalar = 2.0 }
  fc_lora_add = add(fc, fc_lora_scale)
  return fc_lora_add
}
----
graph "adapted" {
  x: f32[N, 2] = placeholder
  fc = linear(x) { in_features = 2, out_features = 2 }
  return fc
}
# fc.weight = 2 4 -1 -5

Node name  Rank  Largest change of a weight
---------  ----  --------------------------
fc            1                    6.000000
