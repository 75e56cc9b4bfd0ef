//===- base.td - the job: dialect, enumerations, attributes, types -----------------------===//
//
// What is fixed about dialect `dist`, below its operations (ops.td). Meaning, vocabulary and the
// constraints D1 … that verify_*.cc checks: docs/dialects/dist.md.
//
//===----------------------------------------------------------------------------------------===//
#ifndef DTRANSPILE_DIALECTS_DIST_BASE_TD
#define DTRANSPILE_DIALECTS_DIST_BASE_TD

include "mlir/IR/OpBase.td"
include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/BuiltinAttributeInterfaces.td"
include "mlir/IR/EnumAttr.td"

def Dist_Dialect : Dialect {
  let name = "dist";
  let cppNamespace = "::dtranspile::dist";
  let summary = "The distributed job: meshes, communication, roles, rank-conditional regions, "
                "relations";
  let useDefaultTypePrinterParser = 1;
  let useDefaultAttributePrinterParser = 1;
  let hasOperationAttrVerify = 1;
  let extraClassDeclaration = [{
    void registerTypes();
    void registerAttributes();
  }];
}

//===----------------------------------------------------------------------===//
// Enumerations
//===----------------------------------------------------------------------===//

class Dist_Enum<string enumName, string text, list<I32EnumAttrCase> enumCases> :
    I32EnumAttr<enumName, text, enumCases> {
  let cppNamespace = "::dtranspile::dist";
  let genSpecializedAttr = 0;
}
class Dist_EnumAttr<EnumAttrInfo info, string text> : EnumAttr<Dist_Dialect, info,
    text> { let assemblyFormat = "$value"; }

def Dist_Reduce : Dist_Enum<"Reduce", "how values are combined", [
  I32EnumAttrCase<"Sum", 0, "sum">, I32EnumAttrCase<"Max", 1, "max">, I32EnumAttrCase<"Min", 2,
      "min">,
  I32EnumAttrCase<"Prod", 3, "prod">, I32EnumAttrCase<"Or", 4, "or">]>;
def Dist_ReduceAttr : Dist_EnumAttr<Dist_Reduce, "reduce">;

def Dist_CommKind : Dist_Enum<"CommKind", "shape of a communicator", [
  I32EnumAttrCase<"Group", 0, "group">, I32EnumAttrCase<"Pairs", 1, "pairs">,
      I32EnumAttrCase<"Rpc", 2, "rpc">]>;
def Dist_CommKindAttr : Dist_EnumAttr<Dist_CommKind, "comm_kind">;

def Dist_LayoutKind : Dist_Enum<"LayoutKind", "how an extent lies on an axis", [
  I32EnumAttrCase<"Even", 0, "even">, I32EnumAttrCase<"Blocks", 1, "blocks">,
      I32EnumAttrCase<"Hashed", 2, "hashed">,
  I32EnumAttrCase<"Cyclic", 3, "cyclic">]>;

def Dist_StateKind : Dist_Enum<"StateKind", "relation of the local values to the reference value "
                                            "along one axis", [
  I32EnumAttrCase<"Replicated", 0, "R">, I32EnumAttrCase<"Split", 1, "S">,
      I32EnumAttrCase<"Partial", 2, "P">,
  I32EnumAttrCase<"Parts", 3, "Q">, I32EnumAttrCase<"Different", 4, "X">,
      I32EnumAttrCase<"Unknown", 5, "?">]>;

def Dist_Task : Dist_Enum<"Task", "kind of a pipeline task", [
  I32EnumAttrCase<"F", 0, "F">, I32EnumAttrCase<"B", 1, "B">, I32EnumAttrCase<"W", 2, "W">]>;
def Dist_TaskAttr : Dist_EnumAttr<Dist_Task, "task">;

def Dist_ServeMode : Dist_Enum<"ServeMode", "when a server applies gradients", [
  I32EnumAttrCase<"Sync", 0, "sync">, I32EnumAttrCase<"Async", 1, "async">,
      I32EnumAttrCase<"HalfAsync", 2, "half_async">,
  I32EnumAttrCase<"Geo", 3, "geo">]>;
def Dist_ServeModeAttr : Dist_EnumAttr<Dist_ServeMode, "serve_mode">;

