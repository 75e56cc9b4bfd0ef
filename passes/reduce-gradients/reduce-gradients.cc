// One sum over the axes per gradient, where the gradient is complete. Behind scale-loss,
// before bucket.
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/StringSet.h"
#include "passes/reduce-gradients/pass.h"
#include "passes/support/job.h"

namespace dtranspile::passes {
#define GEN_PASS_DEF_REDUCEGRADIENTS
#include "passes/reduce-gradients/pass.h.inc"

namespace {

// (parameter, gradient) -> the last op that says it completes the gradient, in program order of
// these ops.
using Producers = llvm::MapVector<std::pair<mlir::StringAttr, mlir::StringAttr>, mlir::Operation*>;
using Producer = std::pair<std::pair<mlir::StringAttr, mlir::StringAttr>, mlir::Operation*>;

class ReduceGradients : public impl::ReduceGradientsBase<ReduceGradients> {
 public:
  using ReduceGradientsBase::ReduceGradientsBase;

  void runOnOperation() override {
    mlir::FailureOr<JobOnAxes> job = jobOnAxes(getOperation(), axes);
    if (mlir::failed(job)) return signalPassFailure();
    auto comms = commsCarrying(getOperation(), kGradients, job->axes);
    if (mlir::failed(comms)) return signalPassFailure();
    Producers producers;
    if (mlir::failed(collect(job->main, producers)) ||
        mlir::failed(checkUpdates(job->main, producers)))
      return signalPassFailure();
    size_t next = 0;
    llvm::DenseSet<mlir::Value> done;
    for (auto& [pair, op] : inProgramOrder(job->main, producers)) {
      mlir::Value gradient = resultNamed(op, pair.second);
      if (!gradient) {
        op->emitError("lists gradient '")
            << pair.second.getValue() << "' in op_role_var and does not write it";
        return signalPassFailure();
      }
      if (done.insert(gradient).second)
        reduce(gradient, symbolOf((*comms)[next++ % comms->size()]));
    }
  }

 private:
  static mlir::LogicalResult collect(pd::ProgramOp main, Producers& producers) {
    mlir::Builder builder(main.getContext());
    for (mlir::Operation& op : *main.getBodyBlock()) {
      if (!pd::OpView::isFrameworkOp(&op)) continue;
      pd::OpView view(&op);
      if (!(view.role() & pd::kBackward) || !view.hasAttr("op_role_var")) continue;
      std::vector<std::string> names = view.getStrings("op_role_var");
      if (names.size() % 2)
        return op.emitError("op_role_var lists ")
               << names.size() << " names; it holds pairs of parameter and gradient";
      for (size_t i = 0; i < names.size(); i += 2)
        producers[{builder.getStringAttr(names[i]), builder.getStringAttr(names[i + 1])}] = &op;
    }
    return mlir::success();
  }

  // Every parameter that an op updates has a gradient in the list.
  static mlir::LogicalResult checkUpdates(pd::ProgramOp main, const Producers& producers) {
    llvm::StringSet<> known;
    for (auto& entry : producers) known.insert(entry.first.first.getValue());
    mlir::LogicalResult result = mlir::success();
    forEachUpdate(main, [&](pd::OpView update, llvm::StringRef name) {
      if (known.contains(name) || mlir::failed(result)) return;
      update.operation()->emitError("updates parameter '")
          << name
          << "', but no op with role Backward lists it in op_role_var: its gradient would not be "
             "reduced";
      result = mlir::failure();
    });
    return result;
  }

  static std::vector<Producer> inProgramOrder(pd::ProgramOp main, const Producers& producers) {
    std::vector<Producer> list(producers.begin(), producers.end());
    // Pairs of one op keep the order of its list.
    llvm::DenseMap<mlir::Operation*, std::vector<Producer>> byOp;
    for (Producer& producer : list) byOp[producer.second].push_back(producer);
    list.clear();
    for (mlir::Operation& op : *main.getBodyBlock())
      if (auto found = byOp.find(&op); found != byOp.end()) llvm::append_range(list, found->second);
    return list;
  }

  // The first result of that name.
  mlir::Value resultNamed(mlir::Operation* op, mlir::StringAttr name) {
    auto [results, fresh] = results_.try_emplace(op);
    if (fresh)
      for (mlir::Value result : op->getResults())
        results->second.try_emplace(pd::nameAttrOf(result), result);
    return results->second.lookup(name);
  }

  // Behind the op that completes the gradient, and the sums that stand there.
  void reduce(mlir::Value gradient, mlir::FlatSymbolRefAttr comm) {
    mlir::Operation* producer = gradient.getDefiningOp();
    mlir::Operation*& last = lastBehind_.try_emplace(producer, producer).first->second;
    mlir::OpBuilder builder(producer->getContext());
    builder.setInsertionPointAfter(last);
    mlir::Value sum = sumOver(builder, producer->getLoc(), gradient, comm);
    last = sum.getDefiningOp();
    gradient.replaceAllUsesExcept(sum, last);
  }

  llvm::DenseMap<mlir::Operation*, llvm::DenseMap<mlir::StringAttr, mlir::Value>> results_;
  llvm::DenseMap<mlir::Operation*, mlir::Operation*> lastBehind_;
};

}  // namespace
}  // namespace dtranspile::passes
