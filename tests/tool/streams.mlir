// What the tool says and does with a graph of two streams: joints, which step takes, look at camera frames, which are
// appended, where a force signal opens a gate.

// RUN: burin inspect %s --target generic-x86-64 | FileCheck %s
// CHECK: graph
// CHECK: dense {{.*}} frames, W_K
// CHECK: attention {{.*}} x, %0, %0
// CHECK: %2 gate {{.*}} x, force, %1
// CHECK: streams
// CHECK-NEXT: joints, which step takes: no end; up to 8 at once
// CHECK-NEXT: camera, which append_camera takes: at most 6 rows after a reset; up to 6 at once
// CHECK: forward: 3 calls
// CHECK-NEXT: guard 0: open where some row's signal is above 0.5
// CHECK: for each sequence, guard 0
// CHECK: output y
// CHECK: {{^}}step:
// CHECK: {{^}}advance:
// CHECK: {{^}}append_camera:
// CHECK: state k_cache, state v_cache
// CHECK: append_camera, several rows:
// CHECK: state: {{[0-9]+}} bytes, of which 128 are its header
// CHECK-NEXT: k_cache f32[6,4] of camera
// CHECK-NEXT: v_cache f32[6,4] of camera

// RUN: burin bench %s --times 2 | FileCheck %s --check-prefix=BENCH
// BENCH: forward, joints 2, camera 2
// BENCH: append_camera {{.*}}s
// BENCH: step, camera 6 {{.*}}s

// The header is C99 and C++11, and says which function takes what.
// RUN: burin compile %s -o %t
// RUN: cc -std=c99 -Wall -Wextra -Wpedantic -Werror -fsyntax-only -I%S/../../runtime -x c %t/two.h
// RUN: c++ -std=c++11 -Wall -Wextra -Wpedantic -Werror -fsyntax-only -I%S/../../runtime -x c++ %t/two.h
// RUN: FileCheck %s --check-prefix=HEADER < %t/two.h
// HEADER: #define TWO_JOINTS_STREAM 0
// HEADER-NEXT: #define TWO_CAMERA_STREAM 1
// HEADER: #define TWO_FORWARD_KERNEL_STACK_BYTES
// HEADER-NEXT: #define TWO_STEP_KERNEL_STACK_BYTES
// HEADER-NEXT: #define TWO_ADVANCE_KERNEL_STACK_BYTES
// HEADER-NEXT: #define TWO_APPEND_CAMERA_KERNEL_STACK_BYTES
// HEADER: joints, which `step` and `advance` take: without end
// HEADER-NEXT: camera, which `append_camera` takes: at most 6 samples after a reset
// HEADER: where nothing was, attention to it
// HEADER: k_cache [samples of camera so far, 4]
// HEADER: burin_status two_reset_at(
// HEADER: burin_status two_step({{.*}}
// HEADER: x: [count, 4] float
// HEADER: burin_status two_advance(
// HEADER: frames: [count, 3] float
// HEADER-NEXT: */
// HEADER-NEXT: burin_status two_append_camera(
// HEADER: burin_status two_state_save(
// HEADER: burin_status two_state_load(

// Steps after all context give what forward gives; a signal of one column may stand as a list.
// RUN: burin init %s -o %t.weights
// RUN: python3 %S/tensors.py inputs %t.inputs x=5x4 force=5 frames=6x3
// RUN: burin run %s --weights %t.weights --inputs %t.inputs -o %t.forward
// RUN: burin run %s --weights %t.weights --inputs %t.inputs -o %t.steps --step
// RUN: python3 %S/tensors.py close %t.forward %t.steps

// A case compares every way of taking the streams, rows of open gates among them.
// RUN: python3 %S/tensors.py case %t.safetensors %s %t.weights %t.inputs %t.forward
// RUN: burin check %t.safetensors | FileCheck %s --check-prefix=CASE
// CASE: forward against the reference, f32[5,4]
// CASE: step against forward, f32[5,4]
// CASE: step from a saved state against step
// CASE: advance at once against step
// CASE: advance in odd chunks against step
// CASE: 'k_cache' after append_camera row by row, f32[6,4]
// CASE: 'v_cache' after append_camera in odd chunks, f32[6,4]
// CASE: 0 failed

#joints = #encoder.rows<"joints", 8>
#camera = #encoder.rows<"camera", 6>
module @two {
  func.func @forward(%x: tensor<?x4xf32, #joints> {encoder.name = "x"},
                     %force: tensor<?x1xf32, #joints> {encoder.name = "force"},
                     %frames: tensor<?x3xf32, #camera> {encoder.name = "frames"})
      -> (tensor<?x4xf32, #joints> {encoder.name = "y"}) {
    %y = encoder.gate %x, %force above 0.5 {
      %W_K = encoder.parameter "W_K" init "normal" : tensor<3x4xf32>
      %k = encoder.dense %frames, %W_K : tensor<?x3xf32, #camera>, tensor<3x4xf32>
      %update = encoder.attention %x, %k, %k heads 2 scale 0.5 causal false
          : tensor<?x4xf32, #joints>, tensor<?x4xf32, #camera>, tensor<?x4xf32, #camera>
      encoder.yield %update : tensor<?x4xf32, #joints>
    } : tensor<?x4xf32, #joints>, tensor<?x1xf32, #joints>
    return %y : tensor<?x4xf32, #joints>
  }
}
