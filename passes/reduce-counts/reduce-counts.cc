// Sums over the batch that ops take by value are added up over the ranks. Before scale-loss, since
// the factor of the loss follows from what it is then.
#include "compiler/analysis/relations/rule.h"
#include "compiler/analysis/relations/sites.h"
#include "dialects/dist/lookup.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/SetOperations.h"
#include "llvm/ADT/StringMap.h"
#include "mlir/IR/Diagnostics.h"
#include "passes/reduce-counts/pass.h"
#include "passes/support/relations.h"
#include "passes/support/seeds.h"

namespace dtranspile::passes {
#define GEN_PASS_DEF_REDUCECOUNTS
#include "passes/reduce-counts/pass.h.inc"

namespace {

using verify::Rational;
using verify::Relation;
using verify::Store;

constexpr llvm::StringLiteral kCounts = "counts";  // what the communicator carries
// More is no count: a sum of features over the batch stays a statistic of the share.
constexpr int64_t kMostElements = 1024;
// Each round of the search changes one value.
constexpr int kMostRounds = 256;

double valueOf(const Rational& fraction) {
  return static_cast<double>(fraction.numerator()) / static_cast<double>(fraction.denominator());
}
Rational inverseOf(const Rational& fraction) {
  return Rational(fraction.denominator(), fraction.numerator());
}

bool isReal(mlir::Value value) {
  auto type = llvm::dyn_cast<mlir::RankedTensorType>(value.getType());
  return type && llvm::isa<mlir::FloatType>(type.getElementType());
}

// Numbers that can be added up, few of them.
bool isCount(mlir::Value value) {
  auto type = llvm::dyn_cast<mlir::RankedTensorType>(value.getType());
  if (!type || !type.hasStaticShape() || type.getNumElements() > kMostElements) return false;
  const mlir::Type element = type.getElementType();
  return llvm::isa<mlir::FloatType>(element) || element.isInteger(32) || element.isInteger(64);
}

bool isUpdate(mlir::Operation* op) {
  return pd::OpView::isFrameworkOp(op) && (pd::OpView(op).role() & pd::kOptimize);
}

bool isForward(mlir::Operation* op) {
  return !(pd::OpView(op).role() & (pd::kBackward | pd::kOptimize));
}

// The gradient op of what gives the value, which takes it beside its gradient: what that op has
// given is what it computed itself.
bool isOwnGradient(mlir::OpOperand& use) {
  if (!pd::OpView::isFrameworkOp(use.getOwner())) return false;
  const pd::OpView op(use.getOwner());
  if (!(op.role() & pd::kBackward)) return false;
  return llvm::any_of(op.inputSlots(), [&](const std::string& slot) {
    return llvm::is_contained(op.inputs(slot), use.get()) && op.hasInput(slot + "@GRAD");
  });
}

// What is known of a job as a whole: the pass may take nothing of it away.
struct Known {
  llvm::DenseSet<mlir::Operation*> sites;
  int64_t unknown = 0;  // values of the forward and gradient part
};

// The changes of one program. All of them can be taken back.
class Rewrite {
 public:
  explicit Rewrite(const JobOnAxes& job)
      : job_(job), body_(job_.main.getBodyBlock()), question_(job) {
    for (mlir::Operation& op : *body_)
      if (op.hasAttr(dist::kSrcAttr))
        for (mlir::Value result : op.getResults())
          if (llvm::StringRef name = pd::nameOf(result); !name.empty()) ++definitions_[name];
  }

  Store analyse() const { return verify::analyse(*question_); }
  Known knownOf(const Store& store) const;
  bool changeForward(Store store);
  bool changeBackward();
  bool isRight(const Known& before) const;
  void undo();

 private:
  // What was done to a value of the forward part: added up or not, then multiplied.
  struct Change {
    mlir::Value value;
    bool sum;
    Rational factor;
  };
  // Of a gradient, by the changes of the value that it belongs to.
  struct Adjoint {
    mlir::Value gradient;
    size_t change;
  };

  std::vector<verify::Site> sitesOf(const Store& store) const;
  mlir::Block& body() const { return *body_; }
  bool isTerm(const Relation& relation, const verify::Axes& axes) const;
  bool canBeSummed(mlir::Value value, const Store& store) const;
  mlir::Value nextSum(const Store& store) const;
  Rational multipleOf(mlir::OpResult result, const Store& store) const;
  mlir::OpResult nextMultiple(const Store& store) const;
  mlir::Value change(mlir::Value value, bool sum, const Rational& factor, llvm::StringRef name,
                     int role);
  bool collectAdjoints(std::vector<Adjoint>& adjoints) const;
  bool hasRightGradients(const Store& store) const;
  mlir::FlatSymbolRefAttr comm();

