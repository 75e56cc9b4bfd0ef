#include "compiler/export/servers/reductions.h"

#include "dialects/dist/lookup.h"
#include "dialects/pd/op_view.h"
#include "dialects/pd/pd.h"
#include "llvm/Support/xxhash.h"

namespace dtranspile {
namespace {

void replaceByOperands(mlir::Operation* op) {
  if (op->getNumResults() == 1 && llvm::isa<dist::PendingType>(op->getResult(0).getType())) {
    mlir::Operation* wait = *op->getResult(0).user_begin();
    wait->replaceAllUsesWith(op->getOperands());
    wait->erase();
  } else {
    op->replaceAllUsesWith(op->getOperands());
  }
  op->erase();
}

// A draw without a seed may be any; with one it is the same wherever it is made.
// The seed follows from the name of the value, so that every rank's program gets the same one
// without asking another. False where the value depends on more than draws that take seeds.
bool giveSeed(mlir::Value value) {
  mlir::Operation* op = value.getDefiningOp();
  if (!op || !pd::OpView::isFrameworkOp(op)) return false;
  pd::OpView draw(op);
  const pd::OpSpec* spec = draw.spec();
  if (!spec || (spec->effects & ~pd::kRandom) != pd::kPure) return false;
  if ((spec->effects & pd::kRandom) == 0) return llvm::all_of(op->getOperands(), giveSeed);
  if (!spec->attribute("seed")) return false;
  if (draw.getInt("seed") != 0) return true;
  const uint64_t hash = llvm::xxh3_64bits(pd::nameOf(value));
  draw.setAttr("seed", mlir::IntegerAttr::get(mlir::IntegerType::get(op->getContext(), 32),
                                              static_cast<int64_t>(hash % 0x7ffffffe) + 1));
  return true;
}

mlir::LogicalResult resolve(mlir::Operation* op, int64_t ranks, llvm::StringRef who) {
  if (ranks == 1) return replaceByOperands(op), mlir::success();
  auto broadcast = llvm::dyn_cast<dist::BroadcastOp>(op);
  if (broadcast && llvm::all_of(broadcast.getInputs(), giveSeed))
    return replaceByOperands(op), mlir::success();
  return op->emitError("export: ")
         << op->getName() << " among " << ranks << " " << who
         << ": the framework's servers and trainers talk to each other, not among themselves; "
            "export the job with one of them, or run it natively";
}

}  // namespace

// A module that the framework runs beside servers has no collectives: those of one rank are the
// identity, and others are refused by name.
mlir::LogicalResult resolveGroups(mlir::ModuleOp module, dist::MeshOp mesh, llvm::StringRef who) {
  llvm::SmallVector<std::pair<mlir::Operation*, int64_t>> found;
  for (auto program : module.getOps<pd::ProgramOp>())
    program.walk([&](mlir::Operation* op) {
      mlir::FlatSymbolRefAttr name = dist::commOf(op);
      dist::CommOp comm = name ? dist::lookupComm(op, name) : dist::CommOp();
      if (comm && comm.getKind() == dist::CommKind::Group)
        found.push_back({op, comm.groupSize(mesh)});
    });
  for (auto [op, ranks] : found)
    if (mlir::failed(resolve(op, ranks, who))) return mlir::failure();
  for (auto comm : llvm::make_early_inc_range(module.getOps<dist::CommOp>()))
    if (comm.getKind() == dist::CommKind::Group) comm.erase();
  return mlir::success();
}

}  // namespace dtranspile
