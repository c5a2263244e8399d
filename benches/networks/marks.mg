# A transformer of two blocks of width 32 that names one of four classes of a sentence of 16 words out of 32.
graph "marks" {
  tokens: i64[N, 16] = placeholder
  embedding = embedding(tokens) { target = "embedding", num_embeddings = 32, embedding_dim = 32 }
  positions = constant { target = "positions", shape = [16, 32], init_std = 0.1 }
  h0 = add(embedding, positions)
  n0 = layer_norm(h0) { target = "n0", normalized_shape = [32], eps = 1e-5 }
  q0 = linear(n0) { target = "q0", in_features = 32, out_features = 32 }
  k0 = linear(n0) { target = "k0", in_features = 32, out_features = 32 }
  v0 = linear(n0) { target = "v0", in_features = 32, out_features = 32 }
  a0 = scaled_dot_product_attention(q0, k0, v0)
  o0 = linear(a0) { target = "o0", in_features = 32, out_features = 32 }
  h1 = add(h0, o0)
  m0 = layer_norm(h1) { target = "m0", normalized_shape = [32], eps = 1e-5 }
  f0 = linear(m0) { target = "f0", in_features = 32, out_features = 64 }
  g0 = gelu(f0)
  d0 = linear(g0) { target = "d0", in_features = 64, out_features = 32 }
  h2 = add(h1, d0)
  n1 = layer_norm(h2) { target = "n1", normalized_shape = [32], eps = 1e-5 }
  q1 = linear(n1) { target = "q1", in_features = 32, out_features = 32 }
  k1 = linear(n1) { target = "k1", in_features = 32, out_features = 32 }
  v1 = linear(n1) { target = "v1", in_features = 32, out_features = 32 }
  a1 = scaled_dot_product_attention(q1, k1, v1)
  o1 = linear(a1) { target = "o1", in_features = 32, out_features = 32 }
  h3 = add(h2, o1)
  m1 = layer_norm(h3) { target = "m1", normalized_shape = [32], eps = 1e-5 }
  f1 = linear(m1) { target = "f1", in_features = 32, out_features = 64 }
  g1 = gelu(f1)
  d1 = linear(g1) { target = "d1", in_features = 64, out_features = 32 }
  h4 = add(h3, d1)
  pooled = mean(h4) { dim = 1 }
  norm = layer_norm(pooled) { target = "norm", normalized_shape = [32], eps = 1e-5 }
  head = linear(norm) { target = "head", in_features = 32, out_features = 4 }
  return head
}
