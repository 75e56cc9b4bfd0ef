// Ops that have no place: in the loop, in front of it, behind it. Stages are written by hand.
// RUN: dtranspile-opt %s --split-input-file --verify-diagnostics --form-job="axes=pp:2,micro:4 comm-axes=micro" --cut-batch="axes=micro" --pipeline="axes=pp"
// RUN: not dtranspile-opt %s --split-input-file --form-job="axes=pp:2,micro:4 comm-axes=micro" --pipeline="axes=pp virtual_stages=0" 2>&1 | FileCheck %s --check-prefix=PARTS

// PARTS: error: pipeline: virtual_stages is 0; a stage has at least one part

pd.var @w : tensor<2xf32> {parameter}
pd.program @main {
  %x = pd.input "x" : tensor<?x2xf32>
  %w = pd.get @w : tensor<2xf32>
  // expected-error @below {{is in part 2 of the model, and there are 2}}
  %a = pd.elementwise_add X(%x) Y(%w) -> Out("a") {axis = -1 : i32} with {dist.stage = 2 : i64} : (tensor<?x2xf32>, tensor<2xf32>) -> tensor<?x2xf32>
}

// -----

// Nothing to do for the second stage.
pd.var @w : tensor<2xf32> {parameter}
// expected-error @below {{part 1 of the model has no op in the forward part: ask for fewer stages}}
pd.program @main {
  %x = pd.input "x" : tensor<?x2xf32>
  %w = pd.get @w : tensor<2xf32>
  %a = pd.elementwise_add X(%x) Y(%w) -> Out("a") {axis = -1 : i32} with {dist.stage = 0 : i64} : (tensor<?x2xf32>, tensor<2xf32>) -> tensor<?x2xf32>
}

// -----

// A schedule that looks at the batch.
pd.var @w : tensor<2xf32> {parameter}
pd.program @main {
  %x = pd.input "x" : tensor<?x2xf32>
  %w = pd.get @w : tensor<2xf32>
  %a = pd.elementwise_add X(%x) Y(%w) -> Out("a") {axis = -1 : i32} with {dist.stage = 0 : i64} : (tensor<?x2xf32>, tensor<2xf32>) -> tensor<?x2xf32>
  // expected-error @below {{runs once per step and is read by every micro-batch, but depends on what they compute, or has blocks: it cannot stand in front of them}}
  %b = pd.tanh X(%a) -> Out("b") {op_role = 2 : i32} : (tensor<?x2xf32>) -> tensor<?x2xf32>
  %c = pd.tanh X(%b) -> Out("c") with {dist.stage = 1 : i64} : (tensor<?x2xf32>) -> tensor<?x2xf32>
}

// -----

// An update that reads what stages compute of a feed for themselves.
pd.var @w : tensor<2xf32> {parameter}
pd.program @main {
  %x = pd.input "x" : tensor<?x2xf32>
  %w = pd.get @w : tensor<2xf32>
  %y = pd.tanh X(%x) -> Out("y") : (tensor<?x2xf32>) -> tensor<?x2xf32>
  %a = pd.elementwise_add X(%y) Y(%w) -> Out("a") {axis = -1 : i32} with {dist.stage = 0 : i64} : (tensor<?x2xf32>, tensor<2xf32>) -> tensor<?x2xf32>
  %b = pd.tanh X(%a) -> Out("b") with {dist.stage = 1 : i64} : (tensor<?x2xf32>) -> tensor<?x2xf32>
  // expected-error @below {{runs once per step and reads 'y', which is computed from a micro-batch}}
  %c = pd.reduce_mean X(%y) -> Out("c") {dim = array<i32: 0>, op_role = 2 : i32} : (tensor<?x2xf32>) -> tensor<2xf32>
  pd.set @w, %c : tensor<2xf32>
}

// -----

