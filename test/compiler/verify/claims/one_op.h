// An op of a program by itself: its operands become feeds, its attributes stay. What rules are
// asked about (checker.h), and what is compiled and run (native.h).
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "dialects/pd/op_view.h"
#include "dialects/pd/pd.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "runtime/tensor/tensor.h"

namespace dtranspile::claims {

using TensorPtr = std::shared_ptr<const Tensor>;  // null: no tensor
using Tensors = std::vector<TensorPtr>;

struct OneOp {
  explicit OneOp(mlir::Operation* op);

  pd::OpView view() const { return pd::OpView(op); }
  // The op as text, without names, types and what every op may carry.
  std::string key() const;
  // Type and attributes, for messages.
  std::string text() const;
  // "X[0]" for the operands that are `value`.
  std::string slotsOf(mlir::Value value) const;

  mlir::Operation* op;  // in its program
  // The distinct operands that are fed. Left out: what nobody has written, and integer literals,
  // which stay ops (inference reads shapes from them).
  std::vector<mlir::Value> values;
};

// A module whose program has that op only.
struct Alone {
  mlir::OwningOpRef<mlir::ModuleOp> module;
  pd::ProgramOp program;
  mlir::Operation* op = nullptr;
  std::vector<mlir::Value> inputs;  // as OneOp::values
};

// `types`: of the inputs. Types of results are inferred from them; where that is not possible,
// `results` says them, or only their rank is known.
Alone alone(const OneOp& op, llvm::ArrayRef<mlir::Type> types, const Tensors* results = nullptr);

// The type of a feed with these elements; -1 in the dims of `unknown`.
mlir::Type feedType(mlir::Type declared, const Tensor& tensor, llvm::ArrayRef<int> unknown = {});

}  // namespace dtranspile::claims
