// The forward analysis behind divergence.h: along which axes each value of a role differs between
// ranks. For divergence.cc alone.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "dialects/dist/dist.h"
#include "dialects/pd/pd.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/StringMap.h"

namespace dtranspile::verify {

inline constexpr unsigned kMostAxes = 64;

// Along which rank axes of the role's mesh a value differs, or may; a bit per axis.
struct Mark {
  uint64_t differs = 0, unknown = 0;
  mlir::Operation* cause = nullptr;  // of the first bit

  void join(const Mark& other) {
    if (!cause && (other.differs || other.unknown)) cause = other.cause;
    differs |= other.differs;
    unknown |= other.unknown;
  }
  void clear(uint64_t axes) {
    differs &= ~axes;
    unknown &= ~axes;
    if (!differs && !unknown) cause = nullptr;
  }
  bool operator==(const Mark& other) const {
    return differs == other.differs && unknown == other.unknown;
  }
};

// The predicate of a branch or loop of the framework: what is read before the block is entered, and
// what a turn leaves for the next one. Null for other control flow.
mlir::Value predicateOf(mlir::Operation* op);

// A list of names of the op's first block; empty where it has none.
std::vector<llvm::StringRef> blockNames(mlir::Operation* op, llvm::StringRef which);

class Divergence {
 public:
  explicit Divergence(dist::RoleOp role);

  Mark of(mlir::Value value) const { return marks_.lookup(value); }
  llvm::ArrayRef<std::pair<std::string, int64_t>> axes() const { return axes_; }

  // Bits of axes with more than one rank.
  uint64_t bit(llvm::StringRef axis) const {
    for (auto [i, one] : llvm::enumerate(axes_))
      if (one.first == axis) return one.second > 1 ? uint64_t{1} << i : 0;
    return 0;
  }
  uint64_t bits(mlir::ArrayAttr names) const {
    uint64_t all = 0;
    for (auto name : names.getAsValueRange<mlir::StringAttr>()) all |= bit(name);
    return all;
  }
  uint64_t bits(dist::SelAttr where) const {
    uint64_t all = 0;
    for (dist::AxisSetAttr set : where.getSets()) all |= bit(set.getAxis().getValue());
    return all;
  }
  uint64_t all() const {
    uint64_t bits = 0;
    for (const auto& [name, size] : axes_) bits |= bit(name);
    return bits;
  }

 private:
  Mark declared(pd::VarOp var) const {
    Mark mark;
    auto relation = var->getAttrOfType<dist::RelAttr>(dist::kRelAttr);
    if (!relation) return mark;
    for (dist::AxisRelAttr one : relation.getAxes()) {
      const uint64_t axis = bit(one.getAxis().getValue());
      if (one.getState() == dist::StateKind::Replicated) continue;
      (one.getState() == dist::StateKind::Unknown ? mark.unknown : mark.differs) |= axis;
      if (axis) mark.cause = var;
    }
    return mark;
  }

  Mark own(uint64_t axes, mlir::Operation* op, bool known = true) const {
    Mark mark;
    (known ? mark.differs : mark.unknown) = axes;
    mark.cause = op;
    return mark;
  }
  Mark ofOperands(mlir::Operation* op) {
    Mark mark;
    for (mlir::Value operand : op->getOperands()) mark.join(of(operand));
    return mark;
  }
  void give(mlir::Operation* op, Mark mark) {
    mark.join(control_);
    for (mlir::Value result : op->getResults()) marks_[result] = mark;
  }
  void visit(mlir::Block& block) {
    for (mlir::Operation& op : block) visit(&op);
  }
  // Until what enters a block again stays as it is.
  void repeat(mlir::Region& region, llvm::function_ref<bool()> changed) {
    do visit(region.front());
    while (changed());
  }
  bool widen(mlir::Value value, const Mark& more) {
    const Mark before = of(value);
    Mark joined = before;
    joined.join(more);
    marks_[value] = joined;
    return !(joined == before);
  }

  void visit(mlir::Operation* op);
  void visitSet(pd::SetOp set);
  void visitControl(mlir::Operation* op);
  void visitOn(dist::OnOp on);
  void visitLoop(mlir::Operation* op, mlir::ValueRange inits, unsigned first, Mark turns);
  void visitCommunication(mlir::Operation* op, dist::CommOp comm);
  Mark drawn(mlir::Operation* op);
  Mark blocksOf(llvm::StringRef var, mlir::Operation* op);

  dist::RoleOp role_;
  dist::MeshOp mesh_;
  llvm::SmallVector<std::pair<std::string, int64_t>> axes_;
  llvm::StringMap<Mark> start_, now_;  // of variables: at the beginning of a program, and here
  llvm::DenseMap<mlir::Value, Mark> marks_;
  Mark control_;       // of the predicates around
  bool weak_ = false;  // inside of regions that may not run, or run on some ranks
};

}  // namespace dtranspile::verify
