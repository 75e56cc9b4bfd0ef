// A count that the loss is divided by is added up over the ranks where it is complete, the ratio is scaled by their number, and so is its gradient.
// RUN: dtranspile-opt %s --split-input-file --form-job="axes=dp:4 comm-axes=dp" --cut-batch="axes=dp" --reduce-counts="axes=dp" | FileCheck %s
// Then it is a mean over the ranks, as any other loss.
// RUN: dtranspile-opt %s --split-input-file --form-job="axes=dp:4 comm-axes=dp" --cut-batch="axes=dp" --reduce-counts="axes=dp" --scale-loss="axes=dp" | FileCheck %s --check-prefix=SCALED

// CHECK: dist.comm @counts on @world over [dp] group {carries = "counts"}
// CHECK-LABEL: dist.role @trainer
// CHECK: %[[SUM:.*]] = pd.reduce_sum X({{.*}}) -> Out("sum")
// CHECK: %[[OWN:.*]] = pd.reduce_sum X({{.*}}) -> Out("count")
// CHECK-NEXT: %[[ALL:.*]] = dist.all_reduce sum(%[[OWN]]) on @counts
// CHECK-NEXT: %[[LEAST:.*]] = pd.clip X(%[[ALL]])
// CHECK-NEXT: %[[RATIO:.*]] = pd.elementwise_div X(%[[SUM]]) Y(%[[LEAST]]) -> Out("loss")
// CHECK-NEXT: %[[LOSS:.*]] = pd.scale X(%[[RATIO]]) -> Out("loss") {{.*}}op_role = 0 : i32, scale = 4.000000e+00 : f32
// CHECK: %[[SEED:.*]] = pd.fill_constant
// CHECK-NEXT: %[[MORE:.*]] = pd.scale X(%[[SEED]]) -> Out("loss@GRAD") {{.*}}op_role = 1 : i32, scale = 4.000000e+00 : f32
// CHECK-NEXT: pd.elementwise_div_grad {{.*}}"Out@GRAD"(%[[MORE]]) X(%[[SUM]]) Y(%[[LEAST]])
// SCALED-LABEL: dist.role @trainer
// SCALED: %[[SEED:.*]] = pd.fill_constant
// SCALED-NEXT: %[[ONE:.*]] = pd.scale X(%[[SEED]]) -> Out("loss@GRAD") {{.*}}scale = 2.500000e-01 : f32
// SCALED-NEXT: pd.scale X(%[[ONE]]) -> Out("loss@GRAD") {{.*}}scale = 4.000000e+00 : f32
pd.program @main {
  %x = pd.input "x" : tensor<?x1xf32>
  %m = pd.input "m" : tensor<?x1xf32>
  %p = pd.elementwise_mul X(%x) Y(%m) -> Out("product") : (tensor<?x1xf32>, tensor<?x1xf32>) -> tensor<?x1xf32>
  %s = pd.reduce_sum X(%p) -> Out("sum") {reduce_all = true} : (tensor<?x1xf32>) -> tensor<1xf32>
  %c = pd.reduce_sum X(%m) -> Out("count") {reduce_all = true} : (tensor<?x1xf32>) -> tensor<1xf32>
  %a = pd.clip X(%c) -> Out("least") {min = 1.0 : f32, max = 1.0e10 : f32} : (tensor<1xf32>) -> tensor<1xf32>
  %l = pd.elementwise_div X(%s) Y(%a) -> Out("loss") {op_role = 256 : i32} : (tensor<1xf32>, tensor<1xf32>) -> tensor<1xf32>
  %g = pd.fill_constant -> Out("loss@GRAD") {dtype = 5 : i32, shape = array<i64: 1>, op_role = 257 : i32} : () -> tensor<1xf32>
  %d = pd.elementwise_div_grad Out(%l) "Out@GRAD"(%g) X(%s) Y(%a) -> "X@GRAD"("sum@GRAD") "Y@GRAD"() {op_role = 1 : i32} : (tensor<1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1xf32>
}

// -----

// What divides depends on parameters: its gradient is added up over the ranks, and its own op takes what that op has given.
// CHECK-LABEL: dist.role @trainer
// CHECK: %[[OWN:.*]] = pd.reduce_sum X({{.*}}) -> Out("count")
// CHECK-NEXT: %[[ALL:.*]] = dist.all_reduce sum(%[[OWN]]) on @counts
// CHECK-NEXT: %[[RATIO:.*]] = pd.elementwise_div X({{.*}}) Y(%[[ALL]]) -> Out("loss")
// CHECK: %[[BACK:.*]]:2 = pd.elementwise_div_grad Out(%[[RATIO]])
// CHECK-NEXT: %[[SUM:.*]] = dist.all_reduce sum(%[[BACK]]#1) on @counts
// CHECK-NEXT: pd.reduce_sum_grad "Out@GRAD"(%[[SUM]])
pd.var @w : tensor<1xf32> {parameter}
pd.program @main {
  %x = pd.input "x" : tensor<?x1xf32>
  %w = pd.get @w : tensor<1xf32>
  %m = pd.elementwise_mul X(%x) Y(%w) -> Out("weights") : (tensor<?x1xf32>, tensor<1xf32>) -> tensor<?x1xf32>
  %s = pd.reduce_sum X(%x) -> Out("sum") {reduce_all = true} : (tensor<?x1xf32>) -> tensor<1xf32>
  %c = pd.reduce_sum X(%m) -> Out("count") {reduce_all = true} : (tensor<?x1xf32>) -> tensor<1xf32>
  %l = pd.elementwise_div X(%s) Y(%c) -> Out("loss") {op_role = 256 : i32} : (tensor<1xf32>, tensor<1xf32>) -> tensor<1xf32>
  %g = pd.fill_constant -> Out("loss@GRAD") {dtype = 5 : i32, shape = array<i64: 1>, op_role = 257 : i32} : () -> tensor<1xf32>
  %d:2 = pd.elementwise_div_grad Out(%l) "Out@GRAD"(%g) X(%s) Y(%c) -> "X@GRAD"("sum@GRAD") "Y@GRAD"("count@GRAD") {op_role = 1 : i32} : (tensor<1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> (tensor<1xf32>, tensor<1xf32>)
  %r = pd.reduce_sum_grad "Out@GRAD"(%d#1) X(%m) -> "X@GRAD"("weights@GRAD") {op_role = 1 : i32, reduce_all = true} : (tensor<1xf32>, tensor<?x1xf32>) -> tensor<?x1xf32>
  %t:2 = pd.elementwise_mul_grad "Out@GRAD"(%r) X(%x) Y(%w) -> "X@GRAD"("x@GRAD") "Y@GRAD"("w@GRAD") {op_role = 1 : i32, op_role_var = ["w", "w@GRAD"]} : (tensor<?x1xf32>, tensor<?x1xf32>, tensor<1xf32>) -> (tensor<?x1xf32>, tensor<1xf32>)
}

// -----

// A mean of the mask is made one of the whole batch.
// CHECK-LABEL: dist.role @trainer
// CHECK: %[[ALL:.*]] = dist.all_reduce sum({{.*}}) on @counts
// CHECK-NEXT: %[[MEAN:.*]] = pd.scale X(%[[ALL]]) -> Out("count") {{.*}}scale = 2.500000e-01 : f32
// CHECK-NEXT: %[[LOSS:.*]] = pd.elementwise_div X({{.*}}) Y(%[[MEAN]]) -> Out("loss")
// CHECK-NOT: pd.scale
pd.program @main {
  %x = pd.input "x" : tensor<?x1xf32>
  %m = pd.input "m" : tensor<?x1xf32>
  %s = pd.mean X(%x) -> Out("sum") : (tensor<?x1xf32>) -> tensor<1xf32>
  %c = pd.mean X(%m) -> Out("count") : (tensor<?x1xf32>) -> tensor<1xf32>
  %l = pd.elementwise_div X(%s) Y(%c) -> Out("loss") {op_role = 256 : i32} : (tensor<1xf32>, tensor<1xf32>) -> tensor<1xf32>
  %g = pd.fill_constant -> Out("loss@GRAD") {dtype = 5 : i32, shape = array<i64: 1>, op_role = 257 : i32} : () -> tensor<1xf32>
  %d = pd.elementwise_div_grad Out(%l) "Out@GRAD"(%g) X(%s) Y(%c) -> "X@GRAD"("sum@GRAD") "Y@GRAD"() {op_role = 1 : i32} : (tensor<1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1xf32>
}
