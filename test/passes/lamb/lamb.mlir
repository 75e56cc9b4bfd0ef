// adam becomes lamb: the powers of the betas are handed on by ops of 2.x only; exclusions by the end
// of the name.
// RUN: dtranspile-opt %s --split-input-file --lamb | FileCheck %s
// RUN: dtranspile-opt %s --split-input-file --lamb="lamb_weight_decay=0.25 lamb_exclude_from_weight_decay=0.w,nowhere" 2>&1 | FileCheck %s --check-prefix=OPTIONS

// CHECK: pd.program @main
// CHECK: %[[NEW:.*]]:3 = pd.lamb Param(%{{.*}}) Grad(%{{.*}}) LearningRate(%{{.*}}) Moment1(%{{.*}}) Moment2(%{{.*}}) Beta1Pow(%{{.*}}) Beta2Pow(%{{.*}}) -> ParamOut("fc_0.w") Moment1Out("m") Moment2Out("u")
// CHECK-SAME: beta1 = 0.899999976 : f32, beta2 = 9.990000e-01 : f32, epsilon = 9.99999993E-9 : f32
// CHECK-SAME: weight_decay = 0.00999999977 : f32
// CHECK-NOT: pd.set @b
// CHECK-NOT: pd.adam
// CHECK: pd.program @main
// CHECK: %[[NEW:.*]]:5 = pd.lamb {{.*}} -> ParamOut("fc_1.w") Moment1Out("m") Moment2Out("u") Beta1PowOut("b1") Beta2PowOut("b2")
// CHECK: pd.set @b1, %[[NEW]]#3
// CHECK: pd.set @b2, %[[NEW]]#4
// OPTIONS: warning: lamb_exclude_from_weight_decay: no parameter's name ends with 'nowhere'
// OPTIONS: pd.lamb {{.*}}ParamOut("fc_0.w"){{.*}} weight_decay = 0.000000e+00
// OPTIONS: pd.lamb {{.*}}ParamOut("fc_1.w"){{.*}} weight_decay = 2.500000e-01

pd.var @fc_0.w : tensor<4xf32> {parameter}
pd.var @m : tensor<4xf32>
pd.var @u : tensor<4xf32>
pd.var @b1 : tensor<1xf32>
pd.var @b2 : tensor<1xf32>
pd.var @lr : tensor<1xf32>
pd.program @main attributes {version = 1008005 : i64} {
  %w = pd.get @fc_0.w : tensor<4xf32>
  %m = pd.get @m : tensor<4xf32>
  %u = pd.get @u : tensor<4xf32>
  %b1 = pd.get @b1 : tensor<1xf32>
  %b2 = pd.get @b2 : tensor<1xf32>
  %lr = pd.get @lr : tensor<1xf32>
  %n:5 = pd.adam Beta1Pow(%b1) Beta1Tensor() Beta2Pow(%b2) Beta2Tensor() Grad(%w) LearningRate(%lr) Moment1(%m) Moment2(%u) Param(%w) -> Beta1PowOut("b1") Beta2PowOut("b2") Moment1Out("m") Moment2Out("u") ParamOut("fc_0.w") {beta1 = 0.9 : f32, beta2 = 0.999 : f32, epsilon = 1.0e-8 : f32, lazy_mode = false, op_role = 2 : i32} : (tensor<1xf32>, tensor<1xf32>, tensor<4xf32>, tensor<1xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> (tensor<1xf32>, tensor<1xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>)
  pd.set @b1, %n#0 : tensor<1xf32>
  pd.set @b2, %n#1 : tensor<1xf32>
  pd.set @m, %n#2 : tensor<4xf32>
  pd.set @u, %n#3 : tensor<4xf32>
  pd.set @fc_0.w, %n#4 : tensor<4xf32>
}

// -----

pd.var @fc_1.w : tensor<4xf32> {parameter}
pd.var @m : tensor<4xf32>
pd.var @u : tensor<4xf32>
pd.var @b1 : tensor<1xf32>
pd.var @b2 : tensor<1xf32>
pd.var @lr : tensor<1xf32>
pd.program @main attributes {version = 2006002 : i64} {
  %w = pd.get @fc_1.w : tensor<4xf32>
  %m = pd.get @m : tensor<4xf32>
  %u = pd.get @u : tensor<4xf32>
  %b1 = pd.get @b1 : tensor<1xf32>
  %b2 = pd.get @b2 : tensor<1xf32>
  %lr = pd.get @lr : tensor<1xf32>
  %n:5 = pd.adam Beta1Pow(%b1) Beta2Pow(%b2) Grad(%w) LearningRate(%lr) Moment1(%m) Moment2(%u) Param(%w) -> Beta1PowOut("b1") Beta2PowOut("b2") Moment1Out("m") Moment2Out("u") ParamOut("fc_1.w") {beta1 = 0.9 : f32, beta2 = 0.999 : f32, epsilon = 1.0e-8 : f32, lazy_mode = false, op_role = 2 : i32} : (tensor<1xf32>, tensor<1xf32>, tensor<4xf32>, tensor<1xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> (tensor<1xf32>, tensor<1xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>)
  pd.set @b1, %n#0 : tensor<1xf32>
  pd.set @b2, %n#1 : tensor<1xf32>
  pd.set @m, %n#2 : tensor<4xf32>
  pd.set @u, %n#3 : tensor<4xf32>
  pd.set @fc_1.w, %n#4 : tensor<4xf32>
}
