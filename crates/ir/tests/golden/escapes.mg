# Characters that a string cannot hold as they are, and some that it can.
graph "\u{48}\u{20ac}\u{01F600}é \"\\\n\r\t\u{1}\u{7f}." {
  x: f32[N, 4] = placeholder { target = "\u{0}" }
  return x
}
----
graph "H€😀é \"\\\n\r\t\u{1}\u{7f}." {
  x: f32[N, 4] = placeholder { target = "\u{0}" }
  return x
}
