//===- ops.td - operations of the job ----------------------------------------------------===//
//
// One entry per operation of docs/dialects/dist.md, which says what they mean and states the
// constraints D1 … (checked in verify_*.cc). Effects and region control: ops.cc; syntax that the
// declarative format cannot say: syntax.cc.
//
//===----------------------------------------------------------------------------------------===//
#ifndef DTRANSPILE_DIALECTS_DIST_OPS_TD
#define DTRANSPILE_DIALECTS_DIST_OPS_TD

include "dialects/dist/base.td"
include "mlir/IR/SymbolInterfaces.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

class Dist_Op<string mnemonic, list<Trait> traits = []> : Op<Dist_Dialect, mnemonic, traits>;

// Verified with the symbols in scope: the mesh, the communicator, the variable that the op names.
def Dist_UsesSymbols : DeclareOpInterfaceMethods<SymbolUserOpInterface>;
def Dist_Effects : DeclareOpInterfaceMethods<MemoryEffectsOpInterface>;

//===----------------------------------------------------------------------===//
// Structure
//===----------------------------------------------------------------------===//

def Dist_MeshOp : Dist_Op<"mesh", [Symbol]> {
  let summary = "named axes with sizes; the last rank axis is the fastest";
  let arguments = (ins SymbolNameAttr:$sym_name, StrArrayAttr:$axes, DenseI64ArrayAttr:$sizes,
                       StrArrayAttr:$time_axes,
                       DenseI64ArrayAttr:$time_sizes);
  let assemblyFormat = [{
    $sym_name custom<Axes>($axes, $sizes) custom<TimeAxes>($time_axes, $time_sizes) attr-dict
  }];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    // Size of a rank or time axis; nothing if the mesh has none of that name.
    std::optional<int64_t> sizeOf(::llvm::StringRef axis);
    // Position among the rank axes; nothing for time axes and unknown names.
    std::optional<unsigned> indexOf(::llvm::StringRef axis);
    // Product of the rank axes.
    int64_t ranks();
    // Coordinates of a rank, one per rank axis; rank is Σ coordinate·stride, the last axis has
    // stride 1.
    ::llvm::SmallVector<int64_t> coordinatesOf(int64_t rank);
  }];
}

def Dist_CommOp : Dist_Op<"comm", [Symbol, Dist_UsesSymbols]> {
  let summary = "a communicator per setting of the axes that it does not name";
  let description = "`carries` says what the pass that made it sends on it; later passes find their "
                    "comms by it, never by name.";
  let arguments = (ins SymbolNameAttr:$sym_name, FlatSymbolRefAttr:$mesh, StrArrayAttr:$axes,
                       OptionalAttr<Dist_SelAttr>:$subset,
                       Dist_CommKindAttr:$kind, OptionalAttr<FlatSymbolRefAttr>:$server,
                           OptionalAttr<StrAttr>:$carries);
  let assemblyFormat = [{
    $sym_name `on` $mesh `over` custom<Names>($axes) (`subset` custom<Selector>($subset)^)? custom<Word>($kind) ($server^)? attr-dict
  }];
  let extraClassDeclaration = [{
    bool overAxis(::llvm::StringRef axis);
    // Ranks of one group: product of its axes' sizes, or of the subset's counts.
    int64_t groupSize(MeshOp mesh);
  }];
}

def Dist_RoleOp : Dist_Op<"role", [Symbol, SymbolTable, IsolatedFromAbove, NoTerminator,
                                   SingleBlock, Dist_UsesSymbols]> {
  let summary = "variables and programs of one role";
  let arguments = (ins SymbolNameAttr:$sym_name, FlatSymbolRefAttr:$mesh);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "$sym_name `on` $mesh attr-dict-with-keyword $body";
}

//===----------------------------------------------------------------------===//
// Regions
//===----------------------------------------------------------------------===//

def Dist_YieldOp : Dist_Op<"yield", [Terminator, Pure, ParentOneOf<["OnOp", "ForeachBlockOp",
    "MicroOp", "CompositeOp", "HandleOp"]>]> {
  let summary = "ends a region of this dialect";
  let arguments = (ins Variadic<AnyType>:$values);
  let assemblyFormat = "attr-dict ($values^ `:` type($values))?";
}

def Dist_OnOp : Dist_Op<"on", [RecursiveMemoryEffects, SingleBlock, Dist_UsesSymbols]> {
  let summary = "runs its body on the ranks of a selector, the else-body on the others";
  let arguments = (ins Dist_SelAttr:$where, Variadic<AnyType>:$inputs,
                       OptionalAttr<Dist_TaskAttr>:$task, OptionalAttr<I64Attr>:$chunk);
  let results = (outs Variadic<AnyType>:$outputs);
  let regions = (region SizedRegion<1>:$body, MaxSizedRegion<1>:$otherwise);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
}