// A counter of the schedule, and its value from before.
pd.var @w : tensor<2xf32> {parameter}
pd.var @count : tensor<1xf32>
pd.program @main {
  %x = pd.input "x" : tensor<?x2xf32>
  %w = pd.get @w : tensor<2xf32>
  %old = pd.get @count : tensor<1xf32>
  %n = pd.increment X(%old) -> Out("count") {step = 1.0 : f32, op_role = 16 : i32} : (tensor<1xf32>) -> tensor<1xf32>
  pd.set @count, %n : tensor<1xf32>
  %a = pd.elementwise_add X(%x) Y(%w) -> Out("a") {axis = -1 : i32} with {dist.stage = 0 : i64} : (tensor<?x2xf32>, tensor<2xf32>) -> tensor<?x2xf32>
  %m = pd.elementwise_mul X(%a) Y(%n) -> Out("m") {axis = -1 : i32} with {dist.stage = 0 : i64} : (tensor<?x2xf32>, tensor<1xf32>) -> tensor<?x2xf32>
  // expected-error @below {{reads the value that 'count' has before it is set in front of the micro-batches}}
  %b = pd.elementwise_mul X(%m) Y(%old) -> Out("b") {axis = -1 : i32} with {dist.stage = 1 : i64} : (tensor<?x2xf32>, tensor<1xf32>) -> tensor<?x2xf32>
}

// -----

// Start-up programs: a variable of one stage from that of another one.
pd.var @v : tensor<2xf32> {parameter}
pd.var @w : tensor<2xf32> {parameter}
pd.program @main {
  %x = pd.input "x" : tensor<?x2xf32>
  %v = pd.get @v : tensor<2xf32>
  %w = pd.get @w : tensor<2xf32>
  %a = pd.elementwise_add X(%x) Y(%v) -> Out("a") {axis = -1 : i32} with {dist.stage = 0 : i64} : (tensor<?x2xf32>, tensor<2xf32>) -> tensor<?x2xf32>
  %b = pd.elementwise_add X(%a) Y(%w) -> Out("b") {axis = -1 : i32} with {dist.stage = 1 : i64} : (tensor<?x2xf32>, tensor<2xf32>) -> tensor<?x2xf32>
}
pd.program @startup {
  %z = pd.fill_constant -> Out("v") {dtype = 5 : i32, shape = array<i64: 2>, value = 1.0 : f32} : () -> tensor<2xf32>
  pd.set @v, %z : tensor<2xf32>
  // expected-error @below {{start-up reads 'v' for a variable of another stage}}
  %v = pd.get @v : tensor<2xf32>
  %u = pd.tanh X(%v) -> Out("w") : (tensor<2xf32>) -> tensor<2xf32>
  pd.set @w, %u : tensor<2xf32>
}

// -----

// A variable that is set where a branch is taken, once for every micro-batch.
pd.var @v : tensor<2xf32> {parameter}
pd.var @w : tensor<2xf32> {parameter}
pd.program @main {
  %x = pd.input "x" : tensor<?x2xf32>
  %v = pd.get @v : tensor<2xf32>
  %w = pd.get @w : tensor<2xf32>
  %due = pd.input "due" : tensor<1xi1>
  %a = pd.elementwise_add X(%x) Y(%v) -> Out("a") {axis = -1 : i32} with {dist.stage = 0 : i64} : (tensor<?x2xf32>, tensor<2xf32>) -> tensor<?x2xf32>
  %b = pd.elementwise_add X(%a) Y(%w) -> Out("b") {axis = -1 : i32} with {dist.stage = 1 : i64} : (tensor<?x2xf32>, tensor<2xf32>) -> tensor<?x2xf32>
  %s = pd.conditional_block "$capture"() Cond(%due) Input() -> Out() Scope("s") {is_scalar_condition = true, sub_block = #pd.block<1>} blocks [{captures = [], idx = 1 : i32, locals = [], parent = 0 : i32, saved = [], written = []}] {
    %c = pd.fill_constant -> Out("c") {dtype = 5 : i32, shape = array<i64: 2>, value = 1.0 : f32} : () -> tensor<2xf32>
    // expected-error @below {{sets a variable in a block that every micro-batch runs: the variable would move several times a step}}
    pd.set @v, %c : tensor<2xf32>
    pd.yield
  } with {dist.stage = 0 : i64} : (tensor<1xi1>) -> !pd.tape
}

// -----

