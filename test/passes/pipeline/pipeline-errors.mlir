// RUN: dtranspile-opt %s --split-input-file --verify-diagnostics --form-job="axes=pp:2,micro:4 comm-axes=micro" --cut-batch="axes=micro" --assign-stages="axes=pp" --pipeline="axes=pp"
// RUN: not dtranspile-opt %s --split-input-file --form-job="axes=pp:1,micro:4 comm-axes=micro" --pipeline="axes=pp" 2>&1 | FileCheck %s --check-prefix=ONE
// RUN: not dtranspile-opt %s --split-input-file --form-job="axes=pp:2,micro:4 comm-axes=micro" --pipeline="axes=pp,micro" 2>&1 | FileCheck %s --check-prefix=AXES
// RUN: not dtranspile-opt %s --split-input-file --form-job="axes=pp:2,dp:4 comm-axes=dp" --pipeline="axes=pp" 2>&1 | FileCheck %s --check-prefix=MICRO
// RUN: not dtranspile-opt %s --split-input-file --form-job="axes=micro:4,pp:2 comm-axes=micro" --pipeline="axes=pp" 2>&1 | FileCheck %s --check-prefix=LAST
// RUN: not dtranspile-opt %s --split-input-file --form-job="axes=pp:2,micro:4 comm-axes=micro" --pipeline="axes=pp" 2>&1 | FileCheck %s --check-prefix=STAGE

// ONE: error: pipeline: axis 'pp' has one coordinate; a pipeline has two stages or more
// AXES: error: pipeline: give axes one axis, that of the stages
// MICRO: error: pipeline: the mesh has no axis 'micro', that of the micro-batches
// LAST: error: pipeline: axis 'micro' is not the last one of the mesh
// STAGE: error: {{.*}}has no stage; run assign-stages in front of pipeline

// A skip backwards.
pd.var @w : tensor<2xf32> {parameter}
pd.program @main {
  %x = pd.input "x" : tensor<?x2xf32>
  %w = pd.get @w : tensor<2xf32>
  %a = pd.elementwise_add X(%x) Y(%w) -> Out("a") {axis = -1 : i32, op_device = "gpu:0"} : (tensor<?x2xf32>, tensor<2xf32>) -> tensor<?x2xf32>
  // expected-note @below {{made here}}
  %b = pd.tanh X(%a) -> Out("b") {op_device = "gpu:1"} : (tensor<?x2xf32>) -> tensor<?x2xf32>
  // expected-error @below {{is in the forward part of 0, and takes 'b' from the forward part of 1, which a micro-batch goes through later: put both on one stage}}
  %c = pd.tanh X(%b) -> Out("c") {op_device = "gpu:0"} : (tensor<?x2xf32>) -> tensor<?x2xf32>
}

// -----

// Running statistics.
pd.var @w : tensor<2xf32> {parameter}
pd.var @mean : tensor<2xf32>
pd.program @main {
  %x = pd.input "x" : tensor<?x2xf32>
  %w = pd.get @w : tensor<2xf32>
  %a = pd.elementwise_add X(%x) Y(%w) -> Out("a") {axis = -1 : i32, op_device = "gpu:0"} : (tensor<?x2xf32>, tensor<2xf32>) -> tensor<?x2xf32>
  // expected-error @below {{reduce_mean sets 'mean' once per micro-batch, and there are 4 of them: the variable would move so many times a step; take accumulate_steps 1, or freeze it}}
  %m = pd.reduce_mean X(%a) -> Out("mean") {dim = array<i32: 0>, op_device = "gpu:0"} : (tensor<?x2xf32>) -> tensor<2xf32>
  pd.set @mean, %m : tensor<2xf32>
  %b = pd.tanh X(%a) -> Out("b") {op_device = "gpu:1"} : (tensor<?x2xf32>) -> tensor<?x2xf32>
}

// -----

// An update that looks at a micro-batch.
pd.var @w : tensor<2xf32> {parameter}
pd.program @main {
  %x = pd.input "x" : tensor<?x2xf32>
  %w = pd.get @w : tensor<2xf32>
  %a = pd.elementwise_add X(%x) Y(%w) -> Out("a") {axis = -1 : i32, op_device = "gpu:0"} : (tensor<?x2xf32>, tensor<2xf32>) -> tensor<?x2xf32>
  %b = pd.tanh X(%a) -> Out("b") {op_device = "gpu:1"} : (tensor<?x2xf32>) -> tensor<?x2xf32>
  // expected-error @below {{reads 'b', of which every micro-batch has one of its own, and runs once per step: only sums over the micro-batches reach what runs once}}
  %c = pd.reduce_mean X(%b) -> Out("c") {dim = array<i32: 0>, op_role = 2 : i32} : (tensor<?x2xf32>) -> tensor<2xf32>
  pd.set @w, %c : tensor<2xf32>
}

