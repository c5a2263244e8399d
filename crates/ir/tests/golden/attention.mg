# Several results, stored tensors, symbols in lists, arithmetic with a number, several outputs.
graph "one \"head\"\n" {
  tokens: i64[N, 8] = placeholder
  table = embedding(tokens) { target = "table", num_embeddings = 100, embedding_dim = 12 }
  place = constant { target = "place", shape = [8, 12], init_std = 0.02 }
  sum = add(table, place)
  split = chunk(sum) { chunks = 3, dim = -1 }
  mixed = scaled_dot_product_attention(split, split.1, split.2) { is_causal = true }
  half = mul(mixed) { scalar = 0.5 }
  rows = reshape(half) { shape = [8*N, -1] }
  back = view(rows) { shape = [N, 2, 16] }
  turned = permute(back) { dims = [0, 2, 1] }
  last = getitem(turned) { index = ":, -1, 0:1" }
  joined = cat(last, last, last) { dim = 1 }
  mean = mean(turned) { dim = [1, 2], keepdim = true }
  return joined, mean: integer(8, 4),
}
----
graph "one \"head\"\n" {
  tokens: i64[N, 8] = placeholder
  table = embedding(tokens) { target = "table", num_embeddings = 100, embedding_dim = 12 }
  place = constant { target = "place", shape = [8, 12], init_std = 0.02 }
  sum = add(table, place)
  split = chunk(sum) { chunks = 3, dim = -1 }
  mixed = scaled_dot_product_attention(split, split.1, split.2) { is_causal = true }
  half = mul(mixed) { scalar = 0.5 }
  rows = reshape(half) { shape = [8*N, -1] }
  back = view(rows) { shape = [N, 2, 16] }
  turned = permute(back) { dims = [0, 2, 1] }
  last = getitem(turned) { index = ":, -1, 0:1" }
  joined = cat(last, last, last) { dim = 1 }
  mean = mean(turned) { dim = [1, 2], keepdim = true }
  return joined, mean: integer(8, 4)
}
