// A pipeline: bodies of tasks and the stage's row of the schedule. What a micro-batch hands from task
// to task, and what is sent, has an instance for each one under way; the part of a feed, what is
// received and sums need none. A task adds its term where the sum lies.
// RUN: dtranspile-opt %s --specialize="class=trainer[pp=0]" 2>/dev/null | dtranspile-lower - | FileCheck %s --check-prefix=FIRST
// RUN: dtranspile-opt %s --specialize="class=trainer[pp=1]" 2>/dev/null | dtranspile-lower - | FileCheck %s --check-prefix=LAST
// RUN: sed 's/"1F1B"/"F-then-B"/' %s | dtranspile-opt --specialize="class=trainer[pp=0]" 2>/dev/null | dtranspile-lower - | FileCheck %s --check-prefix=ALL

// FIRST: program main
// FIRST-NEXT:   kernel fill_constant() -> w@GRAD float32[2]
// FIRST-NEXT:   copy w@GRAD float32[2] -> w@GRAD#1 float32[2]
// FIRST-NEXT:   micro micro micros 4 instances 2 order 0:0, 0:1, 1:0, 0:2, 1:1, 0:3, 1:2, 1:3 {
// FIRST-NEXT:     F {
// FIRST-NEXT:       slice x float32[12x2] -> x#1 float32[3x2] layout (even axes micro dim 0 extent 12 whole 12 2)
// FIRST-NEXT:       kernel elementwise_mul(x#1 float32[3x2], w float32[2]) -> m float32[3x2]
// FIRST-NEXT:       call dt_random_stream(; 1 2 'micro')
// FIRST-NEXT:       call dt_dropout(m float32[3x2], -; 0 0 0 0 0.5 'upscale_in_train') -> h float32[3x2], -
// FIRST-NEXT:       call dt_random_stream()
// FIRST-NEXT:       start send comm 0 root 1 inputs h float32[3x2] outputs  ticket 0
// FIRST-NEXT:     }
// FIRST-NEXT:     B {
// FIRST-NEXT:       start recv comm 1 root 1 inputs  outputs h@GRAD float32[3x2] ticket 1
// FIRST-NEXT:       wait 1
// FIRST-NEXT:       kernel reduce_sum(h@GRAD float32[3x2], x#1 float32[3x2]) -> w@GRAD#2 float32[2]
// FIRST-NEXT:       kernel sum(w@GRAD#1 float32[2], w@GRAD#2 float32[2]) -> w@GRAD#1 float32[2]
// FIRST-NEXT:     }
// FIRST-NEXT:   }
// FIRST-NEXT:   kernel elementwise_sub(w float32[2], w@GRAD#1 float32[2]) -> w float32[2]

// LAST: program main
// LAST-NEXT:   micro micro micros 4 instances 1 order 0:0, 1:0, 0:1, 1:1, 0:2, 1:2, 0:3, 1:3 {
// LAST-NEXT:     F {
// LAST-NEXT:       start recv comm 0 inputs  outputs h float32[3x2] ticket 0
// LAST-NEXT:       wait 0
// LAST-NEXT:       slice y float32[12x2] -> y#1 float32[3x2] layout (even axes micro dim 0 extent 12 whole 12 2)
// LAST-NEXT:       kernel elementwise_sub(y#1 float32[3x2], h float32[3x2]) -> o float32[3x2]
// LAST-NEXT:     }
// LAST-NEXT:     B {
// LAST-NEXT:       kernel elementwise_mul(h float32[3x2], o float32[3x2]) -> h@GRAD float32[3x2]
// LAST-NEXT:       start send comm 1 inputs h@GRAD float32[3x2] outputs  ticket 1
// LAST-NEXT:     }
// LAST-NEXT:   }

// ALL: program main
// ALL-NEXT:   kernel fill_constant() -> w@GRAD float32[2]
// ALL-NEXT:   copy w@GRAD float32[2] -> w@GRAD#1 float32[2]
// ALL-NEXT:   micro micro micros 4 instances 4 order 0:0, 0:1, 0:2, 0:3, 1:0, 1:1, 1:2, 1:3 {
// ALL-NEXT:     F {
// ALL-NEXT:       slice x float32[12x2] -> x#1 float32[3x2] layout (even axes micro dim 0 extent 12 whole 12 2)
// ALL-NEXT:       kernel elementwise_mul(x#1 float32[3x2], w float32[2]) -> m float32[3x2]
// ALL-NEXT:       call dt_random_stream(; 1 2 'micro')
// ALL-NEXT:       call dt_dropout(m float32[3x2], -; 0 0 0 0 0.5 'upscale_in_train') -> h float32[3x2], -
// ALL-NEXT:       call dt_random_stream()
// ALL-NEXT:       start send comm 0 root 1 inputs h float32[3x2] outputs  ticket 0
// ALL-NEXT:     }
// ALL-NEXT:     B {
// ALL-NEXT:       start recv comm 1 root 1 inputs  outputs h@GRAD float32[3x2] ticket 1
// ALL-NEXT:       wait 1
// ALL-NEXT:       kernel reduce_sum(h@GRAD float32[3x2], x#1 float32[3x2]) -> w@GRAD#2 float32[2]
// ALL-NEXT:       kernel sum(w@GRAD#1 float32[2], w@GRAD#2 float32[2]) -> w@GRAD#1 float32[2]
// ALL-NEXT:     }
// ALL-NEXT:   }
// ALL-NEXT:   kernel elementwise_sub(w float32[2], w@GRAD#1 float32[2]) -> w float32[2]

