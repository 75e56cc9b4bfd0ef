// Which part of the model every op is in. Between form-job and pipeline.
#include <set>

#include "passes/assign-stages/cost.h"
#include "passes/assign-stages/pass.h"
#include "passes/support/job.h"
#include "passes/support/step.h"

namespace dtranspile::passes {
#define GEN_PASS_DEF_ASSIGNSTAGES
#include "passes/assign-stages/pass.h.inc"

namespace {

constexpr int64_t kOpen = -1;

class AssignStages : public impl::AssignStagesBase<AssignStages> {
 public:
  using AssignStagesBase::AssignStagesBase;

  void runOnOperation() override {
    mlir::FailureOr<JobOnAxes> job = jobOnAxes(getOperation(), axes);
    if (mlir::failed(job) || mlir::failed(check(*job))) return signalPassFailure();
    parts_ = job->ranks * virtual_stages;
    collect(job->main);
    if (mlir::failed(by == "cost" ? cut(*job) : readDevices(*job))) return signalPassFailure();
    completeForward();
    completeBackward();
    mlir::Builder builder(&getContext());
    for (mlir::Operation* op : ops_)
      op->setAttr(dist::kStageAttr, builder.getI64IntegerAttr(part_[op]));
  }

 private:
  mlir::LogicalResult check(const JobOnAxes& job) {
    if (job.axes.size() != 1)
      return getOperation().emitError("assign-stages: give axes one axis, that of the stages");
    if (by != "annotations" && by != "cost")
      return getOperation().emitError("assign-stages: by is '")
             << by.getValue() << "'; it is annotations or cost";
    if (virtual_stages < 1)
      return getOperation().emitError("assign-stages: virtual_stages is ")
             << virtual_stages.getValue() << "; a stage has at least one part";
    return mlir::success();
  }

  // Ops that get a part, in program order.
  void collect(pd::ProgramOp main) {
    const llvm::DenseSet<mlir::Operation*> repeatable = repeatableOps(main);
    for (mlir::Operation& op : *main.getBodyBlock()) {
      const bool own = pd::OpView::isFrameworkOp(&op) && pd::OpView(&op).type() != "feed";
      if (!(own || isBetweenLayers(&op)) || runsOnce(&op) || repeatable.contains(&op)) continue;
      ops_.push_back(&op);
      part_[&op] = kOpen;
    }
  }

  // "gpu:3" -> 3; none where the author leaves it open.
  static mlir::FailureOr<int64_t> numberOf(mlir::Operation* op) {
    llvm::StringRef device = deviceOf(op);
    if (device.empty() || device == "gpu:all") return kOpen;
    int64_t number = 0;
    if (device.consume_front("gpu:") && !device.getAsInteger(10, number) && number >= 0)
      return number;
    return op->emitError("its device is '")
           << deviceOf(op)
           << "'; stages are gpu:0, gpu:1 and so on: annotate it so, or have stages chosen by cost "
              "(--stages N)";
  }

  // Parts by the annotations of the program's author (`op_device`), whose numbers rise with the
  // first op on each device.
  mlir::LogicalResult readDevices(JobOnAxes& job) {
    std::set<int64_t> known;
    int64_t last = kOpen;
    for (mlir::Operation* op : ops_) {
      mlir::FailureOr<int64_t> number = numberOf(op);
      if (mlir::failed(number) || mlir::failed(checkBlocks(op))) return mlir::failure();
      part_[op] = *number;
      if (*number == kOpen || !known.insert(*number).second) continue;
      if (*number < last)
        return op->emitError("is the first op on gpu:")
               << *number << ", and stands behind the first one on gpu:" << last
               << ": number devices in the order in which a batch goes through them";
      last = *number;
    }
    if (static_cast<int64_t>(known.size()) != parts_)
      return job.main.emitError("op_device names ")
             << known.size() << " devices, and there are " << parts_ << " parts (" << job.ranks
             << " stages of " << virtual_stages.getValue()
             << "): annotate as many, or have stages chosen by cost (--stages N)";
    // Consecutive numbers, whatever the devices are called.
    for (mlir::Operation* op : ops_)
      if (part_[op] != kOpen) part_[op] = std::distance(known.begin(), known.find(part_[op]));
    return mlir::success();
  }

