# run: fuse_lora_weights
# Adapters are fused before quantising.
graph "adapted" {
  x: f32[N, 2] = placeholder
  fc = linear(x: integer(8, 4)) { in_features = 2, out_features = 2 }
  fc_lora_a = linear(x) { in_features = 2, out_features = 1, bias = false }
  fc_lora_b = linear(fc_lora_a) { in_features = 1, out_features = 2, bias = false }
  fc_lora_scale = mul(fc_lora_b) { scalar = 2.0 }
  fc_lora_add = add(fc, fc_lora_scale)
  return fc_lora_add
}
----
fuse_lora_weights: fc (linear): has formats; fuse adapters before quantising
