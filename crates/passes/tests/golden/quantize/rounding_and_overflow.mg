# run: quantize
# Every field of a format is a key of its operand.
# config:
#   [passes.quantize]
#   by = "type"
#   [passes.quantize.default.config]
#   name = "NA"
#   [passes.quantize.linear.config]
#   name = "integer"
#   data_in_width = 6
#   data_in_overflow = "wrap"
#   weight_width = 6
#   weight_rounding = "nearest_up"
#   bias_width = 6
#   bias_rounding = "floor"
#   bias_overflow = "wrap"
graph "one" {
  x: f32[N, 4] = placeholder
  fc = linear(x) { in_features = 4, out_features = 3 }
  return fc
}
----
graph "one" {
  x: f32[N, 4] = placeholder
  fc = linear(x: integer(6, 3, overflow = wrap)) {
    in_features = 4, out_features = 3, weight: integer(6, 3, rounding = nearest_up),
    bias: integer(6, 3, rounding = floor, overflow = wrap),
  }
  return fc
}

Rule     Formats                                                                                                                                     Nodes  Names
-------  ------------------------------------------------------------------------------------------------------------------------------------------  -----  --------
linear   data_in integer(6, 3, overflow = wrap), weight integer(6, 3, rounding = nearest_up), bias integer(6, 3, rounding = floor, overflow = wrap)      1  fc
default  NA                                                                                                                                              2  x output

Ori name  New name  MASE_TYPE            Mase_OP      Original type  Quantized type  Changed  Why
--------  --------  -------------------  -----------  -------------  --------------  -------  -----------------------
x         x         placeholder          placeholder  x              x               False    op has nothing to round
fc        fc        module_related_func  linear       linear         linear_integer  True     rule linear
output    output    output               output       output         output          False    op has nothing to round

Original type  OP           Total  Changed  Unchanged
-------------  -----------  -----  -------  ---------
linear         linear           1        1          0
output         output           1        0          1
x              placeholder      1        0          1

file quantize/quantize_table.csv:
Ori name,New name,MASE_TYPE,Mase_OP,Original type,Quantized type,Changed,Why
x,x,placeholder,placeholder,x,x,False,op has nothing to round
fc,fc,module_related_func,linear,linear,linear_integer,True,rule linear
output,output,output,output,output,output,False,op has nothing to round

file quantize/quantize_histogram.csv:
Original type,OP,Total,Changed,Unchanged
linear,linear,1,1,0
output,output,1,0,1
x,placeholder,1,0,1
