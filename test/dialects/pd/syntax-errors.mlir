// Every label of the verifier that serves all framework ops (docs/dialects/pd.md), and what the parser refuses.
// RUN: dtranspile-opt %s -split-input-file -verify-diagnostics

// expected-error @+1 {{'pd.relu' op [P1] lacks its slot lists (attributes 'ins' and 'outs')}}
"pd.relu"() {attrs = {}} : () -> ()

// -----

// expected-error @+1 {{[P1] has a slot list that holds something else than #pd.slot}}
"pd.relu"() {attrs = {}, ins = [1 : i32], outs = []} : () -> ()

// -----

// expected-error @+1 {{[P1] lacks its attributes (attribute 'attrs')}}
"pd.isfinite"() {ins = [#pd.slot<"X" of "@EMPTY@">], outs = [#pd.slot<"Out" of "@EMPTY@">]} : () -> ()

// -----

// expected-error @+1 {{[P1] lacks its type (attribute 'type')}}
"pd.opaque"() {attrs = {}, ins = [], outs = []} : () -> ()

// -----

// expected-error @+1 {{[P2] has 0 operands, its input slots speak of 1}}
"pd.relu"() {attrs = {}, ins = [#pd.slot<"X" of "">], outs = []} : () -> ()

// -----

%x = pd.undef "x" : tensor<4xf32>
// expected-error @+1 {{[P2] has 0 results, its output slots speak of 1}}
"pd.relu"(%x) {attrs = {}, ins = [#pd.slot<"X" of "">], outs = [#pd.slot<"Out" of "y">]} : (tensor<4xf32>) -> ()

// -----

// expected-error @+1 {{[P3] has 1 regions and describes 0 blocks}}
"pd.conditional_block"() ({
  pd.yield
}) {attrs = {sub_block = #pd.block<1>}, ins = [], outs = []} : () -> ()

// -----

// expected-error @+1 {{[P3] wants lists of names in 'blocks'}}
pd.conditional_block {sub_block = #pd.block<1>} blocks [1 : i32] {
  pd.yield
} : () -> ()

// -----

// expected-error @+1 {{[P3] describes 1 captures and locals of a block with 0 arguments}}
pd.conditional_block {sub_block = #pd.block<1>} blocks [{locals = ["x"]}] {
  pd.yield
} : () -> ()

// -----

// expected-error @+1 {{[P3] describes 1 written and saved names of a block that yields 0}}
pd.conditional_block {sub_block = #pd.block<1>} blocks [{saved = ["x"]}] {
  pd.yield
} : () -> ()

// -----

// expected-error @+1 {{[P3] wants pd.yield at the end of a block}}
pd.conditional_block {sub_block = #pd.block<1>} blocks [{}] {
  pd.opaque "last" : () -> ()
} : () -> ()

// -----

%x = pd.undef "x" : tensor<4xf32>
// expected-error @+1 {{[P4] has no input slot 'In'}}
%y = pd.relu In(%x) -> Out("y") : (tensor<4xf32>) -> tensor<4xf32>

// -----

%x = pd.undef "x" : tensor<4xf32>
// expected-error @+1 {{[P4] has no output slot 'Result'}}
%y = pd.relu X(%x) -> Result("y") : (tensor<4xf32>) -> tensor<4xf32>

// -----

%x = pd.undef "x" : tensor<4xf32>
// expected-error @+1 {{[P5] takes one argument in input slot 'X', found 2}}
%y = pd.relu X(%x, %x) -> Out("y") : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>

// -----

%x = pd.undef "x" : tensor<4xf32>
// expected-error @+1 {{[P5] has input slot 'X' twice}}
%y = pd.relu X(%x) X(%x) -> Out("y") : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>

// -----

// expected-error @+1 {{[P6] needs an argument in input slot 'X'}}
%y = pd.relu -> Out("y") : () -> tensor<4xf32>

// -----

// expected-error @+1 {{[P6] needs an argument in input slot 'X'}}
%y = pd.concat X() -> Out("y") {axis = 0 : i32} : () -> tensor<4xf32>

// -----

%x = pd.undef "x" : tensor<4xf32>
// expected-error @+1 {{[P6] needs an argument in output slot 'Out'}}
pd.relu X(%x) : (tensor<4xf32>) -> ()

// -----

%x = pd.undef "x" : tensor<4xf32>
// expected-error @+1 {{[P6] needs an argument in output slot 'Out'}}
pd.relu X(%x) -> Out() : (tensor<4xf32>) -> ()

// -----

%x = pd.undef "x" : tensor<4xf32>
// expected-error @+1 {{[P7] has no attribute 'slope'}}
%y = pd.relu X(%x) -> Out("y") {slope = 1.0 : f32} : (tensor<4xf32>) -> tensor<4xf32>

// -----

%x = pd.undef "x" : tensor<4xf32>
// expected-error @+1 {{[P7] has attribute 'op_role' of no framework type: f32}}
%y = pd.relu X(%x) -> Out("y") {op_role = f32} : (tensor<4xf32>) -> tensor<4xf32>

// -----

%x = pd.undef "x" : tensor<4x4xf32>
// expected-error @+1 {{[P8] takes another type in attribute 'x_num_col_dims', found "one"}}
%y = pd.mul X(%x) Y(%x) -> Out("y") {x_num_col_dims = "one"} : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>

// -----

%x = pd.undef "x" : tensor<4x4xf32>
// expected-error @+1 {{[P9] needs attribute 'axis'}}
%y:2 = pd.norm X(%x) -> Norm("n") Out("y") : (tensor<4x4xf32>) -> (tensor<4x4xf32>, tensor<4x4xf32>)

// -----

%x = pd.undef "x" : tensor<4x4xf32>
// expected-error @+2 {{[P9] needs attribute 'axis'}}
// expected-note @+1 {{made here: File "train.py", line 12}}
%y:2 = pd.norm X(%x) -> Norm("n") Out("y") {op_callstack = ["File \22train.py\22, line 12"]} : (tensor<4x4xf32>) -> (tensor<4x4xf32>, tensor<4x4xf32>)

// -----

%x = pd.undef "x" : tensor<4x5xf32>
%w = pd.undef "w" : tensor<4x4xf32>
// expected-error @+1 {{[C2] the flattened X must have as many columns as the flattened Y has rows}}
%y = pd.mul X(%x) Y(%w) -> Out("y") : (tensor<4x5xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>

// -----

%x = pd.undef "x" : tensor<4xf32>
// expected-error @+1 {{has 1 operands but 0 operand types}}
%y = pd.relu X(%x) -> Out("y") : () -> tensor<4xf32>

// -----

// expected-error @+1 {{no kind of variable is called 'tensors'}}
pd.decl "x" tensors

// -----

// expected-error @+1 {{no element type is called 'float31'}}
pd.decl "x" tensor of float31 [1]

// -----

// expected-error @+1 {{names @w, but no pd.var of that name is in scope}}
%w = pd.get @w : tensor<4xf32>
