# run: summarize_quantization
graph "mlp" {
  x: f32[N, 4] = placeholder
  fc1 = linear(x) { in_features = 4, out_features = 3 }
  act = relu(fc1)
  fc2 = linear(act) { in_features = 3, out_features = 2 }
  return fc2
}
----
# the graph is as it was

Ori name  New name  MASE_TYPE            Mase_OP      Original type  Quantized type  Changed  Why
--------  --------  -------------------  -----------  -------------  --------------  -------  ------------------------
x         x         placeholder          placeholder  x              x               False    op has nothing to round
fc1       fc1       module_related_func  linear       linear         linear          False    no quantize pass has run
act       act       module_related_func  relu         relu           relu            False    no quantize pass has run
fc2       fc2       module_related_func  linear       linear         linear          False    no quantize pass has run
output    output    output               output       output         output          False    op has nothing to round

Original type  OP           Total  Changed  Unchanged
-------------  -----------  -----  -------  ---------
linear         linear           2        0          2
output         output           1        0          1
relu           relu             1        0          1
x              placeholder      1        0          1

file quantize/quantize_table.csv:
Ori name,New name,MASE_TYPE,Mase_OP,Original type,Quantized type,Changed,Why
x,x,placeholder,placeholder,x,x,False,op has nothing to round
fc1,fc1,module_related_func,linear,linear,linear,False,no quantize pass has run
act,act,module_related_func,relu,relu,relu,False,no quantize pass has run
fc2,fc2,module_related_func,linear,linear,linear,False,no quantize pass has run
output,output,output,output,output,output,False,op has nothing to round

file quantize/quantize_histogram.csv:
Original type,OP,Total,Changed,Unchanged
linear,linear,2,0,2
output,output,1,0,1
relu,relu,1,0,1
x,placeholder,1,0,1
