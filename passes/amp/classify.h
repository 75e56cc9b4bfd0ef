// Which ops of a program compute in which precision, and which op a gradient op is the gradient of.
// Looks only; rewrite.cc acts on it.
#pragma once

#include <string>
#include <vector>

#include "dialects/pd/op_view.h"
#include "dialects/pd/pd.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/StringSet.h"
#include "passes/amp/op_lists.h"

namespace dtranspile::passes {

// None: neither, since nothing before it decides; it takes and gives what it did.
enum class Precision { None, Half, Single };

struct Classified {
  // Forward ops, and those that the backward part computes again, in program order.
  llvm::MapVector<mlir::Operation*, Precision> forward;
  // What the operands of a forward op were before anything was cast.
  llvm::DenseMap<mlir::Operation*, std::vector<mlir::Value>> operands;
  // Ops that take gradients, in program order, with the forward op that each is the gradient of;
  // null where it is none's (sums of gradients), or is not found.
  llvm::MapVector<mlir::Operation*, mlir::Operation*> backward;
  llvm::DenseSet<mlir::Value> gradients;
  std::vector<mlir::Operation*> seeds;
};

enum class AmpLevel {
  Lists,    // O1: the lists say which ops are half
  Pure,     // O2: all ops are that can be
  Guarded,  // O2: those of them that stand under fp16_guard
};

// As the framework does (rewrite_program and cast_model_to_fp16 of its mixed precision): op by op,
// a gray one after the ops that make what it takes; ops that touch `blackNames` are black whatever
// their type.
Classified classify(pd::ProgramOp main, const OpLists& lists, const llvm::StringSet<>& blackNames,
                    AmpLevel level = AmpLevel::Lists);

// The slot without "@GRAD"; empty where it is no slot of a gradient.
llvm::StringRef forwardSlot(llvm::StringRef slot);

}  // namespace dtranspile::passes
