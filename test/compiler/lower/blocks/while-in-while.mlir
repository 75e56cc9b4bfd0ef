// RUN: dtranspile compile %s --fetch loss --fetch x@GRAD --cache %t.cache -o %t
// RUN: dtranspile show %t | FileCheck %s

// y = 1.5 x; three times: z = 0.9 y; twice: z = sin(z) y; then y += z. loss = sum(y w), and its gradient, as PaddlePaddle 2.6 builds them.
// The inner loop's tape is part of the outer one: per outer turn the lists of the inner loop are pushed, and popped by the gradient.

// Forward: the inner loop's lists begin anew in every outer turn, at whose end they go onto lists of lists.
// CHECK:      while [[MORE:more#[0-9]+]] {{.*}} {
// CHECK:        call dt_list_clear({{.*}}) -> [[TURNS:turns(#[0-9]+)?]]
// CHECK:        while [[MORE_Z:more_z#[0-9]+]] {{.*}} {
// CHECK:          kernel sin([[Z:z#[0-9]+]] float32[2x3]) -> sin float32[2x3]
// CHECK:          call dt_list_push(sin {{.*}}) -> [[SIN:sin.tape(#[0-9]+)?]]
// CHECK:          call dt_list_push([[Z]] {{.*}}) -> [[ZS:z.tape(#[0-9]+)?]]
// CHECK:          call dt_list_push([[MORE_Z]] {{.*}}) -> [[TURNS]]
// CHECK-NEXT:   }
// CHECK:        call dt_list_push([[TURNS]] {{.*}}) -> [[TURNS_TAPE:turns.tape]]
// CHECK-NEXT:   call dt_list_push([[SIN]] {{.*}}) -> [[SIN_TAPE:sin.tape#[0-9]+]]
// CHECK:        call dt_list_push([[MORE]] {{.*}}) -> [[OUTER:turns(#[0-9]+)?]]
// CHECK-NEXT: }

// Backward: lists are popped off the lists of lists, and items off those.
// CHECK:      call dt_list_any([[OUTER]] {{.*}}) -> [[LEFT:more#[0-9]+]]
// CHECK-NEXT: while [[LEFT]] {{.*}} {
// CHECK:        call dt_list_pop({{.*}}) -> [[TURNS_TAPE]] {{[^,]+}}, [[POPPED_TURNS:turns#[0-9]+]]
// CHECK-NEXT:   call dt_list_pop({{.*}}) -> [[SIN_TAPE]] {{[^,]+}}, [[SINS:sin#[0-9]+]]
// CHECK:        call dt_zeros_like({{.*}}) -> [[SUM:y@GRAD@RENAME@block1@1]]
// CHECK:        call dt_list_any([[POPPED_TURNS]] {{.*}}) -> [[LEFT_Z:more#[0-9]+]]
// CHECK-NEXT:   while [[LEFT_Z]] {{.*}} {
// CHECK:          call dt_list_pop({{.*}}) -> [[SINS]] {{[^,]+}}, [[SIN_NOW:sin#[0-9]+]]
// CHECK:          kernel elementwise_mul_grad({{.*}}[[SIN_NOW]]
// CHECK:          call dt_accumulate({{.*}}) -> [[SUM]]
// CHECK:          call dt_list_any([[POPPED_TURNS]] {{.*}}) -> [[LEFT_Z]]
// CHECK:        }
// CHECK:        call dt_list_any([[OUTER]] {{.*}}) -> [[LEFT]]
// CHECK:      }
// CHECK:      fetch x@GRAD: float32[2x3]

