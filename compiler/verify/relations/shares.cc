#include "compiler/verify/relations/shares.h"

#include "compiler/analysis/position.h"
#include "compiler/analysis/program_info.h"
#include "compiler/analysis/relations/averages.h"
#include "compiler/analysis/relations/rpc.h"
#include "dialects/dist/lookup.h"
#include "dialects/pd/types.h"

namespace dtranspile::verify {
namespace {

bool isCut(pd::InputOp feed, llvm::StringRef axis) {
  auto batch = feed->getAttrOfType<dist::BatchAttr>(dist::kBatchAttr);
  return batch && llvm::any_of(batch.getAxes(),
                               [&](mlir::StringAttr one) { return one.getValue() == axis; });
}

// Extents say what holds samples: those that only a step knows.
bool holdsSamples(pd::InputOp feed) {
  const mlir::Type type = dist::unlocated(feed.getValue().getType());
  mlir::RankedTensorType tensor = pd::tensorOf(type);
  return llvm::isa<pd::LodType>(type) || (tensor && tensor.getRank() > 0 && tensor.isDynamicDim(0));
}

// A whole batch on every rank is one step of the reference, taken many times; a share of one feed
// and the whole of another belong to different samples, whatever is computed of them.
void checkAxis(llvm::ArrayRef<pd::InputOp> feeds, llvm::StringRef axis, llvm::StringRef tag,
               Rung& findings) {
  const bool some = llvm::any_of(feeds, [&](pd::InputOp feed) { return isCut(feed, axis); });
  for (pd::InputOp feed : feeds) {
    if (isCut(feed, axis) || !holdsSamples(feed)) continue;
    findings.add(messageAt(
        feed, some ? Message::Level::Unknown : Message::Level::Refuted, "shares",
        "`" + feed.getName().str() + "` is whole along axis " + axis.str() +
            (some ? ", and other feeds are cut: whether a rank's share has these samples is not "
                    "known"
                  : ": every rank takes the step on the whole batch, and the contract \"" +
                        tag.str() + "\" says on its own share"),
        "cut it over the ranks (dist.batch)"));
  }
}

}  // namespace

void checkShares(mlir::ModuleOp job, const Contracts& contracts, Rung& findings) {
  llvm::StringRef tag;
  for (llvm::StringRef one :
       {llvm::StringRef(kLocalSgdTag), llvm::StringRef(kGeoTag), llvm::StringRef(kStalenessTag)})
    if (contracts.declares(one)) tag = one;
  if (tag.empty()) return;
  for (auto role : job.getOps<dist::RoleOp>()) {
    pd::ProgramOp main = findProgram(role, "main");
    dist::MeshOp mesh = dist::meshOf(role);
    if (!main || !mesh || serveOf(main)) continue;
    const std::vector<pd::InputOp> feeds = inputsOf(main);
    for (auto [axis, size] :
         llvm::zip(mesh.getAxes().getAsValueRange<mlir::StringAttr>(), mesh.getSizes()))
      if (size > 1) checkAxis(feeds, axis, tag, findings);
  }
}

}  // namespace dtranspile::verify
