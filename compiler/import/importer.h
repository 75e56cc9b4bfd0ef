// The one walk that turns a program into values (import.cc), split by topic: import.cc blocks and
// cells, import_ops.cc ops and their attributes, import_variables.cc declarations and persistables,
// declared_types.cc declarations that are not what an op computes.
// For these files only.
#pragma once

#include <memory>
#include <vector>

#include "compiler/import/blocks.h"
#include "compiler/import/import.h"
#include "compiler/import/slot_pattern.h"
#include "compiler/import/var_kind.h"
#include "dialects/pd/op_view.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/Diagnostics.h"

namespace dtranspile {

// The current value of every name while one block is walked. Persistables are forwarded within a
// block; a block op may have written any of them.
struct Cells {
  llvm::DenseMap<Name, mlir::Value> values;
  llvm::DenseMap<Name, mlir::Value> persistables;
};

// What is the same for all ops of a type.
struct OpKind {
  mlir::OperationName name;
  const pd::OpSpec* spec;
  mlir::StringAttr type;  // of pd.opaque
};

// The attributes of an op; `order` is null where the file has them sorted.
struct AttrList {
  mlir::DictionaryAttr dictionary;
  mlir::DenseI32ArrayAttr order;
};

template <typename Made>
using ByBytes = llvm::DenseMap<llvm::CachedHashStringRef, Made>;

// Names of the attributes that every op has.
struct Keys {
  explicit Keys(mlir::Builder& b)
      : attrs(b.getStringAttr("attrs")),
        extra(b.getStringAttr("extra")),
        ins(b.getStringAttr("ins")),
        isTarget(b.getStringAttr("is_target")),
        order(b.getStringAttr("order")),
        outs(b.getStringAttr("outs")),
        type(b.getStringAttr("type")) {}
  mlir::StringAttr attrs, extra, ins, isTarget, order, outs, type;
};

class Importer {
 public:
  Importer(mlir::ModuleOp module, const WireProgram& program, const ImportOptions& options)
      : context_(module.getContext()),
        builder_(context_),
        module_(module),
        program_(program),
        options_(options),
        analysis_(program, options.budget),
        keys_(builder_),
        nameAttrs_(program.names.size()),
        kinds_(program.variables) {
    file_ = builder_.getStringAttr(options.file);
    start_ = mlir::FileLineColLoc::get(file_, 0, 0);
    unknown_ = builder_.getUnknownLoc();
    blank_ = builder_.getStringAttr("");
    empty_ = builder_.getStringAttr(pd::kEmptyArgument);
  }

  mlir::FailureOr<pd::ProgramOp> run();

 private:
  mlir::LogicalResult importBlock(int index, Cells& cells);
  mlir::LogicalResult importOp(int block, int index, Cells& cells);
  mlir::LogicalResult importRegions(int block, int index, mlir::Operation* op, Cells& cells);
  mlir::LogicalResult importOrphan(int index);
  void importDecl(const WireVar& var);
  mlir::LogicalResult importVariables();
  void recordParts(mlir::Block* body);
  mlir::LogicalResult fillRegion(int index, mlir::Region& region);
  mlir::DictionaryAttr describeBlock(int index, bool orphan);
  void describeProgram(pd::ProgramOp program);

  mlir::FailureOr<AttrList> attributesOf(int block, int index);
  mlir::FailureOr<AttrList> makeAttributes(int block, int index);
  mlir::FailureOr<mlir::NamedAttribute> attributeOf(int block, int index,
                                                    const WireAttr& attribute);
  mlir::LogicalResult checkSlots(int block, int index, llvm::ArrayRef<WireSlot> slots,
                                 const char* direction);
  mlir::ArrayAttr importInputs(int block, int index, const OpKind& kind, Cells& cells,
                               llvm::SmallVectorImpl<mlir::Value>& operands);
  mlir::ArrayAttr importOutputs(int block, int index, llvm::SmallVectorImpl<Name>& results);
  mlir::StringAttr slotName(llvm::StringRef name);
  const OpKind& kindOf(llvm::StringRef type);

  mlir::Value read(int block, Name name, Cells& cells, bool strong);
  void write(int block, Name name, mlir::Value value, Cells& cells, bool inRegion);
  const VarKind& kindOf(const WireVar& var);
  mlir::Type typeOf(int block, Name name);
  void findRewritten();
  void correctTypes(int block, const OpKind& kind, llvm::ArrayRef<Name> results,
                    mlir::Operation* op);
  mlir::StringAttr nameAttr(Name name);
  mlir::ArrayAttr names(llvm::ArrayRef<Name> list);
  mlir::Location at(int block, int op);
  mlir::InFlightDiagnostic error(int block, int op);

  mlir::MLIRContext* context_;
  mlir::OpBuilder builder_;
  mlir::ModuleOp module_;
  const WireProgram& program_;
  const ImportOptions& options_;
  BlockAnalysis analysis_;
  const Keys keys_;
  std::vector<mlir::StringAttr> nameAttrs_;  // by Name, made when first used
  std::vector<const VarKind*> kinds_;        // by WireVar::number
  mlir::StringAttr file_, blank_, empty_;
  mlir::LocationAttr start_, unknown_;
  ByBytes<std::unique_ptr<VarKind>> varKinds_;
  ByBytes<OpKind> opKinds_;
  ByBytes<AttrList> attrLists_;
  ByBytes<mlir::NamedAttribute> attributes_;
  llvm::StringMap<mlir::ArrayAttr> inputPatterns_;
  llvm::StringMap<mlir::StringAttr> slotNames_;
  llvm::DenseSet<Name> rewritten_;         // by several ops of one block
  llvm::DenseSet<Name> captured_;          // by any block
  llvm::DenseSet<mlir::Value> corrected_;  // results that are not of their declared type
  mlir::Operation* lastInput_ = nullptr;  // inputs of block 0 stand together after the declarations
};

}  // namespace dtranspile
