// burin tune of what is chosen for a whole graph: which ops are one kernel, and when calls are split among threads. What
// is faster depends on the machine, so records are changed by hand where the test has to know what they say.

// RUN: rm -rf %t && mkdir %t
// RUN: burin tune %s --only fusion --budget 60s --database %t/fusion.json | FileCheck %s
// CHECK: kernel rows default tuned gain
// CHECK-DAG: forward_{{[0-9a-f]+}} any
// CHECK-DAG: step_{{[0-9a-f]+}} any
// CHECK: records are in {{.*}}fusion.json
// RUN: FileCheck %s --check-prefix=FILE < %t/fusion.json
// FILE: {"kernel":"forward_{{[0-9a-f]+}}","about":"the kernels of forward of small","rows":"any",{{.*}}"seconds":{{.*}},"default_seconds":
// FILE: {"kernel":"step_{{[0-9a-f]+}}","about":"the kernels of step of small","rows":"any",

// A second run has nothing to do; another graph has records of its own.
// RUN: burin tune %s --only fusion --database %t/fusion.json --json | FileCheck %s --check-prefix=KNOWN
// KNOWN: {"kernel":"forward_{{.*}}"known":true
// KNOWN: {"kernel":"step_{{.*}}"known":true

// What was tried, each with its gain or why it is refused.
// RUN: burin tune %s --only fusion --again --database %t/fusion.json --html %t/page.html --json | FileCheck %s --check-prefix=TRIED
// TRIED: {"kernel":"forward_{{.*}}"tried":[{{.*}}{"choices":"norm_in_contract=0","gain":
// TRIED: {"kernel":"step_{{.*}}"tried":[{{.*}}{"choices":"whole_step=0","gain":
// RUN: FileCheck %s --check-prefix=PAGE < %t/page.html
// PAGE: data-gain="forward_{{[0-9a-f]+}} any"

// compile takes what a record says, and inspect says that it does.
// RUN: sed -e '/forward_/s/"parameters":{[^}]*}/"parameters":{"norm_in_contract":0}/' -e '/step_/s/"parameters":{[^}]*}/"parameters":{"whole_step":0}/' %t/fusion.json > %t/chosen.json
// RUN: burin inspect %s --database %t/chosen.json | FileCheck %s --check-prefix=CHOSEN
// CHOSEN: forward: 3 calls
// CHOSEN-NEXT: kernels are formed as a record says: norm_in_contract=0
// CHOSEN: step: 2 calls
// CHOSEN-NEXT: kernels are formed as a record says: whole_step=0
// RUN: burin inspect %s --database none | FileCheck %s --check-prefix=DERIVED
// DERIVED: forward: 2 calls
// DERIVED-NOT: as a record says
// DERIVED: step: 1 calls
// DERIVED-NOT: as a record says
// DERIVED: threads: a worker gets at least 100.00 k FLOP of a call, a forward is split from 4.00 M FLOP on (derived)
// RUN: burin compile %s -o %t/chosen --database %t/chosen.json
// RUN: burin compile %s -o %t/derived --database none
// RUN: not cmp %t/chosen/small.o %t/derived/small.o

// The grain, of the threads that were asked for.
// RUN: burin tune %s --only parallel --threads 2 --budget 60s --database %t/grain.json | FileCheck %s --check-prefix=GRAIN
// GRAIN: parallel any
// RUN: sed -e 's/"parameters":{[^}]*}/"parameters":{"worker_work":25000}/' %t/grain.json > %t/fine.json
// RUN: burin inspect %s --database %t/fine.json | FileCheck %s --check-prefix=FINE
// FINE: threads: a worker gets at least 25.00 k FLOP of a call, a forward is split from 4.00 M FLOP on (record of 2 threads, forward of small)
// RUN: burin compile %s -o %t/fine --database %t/fine.json
// RUN: not cmp %t/fine/small.o %t/derived/small.o

// Damaged records are left out by name.
// RUN: sed -e 's/"worker_work":25000/"worker_work":0/' %t/fine.json > %t/bad.json
// RUN: burin compile %s -o %t/bad --database %t/bad.json 2>&1 | FileCheck %s --check-prefix=BAD
// BAD: warning: {{.*}}bad.json: record 0 parallel any {{.*}} is left out: worker_work is 0, expected 1000 to 1000000000
// RUN: cmp %t/bad/small.o %t/derived/small.o

// RUN: not burin tune %s --only parallel --database %t/x.json 2>&1 | FileCheck %s --check-prefix=ALONE
// ALONE: error: --only parallel without --threads, expected at least 2
// RUN: not burin tune %s --threads 65 2>&1 | FileCheck %s --check-prefix=MANY
// MANY: --threads: Value 65 not in range
// RUN: not burin tune %s --only fusion --target x86-64-avx2 --cpu some-cpu --runner true --database %t/x.json 2>&1 | FileCheck %s --check-prefix=RUNNER
// RUNNER: error: --only fusion with --runner: whole graphs are timed in this process alone

// Whole graphs are tuned in any precision, kernels in float32 alone.
// RUN: burin tune %s --precision bf16 --only fusion --database %t/fusion.json --budget 30s | FileCheck %s --check-prefix=BF16
// BF16-NOT: known
// BF16: forward_{{[0-9a-f]+}} any
// RUN: not burin tune %s --precision bf16 --database %t/x.json 2>&1 | FileCheck %s --check-prefix=KERNELS
// KERNELS: error: kernels with weights in bf16 are not tuned, expected float32, or --only fusion or parallel

#time = #encoder.rows<"time", 16>
module @small {
  func.func @forward(%x: tensor<?x48xf32, #time> {encoder.name = "x"}) -> (tensor<?x32xf32, #time> {encoder.name = "y"}) {
    %W = encoder.parameter "W" init "normal" : tensor<48x48xf32>
    %V = encoder.parameter "V" init "normal" : tensor<48x32xf32>
    %gamma = encoder.parameter "gamma" init "ones" : tensor<48xf32>
    %beta = encoder.parameter "beta" init "zeros" : tensor<48xf32>
    %h = encoder.dense %x, %W : tensor<?x48xf32, #time>, tensor<48x48xf32>
    %s = encoder.add %h, %x : tensor<?x48xf32, #time>, tensor<?x48xf32, #time>
    %n = encoder.layer_norm %s, %gamma, %beta, 1.0e-5 : tensor<?x48xf32, #time>, tensor<48xf32>, tensor<48xf32>
    %y = encoder.dense %n, %V : tensor<?x48xf32, #time>, tensor<48x32xf32>
    return %y : tensor<?x32xf32, #time>
  }
}
