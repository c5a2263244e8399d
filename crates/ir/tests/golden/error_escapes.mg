graph "escapes" {
  x: f32[N, 4] = placeholder
  a = relu(x) { target = "beyond \u{110000} Unicode" }
  b = relu(x) { target = "half of \u{d800} a pair" }
  c = relu(x) { target = "no digits \u{}" }
  d = relu(x) { target = "too many \u{0000041}" }
  e = relu(x) { target = "no braces \u41" }
  f = relu(x) { target = "no digit \u{4g}" }
  g = relu(x) { target = "no end \u{41" }
  h = relu(x) { target = "é \é é" }
  i = relu(x) { target = "nothing \
  j = tanh(x)
  return j
}
----
3:34: unknown escape; there are \" \\ \n \r \t and \u{hex}
    a = relu(x) { target = "beyond \u{110000} Unicode" }
                                   ^^
4:35: unknown escape; there are \" \\ \n \r \t and \u{hex}
    b = relu(x) { target = "half of \u{d800} a pair" }
                                    ^^
5:37: unknown escape; there are \" \\ \n \r \t and \u{hex}
    c = relu(x) { target = "no digits \u{}" }
                                      ^^
6:36: unknown escape; there are \" \\ \n \r \t and \u{hex}
    d = relu(x) { target = "too many \u{0000041}" }
                                     ^^
7:37: unknown escape; there are \" \\ \n \r \t and \u{hex}
    e = relu(x) { target = "no braces \u41" }
                                      ^^
8:36: unknown escape; there are \" \\ \n \r \t and \u{hex}
    f = relu(x) { target = "no digit \u{4g}" }
                                     ^^
9:34: unknown escape; there are \" \\ \n \r \t and \u{hex}
    g = relu(x) { target = "no end \u{41" }
                                   ^^
10:29: unknown escape; there are \" \\ \n \r \t and \u{hex}
    h = relu(x) { target = "é \é é" }
                              ^^
11:26: the string has no end on its line
    i = relu(x) { target = "nothing \
                           ^^^^^^^^^^
11:35: unknown escape; there are \" \\ \n \r \t and \u{hex}
    i = relu(x) { target = "nothing \
                                    ^
