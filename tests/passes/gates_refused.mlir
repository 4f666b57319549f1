// RUN: not burin-opt %s 2>&1 | FileCheck %s

// Named before it is made, and made inside a gate.
// CHECK: error: custom op 'encoder.gate' makes a value that is used outside of it
module @gated {
  func.func @forward(%x: tensor<?x8xf32, #encoder.rows<"time", 16>> {encoder.name = "x"}, %s: tensor<?x1xf32, #encoder.rows<"time", 16>> {encoder.name = "s"}) -> (tensor<?x8xf32, #encoder.rows<"time", 16>> {encoder.name = "y"}) {
    %z = encoder.relu %r : tensor<?x8xf32, #encoder.rows<"time", 16>>
    %y = encoder.gate %x, %s above 0.5 {
      %r = encoder.relu %x : tensor<?x8xf32, #encoder.rows<"time", 16>>
      encoder.yield %r : tensor<?x8xf32, #encoder.rows<"time", 16>>
    } : tensor<?x8xf32, #encoder.rows<"time", 16>>, tensor<?x1xf32, #encoder.rows<"time", 16>>
    return %y : tensor<?x8xf32, #encoder.rows<"time", 16>>
  }
}
