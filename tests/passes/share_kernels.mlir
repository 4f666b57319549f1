// RUN: burin-opt %s --burin-form-kernels --burin-share-kernels --burin-plan-memory --burin-pack-weights=target=x86-64-avx2 | FileCheck %s

#time = #encoder.rows<"time", 16>

// Two layers, one kernel; each call reads its own blob. Values that never live together share scratch: three values of
// 64 bytes a row, two places.
// CHECK-LABEL: func.func @forward
// CHECK-SAME:  encoder.scratch_row_bytes = array<i64: 128, 0, 0, 0, 0, 0>
// CHECK:       call @kernel_0({{.*}}) {encoder.blob = 0 : i64, encoder.scope = "a", encoder.scratch = array<i64: 0>}
// CHECK:       call @kernel_0({{.*}}) {encoder.blob = 320 : i64, encoder.scope = "b", encoder.scratch = array<i64: 64>}
// CHECK:       call @kernel_0({{.*}}) {encoder.blob = 0 : i64, encoder.scope = "a", encoder.scratch = array<i64: 0>}
// CHECK:       call @kernel_1({{.*}}) {encoder.blob = 640 : i64, encoder.scratch = array<i64: -1>}
// The matrix lies in panels, the bias behind it on the next line of 64 bytes.
// CHECK:       func.func private @kernel_0
// CHECK-SAME:  tensor<8x8xf32> {encoder.panel = 8 : i64, encoder.weight_offset = 0 : i64}
// CHECK-SAME:  tensor<8xf32> {encoder.weight_offset = 64 : i64}
// CHECK-SAME:  encoder.blob_bytes = 320 : i64
// CHECK:       func.func private @kernel_1
// CHECK-SAME:  encoder.out_in
// CHECK-NOT:   func.func
module @model {
  func.func @forward(%x: tensor<?x8xf32, #time> {encoder.name = "x"}) -> (tensor<?x8xf32, #time> {encoder.name = "y"}) {
    %W1 = encoder.parameter "a.W" init "normal" : tensor<8x8xf32>
    %b1 = encoder.parameter "a.b" init "normal" : tensor<8xf32>
    %W2 = encoder.parameter "b.W" init "normal" : tensor<8x8xf32>
    %b2 = encoder.parameter "b.b" init "normal" : tensor<8xf32>
    %0 = encoder.dense %x, %W1, %b1 {encoder.scope = "a"} : tensor<?x8xf32, #time>, tensor<8x8xf32>, tensor<8xf32>
    %1 = encoder.dense %0, %W2, %b2 {encoder.scope = "b"} : tensor<?x8xf32, #time>, tensor<8x8xf32>, tensor<8xf32>
    %2 = encoder.dense %1, %W1, %b1 {encoder.scope = "a"} : tensor<?x8xf32, #time>, tensor<8x8xf32>, tensor<8xf32>
    %3 = encoder.dense %2, %W1 out_in : tensor<?x8xf32, #time>, tensor<8x8xf32>
    return %3 : tensor<?x8xf32, #time>
  }
}
