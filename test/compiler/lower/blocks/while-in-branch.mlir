// RUN: dtranspile compile %s --fetch loss --fetch x@GRAD --cache %t.cache -o %t
// RUN: dtranspile show %t | FileCheck %s

// y = 1.5 x; mean(x) > 0.1 ? three times: y = sin(y) x : y = 2 y. loss = sum(y w), and its gradient, as PaddlePaddle 2.6 builds them.
// The loop's lists stay as they are until the branch's gradient.

// CHECK:      if {{.*}} {
// CHECK:        call dt_list_clear({{.*}}) -> [[TURNS:turns]]
// CHECK-NEXT:   call dt_list_clear({{.*}}) -> [[SINS:sin.tape]]
// CHECK:        while {{.*}} {
// CHECK:          call dt_list_push(sin {{.*}}) -> [[SINS]]
// CHECK:          call dt_list_push({{.*}}) -> [[TURNS]]
// CHECK-NEXT:   }
// CHECK:      }
// CHECK-NOT:  dt_list_push

// The branch's gradient finds the lists where they are.
// CHECK:      call dt_list_any([[TURNS]] {{.*}}) -> [[LEFT:more[^ ]*]]{{.*}}# while_grad
// CHECK-NEXT: while [[LEFT]] {{.*}} {
// CHECK-NEXT:   call dt_list_pop({{.*}}) -> [[TURNS]]
// CHECK-NEXT:   call dt_list_pop({{.*}}) -> [[SINS]] {{[^,]+}}, [[SIN:sin#[0-9]+]]
// CHECK:        kernel elementwise_mul_grad({{.*}}[[SIN]]
// CHECK:      }
// CHECK:      } else {
// CHECK-NEXT:   call dt_zeros_like(y {{.*}}) -> y@GRAD@RENAME@block0@1
// CHECK:      fetch x@GRAD: float32[2x3]

