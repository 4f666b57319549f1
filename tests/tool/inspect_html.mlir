// The page of an inspection: what should be drawn is there, with its numbers, and no name breaks it. How it looks is the
// matter of tests/pages.

// RUN: burin inspect %s --target generic-x86-64 --html %t.html
// RUN: FileCheck %s < %t.html
// CHECK: <title>deep</title>
// CHECK-NOT: {{<script|https?://}}
// CHECK: for <b>generic-x86-64</b>, in <b>float32</b> · a&lt;b&amp;&quot;t&quot; ≤ 16
// CHECK: parameters</span><b>224</b><small>4 tensors
// CHECK: weights</span><b>1.79 kB</b>
// CHECK: state</span><b>192 B</b><small>1 values
// CHECK: <td>forward</td><td>5</td><td>6.21 kFLOP</td><td>2.11 kB</td>
// CHECK: <td>step</td><td>1</td>

// Three equal blocks are drawn once, and each one on request.
// CHECK: <h2>The graph</h2>
// CHECK-NEXT: × 3</span> <b>block0…2</b>
// CHECK-SAME: input</span> <b>x</b>
// CHECK-SAME: class="box op contract" data-op="%0"
// CHECK-SAME: 2.05 kFLOP
// CHECK-SAME: a&lt;b&amp;&quot;t&quot; × 8
// CHECK-SAME: class="box op pointwise" data-op="%1"
// CHECK-SAME: <b>relu</b>
// CHECK-SAME: data-op="%2"
// CHECK-NOT: data-op="%5"
// CHECK-SAME: data-op="%9"
// CHECK-SAME: <b>mean_over_time</b>
// CHECK-SAME: output</span> <b>y</b>
// CHECK: All 13 boxes, one after another
// CHECK-SAME: data-op="%5"

// CHECK: <h2>After fusion: forward</h2>
// CHECK: × 3</span> <b>block0…2</b>
// CHECK-SAME: data-kernel="kernel_0"
// CHECK-SAME: 2.05 kFLOP · 33.0 %
// CHECK-SAME: dense · relu · add
// CHECK-SAME: data-kernel="kernel_1"
// CHECK-SAME: mean_over_time
// CHECK-SAME: data-kernel="kernel_2"
// CHECK-SAME: <span class="tag">&lt;i&gt;&quot;head&quot;&amp;</span>

// Shares of the work, where nothing was measured.
// CHECK: Shares of the FLOPs; not measured: <code>--measure</code> times it
// CHECK: data-bar="kernel_0"{{.*}}× 3</span>
// CHECK-SAME: 6.14 kFLOP · {{[0-9.]+}} %
// CHECK-SAME: width:

// Each value lies at its offset from the call that makes it to the last that reads it.
// CHECK: 32 B at 0, made by kernel_0, call 1 of 5, read up to call 2</title><rect x="0.000%" y="67.5" width="40.000%"

// CHECK: <h2>step</h2> 1 call
// CHECK: <h2>State</h2>
// CHECK: sum
// CHECK: <h2>Kernels</h2>
// CHECK: data-card="kernel_0"
// CHECK-SAME: 3 in forward

// The page is made from what --json gives, edges and lifetimes too.
// RUN: burin inspect %s --target generic-x86-64 --json | FileCheck %s --check-prefix=JSON
// JSON: "from": {
// JSON-NEXT: "op": 10
// JSON: "name": "%2"
// JSON: "reads": [
// JSON-NEXT: {
// JSON-NEXT: "input": "x"
// JSON: "op": 1
// JSON: "extents": [
// JSON-NEXT: "a<b&\"t\""
// JSON-NEXT: 8
// JSON: "scope": "block0",
// JSON: "last_read_by": 1
// JSON-NOT: "measured"

// Measured, a bar is time.
// RUN: burin inspect %s --measure --html %t.measured.html
// RUN: FileCheck %s --check-prefix=MEASURED < %t.measured.html
// MEASURED: <small>one thread</small>
// MEASURED: <th>median</th>
// MEASURED: <td>forward</td>{{.*}}<td>{{[0-9.]+}} {{ns|us|ms}}</td>
// MEASURED: Time of each kernel
// MEASURED-SAME: % of the FMA peak
// MEASURED-NEXT: data-bar="kernel_0"{{.*}}{{[0-9.]+}} {{ns|us|ms}} · {{[0-9.]+}} %{{.*}} % of peak
// RUN: burin inspect %s --measure | FileCheck %s --check-prefix=TEXT
// TEXT: measured, one thread; FMA peak {{[0-9.]+}} GFLOP/s
// TEXT-NEXT: forward, a<b&"t" 16: {{[0-9.]+}} {{ns|us|ms}} median
// TEXT-NEXT: kernel_0 {{.*}} % of the kernels' time
// TEXT: step: {{.*}} median

// RUN: not burin inspect %s --html %t.absent/page.html 2>&1 | FileCheck %s --check-prefix=ABSENT
// ABSENT: error: {{.*}}page.html: {{[Nn]}}o such file or directory
// RUN: not burin inspect %s --html %t.html --json 2>&1 | FileCheck %s --check-prefix=BOTH
// BOTH: --json excludes --html
// RUN: not burin inspect %s -j 2 2>&1 | FileCheck %s --check-prefix=JOBS
// JOBS: --jobs requires --measure

#time = #encoder.rows<"a<b&\22t\22", 16>
#one = #encoder.per_sequence
module @deep {
  func.func @forward(%x: tensor<?x8xf32, #time> {encoder.name = "x"}) -> (tensor<?x4xf32, #one> {encoder.name = "y"}) {
    %W0 = encoder.parameter "block0.W" init "normal" : tensor<8x8xf32>
    %d0 = encoder.dense %x, %W0 {encoder.scope = "block0"} : tensor<?x8xf32, #time>, tensor<8x8xf32>
    %r0 = encoder.relu %d0 {encoder.scope = "block0"} : tensor<?x8xf32, #time>
    %s0 = encoder.add %x, %r0 {encoder.scope = "block0"} : tensor<?x8xf32, #time>, tensor<?x8xf32, #time>
    %W1 = encoder.parameter "block1.W" init "normal" : tensor<8x8xf32>
    %d1 = encoder.dense %s0, %W1 {encoder.scope = "block1"} : tensor<?x8xf32, #time>, tensor<8x8xf32>
    %r1 = encoder.relu %d1 {encoder.scope = "block1"} : tensor<?x8xf32, #time>
    %s1 = encoder.add %s0, %r1 {encoder.scope = "block1"} : tensor<?x8xf32, #time>, tensor<?x8xf32, #time>
    %W2 = encoder.parameter "block2.W" init "normal" : tensor<8x8xf32>
    %d2 = encoder.dense %s1, %W2 {encoder.scope = "block2"} : tensor<?x8xf32, #time>, tensor<8x8xf32>
    %r2 = encoder.relu %d2 {encoder.scope = "block2"} : tensor<?x8xf32, #time>
    %s2 = encoder.add %s1, %r2 {encoder.scope = "block2"} : tensor<?x8xf32, #time>, tensor<?x8xf32, #time>
    %m = encoder.mean_over_time %s2 : tensor<?x8xf32, #time>
    %V = encoder.parameter "V" init "normal" : tensor<8x4xf32>
    %y = encoder.dense %m, %V {encoder.scope = "<i>\22head\22&"} : tensor<?x8xf32, #one>, tensor<8x4xf32>
    return %y : tensor<?x4xf32, #one>
  }
}
