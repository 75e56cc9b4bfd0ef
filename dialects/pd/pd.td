//===- pd.td - the saved program: structural ops, types, attributes ----------------------===//
//
// What is fixed about dialect `pd`. The framework's own operators are rows of a table (op_table.h)
// and are registered at run time by row_op.cc. The meaning of everything here: docs/dialects/pd.md.
//
//===----------------------------------------------------------------------------------------===//
#ifndef DTRANSPILE_DIALECTS_PD_PD_TD
#define DTRANSPILE_DIALECTS_PD_PD_TD

include "mlir/IR/OpBase.td"
include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/BuiltinAttributeInterfaces.td"
include "mlir/IR/SymbolInterfaces.td"
include "mlir/IR/OpAsmInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def Pd_Dialect : Dialect {
  let name = "pd";
  let cppNamespace = "::dtranspile::pd";
  let summary = "A saved PaddlePaddle program in SSA form, without loss";
  let useDefaultTypePrinterParser = 1;
  let useDefaultAttributePrinterParser = 1;
  let extraClassDeclaration = [{
    void registerTypes();
    void registerAttributes();
    // Registers one op per row of the operator table (row_op.cc).
    void registerRowOps();
  }];
}

//===----------------------------------------------------------------------===//
// Types
//===----------------------------------------------------------------------===//

class Pd_Type<string typeName, string mnemonicText> : TypeDef<Pd_Dialect,
    typeName> { let mnemonic = mnemonicText; }

def Pd_LodType : Pd_Type<"Lod", "lod"> {
  let summary = "a tensor with LoD: `levels` levels of offsets that cut its rows into sequences";
  let parameters = (ins "::mlir::Type":$tensor, "unsigned":$levels);
  let assemblyFormat = "`<` $tensor `,` $levels `>`";
}
def Pd_RowsType : Pd_Type<"Rows", "rows"> {
  let summary = "SelectedRows: (rows, values) that stand for a dense tensor of the given type";
  let parameters = (ins "::mlir::Type":$tensor);
  let assemblyFormat = "`<` $tensor `>`";
}
def Pd_ArrayType : Pd_Type<"Array", "array"> {
  let summary = "a growable list of tensors";
  let parameters = (ins "::mlir::Type":$tensor, "unsigned":$levels);
  let assemblyFormat = "`<` $tensor `,` $levels `>`";
}
def Pd_TapeType : Pd_Type<"Tape", "tape"> {
  let summary = "what a block op keeps of its forward steps for its gradient (STEP_SCOPES)";
}
def Pd_RawType : Pd_Type<"Raw", "raw"> {
  let summary = "a variable of another kind, by the framework's name of the kind";
  let parameters = (ins StringRefParameter<>:$kind);
  let assemblyFormat = "`<` $kind `>`";
}

//===----------------------------------------------------------------------===//
// Attributes
//===----------------------------------------------------------------------===//

class Pd_Attr<string attrName, string mnemonicText> : AttrDef<Pd_Dialect,
    attrName> { let mnemonic = mnemonicText; }

def Pd_SlotAttr : Pd_Attr<"Slot", "slot"> {
  let summary = "one slot of an op: its name and arguments. Inputs: \"\" is an operand, \"@EMPTY@\" "
      "a hole. Outputs: variable names";
  let parameters = (ins "::mlir::StringAttr":$name,
                        OptionalArrayRefParameter<"::mlir::StringAttr">:$args);
  let assemblyFormat = "`<` $name (`of` $args^)? `>`";
  // Knows its holes (slot_storage.h), so that an argument is found without looking at the others.
  let genStorageClass = 0;
  let extraClassDeclaration = [{
    // How many arguments are values: all but the holes.
    unsigned values() const;
    // The place of argument `index` among the values; -1 for a hole and after the end.
    int valueOf(unsigned index) const;
    // The argument that is value number `value`.
    unsigned argumentOf(unsigned value) const;
  }];
}
def Pd_BlockAttr : Pd_Attr<"Block", "block"> {
  let summary = "value of a BLOCK attribute";
  let parameters = (ins "int32_t":$idx);
  let assemblyFormat = "`<` $idx `>`";
}
def Pd_BlocksAttr : Pd_Attr<"Blocks", "blocks"> {
  let summary = "value of a BLOCKS attribute";
  let parameters = (ins "::mlir::DenseI32ArrayAttr":$idx);
  let assemblyFormat = "`<` $idx `>`";
}
def Pd_RefAttr : Pd_Attr<"Ref", "ref"> {
  let summary = "value of a VAR attribute: the name of a variable";
  let parameters = (ins "::mlir::StringAttr":$name);
  let assemblyFormat = "`<` $name `>`";
}
def Pd_RefsAttr : Pd_Attr<"Refs", "refs"> {
  let summary = "value of a VARS attribute";
  let parameters = (ins "::mlir::ArrayAttr":$names);
  let assemblyFormat = "`<` $names `>`";
}
def Pd_ScalarAttr : Pd_Attr<"Scalar", "scalar"> {
  let summary = "value of a SCALAR attribute: i1, i64, f64 attribute, or [re, im] for a complex "
                "one";
  let parameters = (ins "::mlir::Attribute":$value);
  let assemblyFormat = "`<` $value `>`";
}
def Pd_ScalarsAttr : Pd_Attr<"Scalars", "scalars"> {
  let summary = "value of a SCALARS attribute: an array of #pd.scalar";
  let parameters = (ins "::mlir::ArrayAttr":$values);
  let assemblyFormat = "`<` $values `>`";
}

