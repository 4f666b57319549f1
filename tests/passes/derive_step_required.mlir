// RUN: not burin-opt %s --burin-derive-step -o /dev/null 2>&1 | FileCheck %s

#time = #encoder.rows<"time", 16>

// CHECK: [[@LINE+3]]:10: error: attention cannot be part of step: its boolean mask is not known before the whole sequence is
module @masked attributes {encoder.require_step} {
  func.func @forward(%x: tensor<?x8xf32, #time> {encoder.name = "x"}, %m: tensor<?x?xui8, #encoder.pairs<"time", 16, "time", 16>> {encoder.name = "m"}) -> (tensor<?x8xf32, #time> {encoder.name = "y"}) {
    %a = encoder.attention %x, %x, %x, mask %m heads 2 scale 0.5 causal true : tensor<?x8xf32, #time>, tensor<?x8xf32, #time>, tensor<?x8xf32, #time>, tensor<?x?xui8, #encoder.pairs<"time", 16, "time", 16>>
    return %a : tensor<?x8xf32, #time>
  }
}
// CHECK: remark: declare it without a mask; .causal = true and .window say what a stream sees
