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

// A share of one feed and the whole of another belong to different samples, whatever is computed of
// them; of feeds that are all whole every rank takes the whole batch, and the steps are no shares.
void checkAxis(llvm::ArrayRef<pd::InputOp> feeds, llvm::StringRef axis, bool some,
               llvm::StringRef tag, Rung& findings) {
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

// Contracts under which every rank takes the step on its own share speak of shares, so that there
// must be some: along each axis that one feed is cut along, all feeds that hold samples should be
// (else it is not known whose samples they are), and where no axis cuts any feed the contract is
// refuted, since every rank would take the step on the whole batch.
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
    llvm::SmallVector<llvm::StringRef> axes, cut;
    for (auto [axis, size] :
         llvm::zip(mesh.getAxes().getAsValueRange<mlir::StringAttr>(), mesh.getSizes())) {
      if (size == 1) continue;
      axes.push_back(axis);
      if (llvm::any_of(feeds, [&, axis = axis](pd::InputOp feed) { return isCut(feed, axis); }))
        cut.push_back(axis);
    }
    // Other axes have layers, or stages, of one replica.
    for (llvm::StringRef axis : cut) checkAxis(feeds, axis, /*some=*/true, tag, findings);
    if (cut.empty() && !axes.empty()) checkAxis(feeds, axes.front(), /*some=*/false, tag, findings);
  }
}

}  // namespace dtranspile::verify
