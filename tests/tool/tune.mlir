// burin tune, with a runner whose times are a formula: the search finds the best point that there is, records are kept and
// used, a second run goes on, SIGINT keeps what was found, and what goes wrong is said.

// RUN: rm -rf %t && mkdir %t
// RUN: burin tune %s --target x86-64-avx2 --cpu some-cpu --runner "python3 %S/cost_runner.py" --database %t/tuned.json --budget 300s --html %t/page.html | FileCheck %s
// CHECK: small for x86-64-avx2 on some-cpu
// CHECK: kernel rows default tuned gain
// CHECK-DAG: contract_{{[0-9a-f]+}} 1 {{.*}} tile_rows=3
// CHECK-DAG: contract_{{[0-9a-f]+}} 2-4 {{.*}} tile_rows=3
// CHECK: the default reaches {{[0-9.]+}} % of the tuned speed
// CHECK: records are in {{.*}}tuned.json, for: compile --database {{.*}}tuned.json

// RUN: FileCheck %s --check-prefix=FILE < %t/tuned.json
// FILE: {"cpu": "some-cpu", "records": [
// FILE: {"kernel":"contract_{{[0-9a-f]+}}","about":"dense","rows":"1","target":"x86-64-avx2","parameters":{"tile_rows":3,{{.*}}"depth_unroll":4},"seconds":{{.*}},"default_seconds":{{.*}},"date":"{{20[0-9]+-[0-9]+-[0-9]+}}","compiler":"burin {{.*}}, Halide {{.*}}, schedules {{[0-9]+}}"}
// RUN: FileCheck %s --check-prefix=PAGE < %t/page.html
// PAGE: <h2>What was gained</h2>
// PAGE: data-gain="contract_
// PAGE: data-search="contract_
// PAGE: tile_rows

// A second run has nothing to do.
// RUN: burin tune %s --target x86-64-avx2 --cpu some-cpu --runner "false" --database %t/tuned.json 2>&1 | FileCheck %s --check-prefix=KNOWN
// KNOWN: 3 of 3 kernels are in {{.*}}tuned.json already and are skipped; --again searches them again
// KNOWN: contract_{{.*}}, known

// What is compiled, and what inspect says of it.
// RUN: burin inspect %s --target x86-64-avx2 --database %t/tuned.json | FileCheck %s --check-prefix=INSPECT
// INSPECT: kernel_0 contract dense
// INSPECT-NEXT: rows {{.*}}: record of {{.*}} rows{{.*}}tile_rows=3
// RUN: burin inspect %s --target x86-64-avx2 --json | FileCheck %s --check-prefix=DERIVED
// DERIVED: "from": "derived"
// DERIVED: "tuned_on": null
// RUN: burin compile %s -o %t/tuned --target x86-64-avx2 --database %t/tuned.json
// RUN: burin compile %s -o %t/derived --target x86-64-avx2
// RUN: not cmp %t/tuned/small.o %t/derived/small.o
// RUN: burin compile %s -o %t/none --target x86-64-avx2 --database none
// RUN: cmp %t/none/small.o %t/derived/small.o
// RUN: cp %t/tuned.json %t/copy.json
// RUN: burin compile %s -o %t/again --target x86-64-avx2 --cpu some-cpu --database %t/copy.json
// RUN: cmp %t/tuned/small.o %t/again/small.o

// SIGINT: what was found is kept, and the next run goes on from there.
// RUN: not burin tune %s --target x86-64-avx2 --cpu some-cpu --runner "python3 %S/cost_runner.py --interrupt %t/calls 18" --budget 900s --database %t/part.json 2>&1 | FileCheck %s --check-prefix=ENDED
// ENDED: {{ended early|ended by the user}}
// RUN: burin tune %s --target x86-64-avx2 --cpu some-cpu --runner "python3 %S/cost_runner.py" --budget 900s --database %t/part.json --json 2>&1 | FileCheck %s --check-prefix=ON
// ON: 1 of 3 kernels are in {{.*}}part.json already
// ON-DAG: "known":true
// ON-DAG: "known":false

