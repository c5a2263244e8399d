graph "errors" {
  x: f32[N, 16] = placeholder
  a = linear(x) { in_featurs = 16, in_features = 16, out_features = 4, color = "red" }
  b = tanh(a) { slope = 2 }
  c: f32[N, 1] = placeholder { shape = [1] }
  return b
}
----
3:19: unknown attribute 'in_featurs' of linear; did you mean 'in_features'?
    a = linear(x) { in_featurs = 16, in_features = 16, out_features = 4, color = "red" }
                    ^^^^^^^^^^
3:72: unknown attribute 'color' of linear; it has in_features, out_features, bias
    a = linear(x) { in_featurs = 16, in_features = 16, out_features = 4, color = "red" }
                                                                         ^^^^^
4:17: unknown attribute 'slope' of tanh; it has none
    b = tanh(a) { slope = 2 }
                  ^^^^^
5:32: unknown attribute 'shape' of placeholder
    c: f32[N, 1] = placeholder { shape = [1] }
                                 ^^^^^
