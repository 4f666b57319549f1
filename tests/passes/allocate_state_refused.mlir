// RUN: not burin-opt %s --burin-derive-step --burin-allocate-state=target=x86-64-avx2 2>&1 | FileCheck %s

// A cache of 2^20 rows of 4096 features: kernels count with 32 bits.
// CHECK: error: state value 'k_cache' has 4294967296 elements, expected at most 2147483647
// CHECK-NOT: error:
module @model {
  func.func @forward(%x: tensor<?x4096xf32, #encoder.rows<"time", 1048576>> {encoder.name = "x"}) -> (tensor<?x4096xf32, #encoder.rows<"time", 1048576>> {encoder.name = "y"}) {
    %y = encoder.attention %x, %x, %x heads 2 scale 0.5 causal true : tensor<?x4096xf32, #encoder.rows<"time", 1048576>>, tensor<?x4096xf32, #encoder.rows<"time", 1048576>>, tensor<?x4096xf32, #encoder.rows<"time", 1048576>>
    return %y : tensor<?x4096xf32, #encoder.rows<"time", 1048576>>
  }
}
