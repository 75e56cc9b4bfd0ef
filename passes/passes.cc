// The list of passes: an include and a line for each.
#include "passes/passes.h"

#include "passes/dp-broadcast-startup/pass.h"
#include "passes/dp-bucket/pass.h"
#include "passes/dp-declare/pass.h"
#include "passes/dp-form-job/pass.h"
#include "passes/dp-hierarchical/pass.h"
#include "passes/dp-reduce-gradients/pass.h"
#include "passes/dp-scale-loss/pass.h"
#include "passes/local-sgd/pass.h"
#include "passes/sync-batch-norm/pass.h"
#include "passes/widen-float64/pass.h"

namespace dtranspile::passes {

void registerAll() {
  registerDpBroadcastStartup();
  registerDpBucket();
  registerDpDeclare();
  registerDpFormJob();
  registerDpHierarchical();
  registerDpReduceGradients();
  registerDpScaleLoss();
  registerLocalSgd();
  registerSyncBatchNorm();
  registerWidenFloat64();
}

}  // namespace dtranspile::passes