//===----------------------------------------------------------------------===//
// Structural ops
//===----------------------------------------------------------------------===//

class Pd_Op<string mnemonic, list<Trait> traits = []> : Op<Pd_Dialect, mnemonic, traits>;

def Pd_VarOp : Pd_Op<"var", [Symbol]> {
  let summary = "a persistable variable: a cell that outlives the step";
  let description = [{
    Shared by all programs of the nearest symbol table (the module or a `dist.role`). `parameter`
    marks what the optimizer trains, where the file says so or an optimizer's slot `Param` does.

        pd.var @fc_0.w_0 : tensor<10x1xf32> {parameter}
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, TypeAttr:$type, UnitAttr:$parameter);
  let assemblyFormat = "$sym_name `:` $type attr-dict";
}

def Pd_ProgramOp : Pd_Op<"program", [Symbol, IsolatedFromAbove, NoTerminator, SingleBlock]> {
  let summary = "one program";
  let description = [{
    Attributes carry what the file says of the program and its block 0: `version`, `op_versions`
    (pairs), `block` (idx, parent, forward), `extra` (bytes of fields that this schema does not
    know).
  }];
  let arguments = (ins SymbolNameAttr:$sym_name);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "$sym_name attr-dict-with-keyword $body";
  let extraClassDeclaration = [{
    ::mlir::Block *getBodyBlock() { return &getBody().front(); }
    // Program version (2006002 …); 0 where the file does not say.
    int64_t getVersion();
    // The declaration of `name` at the top of this program's body, null if there is none.
    DeclOp lookupDecl(::llvm::StringRef name);
  }];
}

def Pd_DeclOp : Pd_Op<"decl"> {
  let summary = "the declaration of a name in the enclosing block: its VarDesc, verbatim";
  let description = [{
    `kind` is the code of VarType.Type; `dtype`, `dims`, `lod` are those of the description that
    belongs to the kind, absent where the file has none. `flags` are persistable, need_check_feed,
    is_parameter, stop_gradient, each present only where the file says. Everything else of the
    VarDesc is in `extra` (wire bytes, hexadecimal).
  }];
  let arguments = (ins StrAttr:$name, I32Attr:$kind, OptionalAttr<I32Attr>:$dtype,
                       OptionalAttr<DenseI64ArrayAttr>:$dims,
                       OptionalAttr<I32Attr>:$lod, OptionalAttr<BoolAttr>:$persistable,
                           OptionalAttr<BoolAttr>:$need_check_feed,
                       OptionalAttr<BoolAttr>:$is_parameter, OptionalAttr<BoolAttr>:$stop_gradient,
                           OptionalAttr<StrAttr>:$extra);
  let hasCustomAssemblyFormat = 1;
  let extraClassDeclaration = [{
    // The type of a value of this variable.
    ::mlir::Type getValueType();
    bool isPersistable() { return getPersistable().value_or(false); }
  }];
}

def Pd_InputOp : Pd_Op<"input", [Pure]> {
  let summary = "the value that the caller feeds for a variable";
  let description = [{
    Stands for a variable that is fed from outside (`pd.feed` is the framework's own op).

        %0 = pd.input "x" : tensor<?x10xf32>
  }];
  let arguments = (ins StrAttr:$name);
  let results = (outs AnyType:$value);
  let assemblyFormat = "$name attr-dict `:` type($value)";
}

def Pd_GetOp : Pd_Op<"get", [DeclareOpInterfaceMethods<SymbolUserOpInterface>,
                             DeclareOpInterfaceMethods<MemoryEffectsOpInterface>]> {
  let summary = "the current value of a persistable";
  let arguments = (ins FlatSymbolRefAttr:$var);
  let results = (outs AnyType:$value);
  let assemblyFormat = "$var attr-dict `:` type($value)";
}

def Pd_SetOp : Pd_Op<"set", [DeclareOpInterfaceMethods<SymbolUserOpInterface>,
                             DeclareOpInterfaceMethods<MemoryEffectsOpInterface>]> {
  let summary = "writes a persistable";
  let arguments = (ins FlatSymbolRefAttr:$var, AnyType:$value);
  let assemblyFormat = "$var `,` $value attr-dict `:` type($value)";
}

def Pd_UndefOp : Pd_Op<"undef", [Pure]> {
  let summary = "the content of a cell that nobody has written; an empty list for a tensor array";
  let arguments = (ins StrAttr:$name);
  let results = (outs AnyType:$value);
  let assemblyFormat = "$name attr-dict `:` type($value)";
}

def Pd_YieldOp : Pd_Op<"yield", [Terminator, Pure]> {
  let summary = "ends the region of a block op: written values, then saved ones";
  let arguments = (ins Variadic<AnyType>:$values);
  let assemblyFormat = "($values^ `:` type($values))? attr-dict";
}

#endif
