// Deep gradient compression (Lin et al., 2018, arXiv:1712.01887): what a replica adds up with
// momentum is sent element by element when it is among the largest, and kept until then. After
// reduce-gradients, before bucket.
#include <cmath>
#include <map>
#include <optional>

#include "compiler/analysis/relations/contract_texts.h"
#include "dialects/dist/lookup.h"
#include "dialects/pd/types.h"
#include "passes/dgc/pass.h"
#include "passes/dgc/update.h"
#include "passes/support/branch.h"
#include "passes/support/job.h"
#include "passes/support/relations.h"

namespace dtranspile::passes {
#define GEN_PASS_DEF_DGC
#include "passes/dgc/pass.h.inc"

namespace {

using verify::SentUpTo;

// What lies between a sum over the replicas and the update that takes it.
struct Way {
  pd::OpView update{nullptr};
  dist::AllReduceOp sum;
  mlir::Operation* clip = nullptr;  // a clip_by_norm right behind the sum
  // What is added to the sum and the same on all replicas (a decay): each adds its part of it.
  std::vector<mlir::OpOperand*> decays = {};
};

class Dgc : public impl::DgcBase<Dgc> {
 public:
  using DgcBase::DgcBase;

  // Every momentum update of a large enough parameter whose gradient is summed over the replicas
  // becomes a composite that corrects the momentum, keeps what is small, and exchanges the rest. In
  // the first steps (rampup) more is sent, stage by stage. A parameter for which this makes no
  // difference stays dense.
  void runOnOperation() override {
    mlir::FailureOr<JobOnAxes> job = jobOnAxes(getOperation(), axes);
    if (mlir::failed(job)) return signalPassFailure();
    auto comms = commsCarrying(getOperation(), kGradients, job->axes);
    if (mlir::failed(comms)) return signalPassFailure();
    if (job->ranks == 1) return;
    if (!job->startup) {
      job->role.emitError(
          "dgc keeps what is not sent, from zero on: the job needs a pd.program @startup");
      return signalPassFailure();
    }
    const MainQuestion question(*job);
    const verify::Store store = verify::analyse(*question);
    store_ = &store;
    std::vector<Way> ways;
    if (mlir::failed(readSparsity(*job)) || mlir::failed(collect(*job, *comms, ways)))
      return signalPassFailure();
    std::vector<std::string> sites;
    for (Way& way : ways) {
      const std::vector<SentUpTo> stages = stagesOf(way);
      if (stages.size() == 1 && stages[0].kept == 0) continue;  // dense in every step
      mlir::FlatSymbolRefAttr comm = way.sum.getCommAttr();
      CompressedUpdate what = {way.update, unsummed(*job, way), {}, {}};
      if (stages.size() > 1) countSteps(*job, way);
      for (size_t i = 0; i < stages.size(); ++i)
        what.stages.push_back(
            {stages[i], stages.size() == 1
                            ? mlir::Value()
                            : takenIn(*job, i ? stages[i - 1].last : 0, stages[i].last)});
      sites.push_back(verify::siteOf(nameOf(way), elementsOf(way), stages));
      what.residual = addResidual(*job, way);
      declareOwn(velocityOf(*job, way), *job);
      replaceByComposite(what, *job, comm, declarations_);
    }
    if (sites.empty()) return;
    addContract(getOperation(), verify::kCompressionTag,
                verify::contractText(verify::kCompressionTag), sites);
  }

 private:
  // Shares of elements that are not sent, one per stage of the ramp-up; without any 0.999, the
  // framework's default.
  mlir::LogicalResult readSparsity(JobOnAxes& job) {
    for (const std::string& text : sparsity) {
      double share = 0;
      if (llvm::StringRef(text).getAsDouble(share) || !(share >= 0 && share < 1) ||
          (share == 0 && !shares_.empty() && shares_.back() > 0)) {
        mlir::emitError(job.main.getLoc(), "dgc: sparsity '")
            << text
            << "' is no share of elements, from 0 to below 1; and 0, which is dense, stands "
               "before the others";
        return mlir::failure();
      }
      shares_.push_back(share);
    }
    if (shares_.empty()) shares_.push_back(0.999);
    return mlir::success();
  }

