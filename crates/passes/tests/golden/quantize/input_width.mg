# run: quantize
# What flows into the network has a width of its own: through flatten, on either side of add, and nowhere behind a layer.
# config:
#   [passes.quantize]
#   input_width = 8
#   [passes.quantize.linear.config]
#   name = "integer"
#   data_in_width = 4
#   data_in_frac_width = 3
#   weight_width = 4
#   [passes.quantize.add.config]
#   name = "integer"
#   data_in_width = 4
graph "mlp" {
  x: f32[N, 2, 2] = placeholder
  flat = flatten(x) { start_dim = 1 }
  fc1 = linear(flat) { in_features = 4, out_features = 4 }
  act = relu(fc1)
  sum = add(act, flat)
  fc2 = linear(sum) { in_features = 4, out_features = 2 }
  return fc2
}
----
graph "mlp" {
  x: f32[N, 2, 2] = placeholder
  flat = flatten(x) { start_dim = 1 }
  fc1 = linear(flat: integer(8, 3)) { in_features = 4, out_features = 4, weight: integer(4, 2) }
  act = relu(fc1)
  sum = add(act: integer(4, 2), flat: integer(8, 4))
  fc2 = linear(sum: integer(4, 3)) { in_features = 4, out_features = 2, weight: integer(4, 2) }
  return fc2
}

Rule         Formats                                      Nodes  Names
-----------  -------------------------------------------  -----  -------
linear       data_in integer(4, 3), weight integer(4, 2)      2  fc1 fc2
add          data_in integer(4, 2)                            1  sum
input_width  width 8 for inputs of the network                2  fc1 sum

Ori name  New name  MASE_TYPE            Mase_OP      Original type  Quantized type  Changed  Why
--------  --------  -------------------  -----------  -------------  --------------  -------  ---------------
x         x         placeholder          placeholder  x              x               False    no rule matched
flat      flat      implicit_func        flatten      flatten        flatten         False    no rule matched
fc1       fc1       module_related_func  linear       linear         linear_integer  True     rule linear
act       act       module_related_func  relu         relu           relu            False    no rule matched
sum       sum       builtin_func         add          add            add_integer     True     rule add
fc2       fc2       module_related_func  linear       linear         linear_integer  True     rule linear
output    output    output               output       output         output          False    no rule matched

Original type  OP           Total  Changed  Unchanged
-------------  -----------  -----  -------  ---------
add            add              1        1          0
flatten        flatten          1        0          1
linear         linear           2        2          0
output         output           1        0          1
relu           relu             1        0          1
x              placeholder      1        0          1

file quantize/quantize_table.csv:
Ori name,New name,MASE_TYPE,Mase_OP,Original type,Quantized type,Changed,Why
x,x,placeholder,placeholder,x,x,False,no rule matched
flat,flat,implicit_func,flatten,flatten,flatten,False,no rule matched
fc1,fc1,module_related_func,linear,linear,linear_integer,True,rule linear
act,act,module_related_func,relu,relu,relu,False,no rule matched
sum,sum,builtin_func,add,add,add_integer,True,rule add
fc2,fc2,module_related_func,linear,linear,linear_integer,True,rule linear
output,output,output,output,output,output,False,no rule matched

file quantize/quantize_histogram.csv:
Original type,OP,Total,Changed,Unchanged
add,add,1,1,0
flatten,flatten,1,0,1
linear,linear,2,2,0
output,output,1,0,1
relu,relu,1,0,1
x,placeholder,1,0,1
