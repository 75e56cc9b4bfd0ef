// One sum over the axes per gradient, where the gradient is complete. After scale-loss,
// before bucket.
#include "dialects/dist/lookup.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/StringSet.h"
#include "passes/reduce-gradients/pass.h"
#include "passes/support/relations.h"

namespace dtranspile::passes {
#define GEN_PASS_DEF_REDUCEGRADIENTS
#include "passes/reduce-gradients/pass.h.inc"

namespace {

// (parameter, gradient) -> the last op that says it completes the gradient, in program order of
// these ops.
using Producers = llvm::MapVector<std::pair<mlir::StringAttr, mlir::StringAttr>, mlir::Operation*>;
using Producer = std::pair<std::pair<mlir::StringAttr, mlir::StringAttr>, mlir::Operation*>;

// A value after the sums over ranks that it has been through, in buckets or alone.
mlir::Value afterSums(mlir::Value value) {
  while (true) {
    auto use = llvm::find_if(value.getUses(), [](mlir::OpOperand& one) {
      return llvm::isa<dist::AllReduceOp>(one.getOwner());
    });
    if (use == value.use_end()) return value;
    mlir::Operation* results = use->getOwner();
    if (llvm::isa<dist::PendingType>(results->getResult(0).getType()))
      results = *results->getResult(0).user_begin();
    value = results->getResult(use->getOperandNumber());
  }
}

// The axes that a gradient is to be summed over, so that every rank has the reference's, once. A
// term of each rank is summed. What is equal along an axis is not, unless it has a part of the
// scale: the gradient of what does not depend on the batch, after a seed that is scaled. What
// nothing is known of is summed over all.
verify::AxisSet axesToSum(const verify::Reading& reading, const verify::Axes& axes,
                          const verify::AxisSet& own) {
  if (!reading.known || reading.scale.isLost()) return own;
  verify::AxisSet terms(axes.count()), equal(axes.count());
  int64_t ranks = 1;  // along those where it is equal
  for (unsigned axis : own.set_bits()) {
    const bool replicated = reading.states[axis].isReplicated();
    if (replicated && axes.sizes[axis] > 1) {
      equal.set(axis);
      ranks *= axes.sizes[axis];
    } else {
      terms.set(axis);
    }
  }
  auto complete = [&](int64_t sum) { return (reading.scale * verify::Rational(sum)).isOne(); };
  if (complete(1)) return terms;
  if (!complete(ranks))
    for (unsigned axis : equal.set_bits())
      if (complete(axes.sizes[axis])) {
        terms.set(axis);
        return terms;
      }
  return own;
}

class ReduceGradients : public impl::ReduceGradientsBase<ReduceGradients> {
 public:
  using ReduceGradientsBase::ReduceGradientsBase;

  // Which axes a gradient is summed over is not assumed: the relation analysis says along which of
  // them it is a term or of each rank's share. Gradients that are added up over steps are summed
  // where they are read, once for all these steps, and not in every step.
  void runOnOperation() override {
    mlir::FailureOr<JobOnAxes> job = jobOnAxes(getOperation(), axes);
    if (mlir::failed(job)) return signalPassFailure();
    Producers producers;
    if (mlir::failed(collect(job->main, producers)) ||
        mlir::failed(checkUpdates(job->main, producers)))
      return signalPassFailure();
    std::vector<Kept> kept;
    for (auto& [pair, op] : inProgramOrder(job->main, producers)) {
      mlir::Value gradient = resultNamed(op, pair.second);
      if (!gradient) {
        op->emitError("lists gradient '")
            << pair.second.getValue() << "' in op_role_var and does not write it";
        return signalPassFailure();
      }
      gradient = ofThisStep(gradient);
      if (pd::VarOp variable = keptIn(gradient, *job)) kept.push_back({gradient, variable});
      else parameters_.insert({afterSums(gradient), pair.first});
    }
    // Between steps every rank has a term of what is added up.
    for (Kept& each : kept) declarePartial(*job, each.variable, job->axes);
    const MainQuestion question(*job);
    const verify::Store store = verify::analyse(*question);
    const verify::AxisSet own = axesOf(*job, store.axes());
    for (mlir::Value gradient : llvm::make_first_range(parameters_)) {
      const verify::AxisSet axes =
          axesToUse(axesToSum(store.of(gradient).whole, store.axes(), own), own, store.axes());
      if (axes.none()) continue;
      mlir::FailureOr<mlir::FlatSymbolRefAttr> comm =
          nextComm(namesOf(axes, store.axes(), &getContext()));
      if (mlir::failed(comm)) return signalPassFailure();
      reduce(gradient, *comm);
    }
    for (Kept& each : kept) {
      const verify::AxisSet axes =
          axesToUse(axesToSum(store.of(each.gradient).whole, store.axes(), own), own, store.axes());
      const mlir::ArrayAttr names = namesOf(axes, store.axes(), &getContext());
      declarePartial(*job, each.variable, names);
      if (axes.none()) continue;
      mlir::FailureOr<mlir::FlatSymbolRefAttr> comm = nextComm(names);
      if (mlir::failed(comm)) return signalPassFailure();
      for (pd::GetOp get : readsInBranches(job->main, each.variable))
        reduce(get.getResult(), *comm);
    }
  }

