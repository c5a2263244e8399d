graph "errors" {
  x: f32[N, 16] = placeholder
  a = linaer(x) { in_features = 16 }
  b = quux(a)
  return b
}
----
3:7: unknown op 'linaer'; did you mean 'linear'?
    a = linaer(x) { in_features = 16 }
        ^^^^^^
4:7: unknown op 'quux'
    b = quux(a)
        ^^^^
