// From the job, which holds all ranks, to the text of one class of ranks: what lowering and export
// work on. The last phase that knows of guards. Called by `compile`, `run`, `export`, `show
// --rank`.
#pragma once

#include <string>
#include <vector>

#include "dialects/dist/dist.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

namespace dtranspile {

// Ranks of one role with equal text. What differs between them (coordinates, peers, offsets) is not
// in the text.
struct RankClass {
  std::string name;     // "trainer", "trainer[pp=0]", "trainer[pp=1..2]"
  dist::SelAttr where;  // its ranks; selects all where the role has one class
  int64_t ranks = 0;

  bool contains(dist::MeshOp mesh, int64_t rank) const;
};

// The classes of a role, by its guards alone: their number does not depend on the number of ranks.
// A diagnostic where there are more than 4096.
mlir::FailureOr<std::vector<RankClass>> classesOf(dist::RoleOp role);

// The class of one rank alone, whose every guard is resolved: what `export` and `show --rank` take.
RankClass classOfRank(dist::RoleOp role, dist::MeshOp mesh, int64_t rank);

struct SpecializeOptions {
  bool inlineComposites =
      true;            // native code runs their bodies; export keeps them as framework ops
  bool verify = true;  // the result; who rewrites it and verifies that need not
};

// A module in the form of an imported program: `pd.var`s and `pd.program`s at the top, the role's
// `dist.mesh` and `dist.comm`s beside them, attribute `dist.class`. Guards are resolved, located
// types are gone, lineage is dropped; local batch extents stay `?`. Ops that have no specialisation
// yet are errors that name them.
mlir::FailureOr<mlir::OwningOpRef<mlir::ModuleOp>> specialize(
    dist::RoleOp role, const RankClass& rankClass, const SpecializeOptions& options = {});

// The first op under `root` that has no specialisation yet, which is no fault of the job; null
// where there is none. `kUnsupported` says it of that op.
mlir::Operation* firstUnsupported(mlir::Operation* root);
inline constexpr const char* kUnsupported =
    "has no specialisation yet: this job cannot be compiled, run or exported";

}  // namespace dtranspile