  // Loops and branches run on one stage.
  static mlir::LogicalResult checkBlocks(mlir::Operation* op) {
    mlir::LogicalResult good = mlir::success();
    for (mlir::Region& region : op->getRegions())
      region.walk([&](mlir::Operation* inner) {
        if (mlir::failed(good) || deviceOf(inner).empty() || deviceOf(op).empty() ||
            deviceOf(inner) == deviceOf(op))
          return;
        good = inner->emitError("stands in a block of an op on ")
               << deviceOf(op) << " and is on " << deviceOf(inner)
               << ": control flow runs on one stage";
      });
    return good;
  }

  // The forward part in program order, cut where it is best. What follows from parameters alone
  // goes to where it is used.
  mlir::LogicalResult cut(JobOnAxes& job) {
    const llvm::DenseSet<mlir::Operation*> batch = opsOfTheBatch(job.main);
    std::vector<mlir::Operation*> forward;
    for (mlir::Operation* op : ops_)
      if (!isBackward(op) && batch.contains(op)) forward.push_back(op);
    llvm::DenseMap<mlir::Operation*, size_t> at;
    for (auto [i, op] : llvm::enumerate(forward)) at[op] = i;
    std::vector<Weighed> weighed(forward.size());
    for (auto [i, op] : llvm::enumerate(forward)) {
      if (pd::OpView::isFrameworkOp(op)) weighed[i].cost = operationsOf(pd::OpView(op));
      for (mlir::Value result : op->getResults()) {
        size_t last = i;
        for (mlir::Operation* user : result.getUsers())
          if (auto found = at.find(inBlock(op->getBlock(), user)); found != at.end())
            last = std::max(last, found->second);
        for (size_t k = i; k < last; ++k) weighed[k].crossing += bytesOnWire(result.getType());
      }
    }
    const std::vector<size_t> sizes = cutEvenly(weighed, static_cast<size_t>(parts_));
    if (sizes.empty())
      return job.main.emitError("has ")
             << forward.size() << " ops in its forward part that can be cut, too few for " << parts_
             << " parts: ask for fewer stages";
    size_t next = 0;
    for (auto [part, size] : llvm::enumerate(sizes))
      for (size_t k = 0; k < size; ++k) part_[forward[next++]] = static_cast<int64_t>(part);
    return mlir::success();
  }

  int64_t partOf(mlir::Value value) const {
    auto found = part_.find(value.getDefiningOp());
    return found == part_.end() ? kOpen : found->second;
  }

  // Forward ops without a part: first the latest part of what they take, then, for those that take
  // nothing placed, the first part that takes what they give. So no value ever goes backwards.
  void completeForward() {
    for (mlir::Operation* op : ops_) {
      if (isBackward(op) || part_[op] != kOpen) continue;
      for (mlir::Value operand : operandsOf(op)) part_[op] = std::max(part_[op], partOf(operand));
    }
    for (mlir::Operation* op : llvm::reverse(ops_)) {
      if (isBackward(op) || part_[op] != kOpen) continue;
      int64_t first = parts_;
      for (mlir::Operation* user : op->getUsers()) {
        mlir::Operation* outer = inBlock(op->getBlock(), user);
        if (outer && part_.contains(outer) && !isBackward(outer) && part_[outer] != kOpen)
          first = std::min(first, part_[outer]);
      }
      part_[op] = first == parts_ ? 0 : first;
    }
  }

  // Parts in whose forward task a value, or a parameter, is at hand.
  std::set<int64_t> placesOf(mlir::Value value) {
    std::set<int64_t> places;
    mlir::Operation* maker = value.getDefiningOp();
    if (!maker) return places;
    if (partOf(value) != kOpen) places.insert(partOf(value));
    const auto addUsers = [&](mlir::Value one) {
      for (mlir::Operation* user : one.getUsers()) {
        mlir::Operation* outer = inBlock(maker->getBlock(), user);
        if (outer && part_.contains(outer) && !isBackward(outer)) places.insert(part_[outer]);
      }
    };
    addUsers(value);
    return places;
  }