// A ragged batch that goes to the next stage.
pd.var @w : tensor<2xf32> {parameter}
pd.program @main {
  %x = pd.input "x" : !pd.lod<tensor<?x2xf32>, 1>
  %w = pd.get @w : tensor<2xf32>
  %a = pd.elementwise_add X(%x) Y(%w) -> Out("a") {axis = -1 : i32} with {dist.stage = 0 : i64} : (!pd.lod<tensor<?x2xf32>, 1>, tensor<2xf32>) -> !pd.lod<tensor<?x2xf32>, 1>
  // expected-error @below {{from another stage, and only dense tensors travel: control flow, rows and ragged batches stay on one stage}}
  %b = pd.tanh X(%a) -> Out("b") with {dist.stage = 1 : i64} : (!pd.lod<tensor<?x2xf32>, 1>) -> !pd.lod<tensor<?x2xf32>, 1>
}

// -----

// Start-up that sets a variable of one stage in a branch.
pd.var @v : tensor<2xf32> {parameter}
pd.var @w : tensor<2xf32> {parameter}
pd.program @main {
  %x = pd.input "x" : tensor<?x2xf32>
  %v = pd.get @v : tensor<2xf32>
  %w = pd.get @w : tensor<2xf32>
  %a = pd.elementwise_add X(%x) Y(%v) -> Out("a") {axis = -1 : i32} with {dist.stage = 0 : i64} : (tensor<?x2xf32>, tensor<2xf32>) -> tensor<?x2xf32>
  %b = pd.elementwise_add X(%a) Y(%w) -> Out("b") {axis = -1 : i32} with {dist.stage = 1 : i64} : (tensor<?x2xf32>, tensor<2xf32>) -> tensor<?x2xf32>
}
pd.program @startup {
  %due = pd.fill_constant -> Out("due") {dtype = 0 : i32, shape = array<i64: 1>, value = 1.0 : f32} : () -> tensor<1xi1>
  %s = pd.conditional_block "$capture"() Cond(%due) Input() -> Out() Scope("s") {is_scalar_condition = true, sub_block = #pd.block<1>} blocks [{captures = [], idx = 1 : i32, locals = [], parent = 0 : i32, saved = [], written = []}] {
    %c = pd.fill_constant -> Out("c") {dtype = 5 : i32, shape = array<i64: 2>, value = 1.0 : f32} : () -> tensor<2xf32>
    // expected-error @below {{start-up sets 'v' in a block, and the variable belongs to one stage}}
    pd.set @v, %c : tensor<2xf32>
    pd.yield
  } : (tensor<1xi1>) -> !pd.tape
}

// -----

// A branch of the update that takes a value, and sets variables of two stages.
pd.var @v : tensor<2xf32> {parameter}
pd.var @w : tensor<2xf32> {parameter}
pd.var @due : tensor<1xi1>
pd.program @main {
  %x = pd.input "x" : tensor<?x2xf32>
  %v = pd.get @v : tensor<2xf32>
  %w = pd.get @w : tensor<2xf32>
  %due = pd.get @due : tensor<1xi1>
  %a = pd.elementwise_add X(%x) Y(%v) -> Out("a") {axis = -1 : i32} with {dist.stage = 0 : i64} : (tensor<?x2xf32>, tensor<2xf32>) -> tensor<?x2xf32>
  %b = pd.elementwise_add X(%a) Y(%w) -> Out("b") {axis = -1 : i32} with {dist.stage = 1 : i64} : (tensor<?x2xf32>, tensor<2xf32>) -> tensor<?x2xf32>
  %c = pd.fill_constant -> Out("c") {dtype = 5 : i32, op_role = 2 : i32, shape = array<i64: 2>, value = 1.0 : f32} : () -> tensor<2xf32>
  // expected-error @below {{conditional_block reads or sets variables of several stages in its blocks, and takes or gives values of its own: it runs on one stage; ask for pipeline without what makes it}}
  %s = pd.conditional_block "$capture"(%c) Cond(%due) Input(%c) -> Out() Scope("s") {is_scalar_condition = true, op_role = 2 : i32, sub_block = #pd.block<1>} blocks [{captures = ["c"], idx = 1 : i32, locals = [], parent = 0 : i32, saved = [], written = []}] {
  ^bb0(%k: tensor<2xf32>):
    pd.set @v, %k : tensor<2xf32>
    pd.set @w, %k : tensor<2xf32>
    pd.yield
  } : (tensor<2xf32>, tensor<1xi1>, tensor<2xf32>) -> !pd.tape
}