  static std::string nameOf(const Way& way) {
    return pd::OpView(way.update).outputName("ParamOut").str();
  }
  static int64_t elementsOf(const Way& way) {
    return llvm::cast<mlir::RankedTensorType>(way.update.input("Param").getType()).getNumElements();
  }

  std::vector<SentUpTo> stagesOf(const Way& way) const {
    return verify::sentBy(elementsOf(way), shares_, rampup_begin_step, rampup_step);
  }

  // The framework compresses gradients of momentum updates; dense ones of fewer than dgc_min_size
  // elements, and those of other types, travel as before.
  mlir::LogicalResult collect(JobOnAxes& job, llvm::ArrayRef<dist::CommOp> comms,
                              std::vector<Way>& ways) {
    mlir::LogicalResult good = mlir::success();
    forEachUpdate(job.main, [&](pd::OpView update, llvm::StringRef) {
      if (mlir::failed(good)) return;
      if (update.type() != "momentum") {
        update.operation()->emitError("dgc: corrects the momentum of momentum updates; this is ")
            << update.type();
        good = mlir::failure();
        return;
      }
      auto type = llvm::dyn_cast<mlir::RankedTensorType>(update.input("Param").getType());
      if (!type || !type.hasStaticShape() || !type.getElementType().isF32() ||
          update.input("Grad").getType() != type || type.getNumElements() < dgc_min_size)
        return;
      mlir::FailureOr<Way> way = wayTo(update, job, comms);
      if (mlir::failed(way)) good = mlir::failure();
      else ways.push_back(std::move(*way));
    });
    return good;
  }

  static mlir::InFlightDiagnostic refuse(const Way& way, mlir::Operation* at) {
    return at->emitError("dgc: the gradient of parameter '") << nameOf(way) << "' ";
  }

  // Goes back from the update's gradient to the sum over replicas that it comes from. In between
  // there may be one clip_by_norm, which each replica then does by itself (with the bound divided
  // by √n, as in section 3.2 of the paper), and sums with decays of the parameter; anything else
  // needs the whole gradient and is refused.
  mlir::FailureOr<Way> wayTo(pd::OpView update, JobOnAxes& job,
                             llvm::ArrayRef<dist::CommOp> comms) {
    Way way{update, {}, nullptr};
    mlir::Operation* at = update.operation();
    if (at->getBlock() != job.main.getBodyBlock())
      return refuse(way, at) << "is applied in a block; that is not there yet", mlir::failure();
    if (update.input("MasterParam") || update.getBool("multi_precision") ||
        update.getFloat("rescale_grad") != 1)
      return refuse(way, at) << "is rescaled, or updates a master copy, which dgc does not do",
             mlir::failure();
    const std::string method = update.getString("regularization_method");
    if (!method.empty() && method != "l2_decay")
      return refuse(way, at) << "is regularised by '" << method
                             << "' in the update itself, of which l2_decay alone is known; let ops "
                                "of the program add the decay",
             mlir::failure();
    for (const char* slot : {"Param", "Velocity"})
      if (!update.input(slot).getDefiningOp<pd::GetOp>())
        return refuse(way, at) << "updates what is no variable in slot " << slot, mlir::failure();
    mlir::Value value = update.input("Grad");
    while (true) {
      mlir::Operation* maker = value.getDefiningOp();
      if (auto sum = llvm::dyn_cast_or_null<dist::AllReduceOp>(maker)) {
        const bool ours = sum.getReduce() == dist::Reduce::Sum && sum->getNumOperands() == 1 &&
                          value.hasOneUse() && llvm::any_of(comms, [&](dist::CommOp comm) {
                            return sum.getCommAttr() == symbolOf(comm);
                          });
        if (ours) return way.sum = sum, way;
      }
      if (!maker || !pd::OpView::isFrameworkOp(maker) || !value.hasOneUse())
        return refuse(way, at) << "is used by others than the update, or is no sum over the "
                                  "replicas",
               mlir::failure();
      const llvm::StringRef type = pd::OpView(maker).type();
      mlir::OpOperand* next = nullptr;
      if (type == "clip_by_norm" && !way.clip) {
        way.clip = maker;
        next = &maker->getOpOperand(0);
      } else if (type == "sum") {
        next = withoutDecays(maker, way);
      }
      if (!next)
        return refuse(way, maker)
                   << "goes through " << type
                   << " after it is summed, which needs all elements of all replicas; clip_by_norm "
                      "can be done by each replica, and a decay be added by it",
               mlir::failure();
      value = next->get();
    }
  }

