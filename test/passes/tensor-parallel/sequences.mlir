// Sequences in parts between two layers: a residual, a norm and a bias on parts; the terms of the
// first layer are cut by their sum, and the parts put together in front of the second; gradients
// the other way round. Those of Q and K meet that of the residual in one sum.
// RUN: dtranspile-opt %s --tensor-parallel="axes=mp sequence_parallel=true" 2>&1 | FileCheck %s
// Without it sums are whole.
// RUN: dtranspile-opt %s --tensor-parallel="axes=mp" 2>&1 | FileCheck %s --check-prefix=WHOLE
// Sequences that the ranks do not divide, or of unknown extent, and pipelines: sums are whole.
// RUN: sed 's/?x6x/?x7x/g; s/?x6>/?x7>/g' %s | dtranspile-opt --tensor-parallel="axes=mp sequence_parallel=true" 2>&1 | FileCheck %s --check-prefixes=ODD,WHOLE
// RUN: sed 's/?x6x/?x?x/g; s/?x6>/?x?>/g' %s | dtranspile-opt --tensor-parallel="axes=mp sequence_parallel=true" 2>&1 | FileCheck %s --check-prefixes=OPEN,WHOLE
// RUN: sed 's/mp = 2]/mp = 2, micro = 2]/' %s | dtranspile-opt --tensor-parallel="axes=mp sequence_parallel=true" 2>&1 | FileCheck %s --check-prefix=WHOLE

// ODD: remark: tensor-parallel: is summed whole, and not in parts of a sequence: {{.*}}y{{.*}} (has a sequence of 7, which 2 ranks do not divide)
// OPEN: remark: tensor-parallel: is summed whole, and not in parts of a sequence: {{.*}}y{{.*}} (has a sequence of unknown extent)

// WHOLE-NOT: reduce_scatter
// WHOLE: dist.all_reduce sum
// WHOLE-NOT: reduce_scatter

// CHECK-NOT: remark
// CHECK: pd.program @main
// CHECK: %[[Y:.*]] = pd.mul X(%{{.*}}) Y(%{{.*}}) -> Out("y")
// CHECK-NEXT: %[[P:.*]] = dist.reduce_scatter sum(%[[Y]]) on @mp dim 1 : (tensor<?x6x8xf32>) -> tensor<?x3x8xf32>
// CHECK-NEXT: %[[Z:.*]] = pd.elementwise_add X(%[[P]]) {{.*}} -> tensor<?x3x8xf32>
// CHECK-NEXT: %[[CUT:.*]] = dist.slice %{{.*}} dim 1 layout <even(6)> over [mp] : tensor<?x6x8xf32> -> tensor<?x3x8xf32>
// CHECK-NEXT: %[[R:.*]] = pd.elementwise_add X(%[[CUT]]) Y(%[[Z]])
// CHECK-NEXT: %[[N:.*]]:3 = pd.layer_norm {{.*}} X(%[[R]]) {{.*}} -> (tensor<?x3xf32>, tensor<?x3xf32>, tensor<?x3x8xf32>)
// CHECK-NEXT: %[[D:.*]]:2 = pd.dropout X(%[[N]]#2) {{.*}}dist.streams = ["mp"]
// CHECK-NEXT: %[[PUT:.*]] = dist.all_gather(%[[D]]#1) on @mp dim 1 : (tensor<?x3x8xf32>) -> tensor<?x6x8xf32>
// CHECK-NEXT: pd.mul X(%[[PUT]]) {{.*}} -> Out("q")
// CHECK-NEXT: pd.mul X(%[[PUT]]) {{.*}} -> Out("k")
// CHECK: %[[O:.*]] = pd.mul {{.*}} -> Out("o")
// CHECK-NEXT: dist.reduce_scatter sum(%[[O]]) on @mp dim 1
// CHECK: pd.elementwise_add X(%[[D]]#1)
// CHECK: %[[DV:.*]]:2 = pd.elementwise_add_grad {{.*}} -> (tensor<?x3x8xf32>, tensor<?x3x8xf32>)
// CHECK-NEXT: dist.all_gather(%[[DV]]#1) on @mp dim 1
// CHECK: %[[SUM:.*]] = dist.composite "sum_of_terms"
// CHECK: pd.sum
// CHECK-NEXT: dist.reduce_scatter sum({{.*}}) on @mp dim 1 : (tensor<?x6x8xf32>) -> tensor<?x3x8xf32>
// CHECK-NEXT: pd.sum
// CHECK: pd.dropout_grad {{.*}} -> tensor<?x3x8xf32>
// CHECK: %[[G:.*]]:3 = pd.layer_norm_grad {{.*}} -> (tensor<8xf32>, tensor<8xf32>, tensor<?x3x8xf32>)
// CHECK-NEXT: %[[SUMS:.*]]:2 = dist.all_reduce sum(%[[G]]#0, %[[G]]#1) on @mp : (tensor<8xf32>, tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>)
// CHECK-NEXT: pd.sgd Grad(%[[SUMS]]#0)
// CHECK: pd.sgd Grad(%[[SUMS]]#1)

