#include "compiler/verify/execution/scope.h"

#include <algorithm>
#include <map>
#include <set>

#include "compiler/analysis/position.h"
#include "compiler/analysis/program_info.h"
#include "dialects/dist/dist.h"
#include "dialects/dist/lookup.h"
#include "dialects/pd/infer.h"
#include "dialects/pd/op_view.h"
#include "dialects/pd/types.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringSet.h"

namespace dtranspile::verify {
namespace {

// Contracts that hold part by part: with equal parts a step is that of the reference.
constexpr llvm::StringLiteral kByParts[] = {"parts", "batch_statistics", "micro_statistics",
                                            "local_state", "local_sgd"};

// Sites that give on a batch of equal parts what they give on one of them. (All pairs of samples,
// lists over all images and the like do not.)
constexpr llvm::StringLiteral kBlindToCopies[] = {"batch_norm", "sync_batch_norm", "inplace_abn"};

// Those that do so only where no sum over samples follows: what each sample is divided by is that
// of its part.
constexpr llvm::StringLiteral kBlindInMeans[] = {"elementwise_div", "nll_loss"};

bool isHalf(mlir::Type type) {
  mlir::RankedTensorType tensor = pd::tensorOf(type);
  return tensor && (tensor.getElementType().isF16() || tensor.getElementType().isBF16());
}

// "#7 batch_norm" -> "batch_norm".
llvm::StringRef siteType(llvm::StringRef site) { return site.split(' ').second; }

// What an execution of the job can and cannot show. `refused`: it would compute something else than
// the reference even if it is right. `equal`: parts of the batch get equal samples, so that what is
// defined part by part (batch statistics without sync) is that of the whole. `doubt`: a difference
// might be one of those, and refutes nothing. Reasons are kept, since a report says them.
class Reader {
 public:
  explicit Reader(mlir::ModuleOp job) : job_(job) {}

  // Decides what a comparison of the job with its reference by running both may conclude: whether
  // it can be run at all (`refuse`), whether it must be fed with equal parts, and what remains
  // doubtful even then. Whatever is not known to compare is not compared.
  ExecutionScope read() {
    mlir::ModuleOp reference = referenceModule(job_);
    if (!reference || !findProgram(reference, "main"))
      return refuse("the job holds no reference program");
    if (!findProgram(reference, "startup"))
      return refuse("the job holds no start-up program, so its variables have no first values");
    readContracts(reference);
    readServers();
    readTypes();
    for (dist::RoleOp role : job_.getOps<dist::RoleOp>()) readRole(role, reference);
    if (scope_.equal && scope_.draws && !meanLoss(reference))
      doubt("the loss may be no mean over samples, and random numbers are drawn");
    return std::move(scope_);
  }

 private:
  ExecutionScope refuse(std::string why) {
    if (scope_.refused.empty()) scope_.refused = std::move(why);
    return scope_;
  }
  void doubt(std::string why) {
    if (scope_.decisive) scope_.doubt = std::move(why);
    scope_.decisive = false;
  }
  void makeEqual(std::string why) {
    if (!scope_.equal) scope_.why = std::move(why);
    scope_.equal = true;
  }

  // Without rounds a server does not compute what the reference does, step by step.
  void readServers() {
    job_->walk([&](dist::ServeOp loop) {
      if (loop.getMode() != dist::ServeMode::Sync)
        refuse("the job serves in mode " + dist::stringifyServeMode(loop.getMode()).str() +
               ", in which trainers do not compute what the reference does step by step");
    });
  }

  // A relaxed contract usually means that values are to differ, so that there is nothing to
  // compare. Those that speak of each part of the batch by itself (kByParts) give the reference's
  // values where all parts are equal.
  void readContracts(mlir::ModuleOp reference) {
    auto contracts = job_->getAttrOfType<mlir::ArrayAttr>(dist::kContractsAttr);
    if (!contracts) return;
    for (auto contract : contracts.getAsRange<mlir::DictionaryAttr>()) {
      auto tag = contract.getAs<mlir::StringAttr>("tag");
      if (!tag) continue;
      if (!llvm::is_contained(kByParts, tag.getValue())) {
        refuse("the job computes something else than its reference by contract `" + tag.str() +
               "`");
        continue;
      }
      makeEqual("contract `" + tag.str() + "` speaks of each part of the batch by itself");
      auto sites = contract.getAs<mlir::ArrayAttr>("sites");
      if (tag == "micro_statistics" && sites) leaveOut(sites, reference);
      if (tag != "parts" || !sites) continue;
      for (auto site : sites.getAsRange<mlir::StringAttr>())
        if (!isBlind(siteType(site.getValue()), reference))
          doubt("site " + site.str() + " may tell a batch of equal parts from one of them");
    }
  }

  // Variables that move several times where the reference's move once, with equal parts too. What
  // reads them but the op that moves them, or a copy that is thrown away, would see it.
  void leaveOut(mlir::ArrayAttr names, mlir::ModuleOp reference) {
    for (auto name : names.getAsRange<mlir::StringAttr>()) apart_.insert(name.getValue());
    findProgram(reference, "main")->walk([&](pd::GetOp get) {
      if (!apart_.contains(get.getVar())) return;
      for (mlir::Operation* user : get->getUsers())
        if (!pd::OpView::isFrameworkOp(user) ||
            (pd::OpView(user).type() != "batch_norm" && pd::OpView(user).type() != "assign"))
          doubt("running statistics `" + get.getVar().str() + "` are read by others");
    });
  }