  // The one operand of a fan-in that comes from the replicas; null where others are not the same on
  // all of them.
  mlir::OpOperand* withoutDecays(mlir::Operation* fanIn, Way& way) {
    mlir::OpOperand* gradient = nullptr;
    for (mlir::OpOperand& operand : fanIn->getOpOperands()) {
      mlir::Operation* maker = operand.get().getDefiningOp();
      const bool summed =
          llvm::isa_and_nonnull<dist::AllReduceOp>(maker) ||
          (maker && pd::OpView::isFrameworkOp(maker) && pd::OpView(maker).type() == "clip_by_norm");
      const verify::Reading& reading = store_->of(operand.get()).whole;
      if (summed && !gradient) gradient = &operand;
      else if (!summed && reading.known && reading.isReplicated() && reading.scale.isOne())
        way.decays.push_back(&operand);
      else return nullptr;
    }
    return gradient;
  }

  // The rank's own term of what the update takes, with the sum taken out of its way.
  mlir::Value unsummed(JobOnAxes& job, Way& way) {
    mlir::Value own = way.sum.getInputs()[0];
    way.sum->getResult(0).replaceAllUsesWith(own);
    way.sum->erase();
    if (way.clip) replaceByLocalClip(pd::OpView(way.clip), own, job, declarations_);
    for (mlir::OpOperand* decay : way.decays) {
      mlir::OpBuilder builder(decay->getOwner());
      decay->set(scale(builder, decay->getOwner()->getLoc(), decay->get(),
                       1.0 / static_cast<double>(job.ranks),
                       declarations_.freshName(builder.getInsertionBlock(),
                                               (pd::nameOf(decay->get()) + "@DGC").str()),
                       pd::kOptimize, declarations_));
    }
    return way.update.input("Grad");
  }

  mlir::Value create(llvm::StringRef type, std::vector<pd::InputSlot> inputs, llvm::StringRef stem,
                     mlir::Type result, llvm::ArrayRef<mlir::NamedAttribute> attributes = {}) {
    const std::string name = declarations_.freshName(builder_->getInsertionBlock(), stem);
    return declarations_
        .create(*builder_, builder_->getInsertionBlock()->getParentOp()->getLoc(), type, inputs,
                {{"Out", {{name, result}}}}, attributes, pd::kOptimize)
        .output("Out");
  }

  // The number of the step, counted from one; before the first update.
  void countSteps(JobOnAxes& job, const Way& way) {
    if (step_) return;
    builder_.emplace(way.update.operation());
    const auto number = mlir::RankedTensorType::get({1}, builder_->getI64Type());
    pd::VarOp counter = addVariable(job, "__g_dgc_counter__", number);
    const auto symbol = mlir::FlatSymbolRefAttr::get(counter.getSymNameAttr());
    const mlir::Location loc = job.main.getLoc();
    mlir::Value last = pd::GetOp::create(*builder_, loc, number, symbol);
    step_ =
        declarations_
            .create(*builder_, loc, "increment", {{"X", {last}}},
                    {{"Out", {{counter.getSymName().str(), number}}}},
                    {builder_->getNamedAttr("step", builder_->getF32FloatAttr(1))}, pd::kOptimize)
            .output("Out");
    last_ = pd::SetOp::create(*builder_, loc, symbol, step_);
  }

