// What a record chooses of form_kernels, for each entry by name.

// RUN: burin-opt %s --burin-derive-step --burin-form-kernels | FileCheck %s --check-prefix=DERIVED
// RUN: burin-opt %s --burin-derive-step --burin-form-kernels=choices=forward.norm_in_contract=0,step.whole_step=0 | FileCheck %s --check-prefix=NORM
// RUN: burin-opt %s --burin-derive-step --burin-form-kernels=choices=forward.residual_in_contract=0 | FileCheck %s --check-prefix=RESIDUAL
// RUN: burin-opt %s --burin-derive-step --burin-form-kernels='whole-limit=0 choices=step.whole_step=1' | FileCheck %s --check-prefix=WHOLE
// RUN: not burin-opt %s --burin-form-kernels=choices=forward.whole_step=2 2>&1 | FileCheck %s --check-prefix=RANGE
// RUN: not burin-opt %s --burin-form-kernels=choices=stride.whole_step=1 2>&1 | FileCheck %s --check-prefix=ENTRY

// RANGE: error: choices: whole_step is 2, expected 0 to 1
// ENTRY: error: choices: the graph has no entry 'stride'

#time = #encoder.rows<"time", 16>

// A contract with its residual and norm, and a second contract: two kernels, and one for a step.
// DERIVED-LABEL: func.func @forward
// DERIVED-COUNT-2: call @kernel_
// DERIVED-NOT:   call
// DERIVED:       return
// DERIVED-LABEL: func.func @step
// DERIVED-COUNT-1: call @kernel_
// DERIVED-NOT:   call
// DERIVED:       return

// The norm is a kernel of its own; the residual stays. A step is not one kernel.
// NORM-LABEL: func.func @forward
// NORM-COUNT-3: call @kernel_
// NORM-NOT:   call
// NORM:       return
// NORM-LABEL: func.func @step
// NORM-COUNT-2: call @kernel_
// NORM-NOT:   call
// NORM:       return
// NORM:       func.func private @kernel_0
// NORM:       encoder.dense
// NORM-NEXT:  encoder.add
// NORM-NEXT:  return
// NORM:       func.func private @kernel_1{{.*}}encoder.kernel = "row_reduce"
// NORM:       encoder.layer_norm
// NORM-NEXT:  return

// Residual and norm are a kernel together.
// RESIDUAL-LABEL: func.func @forward
// RESIDUAL-COUNT-3: call @kernel_
// RESIDUAL-NOT:   call
// RESIDUAL:       return
// RESIDUAL:       func.func private @kernel_0
// RESIDUAL:       encoder.dense
// RESIDUAL-NEXT:  return
// RESIDUAL:       func.func private @kernel_1{{.*}}encoder.kernel = "row_reduce"
// RESIDUAL:       encoder.add
// RESIDUAL-NEXT:  encoder.layer_norm

// Beyond the limit of the cost model, too.
// WHOLE-LABEL: func.func @step
// WHOLE-COUNT-1: call @kernel_
// WHOLE-NOT:   call
// WHOLE:       return
// WHOLE:       encoder.kernel = "whole"
module @model {
  func.func @forward(%x: tensor<?x8xf32, #time> {encoder.name = "x"}) -> (tensor<?x8xf32, #time> {encoder.name = "y"}) {
    %W1 = encoder.parameter "W1" init "normal" : tensor<8x8xf32>
    %W2 = encoder.parameter "W2" init "normal" : tensor<8x8xf32>
    %gamma = encoder.parameter "gamma" init "ones" : tensor<8xf32>
    %beta = encoder.parameter "beta" init "zeros" : tensor<8xf32>
    %h = encoder.dense %x, %W1 : tensor<?x8xf32, #time>, tensor<8x8xf32>
    %s = encoder.add %h, %x : tensor<?x8xf32, #time>, tensor<?x8xf32, #time>
    %n = encoder.layer_norm %s, %gamma, %beta, 1.0e-5 : tensor<?x8xf32, #time>, tensor<8xf32>, tensor<8xf32>
    %y = encoder.dense %n, %W2 : tensor<?x8xf32, #time>, tensor<8x8xf32>
    return %y : tensor<?x8xf32, #time>
  }
}