def Dist_Handler : Dist_Enum<"Handler", "what a handler answers", [
  I32EnumAttrCase<"Round", 0, "round">, I32EnumAttrCase<"Push", 1, "push">, I32EnumAttrCase<"Pull",
      2, "pull">,
  I32EnumAttrCase<"Lookup", 3, "lookup">]>;
def Dist_HandlerAttr : Dist_EnumAttr<Dist_Handler, "handler">;

def Dist_Merge : Dist_Enum<"Merge", "how a server combines the trainers' gradients", [
  I32EnumAttrCase<"Mean", 0, "mean">, I32EnumAttrCase<"Sum", 1, "sum">, I32EnumAttrCase<"Each", 2,
      "each">]>;
def Dist_MergeAttr : Dist_EnumAttr<Dist_Merge, "merge">;

def Dist_PhaseKind : Dist_Enum<"PhaseKind", "phase of a round", [
  I32EnumAttrCase<"Push", 0, "push">, I32EnumAttrCase<"Pull", 1, "pull">]>;
def Dist_PhaseKindAttr : Dist_EnumAttr<Dist_PhaseKind, "phase_kind">;

def Dist_Memory : Dist_Enum<"Memory", "where a copy lies", [
  I32EnumAttrCase<"Host", 0, "host">, I32EnumAttrCase<"Device", 1, "device">]>;
def Dist_MemoryAttr : Dist_EnumAttr<Dist_Memory, "memory">;

//===----------------------------------------------------------------------===//
// Attributes
//===----------------------------------------------------------------------===//

class Dist_Attr<string attrName, string mnemonicText> : AttrDef<Dist_Dialect,
    attrName> { let mnemonic = mnemonicText; }

def Dist_AxisSetAttr : Dist_Attr<"AxisSet", "axis_set"> {
  let summary = "coordinates of one axis: sorted, disjoint, non-adjacent, non-empty intervals [lo, "
                "hi)";
  let description = [{
    `bounds` is lo0, hi0, lo1, hi1 …. Written `pp = 1` or `pp in {0, 2 to 4}`, ends included; built
    with `AxisSetAttr::of` from intervals in any order.
  }];
  let parameters = (ins "::mlir::StringAttr":$axis, ArrayRefParameter<"int64_t">:$bounds);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    // Sorts and merges `intervals`; null when all of them are empty. No bound is negative.
    static AxisSetAttr of(::mlir::StringAttr axis, ::llvm::ArrayRef<std::pair<int64_t,
        int64_t>> intervals);
    bool isPoint() const { return getBounds().size() == 2 && getBounds()[1] == getBounds()[0] + 1; }
    bool contains(int64_t coordinate) const;
    bool contains(AxisSetAttr other) const;  // of the same axis
    // Number of coordinates.
    int64_t count() const;
    // In the form inside a selector, without the attribute's own brackets.
    void printInline(::llvm::raw_ostream &os) const;
    static ::mlir::FailureOr<AxisSetAttr> parseInline(::mlir::AsmParser &parser);
  }];
}

def Dist_SelAttr : Dist_Attr<"Sel", "sel"> {
  let summary = "selector: a conjunction of coordinate sets, one per named axis, sorted by axis "
                "name";
  let parameters = (ins OptionalArrayRefParameter<"::dtranspile::dist::AxisSetAttr">:$sets);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    // In any order; at most one set per axis.
    static SelAttr of(::mlir::MLIRContext *context, ::llvm::ArrayRef<AxisSetAttr> sets);
    static SelAttr point(::mlir::MLIRContext *context, ::llvm::StringRef axis, int64_t coordinate);
    // The set of that axis; null where the selector leaves it free.
    AxisSetAttr lookup(::llvm::StringRef axis) const;
    // True if every rank of `other` is a rank of this one.
    bool contains(SelAttr other) const;
    // The ranks of both; null if there is none.
    SelAttr intersect(SelAttr other) const;
    void printInline(::llvm::raw_ostream &os) const;
    static ::mlir::FailureOr<SelAttr> parseInline(::mlir::AsmParser &parser);
  }];
}