pd.var @x : tensor<2x3xf32>
pd.var @w : tensor<2x3xf32>
pd.program @main attributes {version = 2006002 : i64} {
  %0 = pd.get @x : tensor<2x3xf32>
  %1 = pd.get @w : tensor<2x3xf32>
  %2 = pd.fill_constant -> Out("i") {dtype = 3 : i32, shape = array<i64: 1>, value = 0.0 : f32} : () -> tensor<1xi64>
  %3 = pd.fill_constant -> Out("n") {dtype = 3 : i32, shape = array<i64: 1>, value = 3.0 : f32} : () -> tensor<1xi64>
  %4 = pd.scale X(%0) -> Out("y") {scale = 1.5 : f32} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %5 = pd.less_than X(%2) Y(%3) -> Out("more") : (tensor<1xi64>, tensor<1xi64>) -> tensor<1xi1>
  %6:4 = pd.while "$capture"(%4, %2, %3, %5) Condition(%5) X(%2, %3, %4) -> Out("i", "more", "y") StepScopes("tape") {sub_block = #pd.block<1>} blocks [{captures = ["y", "i", "n", "more"], idx = 1 : i32, locals = [], parent = 0 : i32, saved = ["y", "z", "more_z", "j", "tape_z", "m"], written = ["i", "y", "more"]}] {
  ^bb0(%arg0: tensor<2x3xf32>, %arg1: tensor<1xi64>, %arg2: tensor<1xi64>, %arg3: tensor<1xi1>):
    %14 = pd.fill_constant -> Out("j") {dtype = 3 : i32, shape = array<i64: 1>, value = 0.0 : f32} : () -> tensor<1xi64>
    %15 = pd.fill_constant -> Out("m") {dtype = 3 : i32, shape = array<i64: 1>, value = 2.0 : f32} : () -> tensor<1xi64>
    %16 = pd.scale X(%arg0) -> Out("z") {scale = 0.9 : f32} : (tensor<2x3xf32>) -> tensor<2x3xf32>
    %17 = pd.less_than X(%14) Y(%15) -> Out("more_z") : (tensor<1xi64>, tensor<1xi64>) -> tensor<1xi1>
    %18:4 = pd.while "$capture"(%14, %16, %arg0, %15, %17) Condition(%17) X(%14, %16, %arg0, %15) -> Out("more_z", "z", "j") StepScopes("tape_z") {sub_block = #pd.block<2>} blocks [{captures = ["j", "z", "y", "m", "more_z"], idx = 2 : i32, locals = [], parent = 1 : i32, saved = ["z", "sin", "y"], written = ["j", "z", "more_z"]}] {
    ^bb0(%arg4: tensor<1xi64>, %arg5: tensor<2x3xf32>, %arg6: tensor<2x3xf32>, %arg7: tensor<1xi64>, %arg8: tensor<1xi1>):
      %25 = pd.scale X(%arg4) -> Out("j_next") {bias = 1.0 : f32, scale = 1.0 : f32} : (tensor<1xi64>) -> tensor<1xi64>
      %26 = pd.sin X(%arg5) -> Out("sin") : (tensor<2x3xf32>) -> tensor<2x3xf32>
      %27 = pd.elementwise_mul X(%26) Y(%arg6) -> Out("z_next") : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
      %28 = pd.less_than X(%25) Y(%arg7) -> Out("more_z_next") : (tensor<1xi64>, tensor<1xi64>) -> tensor<1xi1>
      %29 = pd.assign X(%25) -> Out("j") : (tensor<1xi64>) -> tensor<1xi64>
      %30 = pd.assign X(%27) -> Out("z") : (tensor<2x3xf32>) -> tensor<2x3xf32>
      %31 = pd.assign X(%28) -> Out("more_z") : (tensor<1xi1>) -> tensor<1xi1>
      pd.yield %29, %30, %31, %arg5, %26, %arg6 : tensor<1xi64>, tensor<2x3xf32>, tensor<1xi1>, tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>
    } : (tensor<1xi64>, tensor<2x3xf32>, tensor<2x3xf32>, tensor<1xi64>, tensor<1xi1>, tensor<1xi1>, tensor<1xi64>, tensor<2x3xf32>, tensor<2x3xf32>, tensor<1xi64>) -> (tensor<1xi1>, tensor<2x3xf32>, tensor<1xi64>, !pd.tape)
    %19 = pd.scale X(%arg1) -> Out("i_next") {bias = 1.0 : f32, scale = 1.0 : f32} : (tensor<1xi64>) -> tensor<1xi64>
    %20 = pd.elementwise_add X(%18#1) Y(%arg0) -> Out("y_next") : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
    %21 = pd.less_than X(%19) Y(%arg2) -> Out("more_next") : (tensor<1xi64>, tensor<1xi64>) -> tensor<1xi1>
    %22 = pd.assign X(%19) -> Out("i") : (tensor<1xi64>) -> tensor<1xi64>
    %23 = pd.assign X(%20) -> Out("y") : (tensor<2x3xf32>) -> tensor<2x3xf32>
    %24 = pd.assign X(%21) -> Out("more") : (tensor<1xi1>) -> tensor<1xi1>
    pd.yield %22, %23, %24, %arg0, %18#1, %18#0, %18#2, %18#3, %15 : tensor<1xi64>, tensor<2x3xf32>, tensor<1xi1>, tensor<2x3xf32>, tensor<2x3xf32>, tensor<1xi1>, tensor<1xi64>, !pd.tape, tensor<1xi64>
  } : (tensor<2x3xf32>, tensor<1xi64>, tensor<1xi64>, tensor<1xi1>, tensor<1xi1>, tensor<1xi64>, tensor<1xi64>, tensor<2x3xf32>) -> (tensor<1xi64>, tensor<1xi1>, tensor<2x3xf32>, !pd.tape)
  %7 = pd.elementwise_mul X(%6#2) Y(%1) -> Out("product") : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  %8 = pd.reduce_sum X(%7) -> Out("loss") {reduce_all = true} : (tensor<2x3xf32>) -> tensor<f32>
  %9 = pd.fill_any_like X(%8) -> Out("loss@GRAD") {dtype = 5 : i32, value = 1.0 : f32} : (tensor<f32>) -> tensor<f32>
  %10 = pd.reduce_sum_grad "Out@GRAD"(%9) X(%7) -> "X@GRAD"("product@GRAD") {reduce_all = true} : (tensor<f32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  %11 = pd.elementwise_mul_grad "Out@GRAD"(%10) X(%6#2) Y(%1) -> "X@GRAD"("y@GRAD") : (tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  %12 = pd.while_grad "$capture"(%11) Out(%6#0, %6#1, %6#2) "Out@GRAD"(%11) StepScopes(%6#3) X(%6#0, %3, %6#2) -> "X@GRAD"(empty, empty, "y@GRAD") {original_output_grad = ["y@GRAD"], sub_block = #pd.block<3>} blocks [{captures = ["y@GRAD"], forward = 1 : i32, idx = 3 : i32, locals = ["z", "y", "more_z", "j", "tape_z", "m"], parent = 0 : i32, saved = [], written = ["y@GRAD"]}] {
  ^bb0(%arg0: tensor<2x3xf32>, %arg1: tensor<2x3xf32>, %arg2: tensor<2x3xf32>, %arg3: tensor<1xi1>, %arg4: tensor<1xi64>, %arg5: !pd.tape, %arg6: tensor<1xi64>):
    %14 = pd.assign X(%arg0) -> Out("y_next@GRAD") : (tensor<2x3xf32>) -> tensor<2x3xf32>
    %15:2 = pd.elementwise_add_grad "Out@GRAD"(%14) X(%arg1) Y(%arg2) -> "X@GRAD"("z@GRAD") "Y@GRAD"("y@GRAD@RENAME@block1@0") : (tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>) -> (tensor<2x3xf32>, tensor<2x3xf32>)
    %16:3 = pd.while_grad "$capture"(%15#0, %arg0) Out(%arg3, %arg1, %arg4) "Out@GRAD"(%15#0) StepScopes(%arg5) X(%arg4, %arg1, %arg2, %arg6) -> "X@GRAD"(empty, "z@GRAD", "y@GRAD@RENAME@block1@1", empty) "$written"("y@GRAD") {original_output_grad = ["z@GRAD"], sub_block = #pd.block<4>} blocks [{captures = ["z@GRAD", "y@GRAD"], forward = 2 : i32, idx = 4 : i32, locals = ["sin", "y", "z"], parent = 3 : i32, saved = [], written = ["y@GRAD", "z@GRAD"]}] {
    ^bb0(%arg7: tensor<2x3xf32>, %arg8: tensor<2x3xf32>, %arg9: tensor<2x3xf32>, %arg10: tensor<2x3xf32>, %arg11: tensor<2x3xf32>):
      %19 = pd.assign X(%arg7) -> Out("z_next@GRAD") : (tensor<2x3xf32>) -> tensor<2x3xf32>
      %20:2 = pd.elementwise_mul_grad "Out@GRAD"(%19) X(%arg9) Y(%arg10) -> "X@GRAD"("sin@GRAD") "Y@GRAD"("y@GRAD") : (tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>) -> (tensor<2x3xf32>, tensor<2x3xf32>)
      %21 = pd.sin_grad "Out@GRAD"(%20#0) X(%arg11) -> "X@GRAD"("z@GRAD") : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
      pd.yield %20#1, %21 : tensor<2x3xf32>, tensor<2x3xf32>
    } : (tensor<2x3xf32>, tensor<2x3xf32>, tensor<1xi1>, tensor<2x3xf32>, tensor<1xi64>, tensor<2x3xf32>, !pd.tape, tensor<1xi64>, tensor<2x3xf32>, tensor<2x3xf32>, tensor<1xi64>) -> (tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>)
    %17 = pd.scale X(%16#0) -> Out("y@GRAD@RENAME@block1@2") {scale = 0.9 : f32} : (tensor<2x3xf32>) -> tensor<2x3xf32>
    %18 = pd.sum X(%15#1, %16#1, %17) -> Out("y@GRAD") : (tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
    pd.yield %18 : tensor<2x3xf32>
  } : (tensor<2x3xf32>, tensor<1xi64>, tensor<1xi1>, tensor<2x3xf32>, tensor<2x3xf32>, !pd.tape, tensor<1xi64>, tensor<1xi64>, tensor<2x3xf32>) -> tensor<2x3xf32>
  %13 = pd.scale X(%12) -> Out("x@GRAD") {scale = 1.5 : f32} : (tensor<2x3xf32>) -> tensor<2x3xf32>
}