dist.mesh @world [pp = 2] time [micro = 4]
dist.comm @fwd on @world over [pp] pairs
dist.comm @bwd on @world over [pp] pairs
dist.role @trainer on @world {
  pd.var @w : tensor<2xf32> {dist.at = #dist.sel<pp = 0>}
  pd.program @main {
    %zero = dist.on <pp = 0> -> (!dist.at<tensor<2xf32>, pp = 0>) {
      %z = pd.fill_constant -> Out("w@GRAD") {dtype = 5 : i32, shape = array<i64: 2>, value = 0.0 : f32} : () -> tensor<2xf32>
      dist.yield %z : tensor<2xf32>
    }
    %sum = dist.micro over [micro] schedule ("1F1B", chunks 1) iter(%acc = %zero : !dist.at<tensor<2xf32>, pp = 0>) -> (!dist.at<tensor<2xf32>, pp = 0>) {
      %x = pd.input "x" {dist.batch = #dist.batch<0: micro>} : tensor<3x2xf32>
      %y = pd.input "y" {dist.batch = #dist.batch<0: micro>} : tensor<3x2xf32>
      %f0 = dist.on <pp = 0> task F -> (!dist.at<tensor<3x2xf32>, pp = 0>) {
        %p = pd.get @w : tensor<2xf32>
        %m = pd.elementwise_mul X(%x) Y(%p) -> Out("m") : (tensor<3x2xf32>, tensor<2xf32>) -> tensor<3x2xf32>
        %h:2 = pd.dropout X(%m) -> Mask("mask") Out("h") {dropout_prob = 0.5 : f32, dropout_implementation = "upscale_in_train", is_test = false, fix_seed = false, seed = 0 : i32} with {dist.streams = ["micro"], dist.src = 1 : i64} : (tensor<3x2xf32>) -> (tensor<3x2xui8>, tensor<3x2xf32>)
        dist.yield %h#1 : tensor<3x2xf32>
      }
      %h1 = dist.transfer %f0 on @fwd : !dist.at<tensor<3x2xf32>, pp = 0> -> !dist.at<tensor<3x2xf32>, pp = 1>
      %f1 = dist.on <pp = 1> with (%h = %h1 : !dist.at<tensor<3x2xf32>, pp = 1>) task F -> (!dist.at<tensor<3x2xf32>, pp = 1>) {
        %t = pd.tanh X(%h) -> Out("t") : (tensor<3x2xf32>) -> tensor<3x2xf32>
        %o = pd.elementwise_sub X(%t) Y(%y) -> Out("o") : (tensor<3x2xf32>, tensor<3x2xf32>) -> tensor<3x2xf32>
        dist.yield %o : tensor<3x2xf32>
      }
      %b1 = dist.on <pp = 1> with (%h = %h1 : !dist.at<tensor<3x2xf32>, pp = 1>, %o = %f1 : !dist.at<tensor<3x2xf32>, pp = 1>) task B -> (!dist.at<tensor<3x2xf32>, pp = 1>) {
        %g = pd.elementwise_mul X(%h) Y(%o) -> Out("h@GRAD") : (tensor<3x2xf32>, tensor<3x2xf32>) -> tensor<3x2xf32>
        dist.yield %g : tensor<3x2xf32>
      }
      %g0 = dist.transfer %b1 on @bwd : !dist.at<tensor<3x2xf32>, pp = 1> -> !dist.at<tensor<3x2xf32>, pp = 0>
      %n0 = dist.on <pp = 0> with (%g = %g0 : !dist.at<tensor<3x2xf32>, pp = 0>, %a = %acc : !dist.at<tensor<2xf32>, pp = 0>) task B -> (!dist.at<tensor<2xf32>, pp = 0>) {
        %gx = pd.elementwise_mul X(%g) Y(%x) -> Out("gx") : (tensor<3x2xf32>, tensor<3x2xf32>) -> tensor<3x2xf32>
        %gw = pd.reduce_sum X(%gx) -> Out("w@GRAD") {dim = array<i32: 0>} : (tensor<3x2xf32>) -> tensor<2xf32>
        %s = pd.sum X(%a, %gw) -> Out("w@GRAD") : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
        dist.yield %s : tensor<2xf32>
      }
      dist.yield %n0 : !dist.at<tensor<2xf32>, pp = 0>
    }
    dist.on <pp = 0> with (%g = %sum : !dist.at<tensor<2xf32>, pp = 0>) {
      %w = pd.get @w : tensor<2xf32>
      %n = pd.elementwise_sub X(%w) Y(%g) -> Out("w") : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
      pd.set @w, %n : tensor<2xf32>
      dist.yield
    }
  }
}