def Dist_LayoutAttr : Dist_Attr<"Layout", "layout"> {
  let summary = "how an extent of n lies on an axis: even(n), blocks(n, per b, first s), hashed(n, "
                "per b), cyclic(n)";
  let parameters = (ins "::dtranspile::dist::LayoutKind":$kind, "int64_t":$extent, "int64_t":$per,
                        "int64_t":$first);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    static LayoutAttr even(::mlir::MLIRContext *context, int64_t extent) { return get(context,
        LayoutKind::Even, extent, 0, 0); }
    // Local extent on every coordinate of an axis of `size`; nothing for layouts of unequal parts.
    std::optional<int64_t> localExtent(int64_t size) const;
    void printInline(::llvm::raw_ostream &os) const;
    static ::mlir::FailureOr<LayoutAttr> parseInline(::mlir::AsmParser &parser);
  }];
}

def Dist_AxisRelAttr : Dist_Attr<"AxisRel", "axis_rel"> {
  let summary = "state along one axis, as inside #dist.rel";
  let description = [{
    `dim` (-1: the flattened tensor) and `layout` (null: even) belong to S, `reduce` to P, `tag` to
    X; `holders` (null: all) are the coordinates that hold a value.
  }];
  let parameters = (ins "::mlir::StringAttr":$axis, "::dtranspile::dist::StateKind":$state,
                        "int64_t":$dim,
                        "::dtranspile::dist::LayoutAttr":$layout,
                            "::dtranspile::dist::Reduce":$reduce, "::mlir::StringAttr":$tag,
                        "::dtranspile::dist::AxisSetAttr":$holders);
  let hasCustomAssemblyFormat = 1;
  let extraClassDeclaration = [{
    static AxisRelAttr replicated(::mlir::StringAttr axis);
    static AxisRelAttr split(::mlir::StringAttr axis, int64_t dim, LayoutAttr layout = {});
    static AxisRelAttr partial(::mlir::StringAttr axis, Reduce reduce);
    static AxisRelAttr parts(::mlir::StringAttr axis);
    static AxisRelAttr different(::mlir::StringAttr axis, ::llvm::StringRef tag);
    static AxisRelAttr unknown(::mlir::StringAttr axis);
    AxisRelAttr heldBy(AxisSetAttr holders) const;
    void printInline(::llvm::raw_ostream &os) const;
    static ::mlir::FailureOr<AxisRelAttr> parseInline(::mlir::AsmParser &parser);
  }];
}

def Dist_RelAttr : Dist_Attr<"Rel", "rel"> {
  let summary = "relation of local values to definition #number of a variable of the reference; "
                "unlisted axes are R";
  let description = [{
        #dist.rel<"w@GRAD" number 2, dp: P(sum), sharding: S(flat, even(832)), scale 1/4, tags
        ["fp16_wire"]>

    `number` is 0 where the variable has one meaning only (persistables). The scale is a reduced
    fraction with positive denominator.
  }];
  let parameters = (ins "::mlir::StringAttr":$variable, "int64_t":$number,
                        OptionalArrayRefParameter<"::dtranspile::dist::AxisRelAttr">:$axes,
                        "int64_t":$numerator, "int64_t":$denominator,
                            OptionalArrayRefParameter<"::mlir::StringAttr">:$tags);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    // Replicated on every axis not listed, scale 1, no tags.
    static RelAttr of(::mlir::StringAttr variable, ::llvm::ArrayRef<AxisRelAttr> axes = {});
    // The state along `axis`; null means R.
    AxisRelAttr lookup(::llvm::StringRef axis) const;
  }];
}

def Dist_BatchAttr : Dist_Attr<"Batch", "batch"> {
  let summary = "dim of a feed that is cut over axes, in mesh order";
  let parameters = (ins "int64_t":$dim, ArrayRefParameter<"::mlir::StringAttr">:$axes);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
}

//===----------------------------------------------------------------------===//
// Types
//===----------------------------------------------------------------------===//

class Dist_Type<string typeName, string mnemonicText> : TypeDef<Dist_Dialect,
    typeName> { let mnemonic = mnemonicText; }

def Dist_AtType : Dist_Type<"At", "at"> {
  let summary = "a value on the ranks of a selector, nothing elsewhere";
  let parameters = (ins "::mlir::Type":$type, "::dtranspile::dist::SelAttr":$where);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
}
def Dist_PendingType : Dist_Type<"Pending", "pending"> {
  let summary = "results of a started operation";
  let parameters = (ins ArrayRefParameter<"::mlir::Type">:$types);
  let assemblyFormat = "`<` $types `>`";
  let genVerifyDecl = 1;
}

#endif
