// RUN: dtranspile compile %s --fetch loss --fetch x@GRAD --cache %t.cache -o %t
// RUN: dtranspile show %t | FileCheck %s

// y = 1.5 x; three times: y = 0.8 (mean(y) > 0.3 ? y sin(y) : y y - 0.5 x). loss = sum(y w), and its gradient, as PaddlePaddle 2.6 builds them.
// What the branches keep is pushed every turn, whether they were taken or not.

// CHECK:      while [[MORE:more#[0-9]+]] {{.*}} {
// CHECK:        kernel greater_than({{.*}}) -> large bool[]
// CHECK-NEXT:   copy large {{.*}} -> [[TAKEN:[^ ]+]] {{.*}}# conditional_block
// CHECK-NEXT:   if [[TAKEN]] {{.*}} {
// CHECK-NEXT:     kernel sin([[Y:y#[0-9]+]] float32[2x3]) -> sin float32[2x3]
// CHECK:        }
// CHECK:        if {{.*}} {
// CHECK-NEXT:     kernel elementwise_mul([[Y]] float32[2x3]) -> square float32[2x3]
// CHECK:        }
// CHECK:        dt_select_input(
// CHECK:        call dt_list_push(large {{.*}}) -> large.tape
// CHECK-NEXT:   call dt_list_push(small {{.*}}) -> small.tape
// CHECK:        call dt_list_push(sin {{.*}}) -> sin.tape
// CHECK:        call dt_list_push(square {{.*}}) -> square.tape
// CHECK:      }

// The gradient of x is summed over the turns, with zeros where its branch was not taken.
// CHECK:      call dt_zeros_like(x {{.*}}) -> [[SUM:x@GRAD[^ ]*]]{{.*}}# while_grad
// CHECK:      while {{.*}} {
// CHECK:        call dt_list_pop({{.*}}) -> small.tape {{[^,]+}}, [[SMALL:small#[0-9]+]]
// CHECK:        call dt_list_pop({{.*}}) -> square.tape {{[^,]+}}, [[SQUARE:square#[0-9]+]]
// CHECK:        copy [[SMALL]] {{.*}} -> [[TAKEN:[^ ]+]] {{.*}}# conditional_block_grad
// CHECK-NEXT:   if [[TAKEN]] {{.*}} {
// CHECK:          copy {{.*}} -> [[X:x@GRAD[^ ]*]] {{.*}}# conditional_block_grad
// CHECK-NEXT:   } else {
// CHECK:          call dt_zeros_like({{x#[0-9]+ .*}}) -> [[X]]
// CHECK:        }
// CHECK:        call dt_accumulate([[X]] {{.*}}) -> [[SUM]]
// CHECK:      }