  // after < step <= last, where last is 0: after < step.
  mlir::Value takenIn(JobOnAxes& job, int64_t after, int64_t last) {
    mlir::Value& taken = taken_[{after, last}];
    if (taken) return taken;
    builder_->setInsertionPointAfter(last_);
    const auto number = mlir::RankedTensorType::get({1}, builder_->getI64Type());
    const auto flag = mlir::RankedTensorType::get({1}, builder_->getI1Type());
    const auto axis = builder_->getNamedAttr("axis", builder_->getI32IntegerAttr(-1));
    const auto compare = [&](llvm::StringRef type, int64_t limit) {
      mlir::Value bound =
          constant(*builder_, job.main.getLoc(), number, static_cast<double>(limit),
                   declarations_.freshName(builder_->getInsertionBlock(), "dgc_step"),
                   pd::kOptimize, declarations_);
      return create(type, {{"X", {step_}}, {"Y", {bound}}}, "dgc_cond", flag, {axis});
    };
    mlir::Value from = after ? compare("greater_than", after) : mlir::Value();
    mlir::Value to = last ? compare("less_equal", last) : mlir::Value();
    taken = !from ? to
            : !to ? from
                  : create("logical_and", {{"X", {from}}, {"Y", {to}}}, "dgc_cond", flag);
    last_ = taken.getDefiningOp();
    return taken;
  }

  // A variable of the job's own, set to zero at the end of start-up.
  pd::VarOp addVariable(JobOnAxes& job, llvm::StringRef stem, mlir::RankedTensorType type) {
    const std::string name = declarations_.freshName(job.main.getBodyBlock(), stem);
    mlir::OpBuilder builder(job.main);
    auto var = pd::VarOp::create(builder, job.main.getLoc(), builder.getStringAttr(name),
                                 mlir::TypeAttr::get(type), mlir::UnitAttr());
    for (pd::ProgramOp program : {job.main, job.startup}) {
      declarations_.declare(program.getBodyBlock(), name, type);
      declarations_.find(program.getBodyBlock(), name).setPersistable(true);
    }
    builder.setInsertionPointToEnd(job.startup.getBodyBlock());
    mlir::Value zero = constant(builder, var.getLoc(), type, 0, name, pd::kForward, declarations_);
    pd::SetOp::create(builder, var.getLoc(), mlir::FlatSymbolRefAttr::get(var.getSymNameAttr()),
                      zero);
    return var;
  }

  pd::VarOp addResidual(JobOnAxes& job, const Way& way) {
    pd::VarOp var =
        addVariable(job, nameOf(way) + "__dgc_v__",
                    llvm::cast<mlir::RankedTensorType>(way.update.input("Param").getType()));
    declareOwn(var, job);
    return var;
  }

  static pd::VarOp velocityOf(JobOnAxes& job, const Way& way) {
    auto get = way.update.input("Velocity").getDefiningOp<pd::GetOp>();
    return llvm::cast<pd::VarOp>(
        mlir::SymbolTable::lookupSymbolIn(job.role, get.getVarAttr().getAttr()));
  }

  static void declareOwn(pd::VarOp var, JobOnAxes& job) {
    llvm::SmallVector<dist::AxisRelAttr> states;
    for (auto axis : job.axes.getAsRange<mlir::StringAttr>())
      states.push_back(dist::AxisRelAttr::different(axis, verify::kCompressionTag));
    var->setAttr(dist::kRelAttr, dist::RelAttr::of(var.getSymNameAttr(), states));
  }

  const verify::Store* store_ = nullptr;  // of the job before anything is rewritten
  pd::Declarations declarations_;
  std::vector<double> shares_;
  std::optional<mlir::OpBuilder> builder_;  // of what counts steps
  mlir::Operation* last_ = nullptr;         // of that; before the first update
  mlir::Value step_;
  std::map<std::pair<int64_t, int64_t>, mlir::Value> taken_;
};

}  // namespace
}  // namespace dtranspile::passes
