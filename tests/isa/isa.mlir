// A causal layer, small enough for an emulator, with a kernel of each class.
#time = #encoder.rows<"time", 40>
module @isa {
  func.func @forward(%x: tensor<?x8xf32, #time> {encoder.name = "x"}) -> (tensor<?x24xf32, #time> {encoder.name = "y"}) {
    %W_Q = encoder.parameter "W_Q" init "normal" : tensor<8x8xf32>
    %W_K = encoder.parameter "W_K" init "normal" : tensor<8x8xf32>
    %W_V = encoder.parameter "W_V" init "normal" : tensor<8x8xf32>
    %gamma = encoder.parameter "gamma" init "normal" : tensor<8xf32>
    %beta = encoder.parameter "beta" init "normal" : tensor<8xf32>
    %W = encoder.parameter "W" init "normal" : tensor<8x24xf32>
    %q = encoder.dense %x, %W_Q : tensor<?x8xf32, #time>, tensor<8x8xf32>
    %k = encoder.dense %x, %W_K : tensor<?x8xf32, #time>, tensor<8x8xf32>
    %v = encoder.dense %x, %W_V : tensor<?x8xf32, #time>, tensor<8x8xf32>
    %a = encoder.attention %q, %k, %v heads 2 scale 0.5 causal true
        : tensor<?x8xf32, #time>, tensor<?x8xf32, #time>, tensor<?x8xf32, #time>
    %s = encoder.add %x, %a : tensor<?x8xf32, #time>, tensor<?x8xf32, #time>
    %n = encoder.layer_norm %s, %gamma, %beta, 1.0e-5 : tensor<?x8xf32, #time>, tensor<8xf32>, tensor<8xf32>
    %h = encoder.dense %n, %W : tensor<?x8xf32, #time>, tensor<8x24xf32>
    %y = encoder.gelu %h : tensor<?x24xf32, #time>
    return %y : tensor<?x24xf32, #time>
  }
}