  bool isBlind(llvm::StringRef site, mlir::ModuleOp reference) {
    return llvm::is_contained(kBlindToCopies, site) ||
           (llvm::is_contained(kBlindInMeans, site) && meanLoss(reference));
  }

  void readTypes() {
    mlir::Operation* half = nullptr;
    job_->walk([&](mlir::Operation* op) {
      if (!half && llvm::any_of(op->getResultTypes(), isHalf)) half = op;
    });
    if (half)
      refuse(positionOf(half) + " computes in 16 bits: two orders of summation round apart");
  }

  void readRole(dist::RoleOp role, mlir::ModuleOp reference) {
    pd::ProgramOp main = findProgram(role, "main");
    readBatch(role);
    if (main) readDraws(main, dist::meshOf(role));
    for (auto var : role.getOps<pd::VarOp>()) readVariable(role, var, reference);
  }

  // The number of parts that the batch is cut into: the product over the axes of a feed, and the
  // largest over feeds.
  void readBatch(dist::RoleOp role) {
    dist::MeshOp mesh = dist::meshOf(role);
    role->walk([&](pd::InputOp input) {
      auto batch = input->getAttrOfType<dist::BatchAttr>(dist::kBatchAttr);
      if (!batch || !mesh) return;
      int64_t parts = 1;
      for (mlir::StringAttr axis : batch.getAxes()) {
        parts *= mesh.sizeOf(axis.getValue()).value_or(1);
        batchAxes_.insert(axis);
      }
      scope_.parts = std::max(scope_.parts, parts);
    });
  }

  // Random ops draw what the reference draws only if their streams do not tell ranks apart along an
  // axis.
  void readDraws(pd::ProgramOp main, dist::MeshOp mesh) {
    main->walk([&](mlir::Operation* op) {
      if (!pd::OpView::isFrameworkOp(op)) return;
      const pd::OpSpec* spec = pd::OpView(op).spec();
      if (!spec || !(spec->effects & pd::kRandom)) return;
      if (spec->attribute("is_test") && pd::OpView(op).getBool("is_test")) return;
      scope_.draws = true;
      auto streams = op->getAttrOfType<mlir::ArrayAttr>(dist::kStreamsAttr);
      if (!streams) return;
      for (auto axis : streams.getAsRange<mlir::StringAttr>()) {
        if (!mesh || mesh.sizeOf(axis.getValue()).value_or(1) == 1) continue;
        // The same samples draw the same numbers; of one value that lies in parts the reference
        // draws all at once, and other numbers.
        if (batchAxes_.contains(axis))
          makeEqual(positionOf(op) + " draws numbers of each rank's own along " + axis.str());
        else
          refuse(positionOf(op) + " draws each part of one value by itself along " + axis.str() +
                 ", and the reference the whole at once");
      }
    });
  }

  // How a variable stands to the reference's, where its ranks' values say it.
  void readVariable(dist::RoleOp role, pd::VarOp var, mlir::ModuleOp reference) {
    auto relation = var->getAttrOfType<dist::RelAttr>(dist::kRelAttr);
    const std::string name = var.getSymName().str();
    if (!relation || apart_.contains(name) ||
        !mlir::SymbolTable::lookupSymbolIn(reference, relation.getVariable())) {
      scope_.skipped.push_back(name);
      return;
    }
    trial::Variable variable = {role.getSymName().str(),
                                name,
                                relation.getVariable().str(),
                                static_cast<double>(relation.getNumerator()) /
                                    static_cast<double>(relation.getDenominator()),
                                {}};
    bool part = false;
    for (dist::AxisRelAttr axis : relation.getAxes()) {
      switch (axis.getState()) {
        case dist::StateKind::Replicated: break;
        case dist::StateKind::Split: part = true; break;  // the plan's layout says which part
        case dist::StateKind::Partial:
          if (axis.getReduce() == dist::Reduce::Sum) {
            variable.axes.push_back(axis.getAxis().str());
            break;
          }
          [[fallthrough]];
        case dist::StateKind::Different:
          // With equal samples every rank's own steps are those of the reference on one part.
          if (scope_.equal && axis.getTag().getValue() == "local_sgd") break;
          [[fallthrough]];
        default: scope_.skipped.push_back(name); return;
      }
    }
    // A term of each replica, of which a rank has a part (merged gradients of split layers), is not
    // put together: what is made of it is compared.
    if (part && !variable.axes.empty()) scope_.skipped.push_back(name);
    else scope_.variables.push_back(std::move(variable));
  }

  // Whether the loss is a mean over its samples, or a ratio of its own: parts that are equal give
  // it alike.
  // A sum over samples is `parts` times as large on the whole batch as on one of equal parts; a
  // mean is the same.
  bool meanLoss(mlir::ModuleOp reference) {
    pd::ProgramOp main = findProgram(reference, "main");
    const std::string name = findLoss(main);
    mlir::Value loss = name.empty() ? mlir::Value() : lastNamed(main, name);
    mlir::Operation* op = loss ? loss.getDefiningOp() : nullptr;
    if (!op || !pd::OpView::isFrameworkOp(op)) return false;
    const llvm::StringRef type = pd::OpView(op).type();
    return type == "mean" || type == "reduce_mean" || llvm::is_contained(kBlindInMeans, type);
  }

  mlir::ModuleOp job_;
  llvm::StringSet<> apart_;                     // variables that move more often than there
  llvm::DenseSet<mlir::StringAttr> batchAxes_;  // over which some feed is cut
  ExecutionScope scope_;
};

}  // namespace

ExecutionScope executionScopeOf(mlir::ModuleOp job) { return Reader(job).read(); }

}  // namespace dtranspile::verify
