graph "errors" {
  a = placeholder
  b: f16[N, 4] = placeholder
  c: f32[N, 4] = relu(a)
  d: f32[N*4, -1] = placeholder
  e: f32[2*3] = placeholder
  return c
}
----
2:7: the type is missing: write a: f32[N, 16] = placeholder
    a = placeholder
        ^^^^^^^^^^^
3:6: 'f16' is not an element type: write f32, i64 or bool
    b: f16[N, 4] = placeholder
       ^^^
4:6: only a placeholder states its type; that of relu is inferred
    c: f32[N, 4] = relu(a)
       ^^^^^^^^^
5:10: 'N*4' is not a dim: write a number, a symbol such as N, or 4*N
    d: f32[N*4, -1] = placeholder
           ^^^
6:10: '2*3' is not a dim: write a number, a symbol such as N, or 4*N
    e: f32[2*3] = placeholder
           ^^^
