// burin tune --compare-autoschedulers: the default beside what Halide's own autoschedulers make of the same algorithm.

// RUN: burin tune %s --target host --compare-autoschedulers --database none --only contract | FileCheck %s
// CHECK: contract_{{[0-9a-f]+}} 8 rows default {{[0-9.]+ [nu]s}} 1.00x
// CHECK: contract_{{[0-9a-f]+}} 8 rows Mullapudi2016 {{[0-9.]+ [nu]s}}
// CHECK: contract_{{[0-9a-f]+}} 8 rows Adams2019 {{[0-9.]+ [nu]s}}

#time = #encoder.rows<"time", 8>
module @small {
  func.func @forward(%x: tensor<?x32xf32, #time> {encoder.name = "x"}) -> (tensor<?x32xf32, #time> {encoder.name = "y"}) {
    %W = encoder.parameter "W" init "normal" : tensor<32x32xf32>
    %y = encoder.dense %x, %W : tensor<?x32xf32, #time>, tensor<32x32xf32>
    return %y : tensor<?x32xf32, #time>
  }
}