 private:
  // A gradient that a variable adds up over steps (gradient-merge): what the variable holds is
  // reduced, where a branch takes it out.
  struct Kept {
    mlir::Value gradient;
    pd::VarOp variable;
  };

  // Of a program that merges steps itself (the framework's GradientMergeOptimizer lists the sum
  // with the variable as the gradient): what is added to the variable, which then is the same on
  // all ranks.
  static mlir::Value ofThisStep(mlir::Value gradient) {
    mlir::Operation* op = gradient.getDefiningOp();
    if (!pd::OpView::isFrameworkOp(op) || pd::OpView(op).type() != "elementwise_add")
      return gradient;
    auto get = llvm::dyn_cast_or_null<pd::GetOp>(pd::OpView(op).input("Y").getDefiningOp());
    auto goesBack = [&](mlir::Operation* user) {
      auto set = llvm::dyn_cast<pd::SetOp>(user);
      return set && get && set.getVarAttr() == get.getVarAttr();
    };
    mlir::Value added = pd::OpView(op).input("X");
    return llvm::any_of(gradient.getUsers(), goesBack) && added.getDefiningOp() ? added : gradient;
  }

  // The variable that a value goes into and nowhere else; null where there is none.
  static pd::VarOp keptIn(mlir::Value gradient, JobOnAxes& job) {
    if (!gradient.hasOneUse()) return {};
    auto set = llvm::dyn_cast<pd::SetOp>(*gradient.user_begin());
    if (!set) return {};
    return llvm::dyn_cast_or_null<pd::VarOp>(
        mlir::SymbolTable::lookupSymbolIn(job.role, set.getVarAttr().getAttr()));
  }

  // A term along these axes; along those of other passes (that of split layers) it lies as it did.
  static void declarePartial(const JobOnAxes& job, pd::VarOp variable, mlir::ArrayAttr axes) {
    const auto held = variable->getAttrOfType<dist::RelAttr>(dist::kRelAttr);
    llvm::SmallVector<dist::AxisRelAttr> states;
    dist::MeshOp mesh = job.mesh;
    for (auto axis : mesh.getAxes().getAsRange<mlir::StringAttr>()) {
      const auto other = held && !llvm::is_contained(job.axes, axis) ? held.lookup(axis.getValue())
                                                                     : dist::AxisRelAttr();
      if (other) states.push_back(other);
      else if (llvm::is_contained(axes, axis))
        states.push_back(dist::AxisRelAttr::partial(axis, dist::Reduce::Sum));
    }
    variable->setAttr(dist::kRelAttr, dist::RelAttr::of(variable.getSymNameAttr(), states));
  }

  static std::vector<pd::GetOp> readsInBranches(pd::ProgramOp main, pd::VarOp variable) {
    std::vector<pd::GetOp> reads;
    main.walk([&](pd::GetOp get) {
      if (get->getBlock() != main.getBodyBlock() &&
          get.getVarAttr().getAttr() == variable.getSymNameAttr())
        reads.push_back(get);
    });
    return reads;
  }