def Dist_ForeachBlockOp : Dist_Op<"foreach_block", [RecursiveMemoryEffects, SingleBlock,
                                                    Dist_UsesSymbols]> {
  let summary = "runs its body once per block of a variable that this rank owns, in ascending "
                "order";
  let arguments = (ins FlatSymbolRefAttr:$var, Variadic<AnyType>:$inits);
  let results = (outs Variadic<AnyType>:$outputs);
  let regions = (region SizedRegion<1>:$body);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
}

def Dist_MicroOp : Dist_Op<"micro", [RecursiveMemoryEffects, SingleBlock, Dist_UsesSymbols]> {
  let summary = "what all stages do for one micro-batch; run in the order of the schedule";
  let arguments = (ins StrArrayAttr:$axes, StrAttr:$schedule, I64Attr:$chunks,
                       Variadic<AnyType>:$inits);
  let results = (outs Variadic<AnyType>:$outputs);
  let regions = (region SizedRegion<1>:$body);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
}

def Dist_CompositeOp : Dist_Op<"composite", [RecursiveMemoryEffects, SingleBlock]> {
  let summary = "one framework op that communicates or has no primitive";
  let description = [{
    Slots and names of results are those of the framework op; the body computes the same from
    operands and captured values of `pd` and `dist`.

        %y, %m = dist.composite "sync_batch_norm" (X = %x : tensor<4xf32>, …) -> (Y as "bn.out" : tensor<4xf32>, …) attrs {epsilon = …} {
        ^bb0(%a: tensor<4xf32>, %b: tensor<4xf32>): … }
  }];
  let arguments = (ins StrAttr:$op, StrArrayAttr:$input_slots, Variadic<AnyType>:$inputs,
                       StrArrayAttr:$output_slots, StrArrayAttr:$output_names,
                       DictionaryAttr:$attrs);
  let results = (outs Variadic<AnyType>:$outputs);
  let regions = (region SizedRegion<1>:$body);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
}

def Dist_ServeOp : Dist_Op<"serve", [RecursiveMemoryEffects, SingleBlock, NoTerminator,
                                     Dist_UsesSymbols]> {
  let summary = "the main loop of a server role: handlers of requests";
  let arguments = (ins FlatSymbolRefAttr:$comm, Dist_ServeModeAttr:$mode);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "`on` $comm `mode` custom<Word>($mode) attr-dict-with-keyword $body";
  let hasVerifier = 1;
}

