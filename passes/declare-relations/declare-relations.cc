// What differs between replicas, said on variables and random ops. After every pass that reduces,
// before reduce-by-levels.
#include <map>

#include "dialects/pd/position.h"
#include "passes/declare-relations/pass.h"
#include "passes/support/job.h"
#include "passes/support/varying.h"

namespace dtranspile::passes {
#define GEN_PASS_DEF_DECLARERELATIONS
#include "passes/declare-relations/pass.h.inc"

namespace {

struct Tag {
  llvm::StringRef name, statement;
};
constexpr llvm::StringLiteral kLocalSgd = "local_sgd";
const Tag kBatchStatistics = {
    "batch_statistics",
    "running statistics are those of a rank's own part of each batch; rank 0's are saved"};
const Tag kLocalState = {
    "local_state",
    "the variable accumulates over a rank's own part of each batch; rank 0's is saved"};
const Tag kLocalSgdState = {kLocalSgd, ""};  // the statement is that of local-sgd

class DeclareRelations : public impl::DeclareRelationsBase<DeclareRelations> {
 public:
  using DeclareRelationsBase::DeclareRelationsBase;

  void runOnOperation() override {
    mlir::FailureOr<JobOnAxes> job = jobOnAxes(getOperation(), axes);
    if (mlir::failed(job)) return signalPassFailure();
    Varying varying(job->main);
    bool local = hasContract(getOperation(), kLocalSgd);
    const mlir::SymbolTable symbols(job->role);
    // Sites by contract; a contract stands where its last site was found.
    std::map<llvm::StringRef, std::vector<std::string>> sites;
    std::vector<Tag> order;
    for (auto [name, set] : varying.variables()) {
      mlir::Operation* writer = set.getValue().getDefiningOp();
      mlir::FailureOr<Tag> tag = tagOf(name, writer ? writer : set.getOperation(), local);
      if (mlir::failed(tag)) return signalPassFailure();
      // The other passes average parameters; one that they overlooked must not become a declared
      // difference.
      if (tag->name == kLocalSgd && isParameter(symbols, name)) {
        (writer ? writer : set.getOperation())->emitError("local_sgd: sets parameter '")
            << name.getValue()
            << "', and nothing averages it behind this op: the replicas would drift apart";
        return signalPassFailure();
      }
      if (mlir::Operation* var = symbols.lookup(name)) declare(*job, var, name, *tag);
      if (tag->statement.empty()) continue;
      llvm::erase_if(order, [&](const Tag& known) { return known.name == tag->name; });
      order.push_back(*tag);
      sites[tag->name].push_back(pd::describe(writer ? writer : set.getOperation()));
    }
    for (const Tag& tag : order)
      addContract(getOperation(), tag.name, tag.statement, sites[tag.name]);
    // Not in start-up: what it draws without a seed differs between ranks, and is broadcast.
    markRandomOps(job->main, varying, job->axes);
  }

 private:
  static mlir::FailureOr<Tag> tagOf(mlir::StringAttr variable, mlir::Operation* writer,
                                    bool local) {
    bool framework = pd::OpView::isFrameworkOp(writer);
    if (framework && pd::OpView(writer).type() == "batch_norm") return kBatchStatistics;
    if (!framework || !(pd::OpView(writer).role() & pd::kOptimize)) return kLocalState;
    if (local) return kLocalSgdState;
    return writer->emitError("updates '") << variable.getValue()
                                          << "' with a value that differs between replicas: a "
                                             "gradient reaches the optimizer without being reduced";
  }

  static bool isParameter(const mlir::SymbolTable& symbols, mlir::StringAttr variable) {
    auto var = llvm::dyn_cast_or_null<pd::VarOp>(symbols.lookup(variable));
    return var && var.getParameter();
  }

  static void declare(JobOnAxes& job, mlir::Operation* var, mlir::StringAttr variable,
                      const Tag& tag) {
    llvm::SmallVector<dist::AxisRelAttr> axes;
    for (mlir::StringAttr axis : job.axes.getAsRange<mlir::StringAttr>())
      axes.push_back(dist::AxisRelAttr::different(axis, tag.name));
    var->setAttr(dist::kRelAttr, dist::RelAttr::of(variable, axes));
  }

  static void markRandomOps(pd::ProgramOp program, const Varying& varying, mlir::ArrayAttr axes) {
    program.walk([&](mlir::Operation* op) {
      if (!pd::OpView::isFrameworkOp(op)) return;
      const pd::OpSpec* spec = pd::OpView(op).spec();
      if (!spec || !(spec->effects & pd::kRandom)) return;
      bool differs = llvm::any_of(op->getOperands(),
                                  [&](mlir::Value value) { return varying.contains(value); });
      op->setAttr(dist::kStreamsAttr, differs ? axes : mlir::ArrayAttr::get(op->getContext(), {}));
    });
  }
};

}  // namespace
}  // namespace dtranspile::passes