  // Pairs of parameter and gradient that an op of the backward part lists; a composite lists those
  // of the op that it stands for.
  static std::vector<std::string> listedBy(mlir::Operation* op) {
    std::vector<std::string> names;
    if (auto composite = llvm::dyn_cast<dist::CompositeOp>(op)) {
      auto role = composite.getAttrs().getAs<mlir::IntegerAttr>("op_role");
      auto listed = composite.getAttrs().getAs<mlir::ArrayAttr>("op_role_var");
      if (role && listed && (role.getInt() & pd::kBackward))
        for (auto name : listed.getAsValueRange<mlir::StringAttr>()) names.push_back(name.str());
      return names;
    }
    if (!pd::OpView::isFrameworkOp(op)) return names;
    const pd::OpView view(op);
    if ((view.role() & pd::kBackward) && view.hasAttr("op_role_var"))
      names = view.getStrings("op_role_var");
    return names;
  }

  static mlir::LogicalResult collect(pd::ProgramOp main, Producers& producers) {
    mlir::Builder builder(main.getContext());
    for (mlir::Operation& op : *main.getBodyBlock()) {
      const std::vector<std::string> names = listedBy(&op);
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

  // Communicators over the same axes take turns.
  mlir::FailureOr<mlir::FlatSymbolRefAttr> nextComm(mlir::ArrayAttr axes) {
    auto [at, fresh] = comms_.try_emplace(axes);
    if (fresh) {
      auto comms = commsCarrying(getOperation(), kGradients, axes);
      if (mlir::failed(comms)) return mlir::failure();
      at->second.comms = std::move(*comms);
    }
    Turn& turn = at->second;
    return symbolOf(turn.comms[turn.next++ % turn.comms.size()]);
  }

  // The first result of that name.
  mlir::Value resultNamed(mlir::Operation* op, mlir::StringAttr name) {
    auto [results, fresh] = results_.try_emplace(op);
    if (fresh)
      for (mlir::Value result : op->getResults())
        results->second.try_emplace(mlir::StringAttr::get(&getContext(), dist::nameOf(result)),
                                    result);
    return results->second.lookup(name);
  }

  // After the op that completes the gradient, and the sums that stand there.
  void reduce(mlir::Value gradient, mlir::FlatSymbolRefAttr comm) {
    mlir::Operation* producer = gradient.getDefiningOp();
    mlir::Operation*& last = lastBehind_.try_emplace(producer, producer).first->second;
    mlir::OpBuilder builder(producer->getContext());
    builder.setInsertionPointAfter(last);
    mlir::Value sum = sumOver(builder, producer->getLoc(), gradient, comm);
    last = sum.getDefiningOp();
    const mlir::StringAttr parameter = parameters_.lookup(gradient);
    gradient.replaceUsesWithIf(sum, [&](mlir::OpOperand& use) {
      return use.getOwner() != last && !isTermOfOther(use.getOwner(), parameter);
    });
  }

  // Whether an op of the backward part computes another parameter's gradient: what it reads stays
  // the rank's own term, since its result is summed in turn.
  bool isTermOfOther(mlir::Operation* op, mlir::StringAttr parameter) const {
    llvm::SmallVector<mlir::Operation*> open = {op};
    llvm::DenseSet<mlir::Operation*> seen;
    while (!open.empty()) {
      mlir::Operation* next = open.pop_back_val();
      if (!pd::OpView::isFrameworkOp(next) || !(pd::OpView(next).role() & pd::kBackward) ||
          !seen.insert(next).second)
        continue;
      for (mlir::Value result : next->getResults()) {
        if (auto other = parameters_.find(afterSums(result));
            other != parameters_.end() && other->second != parameter)
          return true;
        llvm::append_range(open, result.getUsers());
      }
    }
    return false;
  }

  struct Turn {
    std::vector<dist::CommOp> comms;
    size_t next = 0;
  };
  llvm::MapVector<mlir::Value, mlir::StringAttr> parameters_;  // by the gradient
  llvm::DenseMap<mlir::Attribute, Turn> comms_;                // by their axes
  llvm::DenseMap<mlir::Operation*, llvm::DenseMap<mlir::StringAttr, mlir::Value>> results_;
  llvm::DenseMap<mlir::Operation*, mlir::Operation*> lastBehind_;
};

}  // namespace
}  // namespace dtranspile::passes
