// The list of passes: an include and a line for each.
#include "passes/passes.h"

#include "passes/amp/pass.h"
#include "passes/asp/pass.h"
#include "passes/assign-stages/pass.h"
#include "passes/broadcast-startup/pass.h"
#include "passes/bucket/pass.h"
#include "passes/check-source/pass.h"
#include "passes/cut-batch/pass.h"
#include "passes/declare-relations/pass.h"
#include "passes/declare-sites/pass.h"
#include "passes/dgc/pass.h"
#include "passes/form-job/pass.h"
#include "passes/forward-startup/pass.h"
#include "passes/fp16-all-reduce/pass.h"
#include "passes/gradient-merge/pass.h"
#include "passes/keep-source/pass.h"
#include "passes/lamb/pass.h"
#include "passes/lars/pass.h"
#include "passes/lift-parallel-ops/pass.h"
#include "passes/local-sgd/pass.h"
#include "passes/lookahead/pass.h"
#include "passes/pipeline/pass.h"
#include "passes/ps-exchange/pass.h"
#include "passes/ps-place/pass.h"
#include "passes/ps-split/pass.h"
#include "passes/ps-startup/pass.h"
#include "passes/recompute/pass.h"
#include "passes/reduce-by-levels/pass.h"
#include "passes/reduce-counts/pass.h"
#include "passes/reduce-gradients/pass.h"
#include "passes/scale-loss/pass.h"
#include "passes/select-updates/pass.h"
#include "passes/settle-roles/pass.h"
#include "passes/sharding-owner/pass.h"
#include "passes/sharding/pass.h"
#include "passes/sync-batch-norm/pass.h"
#include "passes/tensor-parallel/pass.h"
#include "passes/widen-float64/pass.h"
#include "passes/write-out-norms/pass.h"

namespace dtranspile::passes {

void registerAll() {
  registerAssignStages();
  registerAmp();
  registerAsp();
  registerBroadcastStartup();
  registerBucket();
  registerCheckSource();
  registerCutBatch();
  registerDeclareRelations();
  registerDeclareSites();
  registerDgc();
  registerFormJob();
  registerForwardStartup();
  registerFp16AllReduce();
  registerGradientMerge();
  registerKeepSource();
  registerLamb();
  registerLars();
  registerLiftParallelOps();
  registerLookahead();
  registerPipeline();
  registerPsExchange();
  registerPsPlace();
  registerPsSplit();
  registerPsStartup();
  registerRecompute();
  registerReduceByLevels();
  registerReduceCounts();
  registerReduceGradients();
  registerScaleLoss();
  registerSelectUpdates();
  registerSettleRoles();
  registerLocalSgd();
  registerSharding();
  registerShardingOwner();
  registerSyncBatchNorm();
  registerTensorParallel();
  registerWidenFloat64();
  registerWriteOutNorms();
}

}  // namespace dtranspile::passes
