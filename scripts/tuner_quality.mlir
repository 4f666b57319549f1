// A kernel of each class but `whole`, of sizes as the control loop has them, for tuner_quality.py.
#time = #encoder.rows<"time", 64>
module @classes {
  func.func @forward(%x: tensor<?x128xf32, #time> {encoder.name = "x"})
      -> (tensor<?x128xf32, #time> {encoder.name = "y"}, tensor<?x192xf32, #time> {encoder.name = "z"},
          tensor<?x128xf32, #encoder.per_sequence> {encoder.name = "m"}) {
    %g = encoder.parameter "g" init "ones" : tensor<128xf32>
    %b = encoder.parameter "b" init "zeros" : tensor<128xf32>
    %W = encoder.parameter "W" init "normal" : tensor<128x192xf32>
    %n = encoder.layer_norm %x, %g, %b, 1.0e-5 : tensor<?x128xf32, #time>, tensor<128xf32>, tensor<128xf32>
    %a = encoder.attention %n, %n, %n heads 4 scale 1.767766e-01 causal false : tensor<?x128xf32, #time>, tensor<?x128xf32, #time>, tensor<?x128xf32, #time>
    %y = encoder.gelu %a : tensor<?x128xf32, #time>
    %z = encoder.dense %x, %W : tensor<?x128xf32, #time>, tensor<128x192xf32>
    %m = encoder.mean_over_time %y : tensor<?x128xf32, #time>
    return %y, %z, %m : tensor<?x128xf32, #time>, tensor<?x192xf32, #time>, tensor<?x128xf32, #encoder.per_sequence>
  }
}