  JobOnAxes job_;
  mlir::Block* body_;
  MainQuestion question_;
  llvm::StringMap<int> definitions_;  // of names by ops of the program
  std::vector<Change> changes_;
  std::vector<mlir::Operation*> inserted_;
  llvm::DenseSet<mlir::Value> changed_;
  dist::CommOp comm_;
  pd::Declarations declarations_;
};

// Of the forward and gradient part. (Updates take what is not reduced yet.)
std::vector<verify::Site> Rewrite::sitesOf(const Store& store) const {
  std::vector<verify::Site> sites = verify::reachedSites(*question_, store);
  llvm::erase_if(sites, [](const verify::Site& site) { return isUpdate(site.op); });
  return sites;
}

Known Rewrite::knownOf(const Store& store) const {
  Known known;
  for (const verify::Site& site : sitesOf(store)) known.sites.insert(site.op);
  for (mlir::Operation& op : body())
    if (op.hasAttr(dist::kSrcAttr) && !isUpdate(&op))
      known.unknown += llvm::count_if(
          op.getResults(), [&](mlir::Value result) { return !store.of(result).known(); });
  return known;
}

// Each rank has a term along every axis that the pass works on, and the same along all others.
bool Rewrite::isTerm(const Relation& relation, const verify::Axes& axes) const {
  if (!relation.known() || !relation.whole.scale.isPositive()) return false;
  const verify::AxisSet own = axesOf(job_, axes);
  for (unsigned axis = 0; axis < axes.count(); ++axis) {
    const verify::State& state = relation.whole.states[axis];
    const bool term = state.isPartial() && state.reduce == dist::Reduce::Sum;
    if (axes.sizes[axis] > 1 && !(own.test(axis) ? term : state.isReplicated())) return false;
  }
  return true;
}

// A value under a name of its own, which ops at the top of the program take.
bool Rewrite::canBeSummed(mlir::Value value, const Store& store) const {
  mlir::Operation* maker = value.getDefiningOp();
  if (!maker || maker->getBlock() != &body() || !pd::OpView::isFrameworkOp(maker) ||
      changed_.contains(value) || !isCount(value) || definitions_.lookup(pd::nameOf(value)) != 1)
    return false;
  const Relation& relation = store.of(value);
  return !relation.gradient && isTerm(relation, store.axes()) &&
         (relation.whole.scale.isOne() || isReal(value)) &&
         llvm::all_of(value.getUsers(), [&](mlir::Operation* user) {
           return user->getBlock() == &body() && user->getNumRegions() == 0;
         });
}

mlir::Value Rewrite::nextSum(const Store& store) const {
  for (const verify::Site& site : sitesOf(store))
    if (mlir::Value value = site.reason.operand; value && canBeSummed(value, store)) return value;
  return {};
}

// What a result that follows from a sum is, in the mean over the ranks: so many times the
// reference's. (The rule is asked once more: where a value is a multiple, the walk goes on with
// what it should be.)
Rational Rewrite::multipleOf(mlir::OpResult result, const Store& store) const {
  mlir::Operation* op = result.getOwner();
  const verify::ParsedRule* rule = verify::findRule(pd::OpView(op).type());
  if (!rule) return Rational();
  verify::RuleContext context(op, *rule, store.axes(), [&](mlir::Value value) -> const Relation& {
    return store.of(value);
  });
  context.apply();
  const verify::Reading whole = context.takeResults()[result.getResultNumber()].whole;
  const Rational multiple = verify::overRanks(whole, store.axes()).scale;
  return whole.known && multiple.isPositive() ? multiple : Rational();
}

// The first value of the forward part that is a multiple.
mlir::OpResult Rewrite::nextMultiple(const Store& store) const {
  for (mlir::Operation& op : body()) {
    if (!pd::OpView::isFrameworkOp(&op) || !op.hasAttr(dist::kSrcAttr) || !isForward(&op)) continue;
    for (mlir::OpResult result : op.getResults()) {
      const Relation& relation = store.of(result);
      if (relation.summed && !relation.gradient && !changed_.contains(result) &&
          !multipleOf(result, store).isOne())
        return result;
    }
  }
  return {};
}

mlir::FlatSymbolRefAttr Rewrite::comm() {
  if (comm_) return symbolOf(comm_);
  dist::CommOp last;
  for (auto one : job_.role->getBlock()->getOps<dist::CommOp>()) last = one;
  mlir::OpBuilder builder(job_.role);
  if (last) builder.setInsertionPointAfter(last);
  comm_ = dist::CommOp::create(builder, job_.role.getLoc(), builder.getStringAttr(kCounts),
                               mlir::FlatSymbolRefAttr::get(job_.mesh.getSymNameAttr()), job_.axes,
                               dist::SelAttr(),
                               dist::CommKindAttr::get(builder.getContext(), dist::CommKind::Group),
                               mlir::FlatSymbolRefAttr(), builder.getStringAttr(kCounts));
  return symbolOf(comm_);
}

// Behind the op that gives the value; all that takes it takes the result, but for the gradient op
// of the op that gives it. Returns the result.
mlir::Value Rewrite::change(mlir::Value value, bool sum, const Rational& factor,
                            llvm::StringRef name, int role) {
  mlir::OpBuilder builder(value.getContext());
  builder.setInsertionPointAfterValue(value);
  mlir::Value now = value;
  mlir::Operation* first = nullptr;
  const auto follow = [&](mlir::Value next) {
    if (!first) first = next.getDefiningOp();
    inserted_.push_back(next.getDefiningOp());
    now = next;
  };
  if (sum) follow(sumOver(builder, value.getLoc(), value, comm()));
  if (!factor.isOne())
    follow(scale(builder, value.getLoc(), now, valueOf(factor), name, role, declarations_));
  if (first)
    value.replaceUsesWithIf(
        now, [&](mlir::OpOperand& use) { return use.getOwner() != first && !isOwnGradient(use); });
  return now;
}

// Until no op takes a term of a sum by value, and nothing is a multiple. False where a value cannot
// be multiplied.
bool Rewrite::changeForward(Store store) {
  for (int round = 0; round < kMostRounds; ++round) {
    const mlir::OpResult multiple = nextMultiple(store);
    const bool sum = !multiple;
    mlir::Value value = sum ? nextSum(store) : mlir::Value(multiple);
    if (!value) return true;
    if (!sum && !isReal(value)) return false;
    const Rational factor =
        inverseOf(sum ? store.of(value).whole.scale : multipleOf(multiple, store));
    const pd::OpView maker(value.getDefiningOp());
    changed_.insert(value);
    changes_.push_back({value, sum, factor});
    change(value, sum, factor, pd::nameOf(value), maker.role() & ~pd::kLoss);
    store = analyse();
  }
  return false;
}

// In the order of the gradient part; of one value the last change first.
bool Rewrite::collectAdjoints(std::vector<Adjoint>& adjoints) const {
  llvm::StringMap<llvm::SmallVector<mlir::Value, 1>> gradients;
  for (mlir::Operation& op : body())
    if (pd::OpView::isFrameworkOp(&op) && (pd::OpView(&op).role() & pd::kBackward))
      for (mlir::Value result : op.getResults())
        if (llvm::StringRef name = pd::nameOf(result); name.ends_with("@GRAD"))
          gradients[name].push_back(result);
  for (size_t i = 0; i < changes_.size(); ++i) {
    const auto found = gradients.find((pd::nameOf(changes_[i].value) + "@GRAD").str());
    if (found == gradients.end()) continue;  // not one is asked for
    if (found->second.size() != 1 ||
        !llvm::isa<mlir::RankedTensorType>(found->second.front().getType()))
      return false;
    adjoints.push_back({found->second.front(), i});
  }
  llvm::sort(adjoints, [](const Adjoint& a, const Adjoint& b) {
    mlir::Operation *one = a.gradient.getDefiningOp(), *other = b.gradient.getDefiningOp();
    return one == other ? a.change > b.change : one->isBeforeInBlock(other);
  });
  return true;
}

// The adjoint of a sum over the ranks is one: of equal gradients N times each of them. False where
// it is not known how the ranks' gradients make up the reference's.
bool Rewrite::changeBackward() {
  std::vector<Adjoint> adjoints;
  if (!collectAdjoints(adjoints)) return false;
  llvm::DenseMap<mlir::Value, mlir::Value> now;  // what stands for a gradient by now
  for (const Adjoint& one : adjoints) {
    mlir::Value gradient = now.lookup(one.gradient);
    if (!gradient) gradient = one.gradient;
    Rational factor = changes_[one.change].factor;
    bool sum = changes_[one.change].sum;
    if (sum) {
      const Store store = analyse();
      const verify::Reading& whole = store.of(gradient).whole;
      const verify::AxisSet own = axesOf(job_, store.axes());
      if (!whole.known) return false;
      unsigned equal = 0, terms = 0, several = 0;
      for (unsigned axis : own.set_bits()) {
        if (store.axes().sizes[axis] == 1) continue;
        const verify::State& state = whole.states[axis];
        ++several;
        equal += state.isReplicated();
        terms += state.isParts() || (state.isPartial() && state.reduce == dist::Reduce::Sum);
      }
      if (equal != several && terms != several) return false;
      sum = terms == several;
      if (!sum) factor = factor * Rational(job_.ranks);
    }
    if (!factor.isOne() && !isReal(gradient)) return false;
    now[one.gradient] = change(gradient, sum, factor, pd::nameOf(one.gradient), pd::kBackward);
  }
  return true;
}

// The gradients that parameters are updated with will be the reference's once those of which a
// rank has a term are added up, with the factor that scale-loss will put on the seed. (Of what
// nothing is known the count of such values speaks.)
bool Rewrite::hasRightGradients(const Store& store) const {
  mlir::Operation* loss = lossOf(job_.main);
  if (!loss) return false;
  mlir::ScopedDiagnosticHandler quiet(body().getParentOp()->getContext(),
                                      [](mlir::Diagnostic&) { return mlir::success(); });
  const mlir::FailureOr<double> found = lossFactor(loss, job_);
  if (mlir::failed(found)) return false;
  const Rational seed = Rational::ofFloat(*found);
  const verify::AxisSet own = axesOf(job_, store.axes());
  llvm::StringMap<mlir::Value> last;
  llvm::StringMap<int> listed;
  for (mlir::Operation& op : body()) {
    if (!pd::OpView::isFrameworkOp(&op)) continue;
    const pd::OpView view(&op);
    for (mlir::Value result : op.getResults()) last[pd::nameOf(result)] = result;
    if (!(view.role() & pd::kBackward) || !view.hasAttr("op_role_var")) continue;
    const std::vector<std::string> names = view.getStrings("op_role_var");
    for (size_t i = 1; i < names.size(); i += 2) ++listed[names[i]];
  }
  for (const auto& entry : listed) {
    const verify::Reading& whole = store.of(last.lookup(entry.getKey())).whole;
    if (!whole.known) continue;
    const bool equal = llvm::all_of(own.set_bits(), [&](unsigned axis) {
      return store.axes().sizes[axis] == 1 || whole.states[axis].isReplicated();
    });
    const Rational scale = whole.scale * seed;
    if (!scale.isOne() && !(equal && (scale * Rational(job_.ranks)).isOne())) return false;
  }
  return true;
}

// Fewer sites, none of them new, and as much known as before.
bool Rewrite::isRight(const Known& before) const {
  const Store store = analyse();
  const Known now = knownOf(store);
  return now.sites.size() < before.sites.size() && llvm::set_is_subset(now.sites, before.sites) &&
         now.unknown <= before.unknown && hasRightGradients(store);
}

void Rewrite::undo() {
  for (mlir::Operation* op : llvm::reverse(inserted_)) {
    op->getResult(0).replaceAllUsesWith(op->getOperand(0));
    op->erase();
  }
  if (comm_) comm_.erase();
}

class ReduceCounts : public impl::ReduceCountsBase<ReduceCounts> {
 public:
  using ReduceCountsBase::ReduceCountsBase;

  void runOnOperation() override {
    mlir::FailureOr<JobOnAxes> job = jobOnAxes(getOperation(), axes);
    if (mlir::failed(job)) return signalPassFailure();
    if (job->ranks == 1 || !lossOf(job->main)) return;
    Rewrite rewrite(*job);
    Store store = rewrite.analyse();
    const Known before = rewrite.knownOf(store);
    if (before.sites.empty()) return;
    const bool done = rewrite.changeForward(std::move(store)) && rewrite.changeBackward();
    if (!done || !rewrite.isRight(before)) rewrite.undo();
  }
};

}  // namespace
}  // namespace dtranspile::passes
