// RUN: burin-opt %s --canonicalize | FileCheck %s

#time = #encoder.rows<"time", 16>

// Q, K and V read the same rows: they become one contract, and each is columns of its result.
// CHECK-LABEL: func.func @siblings_become_one_contract
// CHECK:       %[[W:.*]] = encoder.concatenate %{{.*}}, %{{.*}}, %{{.*}} axis 1 : tensor<8x4xf32>, tensor<8x8xf32>, tensor<8x8xf32>
// CHECK:       %[[ALL:.*]] = encoder.dense %{{.*}}, %[[W]]
// CHECK-DAG:   encoder.slice %[[ALL]][0, 4]
// CHECK-DAG:   encoder.slice %[[ALL]][4, 8]
// CHECK-DAG:   encoder.slice %[[ALL]][12, 8]
// CHECK-NOT:   encoder.dense
func.func @siblings_become_one_contract(%x: tensor<?x8xf32, #time>) -> (tensor<?x4xf32, #time>, tensor<?x8xf32, #time>, tensor<?x8xf32, #time>) {
  %a = encoder.parameter "a" init "normal" : tensor<8x4xf32>
  %b = encoder.parameter "b" init "normal" : tensor<8x8xf32>
  %0 = encoder.dense %x, %a : tensor<?x8xf32, #time>, tensor<8x4xf32>
  %1 = encoder.dense %x, %b : tensor<?x8xf32, #time>, tensor<8x8xf32>
  %c = encoder.parameter "c" init "normal" : tensor<8x8xf32>
  %2 = encoder.dense %x, %c : tensor<?x8xf32, #time>, tensor<8x8xf32>
  return %0, %1, %2 : tensor<?x4xf32, #time>, tensor<?x8xf32, #time>, tensor<?x8xf32, #time>
}

// A bias on one and none on the other, or another order of storage, stay apart.
// CHECK-LABEL: func.func @unlike_siblings_stay_apart
// CHECK-COUNT-3: encoder.dense
func.func @unlike_siblings_stay_apart(%x: tensor<?x8xf32, #time>) -> (tensor<?x8xf32, #time>, tensor<?x8xf32, #time>, tensor<?x8xf32, #time>) {
  %a = encoder.parameter "a" init "normal" : tensor<8x8xf32>
  %b = encoder.parameter "b" init "normal" : tensor<8x8xf32>
  %c = encoder.parameter "c" init "zeros" : tensor<8xf32>
  %0 = encoder.dense %x, %a : tensor<?x8xf32, #time>, tensor<8x8xf32>
  %1 = encoder.dense %x, %b, %c : tensor<?x8xf32, #time>, tensor<8x8xf32>, tensor<8xf32>
  %2 = encoder.dense %x, %b out_in : tensor<?x8xf32, #time>, tensor<8x8xf32>
  return %0, %1, %2 : tensor<?x8xf32, #time>, tensor<?x8xf32, #time>, tensor<?x8xf32, #time>
}

// CHECK-LABEL: func.func @dropout_and_whole_slices_fold_away
// CHECK-SAME:  (%[[X:.*]]: tensor
// CHECK-NEXT:  %[[Y:.*]] = encoder.relu %[[X]]
// CHECK-NEXT:  return %[[Y]]
func.func @dropout_and_whole_slices_fold_away(%x: tensor<?x8xf32, #time>) -> tensor<?x8xf32, #time> {
  %0 = encoder.dropout %x, 1.0e-01 : tensor<?x8xf32, #time>
  %1 = encoder.slice %0[0, 8] : tensor<?x8xf32, #time>
  %2 = encoder.relu %1 : tensor<?x8xf32, #time>
  return %2 : tensor<?x8xf32, #time>
}