pd.var @x : tensor<2x3xf32>
pd.var @w : tensor<2x3xf32>
pd.program @main attributes {version = 2006002 : i64} {
  %0 = pd.get @x : tensor<2x3xf32>
  %1 = pd.get @w : tensor<2x3xf32>
  %2 = pd.fill_constant -> Out("unused") {dtype = 3 : i32, shape = array<i64: 1>, value = 0.0 : f32} : () -> tensor<1xi64>
  %3 = pd.fill_constant -> Out("n") {dtype = 3 : i32, shape = array<i64: 1>, value = 3.0 : f32} : () -> tensor<1xi64>
  %4 = pd.scale X(%0) -> Out("y") {scale = 1.5 : f32} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %5 = pd.reduce_mean X(%0) -> Out("mean") {dim = array<i32>, reduce_all = true} : (tensor<2x3xf32>) -> tensor<f32>
  %6 = pd.fill_constant -> Out("limit") {dtype = 5 : i32, shape = array<i64>, value = 0.1 : f32} : () -> tensor<f32>
  %7 = pd.greater_than X(%5) Y(%6) -> Out("large") : (tensor<f32>, tensor<f32>) -> tensor<i1>
  %8 = pd.undef "a" : tensor<2x3xf32>
  %9:2 = pd.conditional_block "$capture"(%4, %3, %0, %8) Cond(%7) Input(%4, %3, %0) -> Out("a") Scope("tape_a") {is_scalar_condition = true, sub_block = #pd.block<1>} blocks [{captures = ["y", "n", "x", "a"], idx = 1 : i32, locals = [], parent = 0 : i32, saved = ["z", "more", "k", "tape_z", "n", "x"], written = ["a"]}] {
  ^bb0(%arg0: tensor<2x3xf32>, %arg1: tensor<1xi64>, %arg2: tensor<2x3xf32>, %arg3: tensor<2x3xf32>):
    %28 = pd.fill_constant -> Out("k") {dtype = 3 : i32, shape = array<i64: 1>, value = 0.0 : f32} : () -> tensor<1xi64>
    %29 = pd.scale X(%arg0) -> Out("z") {scale = 1.0 : f32} : (tensor<2x3xf32>) -> tensor<2x3xf32>
    %30 = pd.less_than X(%28) Y(%arg1) -> Out("more") : (tensor<1xi64>, tensor<1xi64>) -> tensor<1xi1>
    %31:4 = pd.while "$capture"(%28, %29, %arg2, %arg1, %30) Condition(%30) X(%29, %28, %arg1, %arg2) -> Out("z", "more", "k") StepScopes("tape_z") {sub_block = #pd.block<2>} blocks [{captures = ["k", "z", "x", "n", "more"], idx = 2 : i32, locals = [], parent = 1 : i32, saved = ["z", "sin", "x"], written = ["k", "z", "more"]}] {
    ^bb0(%arg4: tensor<1xi64>, %arg5: tensor<2x3xf32>, %arg6: tensor<2x3xf32>, %arg7: tensor<1xi64>, %arg8: tensor<1xi1>):
      %33 = pd.scale X(%arg4) -> Out("k_next") {bias = 1.0 : f32, scale = 1.0 : f32} : (tensor<1xi64>) -> tensor<1xi64>
      %34 = pd.sin X(%arg5) -> Out("sin") : (tensor<2x3xf32>) -> tensor<2x3xf32>
      %35 = pd.elementwise_mul X(%34) Y(%arg6) -> Out("z_next") : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
      %36 = pd.less_than X(%33) Y(%arg7) -> Out("more_next") : (tensor<1xi64>, tensor<1xi64>) -> tensor<1xi1>
      %37 = pd.assign X(%33) -> Out("k") : (tensor<1xi64>) -> tensor<1xi64>
      %38 = pd.assign X(%35) -> Out("z") : (tensor<2x3xf32>) -> tensor<2x3xf32>
      %39 = pd.assign X(%36) -> Out("more") : (tensor<1xi1>) -> tensor<1xi1>
      pd.yield %37, %38, %39, %arg5, %34, %arg6 : tensor<1xi64>, tensor<2x3xf32>, tensor<1xi1>, tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>
    } : (tensor<1xi64>, tensor<2x3xf32>, tensor<2x3xf32>, tensor<1xi64>, tensor<1xi1>, tensor<1xi1>, tensor<2x3xf32>, tensor<1xi64>, tensor<1xi64>, tensor<2x3xf32>) -> (tensor<2x3xf32>, tensor<1xi1>, tensor<1xi64>, !pd.tape)
    %32 = pd.assign X(%31#0) -> Out("a") : (tensor<2x3xf32>) -> tensor<2x3xf32>
    pd.yield %32, %31#0, %31#1, %31#2, %31#3, %arg1, %arg2 : tensor<2x3xf32>, tensor<2x3xf32>, tensor<1xi1>, tensor<1xi64>, !pd.tape, tensor<1xi64>, tensor<2x3xf32>
  } : (tensor<2x3xf32>, tensor<1xi64>, tensor<2x3xf32>, tensor<2x3xf32>, tensor<i1>, tensor<2x3xf32>, tensor<1xi64>, tensor<2x3xf32>) -> (tensor<2x3xf32>, !pd.tape)
  %10 = pd.logical_not X(%7) -> Out("small") : (tensor<i1>) -> tensor<i1>
  %11 = pd.undef "b" : tensor<2x3xf32>
  %12:2 = pd.conditional_block "$capture"(%4, %11) Cond(%10) Input(%4) -> Out("b") Scope("tape_b") {is_scalar_condition = true, sub_block = #pd.block<3>} blocks [{captures = ["y", "b"], idx = 3 : i32, locals = [], parent = 0 : i32, saved = [], written = ["b"]}] {
  ^bb0(%arg0: tensor<2x3xf32>, %arg1: tensor<2x3xf32>):
    %28 = pd.scale X(%arg0) -> Out("twice_y") {scale = 2.0 : f32} : (tensor<2x3xf32>) -> tensor<2x3xf32>
    %29 = pd.assign X(%28) -> Out("b") : (tensor<2x3xf32>) -> tensor<2x3xf32>
    pd.yield %29 : tensor<2x3xf32>
  } : (tensor<2x3xf32>, tensor<2x3xf32>, tensor<i1>, tensor<2x3xf32>) -> (tensor<2x3xf32>, !pd.tape)
  %13 = pd.cast X(%7) -> Out("branch") {in_dtype = 0 : i32, out_dtype = 2 : i32} : (tensor<i1>) -> tensor<i32>
  %14 = pd.select_input Mask(%13) X(%12#0, %9#0) -> Out("chosen") : (tensor<i32>, tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  %15 = pd.elementwise_mul X(%14) Y(%1) -> Out("product") : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  %16 = pd.reduce_sum X(%15) -> Out("loss") {reduce_all = true} : (tensor<2x3xf32>) -> tensor<f32>
  %17 = pd.fill_any_like X(%16) -> Out("loss@GRAD") {dtype = 5 : i32, value = 1.0 : f32} : (tensor<f32>) -> tensor<f32>
  %18 = pd.reduce_sum_grad "Out@GRAD"(%17) X(%15) -> "X@GRAD"("product@GRAD") {reduce_all = true} : (tensor<f32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  %19 = pd.elementwise_mul_grad "Out@GRAD"(%18) X(%14) Y(%1) -> "X@GRAD"("chosen@GRAD") : (tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  %20 = pd.undef "b@GRAD" : tensor<2x3xf32>
  %21 = pd.undef "a@GRAD" : tensor<2x3xf32>
  %22:2 = pd.select_output Mask(%13) X(%19) "$Out"(%20, %21) -> Out("b@GRAD", "a@GRAD") : (tensor<i32>, tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>) -> (tensor<2x3xf32>, tensor<2x3xf32>)
  %23 = pd.conditional_block_grad "$capture"(%22#0) Cond(%10) Input(%4) Out(%12#0) "Out@GRAD"(%22#0) Scope(%12#1) -> "Input@GRAD"("y@GRAD@RENAME@block0@0") {is_scalar_condition = true, sub_block = #pd.block<4>} blocks [{captures = ["b@GRAD"], forward = 3 : i32, idx = 4 : i32, locals = [], parent = 0 : i32, saved = [], written = []}] {
  ^bb0(%arg0: tensor<2x3xf32>):
    %28 = pd.assign X(%arg0) -> Out("twice_y@GRAD") : (tensor<2x3xf32>) -> tensor<2x3xf32>
    %29 = pd.scale X(%28) -> Out("y@GRAD") {scale = 2.0 : f32} : (tensor<2x3xf32>) -> tensor<2x3xf32>
    pd.yield
  } : (tensor<2x3xf32>, tensor<i1>, tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>, !pd.tape) -> tensor<2x3xf32>
  %24:2 = pd.conditional_block_grad "$capture"(%22#1) Cond(%7) Input(%4, %3, %0) Out(%9#0) "Out@GRAD"(%22#1) Scope(%9#1) -> "Input@GRAD"("y@GRAD@RENAME@block0@1", empty, "x@GRAD@RENAME@block0@0") {is_scalar_condition = true, sub_block = #pd.block<5>} blocks [{captures = ["a@GRAD"], forward = 1 : i32, idx = 5 : i32, locals = ["z", "more", "k", "tape_z", "n", "x"], parent = 0 : i32, saved = [], written = []}] {
  ^bb0(%arg0: tensor<2x3xf32>, %arg1: tensor<2x3xf32>, %arg2: tensor<1xi1>, %arg3: tensor<1xi64>, %arg4: !pd.tape, %arg5: tensor<1xi64>, %arg6: tensor<2x3xf32>):
    %28 = pd.assign X(%arg0) -> Out("z@GRAD") : (tensor<2x3xf32>) -> tensor<2x3xf32>
    %29:2 = pd.while_grad "$capture"(%28) Out(%arg1, %arg2, %arg3) "Out@GRAD"(%28) StepScopes(%arg4) X(%arg1, %arg3, %arg5, %arg6) -> "X@GRAD"("z@GRAD", empty, empty, "x@GRAD") {original_output_grad = ["z@GRAD"], sub_block = #pd.block<6>} blocks [{captures = ["z@GRAD"], forward = 2 : i32, idx = 6 : i32, locals = ["sin", "x", "z"], parent = 5 : i32, saved = ["x@GRAD"], written = ["z@GRAD"]}] {
    ^bb0(%arg7: tensor<2x3xf32>, %arg8: tensor<2x3xf32>, %arg9: tensor<2x3xf32>, %arg10: tensor<2x3xf32>):
      %31 = pd.assign X(%arg7) -> Out("z_next@GRAD") : (tensor<2x3xf32>) -> tensor<2x3xf32>
      %32:2 = pd.elementwise_mul_grad "Out@GRAD"(%31) X(%arg8) Y(%arg9) -> "X@GRAD"("sin@GRAD") "Y@GRAD"("x@GRAD") : (tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>) -> (tensor<2x3xf32>, tensor<2x3xf32>)
      %33 = pd.sin_grad "Out@GRAD"(%32#0) X(%arg10) -> "X@GRAD"("z@GRAD") : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
      pd.yield %33, %32#1 : tensor<2x3xf32>, tensor<2x3xf32>
    } : (tensor<2x3xf32>, tensor<2x3xf32>, tensor<1xi1>, tensor<1xi64>, tensor<2x3xf32>, !pd.tape, tensor<2x3xf32>, tensor<1xi64>, tensor<1xi64>, tensor<2x3xf32>) -> (tensor<2x3xf32>, tensor<2x3xf32>)
    %30 = pd.scale X(%29#0) -> Out("y@GRAD") {scale = 1.0 : f32} : (tensor<2x3xf32>) -> tensor<2x3xf32>
    pd.yield
  } : (tensor<2x3xf32>, tensor<i1>, tensor<2x3xf32>, tensor<1xi64>, tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>, !pd.tape) -> (tensor<2x3xf32>, tensor<2x3xf32>)
  %25 = pd.sum X(%23, %24#0) -> Out("y@GRAD") : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  %26 = pd.scale X(%25) -> Out("x@GRAD@RENAME@block0@1") {scale = 1.5 : f32} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %27 = pd.sum X(%24#1, %26) -> Out("x@GRAD") : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
}
