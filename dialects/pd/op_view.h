// Reads and edits one framework op by slot and attribute name: the only way in which passes,
// inference, lowering and export reach operands. A view is two pointers; it is passed by value.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "dialects/pd/op_table.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/Operation.h"

namespace dtranspile::pd {

// Role bits of op_role.
enum Role : int {
  kForward = 0,
  kBackward = 1,
  kOptimize = 2,
  kRpc = 4,
  kDist = 8,
  kLrSched = 16,
  kLoss = 256,
  kNotSpecified = 4096
};

class OpView {
 public:
  explicit OpView(mlir::Operation* op) : op_(op) {}

  // True for every framework op (rows and pd.opaque), false for structural ops and other dialects.
  static bool isFrameworkOp(mlir::Operation* op);

  mlir::Operation* operation() const { return op_; }
  llvm::StringRef type() const;  // "mul"; of pd.opaque the type it carries
  const OpSpec* spec() const;    // null for pd.opaque
  int role() const;              // op_role, kForward when absent or not specified

  // Inputs. An @EMPTY@ argument is a null Value.
  bool hasInput(llvm::StringRef slot) const;
  unsigned inputCount(llvm::StringRef slot) const;
  mlir::Value input(llvm::StringRef slot, unsigned index = 0) const;  // null where absent
  std::vector<mlir::Value> inputs(llvm::StringRef slot) const;
  std::vector<std::string> inputSlots() const;
  void setInput(llvm::StringRef slot, unsigned index, mlir::Value value);

  // Outputs. An @EMPTY@ argument has no result: null Value, name "@EMPTY@".
  bool hasOutput(llvm::StringRef slot) const;
  unsigned outputCount(llvm::StringRef slot) const;
  mlir::Value output(llvm::StringRef slot, unsigned index = 0) const;
  std::vector<mlir::Value> outputs(llvm::StringRef slot) const;
  std::vector<std::string> outputSlots() const;
  llvm::StringRef outputName(llvm::StringRef slot, unsigned index = 0) const;
  // Slot and position of a result of this op.
  std::pair<std::string, unsigned> slotOf(mlir::OpResult result) const;

  // Attributes: what the program says, else the row's default. Asserts that the row has the
  // attribute with a default.
  mlir::Attribute attr(llvm::StringRef name) const;  // null where the program does not say
  bool hasAttr(llvm::StringRef name) const { return static_cast<bool>(attr(name)); }
  int64_t getInt(llvm::StringRef name) const;   // INT, LONG, SCALAR of integers
  double getFloat(llvm::StringRef name) const;  // FLOAT, FLOAT64, SCALAR; integers too
  bool getBool(llvm::StringRef name) const;
  std::string getString(llvm::StringRef name) const;
  std::vector<int64_t> getInts(llvm::StringRef name) const;   // INTS, LONGS
  std::vector<double> getFloats(llvm::StringRef name) const;  // FLOATS, FLOAT64S, SCALARS
  std::vector<std::string> getStrings(llvm::StringRef name) const;
  void setAttr(llvm::StringRef name, mlir::Attribute value);  // null removes

 private:
  mlir::Operation* op_;
};

// The variable that a value is a version of: the name its defining op or region argument gives it.
llvm::StringRef nameOf(mlir::Value value);       // empty for values of other dialects
mlir::StringAttr nameAttrOf(mlir::Value value);  // the same; null where there is none

// Describes an op for diagnostics: `block 0, op 12 (mul)` when the location carries it, else the
// type.
std::string describe(mlir::Operation* op);

}  // namespace dtranspile::pd
