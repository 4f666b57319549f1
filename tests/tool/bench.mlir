// burin bench: the lengths asked for, a mixed batch, fresh processes, and a folder whose bench.json asks for them.

// RUN: burin bench %s --times 2,8 --mixed 5 --start-up | FileCheck %s
// RUN: burin bench --times 2,8 %s --mixed 5 --start-up | FileCheck %s
// CHECK: small on {{.*}}, one thread
// CHECK: forward, time 2
// CHECK: forward, time 8
// CHECK: no step
// CHECK: mixed batch: 5 texts of 2 to 4 tokens, {{[0-9]+}} tokens in all
// CHECK: forward_batch {{.*}} texts/s {{.*}} tokens/s
// CHECK: one by one {{.*}} texts/s {{.*}} tokens/s
// CHECK: start-up of a fresh process, 8 tokens, median of 5:
// CHECK: safetensors {{.*}} MB
// CHECK: packed {{.*}} MB

// The same from a folder; a component of the path may hold a `*`. Options given beat those of the file.
// RUN: rm -rf %t && mkdir -p %t/example %t/models-7
// RUN: cp %s %t/models-7/small.mlir
// RUN: echo '{"model": "../models-*/small.mlir", "times": [2, 8], "mixed": 5, "start_up": true}' > %t/example/bench.json
// RUN: burin bench %t/example | FileCheck %s
// RUN: burin bench %t/example --json --times 3 | FileCheck %s --check-prefix=JSON
// JSON-NOT: time 2
// JSON: {"entry":"forward, time 3",{{.*}}"median_s":
// JSON-NOT: time 8
// JSON: {"mixed":"forward_batch","sequences":5,"rows":{{[0-9]+}},{{.*}}"sequences_per_s":{{.*}},"rows_per_s":
// JSON-NEXT: {"mixed":"one by one",
// JSON-NEXT: {"start_up":"safetensors","rows":8,"processes":5,"open_median_s":{{.*}},"first_result_median_s":{{.*}},"peak_resident_bytes":
// JSON-NEXT: {"start_up":"packed",

// Threads, as many as the runtime takes.
// RUN: burin bench %s --times 8 --threads 3 | FileCheck %s --check-prefix=THREADS
// THREADS: small on {{.*}}, 3 threads in forward
// THREADS: forward, time 8
// RUN: not burin bench %s --threads 65 2>&1 | FileCheck %s --check-prefix=MANY
// MANY: --threads: Value 65 not in range

// Weights from a file.
// RUN: burin init %s -o %t/weights.safetensors
// RUN: burin bench %s --times 2 --weights %t/weights.safetensors | FileCheck %s --check-prefix=WEIGHTS
// WEIGHTS: forward, time 2
// RUN: not burin bench %s --times 2 --weights %t/absent 2>&1 | FileCheck %s --check-prefix=ABSENT
// ABSENT: error: {{.*}}absent

// RUN: not burin bench %s --times 9 2>&1 | FileCheck %s --check-prefix=LONG
// LONG: error: --times: 9 rows of 'time', the graph takes at most 8
// RUN: not burin bench %s --times 0 2>&1 | FileCheck %s --check-prefix=ZERO
// ZERO: --times: '0', expected a positive integer
// RUN: not burin bench --kernel contract --size 8x8x8 --mixed 3 2>&1 | FileCheck %s --check-prefix=KERNEL
// KERNEL: excludes
// RUN: not burin inspect %t/example 2>&1 | FileCheck %s --check-prefix=FOLDER
// FOLDER: example: a folder without config.json, expected a model's directory or a file of textual IR

// RUN: echo '{"model": "../absent-*/small.mlir"}' > %t/example/bench.json
// RUN: not burin bench %t/example 2>&1 | FileCheck %s --check-prefix=NOWHERE
// NOWHERE: bench.json: model: nothing is at '../absent-*/small.mlir'
// RUN: mkdir %t/models-8
// RUN: echo '{"model": "../models-*"}' > %t/example/bench.json
// RUN: not burin bench %t/example 2>&1 | FileCheck %s --check-prefix=SEVERAL
// SEVERAL: bench.json: model: '../models-*' is 2 files, '{{.*}}models-7' and '{{.*}}models-8' among them, expected 1
// RUN: echo '{"model": "../models-7/small.mlir", "lengths": [2]}' > %t/example/bench.json
// RUN: not burin bench %t/example 2>&1 | FileCheck %s --check-prefix=UNKNOWN
// UNKNOWN: bench.json: entry 'lengths' is [2], expected model (a path), times (positive integers), mixed (one), start_up (true or false)
// RUN: echo '{"model": ' > %t/example/bench.json
// RUN: not burin bench %t/example 2>&1 | FileCheck %s --check-prefix=BROKEN
// BROKEN: bench.json: not JSON

#time = #encoder.rows<"time", 8>
module @small {
  func.func @forward(%ids: tensor<?x1xi32, #time> {encoder.name = "ids"}) -> (tensor<?x8xf32, #time> {encoder.name = "y"}) {
    %table = encoder.parameter "table" init "normal" : tensor<5x8xf32>
    %x = encoder.embedding %ids, %table : tensor<?x1xi32, #time>, tensor<5x8xf32>
    %y = encoder.attention %x, %x, %x heads 2 scale 0.5 causal false : tensor<?x8xf32, #time>, tensor<?x8xf32, #time>, tensor<?x8xf32, #time>
    return %y : tensor<?x8xf32, #time>
  }
}
