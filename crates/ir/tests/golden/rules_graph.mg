graph "no placeholder, no output" {
  a = constant { shape = [2, 2] }
}
----
the graph has no placeholder
the graph has no output node
