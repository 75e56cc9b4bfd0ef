#include "compiler/pipelines/collective.h"

#include "compiler/pipelines/source.h"
#include "mlir/Pass/PassOptions.h"
#include "mlir/Pass/PassRegistry.h"
#include "passes/dp-broadcast-startup/pass.h"
#include "passes/dp-bucket/pass.h"
#include "passes/dp-declare/pass.h"
#include "passes/dp-form-job/pass.h"
#include "passes/dp-hierarchical/pass.h"
#include "passes/dp-reduce-gradients/pass.h"
#include "passes/dp-scale-loss/pass.h"
#include "passes/local-sgd/pass.h"
#include "passes/sync-batch-norm/pass.h"

namespace dtranspile {

void buildCollectivePipeline(mlir::OpPassManager& manager, const CollectiveStrategy& strategy) {
  bool localSgd = strategy.mode == "collective" && strategy.collective_mode == "local_sgd";
  passes::DpFormJobOptions form;
  form.ranks = strategy.trainers;
  form.intra =
      strategy.use_hierarchical_allreduce ? strategy.hierarchical_allreduce_inter_nranks : 0;
  form.comms = strategy.nccl_comm_num;
  form.statistics = strategy.sync_batch_norm;
  form.batchDims.assign(strategy.batch_dims.begin(), strategy.batch_dims.end());
  manager.addPass(passes::createDpFormJob(form));

  manager.addPass(passes::createDpBroadcastStartup());
  if (localSgd) {
    manager.addPass(passes::createLocalSgd());
  } else {
    manager.addPass(passes::createDpScaleLoss({strategy.scale_strategy == "reference"}));
    manager.addPass(passes::createDpReduceGradients());
  }
  if (strategy.fuse_all_reduce_ops)
    manager.addPass(passes::createDpBucket({strategy.fuse_grad_size_in_MB}));
  // Behind the passes that look for gradients: a composite is no framework op.
  if (strategy.sync_batch_norm) manager.addPass(passes::createSyncBatchNorm());
  manager.addPass(passes::createDpDeclare());
  if (strategy.use_hierarchical_allreduce) manager.addPass(passes::createDpHierarchical());
}

mlir::LogicalResult transpileCollective(mlir::ModuleOp module, const CollectiveStrategy& strategy) {
  if (mlir::failed(checkStrategy(strategy, module.getLoc()))) return mlir::failure();
  if (mlir::failed(checkSource(module))) return mlir::failure();
  mlir::PassManager manager(module.getContext());
  buildCollectivePipeline(manager, strategy);
  return manager.run(module);
}

namespace {

struct PipelineOptions : mlir::PassPipelineOptions<PipelineOptions> {
  Option<std::string> mode{*this, "mode", llvm::cl::desc("nccl2 or collective"),
                           llvm::cl::init("collective")};
  Option<std::string> collectiveMode{*this, "collective_mode",
                                     llvm::cl::desc("grad_allreduce or local_sgd"),
                                     llvm::cl::init("grad_allreduce")};
  Option<int64_t> trainers{*this, "trainers", llvm::cl::desc("world size"), llvm::cl::init(1)};
  Option<int64_t> comms{*this, "nccl_comm_num", llvm::cl::desc("communicators"), llvm::cl::init(1)};
  Option<int64_t> inner{*this, "hierarchical_allreduce_inter_nranks",
                        llvm::cl::desc("ranks of an inner group; turns hierarchy on"),
                        llvm::cl::init(0)};
  Option<bool> fuse{*this, "fuse_all_reduce_ops", llvm::cl::desc("buckets"), llvm::cl::init(true)};
  Option<int64_t> megabytes{*this, "fuse_grad_size_in_MB", llvm::cl::desc("size of a bucket"),
                            llvm::cl::init(32)};
  Option<bool> syncBatchNorm{*this, "sync_batch_norm",
                             llvm::cl::desc("statistics of the whole batch"),
                             llvm::cl::init(false)};
  Option<std::string> scale{*this, "scale_strategy", llvm::cl::desc("avg or reference"),
                            llvm::cl::init("avg")};
  ListOption<std::string> batchDims{*this, "batch_dims", llvm::cl::desc("NAME=dim or NAME=none")};

  CollectiveStrategy strategy() const {
    CollectiveStrategy s;
    s.mode = mode;
    s.collective_mode = collectiveMode;
    s.trainers = trainers;
    s.nccl_comm_num = comms;
    s.hierarchical_allreduce_inter_nranks = inner;
    s.use_hierarchical_allreduce = inner != 0;
    s.fuse_all_reduce_ops = fuse;
    s.fuse_grad_size_in_MB = megabytes;
    s.sync_batch_norm = syncBatchNorm;
    s.scale_strategy = scale;
    s.batch_dims.assign(batchDims.begin(), batchDims.end());
    return s;
  }
};

// Fails in the place of the passes that a wrong strategy would have given.
struct CheckStrategy : mlir::PassWrapper<CheckStrategy, mlir::OperationPass<mlir::ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(CheckStrategy)
  explicit CheckStrategy(CollectiveStrategy given) : strategy(std::move(given)) {}
  llvm::StringRef getName() const override { return "check-strategy"; }
  void runOnOperation() override {
    if (mlir::failed(checkStrategy(strategy, getOperation().getLoc()))) signalPassFailure();
  }
  CollectiveStrategy strategy;
};

}  // namespace

void registerCollectivePipeline() {
  static mlir::PassPipelineRegistration<PipelineOptions> registration(
      "collective", "a saved program to a data-parallel job",
      [](mlir::OpPassManager& manager, const PipelineOptions& options) {
        manager.addPass(std::make_unique<CheckStrategy>(options.strategy()));
        buildCollectivePipeline(manager, options.strategy());
      });
}

}  // namespace dtranspile
