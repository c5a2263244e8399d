graph "errors" {
  features: f32[N, 16] = placeholder
  a = relu(feature)
  b = add(a, later)
  later = relu(a.x)
  return b, nothing
}
----
3:12: unknown value 'feature'; did you mean 'features'?
    a = relu(feature)
             ^^^^^^^
4:14: 'later' is used before it is defined
    b = add(a, later)
               ^^^^^
5:18: expected the number of a result, as in a.1, got 'x'
    later = relu(a.x)
                   ^
6:13: unknown value 'nothing'
    return b, nothing
              ^^^^^^^