def Dist_HandleOp : Dist_Op<"handle", [RecursiveMemoryEffects, SingleBlock, HasParent<"ServeOp">,
                                       Dist_UsesSymbols]> {
  let summary = "answers one kind of request; block arguments are what arrives";
  let description = [{
    `round`: nothing. `push @t`, `pull @t`: the number of the sender, tensor<1xi64>. `lookup @t`:
    the ids. What has been pushed is taken by `dist.merged @t`.
  }];
  let arguments = (ins Dist_HandlerAttr:$kind, OptionalAttr<FlatSymbolRefAttr>:$var);
  let regions = (region SizedRegion<1>:$body);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// Collectives
//===----------------------------------------------------------------------===//

// A collective on a communicator: writes CommResource, with the comm as parameter.
class Dist_CommunicationOp<string mnemonic, list<Trait> traits = []> : Dist_Op<mnemonic,
    traits # [Dist_Effects, Dist_UsesSymbols]>;

class Dist_Collective<string mnemonic> : Dist_CommunicationOp<mnemonic> {
  let results = (outs Variadic<AnyType>:$outputs);
  let hasVerifier = 1;
}

def Dist_AllReduceOp : Dist_Collective<"all_reduce"> {
  let summary = "combines the members' values; every member gets the result, with the same bits";
  let arguments = (ins Dist_ReduceAttr:$reduce, Variadic<AnyType>:$inputs, FlatSymbolRefAttr:$comm);
  let assemblyFormat = "custom<Word>($reduce) `(` $inputs `)` `on` $comm attr-dict `:` "
                       "functional-type($inputs, results)";
}
def Dist_ReduceOp : Dist_Collective<"reduce"> {
  let summary = "combines the members' values at one coordinate";
  let arguments = (ins Dist_ReduceAttr:$reduce, Variadic<AnyType>:$inputs, FlatSymbolRefAttr:$comm,
                       Dist_SelAttr:$root);
  let assemblyFormat = "custom<Word>($reduce) `(` $inputs `)` `on` $comm `to` "
                       "custom<Selector>($root) attr-dict `:` functional-type($inputs, results)";
}
def Dist_BroadcastOp : Dist_Collective<"broadcast"> {
  let summary = "every member gets the root's value";
  let arguments = (ins Variadic<AnyType>:$inputs, FlatSymbolRefAttr:$comm, Dist_SelAttr:$root);
  let assemblyFormat = "`(` $inputs `)` `on` $comm `from` custom<Selector>($root) attr-dict `:` "
                       "functional-type($inputs, results)";
}
def Dist_AllGatherOp : Dist_Collective<"all_gather"> {
  let summary = "every member gets all parts, put together along a dim";
  let arguments = (ins Variadic<AnyType>:$inputs, FlatSymbolRefAttr:$comm, I64Attr:$dim,
                       UnitAttr:$ragged);
  let assemblyFormat = "`(` $inputs `)` `on` $comm `dim` custom<Dim>($dim) (`ragged` $ragged^)? "
                       "attr-dict `:` functional-type($inputs, results)";
}
def Dist_ReduceScatterOp : Dist_Collective<"reduce_scatter"> {
  let summary = "combines the members' values; every member gets its part along a dim";
  let arguments = (ins Dist_ReduceAttr:$reduce, Variadic<AnyType>:$inputs, FlatSymbolRefAttr:$comm,
                       I64Attr:$dim);
  let assemblyFormat = "custom<Word>($reduce) `(` $inputs `)` `on` $comm `dim` custom<Dim>($dim) "
                       "attr-dict `:` functional-type($inputs, results)";
}
def Dist_AllToAllOp : Dist_Collective<"all_to_all"> {
  let summary = "cuts along one dim, hands part j to member j, puts the received parts together "
                "along another dim";
  let arguments = (ins Variadic<AnyType>:$inputs, FlatSymbolRefAttr:$comm, I64Attr:$split,
                       I64Attr:$concat);
  let assemblyFormat = [{
    `(` $inputs `)` `on` $comm `split` $split `concat` $concat attr-dict `:` functional-type($inputs, results)
  }];
}
def Dist_TransferOp : Dist_CommunicationOp<"transfer"> {
  let summary = "moves a located value along the one axis of a `pairs` comm";
  let arguments = (ins AnyType:$input, FlatSymbolRefAttr:$comm);
  let results = (outs AnyType:$output);
  let assemblyFormat = "$input `on` $comm attr-dict `:` type($input) `->` type($output)";
  let hasVerifier = 1;
}
// What specialisation makes of a transfer in the classes of its two ends.
def Dist_SendOp : Dist_CommunicationOp<"send"> {
  let summary = "hands a value to a coordinate of a `pairs` comm; only in the text of a class (D27)";
  let arguments = (ins AnyType:$input, FlatSymbolRefAttr:$comm, I64Attr:$to);
  let assemblyFormat = "$input `on` $comm `to` $to attr-dict `:` type($input)";
}
def Dist_RecvOp : Dist_CommunicationOp<"recv"> {
  let summary = "takes a value from a coordinate of a `pairs` comm; only in the text of a class (D27)";
  let description = "`variable` is the name that the value has at the other end, `number` that of "
                    "the transfer among those of the job's program, in the order of its text.";
  let arguments = (ins FlatSymbolRefAttr:$comm, I64Attr:$from, OptionalAttr<StrAttr>:$variable,
                       OptionalAttr<I64Attr>:$number);
  let results = (outs AnyType:$output);
  let assemblyFormat = "`on` $comm `from` $from attr-dict `:` type($output)";
}
def Dist_BarrierOp : Dist_CommunicationOp<"barrier"> {
  let summary = "returns when all members have arrived";
  let arguments = (ins FlatSymbolRefAttr:$comm);
  let assemblyFormat = "`on` $comm attr-dict";
}
def Dist_WaitOp : Dist_Op<"wait", [Dist_Effects]> {
  let summary = "the results of a started operation";
  let arguments = (ins Dist_PendingType:$pending);
  let results = (outs Variadic<AnyType>:$outputs);
  let assemblyFormat = "$pending attr-dict `:` functional-type($pending, results)";
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// Local ops
//===----------------------------------------------------------------------===//

def Dist_SliceOp : Dist_Op<"slice", [Pure, Dist_UsesSymbols]> {
  let summary = "this rank's part of a replicated value, zero in the pad";
  let arguments = (ins AnyType:$input, I64Attr:$dim, Dist_LayoutAttr:$layout, StrArrayAttr:$axes);
  let results = (outs AnyType:$output);
  let assemblyFormat = [{
    $input `dim` custom<Dim>($dim) `layout` custom<Layout>($layout) `over` custom<Names>($axes) attr-dict `:` type($input) `->` type($output)
  }];
}
def Dist_CoordOp : Dist_Op<"coord", [Pure, Dist_UsesSymbols]> {
  let summary = "this rank's coordinate on an axis: tensor<1xi64>";
  let arguments = (ins StrAttr:$axis);
  let results = (outs AnyType:$output);
  let assemblyFormat = "$axis attr-dict `:` type($output)";
  let hasVerifier = 1;
}
def Dist_CopyOp : Dist_Op<"copy", [Dist_Effects]> {
  let summary = "the same value in another memory";
  let arguments = (ins AnyType:$input, Dist_MemoryAttr:$to);
  let results = (outs AnyType:$output);
  let assemblyFormat = "$input `to` custom<Word>($to) attr-dict `:` type($input) `->` "
                       "type($output)";
  let hasVerifier = 1;
}
def Dist_AssumeOp : Dist_Op<"assume", [Pure, AllTypesMatch<["input", "output"]>]> {
  let summary = "states a relation that no rule derives";
  let arguments = (ins AnyType:$input, Dist_RelAttr:$relation, StrAttr:$because);
  let results = (outs AnyType:$output);
  let assemblyFormat = "$input `is` $relation `because` $because attr-dict `:` type($input)";
}

//===----------------------------------------------------------------------===//
// Parameter server
//===----------------------------------------------------------------------===//

def Dist_PushOp : Dist_CommunicationOp<"push"> {
  let summary = "hands a gradient to the owners of a variable of a server role";
  let arguments = (ins AnyType:$input, SymbolRefAttr:$var, Dist_MergeAttr:$merge,
                       FlatSymbolRefAttr:$comm);
  let assemblyFormat = "$input `to` $var `merge` custom<Word>($merge) `on` $comm attr-dict `:` "
                       "type($input)";
  let hasVerifier = 1;
}
def Dist_PullOp : Dist_CommunicationOp<"pull"> {
  let summary = "the whole value of a variable of a server role";
  let arguments = (ins SymbolRefAttr:$var, FlatSymbolRefAttr:$comm);
  let results = (outs AnyType:$output);
  let assemblyFormat = "$var `on` $comm attr-dict `:` type($output)";
}
def Dist_LookupOp : Dist_CommunicationOp<"lookup"> {
  let summary = "rows of a table of a server role";
  let description = [{
    As many rows as there are ids; those of id `padding` are zero and are not asked for. The rank of
    the result says whether a last dim of 1 of the ids is replaced by the row (as `lookup_table`
    does) or stays. `variable` is the name of the result.
  }];
  let arguments = (ins AnyType:$ids, SymbolRefAttr:$var, OptionalAttr<I64Attr>:$padding,
                       OptionalAttr<StrAttr>:$variable, FlatSymbolRefAttr:$comm);
  let results = (outs AnyType:$output);
  let assemblyFormat = "$ids `in` $var (`padding` $padding^)? (`as` $variable^)? `on` $comm "
                       "attr-dict `:` type($ids) `->` type($output)";
  let hasVerifier = 1;
}
def Dist_RemoteOp : Dist_Op<"remote", [Pure, Dist_UsesSymbols]> {
  let summary = "a variable of a server role of which no element is here (D34)";
  let description = [{
    Stands for the whole of the variable where an op looks at its extents only, as the gradient of a
    lookup does, and names the table of a lookup in a composite.
  }];
  let arguments = (ins SymbolRefAttr:$var);
  let results = (outs AnyType:$output);
  let assemblyFormat = "$var attr-dict `:` type($output)";
}
def Dist_PhaseOp : Dist_CommunicationOp<"phase"> {
  let summary = "end of a phase of a synchronous round";
  let arguments = (ins Dist_PhaseKindAttr:$kind, FlatSymbolRefAttr:$comm);
  let assemblyFormat = "custom<Word>($kind) `on` $comm attr-dict";
}
def Dist_MergedOp : Dist_Op<"merged", [Dist_Effects, Dist_UsesSymbols]> {
  let summary = "what the trainers pushed for a variable in this round, combined; in the handler "
                "of a push, what that one trainer pushed";
  let arguments = (ins FlatSymbolRefAttr:$var);
  let results = (outs AnyType:$output);
  let assemblyFormat = "$var attr-dict `:` type($output)";
}

#endif