pd.var @x : tensor<2x3xf32>
pd.var @w : tensor<2x3xf32>
pd.program @main attributes {version = 2006002 : i64} {
  %0 = pd.get @x : tensor<2x3xf32>
  %1 = pd.get @w : tensor<2x3xf32>
  %2 = pd.fill_constant -> Out("i") {dtype = 3 : i32, shape = array<i64: 1>, value = 0.0 : f32} : () -> tensor<1xi64>
  %3 = pd.fill_constant -> Out("n") {dtype = 3 : i32, shape = array<i64: 1>, value = 3.0 : f32} : () -> tensor<1xi64>
  %4 = pd.scale X(%0) -> Out("y") {scale = 1.5 : f32} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %5 = pd.less_than X(%2) Y(%3) -> Out("more") : (tensor<1xi64>, tensor<1xi64>) -> tensor<1xi1>
  %6:4 = pd.while "$capture"(%4, %0, %2, %3, %5) Condition(%5) X(%4, %2, %3, %0) -> Out("more", "i", "y") StepScopes("tape") {sub_block = #pd.block<1>} blocks [{captures = ["y", "x", "i", "n", "more"], idx = 1 : i32, locals = [], parent = 0 : i32, saved = ["y", "branch", "small", "x", "b", "tape_b", "large", "a", "tape_a"], written = ["i", "y", "more"]}] {
  ^bb0(%arg0: tensor<2x3xf32>, %arg1: tensor<2x3xf32>, %arg2: tensor<1xi64>, %arg3: tensor<1xi64>, %arg4: tensor<1xi1>):
    %15 = pd.reduce_mean X(%arg0) -> Out("mean") {dim = array<i32>, reduce_all = true} : (tensor<2x3xf32>) -> tensor<f32>
    %16 = pd.fill_constant -> Out("limit") {dtype = 5 : i32, shape = array<i64>, value = 0.3 : f32} : () -> tensor<f32>
    %17 = pd.greater_than X(%15) Y(%16) -> Out("large") : (tensor<f32>, tensor<f32>) -> tensor<i1>
    %18 = pd.undef "a" : tensor<2x3xf32>
    %19:2 = pd.conditional_block "$capture"(%arg0, %18) Cond(%17) Input(%arg0) -> Out("a") Scope("tape_a") {is_scalar_condition = true, sub_block = #pd.block<2>} blocks [{captures = ["y", "a"], idx = 2 : i32, locals = [], parent = 1 : i32, saved = ["sin", "y"], written = ["a"]}] {
    ^bb0(%arg5: tensor<2x3xf32>, %arg6: tensor<2x3xf32>):
      %31 = pd.sin X(%arg5) -> Out("sin") : (tensor<2x3xf32>) -> tensor<2x3xf32>
      %32 = pd.elementwise_mul X(%31) Y(%arg5) -> Out("sin_y") : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
      %33 = pd.assign X(%32) -> Out("a") : (tensor<2x3xf32>) -> tensor<2x3xf32>
      pd.yield %33, %31, %arg5 : tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>
    } : (tensor<2x3xf32>, tensor<2x3xf32>, tensor<i1>, tensor<2x3xf32>) -> (tensor<2x3xf32>, !pd.tape)
    %20 = pd.logical_not X(%17) -> Out("small") : (tensor<i1>) -> tensor<i1>
    %21 = pd.undef "b" : tensor<2x3xf32>
    %22:2 = pd.conditional_block "$capture"(%arg0, %arg1, %21) Cond(%20) Input(%arg0, %arg1) -> Out("b") Scope("tape_b") {is_scalar_condition = true, sub_block = #pd.block<3>} blocks [{captures = ["y", "x", "b"], idx = 3 : i32, locals = [], parent = 1 : i32, saved = ["square", "half_x", "y"], written = ["b"]}] {
    ^bb0(%arg5: tensor<2x3xf32>, %arg6: tensor<2x3xf32>, %arg7: tensor<2x3xf32>):
      %31 = pd.elementwise_mul X(%arg5) Y(%arg5) -> Out("square") : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
      %32 = pd.scale X(%arg6) -> Out("half_x") {scale = 0.5 : f32} : (tensor<2x3xf32>) -> tensor<2x3xf32>
      %33 = pd.elementwise_sub X(%31) Y(%32) -> Out("difference") : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
      %34 = pd.assign X(%33) -> Out("b") : (tensor<2x3xf32>) -> tensor<2x3xf32>
      pd.yield %34, %31, %32, %arg5 : tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>
    } : (tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>, tensor<i1>, tensor<2x3xf32>, tensor<2x3xf32>) -> (tensor<2x3xf32>, !pd.tape)
    %23 = pd.cast X(%17) -> Out("branch") {in_dtype = 0 : i32, out_dtype = 2 : i32} : (tensor<i1>) -> tensor<i32>
    %24 = pd.select_input Mask(%23) X(%22#0, %19#0) -> Out("chosen") : (tensor<i32>, tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
    %25 = pd.scale X(%arg2) -> Out("i_next") {bias = 1.0 : f32, scale = 1.0 : f32} : (tensor<1xi64>) -> tensor<1xi64>
    %26 = pd.scale X(%24) -> Out("y_next") {scale = 0.8 : f32} : (tensor<2x3xf32>) -> tensor<2x3xf32>
    %27 = pd.less_than X(%25) Y(%arg3) -> Out("more_next") : (tensor<1xi64>, tensor<1xi64>) -> tensor<1xi1>
    %28 = pd.assign X(%25) -> Out("i") : (tensor<1xi64>) -> tensor<1xi64>
    %29 = pd.assign X(%26) -> Out("y") : (tensor<2x3xf32>) -> tensor<2x3xf32>
    %30 = pd.assign X(%27) -> Out("more") : (tensor<1xi1>) -> tensor<1xi1>
    pd.yield %28, %29, %30, %arg0, %23, %20, %arg1, %22#0, %22#1, %17, %19#0, %19#1 : tensor<1xi64>, tensor<2x3xf32>, tensor<1xi1>, tensor<2x3xf32>, tensor<i32>, tensor<i1>, tensor<2x3xf32>, tensor<2x3xf32>, !pd.tape, tensor<i1>, tensor<2x3xf32>, !pd.tape
  } : (tensor<2x3xf32>, tensor<2x3xf32>, tensor<1xi64>, tensor<1xi64>, tensor<1xi1>, tensor<1xi1>, tensor<2x3xf32>, tensor<1xi64>, tensor<1xi64>, tensor<2x3xf32>) -> (tensor<1xi1>, tensor<1xi64>, tensor<2x3xf32>, !pd.tape)
  %7 = pd.elementwise_mul X(%6#2) Y(%1) -> Out("product") : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  %8 = pd.reduce_sum X(%7) -> Out("loss") {reduce_all = true} : (tensor<2x3xf32>) -> tensor<f32>
  %9 = pd.fill_any_like X(%8) -> Out("loss@GRAD") {dtype = 5 : i32, value = 1.0 : f32} : (tensor<f32>) -> tensor<f32>
  %10 = pd.reduce_sum_grad "Out@GRAD"(%9) X(%7) -> "X@GRAD"("product@GRAD") {reduce_all = true} : (tensor<f32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  %11 = pd.elementwise_mul_grad "Out@GRAD"(%10) X(%6#2) Y(%1) -> "X@GRAD"("y@GRAD") : (tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  %12:2 = pd.while_grad "$capture"(%11) Out(%6#0, %6#1, %6#2) "Out@GRAD"(%11) StepScopes(%6#3) X(%6#2, %6#1, %3, %0) -> "X@GRAD"("y@GRAD", empty, empty, "x@GRAD@RENAME@block0@0") {original_output_grad = ["y@GRAD"], sub_block = #pd.block<4>} blocks [{captures = ["y@GRAD"], forward = 1 : i32, idx = 4 : i32, locals = ["branch", "small", "y", "x", "b", "tape_b", "large", "a", "tape_a"], parent = 0 : i32, saved = [], written = ["y@GRAD"]}] {
  ^bb0(%arg0: tensor<2x3xf32>, %arg1: tensor<i32>, %arg2: tensor<i1>, %arg3: tensor<2x3xf32>, %arg4: tensor<2x3xf32>, %arg5: tensor<2x3xf32>, %arg6: !pd.tape, %arg7: tensor<i1>, %arg8: tensor<2x3xf32>, %arg9: !pd.tape):
    %15 = pd.assign X(%arg0) -> Out("y_next@GRAD") : (tensor<2x3xf32>) -> tensor<2x3xf32>
    %16 = pd.scale X(%15) -> Out("chosen@GRAD") {scale = 0.8 : f32} : (tensor<2x3xf32>) -> tensor<2x3xf32>
    %17 = pd.undef "b@GRAD" : tensor<2x3xf32>
    %18 = pd.undef "a@GRAD" : tensor<2x3xf32>
    %19:2 = pd.select_output Mask(%arg1) X(%16) "$Out"(%17, %18) -> Out("b@GRAD", "a@GRAD") : (tensor<i32>, tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>) -> (tensor<2x3xf32>, tensor<2x3xf32>)
    %20:3 = pd.conditional_block_grad "$capture"(%19#0, %arg0) Cond(%arg2) Input(%arg3, %arg4) Out(%arg5) "Out@GRAD"(%19#0) Scope(%arg6) -> "Input@GRAD"("y@GRAD@RENAME@block1@0", "x@GRAD") "$written"("y@GRAD") {is_scalar_condition = true, sub_block = #pd.block<5>} blocks [{captures = ["b@GRAD", "y@GRAD"], forward = 3 : i32, idx = 5 : i32, locals = ["square", "half_x", "y"], parent = 4 : i32, saved = ["x@GRAD"], written = ["y@GRAD"]}] {
    ^bb0(%arg10: tensor<2x3xf32>, %arg11: tensor<2x3xf32>, %arg12: tensor<2x3xf32>, %arg13: tensor<2x3xf32>, %arg14: tensor<2x3xf32>):
      %23 = pd.assign X(%arg10) -> Out("difference@GRAD") : (tensor<2x3xf32>) -> tensor<2x3xf32>
      %24:2 = pd.elementwise_sub_grad "Out@GRAD"(%23) X(%arg12) Y(%arg13) -> "X@GRAD"("square@GRAD") "Y@GRAD"("half_x@GRAD") : (tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>) -> (tensor<2x3xf32>, tensor<2x3xf32>)
      %25 = pd.scale X(%24#1) -> Out("x@GRAD") {scale = 0.5 : f32} : (tensor<2x3xf32>) -> tensor<2x3xf32>
      %26:2 = pd.elementwise_mul_grad "Out@GRAD"(%24#0) X(%arg14) Y(%arg14) -> "X@GRAD"("y@GRAD@RENAME@block3@0") "Y@GRAD"("y@GRAD@RENAME@block3@1") : (tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>) -> (tensor<2x3xf32>, tensor<2x3xf32>)
      %27 = pd.sum X(%26#0, %26#1) -> Out("y@GRAD") : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
      pd.yield %27, %25 : tensor<2x3xf32>, tensor<2x3xf32>
    } : (tensor<2x3xf32>, tensor<2x3xf32>, tensor<i1>, tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>, !pd.tape) -> (tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>)
    %21:2 = pd.conditional_block_grad "$capture"(%19#1, %20#2) Cond(%arg7) Input(%arg3) Out(%arg8) "Out@GRAD"(%19#1) Scope(%arg9) -> "Input@GRAD"("y@GRAD@RENAME@block1@1") "$written"("y@GRAD") {is_scalar_condition = true, sub_block = #pd.block<6>} blocks [{captures = ["a@GRAD", "y@GRAD"], forward = 2 : i32, idx = 6 : i32, locals = ["sin", "y"], parent = 4 : i32, saved = [], written = ["y@GRAD"]}] {
    ^bb0(%arg10: tensor<2x3xf32>, %arg11: tensor<2x3xf32>, %arg12: tensor<2x3xf32>, %arg13: tensor<2x3xf32>):
      %23 = pd.assign X(%arg10) -> Out("sin_y@GRAD") : (tensor<2x3xf32>) -> tensor<2x3xf32>
      %24:2 = pd.elementwise_mul_grad "Out@GRAD"(%23) X(%arg12) Y(%arg13) -> "X@GRAD"("sin@GRAD") "Y@GRAD"("y@GRAD@RENAME@block2@0") : (tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>) -> (tensor<2x3xf32>, tensor<2x3xf32>)
      %25 = pd.sin_grad "Out@GRAD"(%24#0) X(%arg13) -> "X@GRAD"("y@GRAD@RENAME@block2@1") : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
      %26 = pd.sum X(%24#1, %25) -> Out("y@GRAD") : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
      pd.yield %26 : tensor<2x3xf32>
    } : (tensor<2x3xf32>, tensor<2x3xf32>, tensor<i1>, tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>, !pd.tape) -> (tensor<2x3xf32>, tensor<2x3xf32>)
    %22 = pd.sum X(%20#0, %21#0) -> Out("y@GRAD") : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
    pd.yield %22 : tensor<2x3xf32>
  } : (tensor<2x3xf32>, tensor<1xi1>, tensor<1xi64>, tensor<2x3xf32>, tensor<2x3xf32>, !pd.tape, tensor<2x3xf32>, tensor<1xi64>, tensor<1xi64>, tensor<2x3xf32>) -> (tensor<2x3xf32>, tensor<2x3xf32>)
  %13 = pd.scale X(%12#0) -> Out("x@GRAD@RENAME@block0@1") {scale = 1.5 : f32} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %14 = pd.sum X(%12#1, %13) -> Out("x@GRAD") : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
}