  // The forward op that a backward one computes again (recompute): of its type, with its attributes
  // but the role, on the same values or on such as are computed again.
  mlir::Operation* twinOf(mlir::Operation* op) {
    if (op->getNumOperands() == 0 || op->getNumRegions()) return nullptr;
    const auto of = [&](mlir::Value value) { return twins_.lookup_or(value, value); };
    for (mlir::Operation* user : of(op->getOperand(0)).getUsers()) {
      if (user == op || !part_.contains(user) || isBackward(user) ||
          user->getName() != op->getName() || user->getNumOperands() != op->getNumOperands() ||
          user->getNumResults() != op->getNumResults() || !sameButRole(user, op))
        continue;
      if (llvm::all_of(llvm::zip(user->getOperands(), op->getOperands()),
                       [&](auto pair) { return std::get<0>(pair) == of(std::get<1>(pair)); }))
        return user;
    }
    return nullptr;
  }
  // Two ops compute the same where they differ in nothing but their place in the job: role, the
  // variables of the role, device and name scope.
  static bool sameButRole(mlir::Operation* a, mlir::Operation* b) {
    if (!pd::OpView::isFrameworkOp(a)) return a->getAttrDictionary() == b->getAttrDictionary();
    const auto attributes = [](mlir::Operation* op) {
      mlir::NamedAttrList list(op->getAttrOfType<mlir::DictionaryAttr>("attrs"));
      for (llvm::StringRef name : {"op_role", "op_role_var", "op_device", "op_namescope"})
        list.erase(name);
      return list.getDictionary(op->getContext());
    };
    return attributes(a) == attributes(b);
  }

  // What is computed again is so in the part in which it was first, unless it follows from what an
  // earlier part computes again, later. Any other backward op runs where the gradients that it
  // takes are made; one that takes none yet, where the latest of its forward values is. What it
  // reads of the forward pass or of parameters must be at hand there: it moves down to the last
  // part, not after its own, that has each of them, and gradients travel backwards anyway.
  void completeBackward() {
    for (mlir::Operation* op : ops_) {
      if (!isBackward(op)) continue;
      mlir::Operation* twin = twinOf(op);
      if (twin)
        for (auto [own, other] : llvm::zip(op->getResults(), twin->getResults()))
          twins_[own] = other;
      if (part_[op] != kOpen) continue;
      if (twin && llvm::all_of(operandsOf(op), [&](mlir::Value operand) {
            return partOf(operand) == kOpen || !isBackward(operand.getDefiningOp()) ||
                   partOf(operand) >= part_[twin];
          })) {
        part_[op] = part_[twin];
        continue;
      }
      int64_t part = parts_, latest = kOpen;
      for (mlir::Value operand : operandsOf(op)) {
        const int64_t from = partOf(operand);
        if (from == kOpen) continue;
        if (isBackward(operand.getDefiningOp())) part = std::min(part, from);
        else latest = std::max(latest, *placesOf(operand).rbegin());
      }
      if (part == parts_) part = latest == kOpen ? parts_ - 1 : latest;
      for (mlir::Value operand : operandsOf(op)) {
        mlir::Operation* maker = operand.getDefiningOp();
        const bool read =
            maker && (llvm::isa<pd::GetOp>(maker) || (part_.contains(maker) && !isBackward(maker)));
        if (!read) continue;
        const std::set<int64_t> places = placesOf(operand);
        auto after = places.upper_bound(part);
        if (!places.empty() && after != places.begin()) part = *std::prev(after);
      }
      part_[op] = part;
    }
  }

  int64_t parts_ = 1;
  std::vector<mlir::Operation*> ops_;
  llvm::DenseMap<mlir::Operation*, int64_t> part_;
  llvm::DenseMap<mlir::Value, mlir::Value> twins_;  // of what is computed again: as it was first
};

}  // namespace
}  // namespace dtranspile::passes
