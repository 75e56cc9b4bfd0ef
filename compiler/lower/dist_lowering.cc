// Which function lowers which op of dialect dist.
#include "compiler/lower/dist_lowering.h"

#include "compiler/lower/server_lowering.h"
#include "llvm/ADT/StringMap.h"

namespace dtranspile::lower {

LowerDist distLowering(mlir::Operation* op) {
  static const auto* rows = new llvm::StringMap<LowerDist>{
      {"dist.all_reduce", lowerCollective},
      {"dist.reduce", lowerCollective},
      {"dist.broadcast", lowerCollective},
      {"dist.all_gather", lowerCollective},
      {"dist.reduce_scatter", lowerCollective},
      {"dist.all_to_all", lowerCollective},
      {"dist.barrier", lowerCollective},
      {"dist.wait", lowerWait},
      {"dist.send", lowerSend},
      {"dist.recv", lowerRecv},
      {"dist.on", lowerGuard},
      {"dist.micro", lowerMicro},
      {"dist.coord", lowerCoord},
      {"dist.slice", lowerSlice},
      {"dist.copy", lowerCopy},
      {"dist.push", lowerPush},
      {"dist.pull", lowerPull},
      {"dist.lookup", lowerLookup},
      {"dist.remote", lowerRemote},
      {"dist.phase", lowerPhase},
      {"dist.foreach_block", lowerForeachBlock},
      {"dist.merged", lowerMerged},
  };
  return rows->lookup(op->getName().getStringRef());
}

}  // namespace dtranspile::lower
