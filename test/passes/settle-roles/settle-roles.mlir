// Ops between gradients and the update, in front of it and behind it get the role of the update.
// RUN: dtranspile-opt %s --split-input-file --settle-roles | FileCheck %s

pd.var @w : tensor<4x2xf32> {parameter}
pd.var @mean : tensor<4x2xf32>
pd.var @steps : tensor<1xf32>
pd.var @warm : tensor<1xf32>
pd.var @teacher : tensor<4x2xf32>

// CHECK: module attributes {dist.changes = [{pass = "settle-roles", values = ["half", "mean", "rate", "steps", "teacher", "warm"]}]}
// CHECK: module @source
// CHECK: pd.sgd
// CHECK: pd.program @main
pd.program @main {
  %x = pd.input "x" : tensor<?x4xf32>
  %w = pd.get @w : tensor<4x2xf32>
  // A counter that the rate alone follows from.
  // CHECK: pd.increment {{.*}} -> Out("steps") {op_role = 2 : i32
  %steps = pd.get @steps : tensor<1xf32>
  %next = pd.increment X(%steps) -> Out("steps") {step = 1.0 : f32} : (tensor<1xf32>) -> tensor<1xf32>
  pd.set @steps, %next : tensor<1xf32>
  // CHECK: pd.scale {{.*}} -> Out("rate") {{{.*}}op_role = 2 : i32
  %rate = pd.scale X(%next) -> Out("rate") {scale = 0.1 : f32} : (tensor<1xf32>) -> tensor<1xf32>
  // One that the loss follows from too, and a teacher: the step has its own, the variables get those of the update.
  // CHECK: %[[OWN:.*]] = pd.increment {{.*}} -> Out("warm@STEP") {step
  // CHECK-NEXT: %[[LATE:.*]] = pd.increment {{.*}} -> Out("warm") {op_role = 2 : i32
  // CHECK-NEXT: pd.set @warm, %[[LATE]]
  %warm = pd.get @warm : tensor<1xf32>
  %more = pd.increment X(%warm) -> Out("warm") {step = 1.0 : f32} : (tensor<1xf32>) -> tensor<1xf32>
  pd.set @warm, %more : tensor<1xf32>
  %teacher = pd.get @teacher : tensor<4x2xf32>
  // CHECK: %[[T:.*]] = pd.elementwise_add {{.*}} -> Out("teacher@STEP") {axis
  // CHECK: %[[U:.*]] = pd.elementwise_add {{.*}} -> Out("teacher") {{{.*}}op_role = 2 : i32
  // CHECK: pd.set @teacher, %[[U]]
  // CHECK: pd.mul X(%{{.*}}) Y(%[[T]]) -> Out("h")
  %follows = pd.elementwise_add X(%teacher) Y(%w) -> Out("teacher") {axis = -1 : i32} : (tensor<4x2xf32>, tensor<4x2xf32>) -> tensor<4x2xf32>
  pd.set @teacher, %follows : tensor<4x2xf32>
  %h = pd.mul X(%x) Y(%follows) -> Out("h") : (tensor<?x4xf32>, tensor<4x2xf32>) -> tensor<?x2xf32>
  %y = pd.mul X(%x) Y(%w) -> Out("y") : (tensor<?x4xf32>, tensor<4x2xf32>) -> tensor<?x2xf32>
  // CHECK: pd.elementwise_mul X(%{{.*}}) Y(%[[OWN]]) -> Out("z")
  %z = pd.elementwise_mul X(%y) Y(%more) -> Out("z") {axis = -1 : i32} : (tensor<?x2xf32>, tensor<1xf32>) -> tensor<?x2xf32>
  %d = pd.elementwise_sub X(%z) Y(%h) -> Out("d") {axis = -1 : i32} : (tensor<?x2xf32>, tensor<?x2xf32>) -> tensor<?x2xf32>
  %loss = pd.mean X(%d) -> Out("loss") {op_role = 256 : i32} : (tensor<?x2xf32>) -> tensor<1xf32>
  %one = pd.fill_constant -> Out("loss@GRAD") {dtype = 5 : i32, op_role = 257 : i32, shape = array<i64: 1>, value = 1.0 : f32} : () -> tensor<1xf32>
  %gd = pd.mean_grad "Out@GRAD"(%one) X(%d) -> "X@GRAD"("d@GRAD") {op_role = 1 : i32} : (tensor<1xf32>, tensor<?x2xf32>) -> tensor<?x2xf32>
  %gz:2 = pd.elementwise_sub_grad "Out@GRAD"(%gd) X(%z) Y(%h) -> "X@GRAD"("z@GRAD") "Y@GRAD"("h@GRAD") {axis = -1 : i32, op_role = 1 : i32} : (tensor<?x2xf32>, tensor<?x2xf32>, tensor<?x2xf32>) -> (tensor<?x2xf32>, tensor<?x2xf32>)
  %gy = pd.elementwise_mul_grad "Out@GRAD"(%gz#0) X(%y) Y(%more) -> "X@GRAD"("y@GRAD") "Y@GRAD"() {axis = -1 : i32, op_role = 1 : i32} : (tensor<?x2xf32>, tensor<?x2xf32>, tensor<1xf32>) -> tensor<?x2xf32>
  // CHECK: pd.mul_grad {{.*}}op_role = 1 : i32
  %g = pd.mul_grad "Out@GRAD"(%gy) X(%x) Y(%w) -> "X@GRAD"() "Y@GRAD"("w@GRAD") {op_role = 1 : i32, op_role_var = ["w", "w@GRAD"]} : (tensor<?x2xf32>, tensor<?x4xf32>, tensor<4x2xf32>) -> tensor<4x2xf32>
  // CHECK: pd.scale {{.*}} -> Out("half") {{{.*}}op_role = 2 : i32
  %half = pd.scale X(%g) -> Out("half") {scale = 0.5 : f32} : (tensor<4x2xf32>) -> tensor<4x2xf32>
  %p = pd.sgd Grad(%half) LearningRate(%rate) Param(%w) -> ParamOut("w") {op_role = 2 : i32} : (tensor<4x2xf32>, tensor<1xf32>, tensor<4x2xf32>) -> tensor<4x2xf32>
  pd.set @w, %p : tensor<4x2xf32>
  // Behind the update.
  // CHECK: pd.elementwise_add {{.*}} -> Out("mean") {{{.*}}op_role = 2 : i32
  %mean = pd.get @mean : tensor<4x2xf32>
  %averaged = pd.elementwise_add X(%mean) Y(%p) -> Out("mean") {axis = -1 : i32} : (tensor<4x2xf32>, tensor<4x2xf32>) -> tensor<4x2xf32>
  pd.set @mean, %averaged : tensor<4x2xf32>
  // What follows from the batch stays, and so does what nothing takes.
  // CHECK: pd.reduce_mean {{.*}} -> Out("metric") {keep_dim
  %metric = pd.reduce_mean X(%z) -> Out("metric") {keep_dim = false, reduce_all = true} : (tensor<?x2xf32>) -> tensor<f32>
}

// -----

// No gradient is listed: nothing is settled.
// CHECK-LABEL: pd.var @v
// CHECK-NOT: @source
// CHECK: pd.program @main
pd.var @v : tensor<1xf32>
pd.program @main {
  // CHECK: pd.increment {{.*}} -> Out("v") {step
  %v = pd.get @v : tensor<1xf32>
  %n = pd.increment X(%v) -> Out("v") {step = 1.0 : f32} : (tensor<1xf32>) -> tensor<1xf32>
  pd.set @v, %n : tensor<1xf32>
}

// -----

// Another op sets, behind it, what the first one reads: it stays where it is, and what follows from the batch is no update.
pd.var @w : tensor<4x2xf32> {parameter}
pd.var @seen : tensor<2xf32>
pd.var @old : tensor<2xf32>
// CHECK: values = ["w"]
// CHECK: module @source
// CHECK: pd.mul_grad
// CHECK: pd.program @main
pd.program @main {
  %x = pd.input "x" : tensor<?x4xf32>
  %w = pd.get @w : tensor<4x2xf32>
  %seen = pd.get @seen : tensor<2xf32>
  // CHECK: pd.scale {{.*}} -> Out("old") {scale
  %old = pd.scale X(%seen) -> Out("old") {scale = 2.0 : f32} : (tensor<2xf32>) -> tensor<2xf32>
  pd.set @old, %old : tensor<2xf32>
  %y = pd.mul X(%x) Y(%w) -> Out("y") : (tensor<?x4xf32>, tensor<4x2xf32>) -> tensor<?x2xf32>
  // CHECK: pd.reduce_mean {{.*}} -> Out("seen") {dim
  %m = pd.reduce_mean X(%y) -> Out("seen") {dim = array<i32: 0>, keep_dim = false} : (tensor<?x2xf32>) -> tensor<2xf32>
  pd.set @seen, %m : tensor<2xf32>
  %loss = pd.mean X(%y) -> Out("loss") {op_role = 256 : i32} : (tensor<?x2xf32>) -> tensor<1xf32>
  %one = pd.fill_constant -> Out("loss@GRAD") {dtype = 5 : i32, op_role = 257 : i32, shape = array<i64: 1>, value = 1.0 : f32} : () -> tensor<1xf32>
  %gy = pd.mean_grad "Out@GRAD"(%one) X(%y) -> "X@GRAD"("y@GRAD") {op_role = 1 : i32} : (tensor<1xf32>, tensor<?x2xf32>) -> tensor<?x2xf32>
  %g = pd.mul_grad "Out@GRAD"(%gy) X(%x) Y(%w) -> "X@GRAD"() "Y@GRAD"("w@GRAD") {op_role = 1 : i32, op_role_var = ["w", "w@GRAD"]} : (tensor<?x2xf32>, tensor<?x4xf32>, tensor<4x2xf32>) -> tensor<4x2xf32>
  // CHECK: pd.elementwise_sub {{.*}} -> Out("w") {{{.*}}op_role = 2 : i32
  %p = pd.elementwise_sub X(%w) Y(%g) -> Out("w") {axis = -1 : i32} : (tensor<4x2xf32>, tensor<4x2xf32>) -> tensor<4x2xf32>
  pd.set @w, %p : tensor<4x2xf32>
}
