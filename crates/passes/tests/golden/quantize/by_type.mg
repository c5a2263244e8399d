# run: quantize
# config:
#   [passes.quantize]
#   by = "type"
#   [passes.quantize.linear.config]
#   name = "integer"
#   data_in_width = 8
#   data_in_frac_width = 4
#   weight_width = 8
#   weight_frac_width = 6
#   bias_width = 8
#   bias_frac_width = 4
#   [passes.quantize.conv2d.config]
#   name = "mxint"
#   weight_width = 4
#   weight_block_size = 8
graph "convnet" {
  x: f32[N, 1, 4, 4] = placeholder
  conv = conv2d(x) { in_channels = 1, out_channels = 2, kernel_size = [3, 3], padding = [1, 1] }
  norm = batch_norm2d(conv) { num_features = 2 }
  act = relu(norm)
  pool = max_pool2d(act) { kernel_size = [2, 2] }
  flat = flatten(pool)
  fc = linear(flat) { in_features = 8, out_features = 2 }
  return fc
}
----
graph "convnet" {
  x: f32[N, 1, 4, 4] = placeholder
  conv = conv2d(x) { in_channels = 1, out_channels = 2, kernel_size = [3, 3], padding = [1, 1], weight: mxint(4, 8) }
  norm = batch_norm2d(conv) { num_features = 2, eps = 1e-5, momentum = 0.1 }
  act = relu(norm)
  pool = max_pool2d(act) { kernel_size = [2, 2], stride = [2, 2] }
  flat = flatten(pool) { start_dim = 1 }
  fc = linear(flat: integer(8, 4)) { in_features = 8, out_features = 2, weight: integer(8, 6), bias: integer(8, 4) }
  return fc
}

Rule    Formats                                                          Nodes  Names
------  ---------------------------------------------------------------  -----  -----
linear  data_in integer(8, 4), weight integer(8, 6), bias integer(8, 4)      1  fc
conv2d  weight mxint(4, 8)                                                   1  conv

Ori name  New name  MASE_TYPE            Mase_OP       Original type  Quantized type  Changed  Why
--------  --------  -------------------  ------------  -------------  --------------  -------  ---------------
x         x         placeholder          placeholder   x              x               False    no rule matched
conv      conv      module_related_func  conv2d        conv2d         conv2d_mxint    True     rule conv2d
norm      norm      module               batch_norm2d  BatchNorm2d    BatchNorm2d     False    no rule matched
act       act       module_related_func  relu          relu           relu            False    no rule matched
pool      pool      module_related_func  max_pool2d    max_pool2d     max_pool2d      False    no rule matched
flat      flat      implicit_func        flatten       flatten        flatten         False    no rule matched
fc        fc        module_related_func  linear        linear         linear_integer  True     rule linear
output    output    output               output        output         output          False    no rule matched

Original type  OP            Total  Changed  Unchanged
-------------  ------------  -----  -------  ---------
BatchNorm2d    batch_norm2d      1        0          1
conv2d         conv2d            1        1          0
flatten        flatten           1        0          1
linear         linear            1        1          0
max_pool2d     max_pool2d        1        0          1
output         output            1        0          1
relu           relu              1        0          1
x              placeholder       1        0          1

file quantize/quantize_table.csv:
Ori name,New name,MASE_TYPE,Mase_OP,Original type,Quantized type,Changed,Why
x,x,placeholder,placeholder,x,x,False,no rule matched
conv,conv,module_related_func,conv2d,conv2d,conv2d_mxint,True,rule conv2d
norm,norm,module,batch_norm2d,BatchNorm2d,BatchNorm2d,False,no rule matched
act,act,module_related_func,relu,relu,relu,False,no rule matched
pool,pool,module_related_func,max_pool2d,max_pool2d,max_pool2d,False,no rule matched
flat,flat,implicit_func,flatten,flatten,flatten,False,no rule matched
fc,fc,module_related_func,linear,linear,linear_integer,True,rule linear
output,output,output,output,output,output,False,no rule matched

file quantize/quantize_histogram.csv:
Original type,OP,Total,Changed,Unchanged
BatchNorm2d,batch_norm2d,1,0,1
conv2d,conv2d,1,1,0
flatten,flatten,1,0,1
linear,linear,1,1,0
max_pool2d,max_pool2d,1,0,1
output,output,1,0,1
relu,relu,1,0,1
x,placeholder,1,0,1