// -----

pd.var @w : tensor<2xf32> {parameter}
pd.program @main {
  %x = pd.input "x" : tensor<?x2xf32>
  %w = pd.get @w : tensor<2xf32>
  %a = pd.elementwise_add X(%x) Y(%w) -> Out("a") {axis = -1 : i32, op_device = "gpu:0"} : (tensor<?x2xf32>, tensor<2xf32>) -> tensor<?x2xf32>
  %b = pd.tanh X(%a) -> Out("b") {op_device = "gpu:1"} : (tensor<?x2xf32>) -> tensor<?x2xf32>
  // expected-error @below {{runs once per step and reads feed 'x', of which every micro-batch has a part}}
  %c = pd.reduce_mean X(%x) -> Out("c") {dim = array<i32: 0>, op_role = 2 : i32} : (tensor<?x2xf32>) -> tensor<2xf32>
  pd.set @w, %c : tensor<2xf32>
}

// -----

// Running statistics of two norms: the second one's are those that the first one of the same
// micro-batch has left.
pd.var @scale : tensor<2xf32> {parameter}
pd.var @bias : tensor<2xf32> {parameter}
pd.var @mean : tensor<2xf32>
pd.var @variance : tensor<2xf32>
pd.program @main {
  %x = pd.input "x" : tensor<?x2xf32>
  %scale = pd.get @scale : tensor<2xf32>
  %bias = pd.get @bias : tensor<2xf32>
  %mean = pd.get @mean : tensor<2xf32>
  %variance = pd.get @variance : tensor<2xf32>
  // expected-error @below {{batch_norm sets 'mean' once per micro-batch, and there are 4 of them: running statistics that other ops of a micro-batch read or set, too, are not the same for all of them; take accumulate_steps 1, or freeze it}}
  %n:5 = pd.batch_norm Bias(%bias) Mean(%mean) Scale(%scale) Variance(%variance) X(%x) -> Y("n") MeanOut("mean") VarianceOut("variance") SavedMean("sm") SavedVariance("sv") {op_device = "gpu:0"} : (tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<?x2xf32>) -> (tensor<?x2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>)
  pd.set @mean, %n#1 : tensor<2xf32>
  %m:5 = pd.batch_norm Bias(%bias) Mean(%n#1) Scale(%scale) Variance(%variance) X(%n#0) -> Y("m") MeanOut("mean") VarianceOut("variance") SavedMean("sm1") SavedVariance("sv1") {op_device = "gpu:1"} : (tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<?x2xf32>) -> (tensor<?x2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>)
  pd.set @mean, %m#1 : tensor<2xf32>
}

// -----

// What a micro-batch has left of them is looked at.
pd.var @scale : tensor<2xf32> {parameter}
pd.var @bias : tensor<2xf32> {parameter}
pd.var @mean : tensor<2xf32>
pd.var @variance : tensor<2xf32>
pd.program @main {
  %x = pd.input "x" : tensor<?x2xf32>
  %scale = pd.get @scale : tensor<2xf32>
  %bias = pd.get @bias : tensor<2xf32>
  %mean = pd.get @mean : tensor<2xf32>
  %variance = pd.get @variance : tensor<2xf32>
  // expected-error @below {{batch_norm sets 'mean' once per micro-batch, and there are 4 of them: running statistics that other ops of a micro-batch read or set, too, are not the same for all of them}}
  %n:5 = pd.batch_norm Bias(%bias) Mean(%mean) Scale(%scale) Variance(%variance) X(%x) -> Y("n") MeanOut("mean") VarianceOut("variance") SavedMean("sm") SavedVariance("sv") {op_device = "gpu:0"} : (tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<?x2xf32>) -> (tensor<?x2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>)
  pd.set @mean, %n#1 : tensor<2xf32>
  %b = pd.elementwise_add X(%n#0) Y(%n#1) -> Out("b") {axis = -1 : i32, op_device = "gpu:1"} : (tensor<?x2xf32>, tensor<2xf32>) -> tensor<?x2xf32>
}
