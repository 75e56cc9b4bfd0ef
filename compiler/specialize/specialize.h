// From the job, which holds all ranks, to the text of one class of ranks: what lowering and export
// work on. Called by `compile`, `run`, `export`, `show --rank`.
//
//   classes.cc   which ranks have equal text
//   guards.cc    what a class sees of guards, located values, transfers and composites
//   tasks.cc     dist.micro as its tasks, each with all that it does
//   specialize.cc   the module of a class
#pragma once

#include <string>
#include <vector>

#include "dialects/dist/dist.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

namespace dtranspile {

// Ranks of one role with equal text. What differs between them (coordinates, peers, offsets, which
// of the guards that are left hold) is not in the text.
struct RankClass {
  std::string name;     // "trainer", "trainer[pp=0]", "trainer[pp=1..2]"
  dist::SelAttr where;  // its ranks; selects all where the role has one class
  int64_t ranks = 0;

  bool contains(dist::MeshOp mesh, int64_t rank) const;
};

// The classes of a role. They are cut where a guard that communicates, or is a task, begins or
// ends, and at the ends of transfers: their number does not depend on the number of ranks. A
// diagnostic where there are more than 4096.
mlir::FailureOr<std::vector<RankClass>> classesOf(dist::RoleOp role);

// A single rank as a class of its own, in whose text no guard is left: what export writes.
RankClass classOfRank(dist::RoleOp role, dist::MeshOp mesh, int64_t rank);

struct SpecializeOptions {
  bool inlineComposites =
      true;            // native code runs their bodies; export keeps them as framework ops
  bool verify = true;  // the result; who rewrites it and verifies that need not
};

// A module in the form of an imported program: `pd.var`s and `pd.program`s at the top, beside them
// the role's `dist.mesh`, its `dist.comm`s, and what these name of other roles (their meshes and
// variables); attributes dist.class, dist.role, dist.ranks. What is left of the dialect: D27 of
// docs/dialects/dist.md. Local batch extents stay `?`.
mlir::FailureOr<mlir::OwningOpRef<mlir::ModuleOp>> specialize(
    dist::RoleOp role, const RankClass& rankClass, const SpecializeOptions& options = {});

}  // namespace dtranspile