module {
  dist.mesh @world [dp = 1, mp = 2]
  dist.comm @mp on @world over [mp] group {carries = "layers"}
  dist.role @trainer on @world {
    pd.var @w1 : tensor<8x16xf32> {parameter}
    pd.var @w2 : tensor<16x8xf32> {parameter}
    pd.var @b2 : tensor<8xf32> {parameter}
    pd.var @scale : tensor<8xf32> {parameter}
    pd.var @bias : tensor<8xf32> {parameter}
    pd.var @wq : tensor<8x4xf32> {parameter}
    pd.var @wk : tensor<8x4xf32> {parameter}
    pd.var @wo : tensor<4x8xf32> {parameter}
    pd.var @lr : tensor<1xf32>
    pd.program @main {
      %x = pd.input "x" : tensor<?x6x8xf32>
      %w1 = pd.get @w1 : tensor<8x16xf32>
      %w2 = pd.get @w2 : tensor<16x8xf32>
      %b2 = pd.get @b2 : tensor<8xf32>
      %scale = pd.get @scale : tensor<8xf32>
      %bias = pd.get @bias : tensor<8xf32>
      %wq = pd.get @wq : tensor<8x4xf32>
      %wk = pd.get @wk : tensor<8x4xf32>
      %wo = pd.get @wo : tensor<4x8xf32>
      %lr = pd.get @lr : tensor<1xf32>
      %h = pd.mul X(%x) Y(%w1) -> Out("h") {x_num_col_dims = 2 : i32, y_num_col_dims = 1 : i32} : (tensor<?x6x8xf32>, tensor<8x16xf32>) -> tensor<?x6x16xf32>
      %a = pd.relu X(%h) -> Out("a") : (tensor<?x6x16xf32>) -> tensor<?x6x16xf32>
      %y = pd.mul X(%a) Y(%w2) -> Out("y") {x_num_col_dims = 2 : i32, y_num_col_dims = 1 : i32} : (tensor<?x6x16xf32>, tensor<16x8xf32>) -> tensor<?x6x8xf32>
      %z = pd.elementwise_add X(%y) Y(%b2) -> Out("z") {axis = 2 : i32} : (tensor<?x6x8xf32>, tensor<8xf32>) -> tensor<?x6x8xf32>
      %r = pd.elementwise_add X(%x) Y(%z) -> Out("r") {axis = -1 : i32} : (tensor<?x6x8xf32>, tensor<?x6x8xf32>) -> tensor<?x6x8xf32>
      %n:3 = pd.layer_norm Bias(%bias) Scale(%scale) X(%r) -> Mean("mean") Variance("variance") Y("n") {begin_norm_axis = 2 : i32} : (tensor<8xf32>, tensor<8xf32>, tensor<?x6x8xf32>) -> (tensor<?x6xf32>, tensor<?x6xf32>, tensor<?x6x8xf32>)
      %d:2 = pd.dropout X(%n#2) -> Mask("mask") Out("d") {dropout_implementation = "upscale_in_train", dropout_prob = 0.1 : f32} : (tensor<?x6x8xf32>) -> (tensor<?x6x8xui8>, tensor<?x6x8xf32>)
      %q = pd.mul X(%d#1) Y(%wq) -> Out("q") {x_num_col_dims = 2 : i32, y_num_col_dims = 1 : i32} : (tensor<?x6x8xf32>, tensor<8x4xf32>) -> tensor<?x6x4xf32>
      %k = pd.mul X(%d#1) Y(%wk) -> Out("k") {x_num_col_dims = 2 : i32, y_num_col_dims = 1 : i32} : (tensor<?x6x8xf32>, tensor<8x4xf32>) -> tensor<?x6x4xf32>
      %qk = pd.elementwise_mul X(%q) Y(%k) -> Out("qk") {axis = -1 : i32} : (tensor<?x6x4xf32>, tensor<?x6x4xf32>) -> tensor<?x6x4xf32>
      %o = pd.mul X(%qk) Y(%wo) -> Out("o") {x_num_col_dims = 2 : i32, y_num_col_dims = 1 : i32} : (tensor<?x6x4xf32>, tensor<4x8xf32>) -> tensor<?x6x8xf32>
      %v = pd.elementwise_add X(%d#1) Y(%o) -> Out("v") {axis = -1 : i32} : (tensor<?x6x8xf32>, tensor<?x6x8xf32>) -> tensor<?x6x8xf32>
      %loss = pd.mean X(%v) -> Out("loss") {op_role = 256 : i32} : (tensor<?x6x8xf32>) -> tensor<1xf32>
      %one = pd.fill_constant -> Out("loss@GRAD") {dtype = 5 : i32, op_role = 257 : i32, shape = array<i64: 1>, value = 1.000000e+00 : f32} : () -> tensor<1xf32>
      %dv = pd.mean_grad "Out@GRAD"(%one) X(%v) -> "X@GRAD"("v@GRAD") {op_role = 1 : i32} : (tensor<1xf32>, tensor<?x6x8xf32>) -> tensor<?x6x8xf32>
      %dvo:2 = pd.elementwise_add_grad "Out@GRAD"(%dv) X(%d#1) Y(%o) -> "X@GRAD"("d@GRAD@0") "Y@GRAD"("o@GRAD") {axis = -1 : i32, op_role = 1 : i32} : (tensor<?x6x8xf32>, tensor<?x6x8xf32>, tensor<?x6x8xf32>) -> (tensor<?x6x8xf32>, tensor<?x6x8xf32>)
      %do:2 = pd.mul_grad "Out@GRAD"(%dvo#1) X(%qk) Y(%wo) -> "X@GRAD"("qk@GRAD") "Y@GRAD"("wo@GRAD") {op_role = 1 : i32, x_num_col_dims = 2 : i32, y_num_col_dims = 1 : i32} : (tensor<?x6x8xf32>, tensor<?x6x4xf32>, tensor<4x8xf32>) -> (tensor<?x6x4xf32>, tensor<4x8xf32>)
      %dqk:2 = pd.elementwise_mul_grad "Out@GRAD"(%do#0) X(%q) Y(%k) -> "X@GRAD"("q@GRAD") "Y@GRAD"("k@GRAD") {axis = -1 : i32, op_role = 1 : i32} : (tensor<?x6x4xf32>, tensor<?x6x4xf32>, tensor<?x6x4xf32>) -> (tensor<?x6x4xf32>, tensor<?x6x4xf32>)
      %dk:2 = pd.mul_grad "Out@GRAD"(%dqk#1) X(%d#1) Y(%wk) -> "X@GRAD"("d@GRAD@1") "Y@GRAD"("wk@GRAD") {op_role = 1 : i32, x_num_col_dims = 2 : i32, y_num_col_dims = 1 : i32} : (tensor<?x6x4xf32>, tensor<?x6x8xf32>, tensor<8x4xf32>) -> (tensor<?x6x8xf32>, tensor<8x4xf32>)
      %dq:2 = pd.mul_grad "Out@GRAD"(%dqk#0) X(%d#1) Y(%wq) -> "X@GRAD"("d@GRAD@2") "Y@GRAD"("wq@GRAD") {op_role = 1 : i32, x_num_col_dims = 2 : i32, y_num_col_dims = 1 : i32} : (tensor<?x6x4xf32>, tensor<?x6x8xf32>, tensor<8x4xf32>) -> (tensor<?x6x8xf32>, tensor<8x4xf32>)
      %dd = pd.sum X(%dvo#0, %dk#0, %dq#0) -> Out("d@GRAD") {op_role = 1 : i32} : (tensor<?x6x8xf32>, tensor<?x6x8xf32>, tensor<?x6x8xf32>) -> tensor<?x6x8xf32>
      %dn = pd.dropout_grad Mask(%d#0) "Out@GRAD"(%dd) -> "X@GRAD"("n@GRAD") {dropout_implementation = "upscale_in_train", dropout_prob = 0.1 : f32, op_role = 1 : i32} : (tensor<?x6x8xui8>, tensor<?x6x8xf32>) -> tensor<?x6x8xf32>
      %dr:3 = pd.layer_norm_grad Bias(%bias) Mean(%n#0) Scale(%scale) Variance(%n#1) X(%r) "Y@GRAD"(%dn) -> "Bias@GRAD"("bias@GRAD") "Scale@GRAD"("scale@GRAD") "X@GRAD"("r@GRAD") {begin_norm_axis = 2 : i32, op_role = 1 : i32} : (tensor<8xf32>, tensor<?x6xf32>, tensor<8xf32>, tensor<?x6xf32>, tensor<?x6x8xf32>, tensor<?x6x8xf32>) -> (tensor<8xf32>, tensor<8xf32>, tensor<?x6x8xf32>)
      %ub = pd.sgd Grad(%dr#0) LearningRate(%lr) Param(%bias) -> ParamOut("bias") {op_role = 2 : i32} : (tensor<8xf32>, tensor<1xf32>, tensor<8xf32>) -> tensor<8xf32>
      pd.set @bias, %ub : tensor<8xf32>
      %us = pd.sgd Grad(%dr#1) LearningRate(%lr) Param(%scale) -> ParamOut("scale") {op_role = 2 : i32} : (tensor<8xf32>, tensor<1xf32>, tensor<8xf32>) -> tensor<8xf32>
      pd.set @scale, %us : tensor<8xf32>
    }
    pd.program @startup {
      %w1 = pd.fill_constant -> Out("w1") {dtype = 5 : i32, shape = array<i64: 8, 16>, value = 0.000000e+00 : f32} : () -> tensor<8x16xf32>
      pd.set @w1, %w1 : tensor<8x16xf32>
      %w2 = pd.fill_constant -> Out("w2") {dtype = 5 : i32, shape = array<i64: 16, 8>, value = 0.000000e+00 : f32} : () -> tensor<16x8xf32>
      pd.set @w2, %w2 : tensor<16x8xf32>
      %wq = pd.fill_constant -> Out("wq") {dtype = 5 : i32, shape = array<i64: 8, 4>, value = 0.000000e+00 : f32} : () -> tensor<8x4xf32>
      pd.set @wq, %wq : tensor<8x4xf32>
      %wk = pd.fill_constant -> Out("wk") {dtype = 5 : i32, shape = array<i64: 8, 4>, value = 0.000000e+00 : f32} : () -> tensor<8x4xf32>
      pd.set @wk, %wk : tensor<8x4xf32>
      %wo = pd.fill_constant -> Out("wo") {dtype = 5 : i32, shape = array<i64: 4, 8>, value = 0.000000e+00 : f32} : () -> tensor<4x8xf32>
      pd.set @wo, %wo : tensor<4x8xf32>
    }
  }
}
