// What the parts of pass pipeline share: the job that they work on, sets of stages, and the few ops
// that all of them build.
#pragma once

#include "dialects/pd/declarations.h"
#include "llvm/ADT/BitVector.h"
#include "passes/support/job.h"

namespace dtranspile::passes::pipeline {

using Stages = llvm::BitVector;

// An order of sets, larger ones first: what is there for more stages may be read by fewer.
struct LargerFirst {
  bool operator()(const Stages& a, const Stages& b) const {
    if (a.count() != b.count()) return a.count() > b.count();
    for (unsigned i = 0; i < a.size(); ++i)
      if (a.test(i) != b.test(i)) return a.test(i);
    return false;
  }
};

struct Target {
  JobOnAxes job;
  mlir::StringAttr axis;   // of the stages
  mlir::StringAttr micro;  // of the micro-batches: among the ranks before, of time afterwards
  int64_t stages = 1, chunks = 1, micros = 1;
  std::string schedule;
  pd::Declarations declarations;

  Stages none() const { return Stages(static_cast<unsigned>(stages)); }
  Stages all() const { return Stages(static_cast<unsigned>(stages), true); }
  Stages only(int64_t stage) const {
    Stages set = none();
    set.set(static_cast<unsigned>(stage));
    return set;
  }
  bool isAll(const Stages& set) const { return static_cast<int64_t>(set.count()) == stages; }

  // Null for all stages.
  // Where the axis of stages has these coordinates.
  dist::SelAttr selector(const Stages& set) const;
  // `type` as a value of the ranks of `set`; plain where these are all.
  mlir::Type located(mlir::Type type, const Stages& set) const;

  // The communicator among these stages, made when it is first asked for.
  mlir::FlatSymbolRefAttr among(const Stages& set);
  // The channels between neighbours, and all others, in that direction.
  mlir::FlatSymbolRefAttr channels(bool backward);

  // pd.fill_constant of zeros, of a dense type.
  mlir::Value zeros(mlir::OpBuilder& builder, mlir::Location loc, mlir::Type type,
                    llvm::StringRef name, int role);

  // dist.on for a set of stages, with a body that holds nothing yet.
  dist::OnOp guard(mlir::OpBuilder& builder, mlir::Location loc, const Stages& set,
                   mlir::ValueRange inputs, llvm::ArrayRef<mlir::Type> plainResults);

 private:
  mlir::FlatSymbolRefAttr makeComm(llvm::StringRef name, dist::SelAttr subset, dist::CommKind kind,
                                   llvm::StringRef carries);
  llvm::StringMap<mlir::FlatSymbolRefAttr> comms_;
};

bool isDense(mlir::Type type);  // a tensor of known extents

}  // namespace dtranspile::passes::pipeline