// Merging.
// RUN: burin tune --merge %t/tuned.json %t/part.json -o %t/both.json | FileCheck %s --check-prefix=MERGED
// MERGED: both.json: {{[0-9]+}} records of some-cpu
// RUN: sed s/some-cpu/other-cpu/ %t/tuned.json > %t/other.json
// RUN: not burin tune --merge %t/tuned.json %t/other.json -o %t/both.json 2>&1 | FileCheck %s --check-prefix=CPUS
// CPUS: error: databases of the CPUs 'some-cpu' and 'other-cpu' cannot be merged
// RUN: not burin compile %s -o %t/x --target x86-64-avx2 --cpu znver3 --database %t/tuned.json 2>&1 | FileCheck %s --check-prefix=OTHER
// OTHER: error: {{.*}}tuned.json: a database of CPU 'some-cpu', expected 'znver3'

// Damaged and stale records are left out by name.
// RUN: sed -e 's/"tile_rows":3/"tile_rows":99/' %t/tuned.json > %t/bad.json
// RUN: burin compile %s -o %t/bad --target x86-64-avx2 --database %t/bad.json 2>&1 | FileCheck %s --check-prefix=BAD
// BAD: warning: {{.*}}bad.json: record 0 contract_{{[0-9a-f]+}} 1 x86-64-avx2 is left out: tile_rows is 99, expected 1 to 32
// RUN: sed -e 's/schedules [0-9]*"/schedules 0"/' %t/tuned.json > %t/stale.json
// RUN: burin compile %s -o %t/stale --target x86-64-avx2 --database %t/stale.json 2>&1 | FileCheck %s --check-prefix=STALE
// STALE: warning: {{.*}}stale.json: record 0 {{.*}} is left out: stale: measured with 'burin {{.*}}, schedules 0', this is
// RUN: cmp %t/stale/small.o %t/derived/small.o
// RUN: echo '[[[' > %t/broken.json
// RUN: burin compile %s -o %t/broken --target x86-64-avx2 --database %t/broken.json 2>&1 | FileCheck %s --check-prefix=BROKEN
// BROKEN: warning: {{.*}}broken.json: no tuning database

// Nothing could be measured: exit status 1.
// RUN: not burin tune %s --target x86-64-avx2 --cpu some-cpu --runner "python3 %S/cost_runner.py --fail" --database %t/none.json 2>&1 | FileCheck %s --check-prefix=FAIL
// FAIL: error: no kernel was measured: runner '{{.*}}' ended with status 1: the board is not there
// RUN: not burin tune %s --target x86-64-avx2 --cpu some-cpu --runner "python3 %S/cost_runner.py --garbled" --database %t/none.json 2>&1 | FileCheck %s --check-prefix=GARBLED
// GARBLED: error: no kernel was measured: runner '{{.*}}' did not give a time and bits for each kernel and size
// RUN: not burin tune %s --target x86-64-avx2 --runner true 2>&1 | FileCheck %s --check-prefix=CPU
// CPU: error: --runner without --cpu
// RUN: not burin tune %s --target generic-x86-64 --runner true --cpu some-cpu 2>&1 | FileCheck %s --check-prefix=GENERIC
// GENERIC: error: target 'generic-x86-64' has the schedules that are correct everywhere, which have no parameters
// RUN: not burin tune %s --budget soon 2>&1 | FileCheck %s --check-prefix=BUDGET
// BUDGET: error: --budget 'soon', expected a time such as 120s or 5min
// RUN: not burin tune %s --start tile_rows=99 2>&1 | FileCheck %s --check-prefix=START
// START: error: --start: tile_rows is 99, expected 1 to 32
// RUN: not burin tune 2>&1 | FileCheck %s --check-prefix=NOTHING
// NOTHING: GRAPH or --merge is required

#time = #encoder.rows<"time", 4>
module @small {
  func.func @forward(%x: tensor<?x48xf32, #time> {encoder.name = "x"}) -> (tensor<?x32xf32, #time> {encoder.name = "y"}) {
    %W = encoder.parameter "W" init "normal" : tensor<48x48xf32>
    %V = encoder.parameter "V" init "normal" : tensor<48x32xf32>
    %h = encoder.dense %x, %W : tensor<?x48xf32, #time>, tensor<48x48xf32>
    %y = encoder.dense %h, %V : tensor<?x48xf32, #time>, tensor<48x32xf32>
    return %y : tensor<?x32xf32, #time>
  }
}
