// What the text of a class may say and a job may not.
// RUN: dtranspile-opt %s | FileCheck %s

// CHECK: module attributes {dist.class = "trainer[pp=0]", dist.ranks = #dist.sel<pp = 0>, dist.role = "trainer"}
module attributes {dist.class = "trainer[pp=0]", dist.role = "trainer", dist.ranks = #dist.sel<pp = 0>} {
  dist.mesh @w [dp = 2, pp = 4] time [micro = 2]
  dist.comm @all on @w over [dp, pp] group
  dist.comm @tie on @w over [pp] subset <pp in {0, 3}> group
  dist.comm @next on @w over [pp] pairs
  dist.comm @ps on @w over [dp] rpc @trainer
  pd.program @main {
    %x = pd.input "x" : tensor<2xf32>
    // The members are of several classes.
    // CHECK: dist.all_reduce sum(%{{.*}}) on @all
    %a = dist.all_reduce sum (%x) on @all : (tensor<2xf32>) -> tensor<2xf32>
    // CHECK: dist.all_reduce sum(%{{.*}}) on @tie
    %t = dist.all_reduce sum (%x) on @tie : (tensor<2xf32>) -> tensor<2xf32>
    // The root is this class: its result is plain.
    // CHECK: dist.reduce sum(%{{.*}}) on @tie to <pp = 0> : (tensor<2xf32>) -> tensor<2xf32>
    %r = dist.reduce sum (%x) on @tie to <pp = 0> : (tensor<2xf32>) -> tensor<2xf32>
    // CHECK: dist.send %{{.*}} on @next to 1 : tensor<2xf32>
    dist.send %x on @next to 1 : tensor<2xf32>
    // CHECK: dist.recv on @next from 3 {variable = "h"} : tensor<2xf32>
    %h = dist.recv on @next from 3 {variable = "h"} : tensor<2xf32>
    dist.micro over [micro] schedule ("1F1B", chunks 1) {
      // CHECK: %{{.*}} = dist.on <pp = 0> task F -> (tensor<2xf32>) {
      %f = dist.on <pp = 0> task F -> (tensor<2xf32>) { dist.yield %x : tensor<2xf32> }
      dist.yield
    }
  }
}
