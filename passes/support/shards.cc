#include "passes/support/shards.h"

namespace dtranspile::passes {
namespace {

constexpr size_t kListed = 4;  // names in a remark

}  // namespace

bool hasAxis(const JobOnAxes& job, llvm::StringRef name) {
  return llvm::is_contained(mlir::ArrayAttr(job.axes).getAsValueRange<mlir::StringAttr>(), name);
}

// Along the axis, and along the others, as many as carry gradients over all of them.
ShardComms makeShardComms(const JobOnAxes& job, llvm::StringRef axis, llvm::StringRef micro,
                          std::vector<dist::CommOp> all) {
  ShardComms comms;
  comms.all = std::move(all);
  if (job.axes.size() == 1) {
    comms.within = comms.all;
    return comms;
  }
  llvm::SmallVector<llvm::StringRef> others;
  int64_t replicas = 1;  // along these
  for (auto one : mlir::ArrayAttr(job.axes).getAsValueRange<mlir::StringAttr>()) {
    if (one == axis || one == micro) continue;
    others.push_back(one);
    replicas *= dist::MeshOp(job.mesh).sizeOf(one).value_or(1);
  }
  dist::RoleOp role = job.role;
  dist::CommOp last;
  for (auto comm : role->getBlock()->getOps<dist::CommOp>()) last = comm;
  mlir::OpBuilder builder(role.getContext());
  builder.setInsertionPointAfter(last);
  const auto make = [&](const llvm::Twine& name, llvm::ArrayRef<llvm::StringRef> among,
                        llvm::StringRef carries) {
    return dist::CommOp::create(
        builder, last.getLoc(), builder.getStringAttr(name), last.getMeshAttr(),
        builder.getStrArrayAttr(among), dist::SelAttr(),
        dist::CommKindAttr::get(builder.getContext(), dist::CommKind::Group),
        mlir::FlatSymbolRefAttr(), builder.getStringAttr(carries));
  };
  for (size_t i = 0; i < comms.all.size(); ++i) {
    comms.within.push_back(make("shards" + llvm::Twine(i), {axis}, kShards));
    if (replicas > 1 || (micro.empty() && !others.empty()))
      comms.between.push_back(make("replicas" + llvm::Twine(i), others, kBetween));
  }
  if (!micro.empty()) comms.micro = make("micro", {micro}, kGradients);
  return comms;
}

void reportKept(pd::ProgramOp main, llvm::StringRef pass, const KeptWhole& kept) {
  for (const auto& [why, names] : kept) {
    std::string list;
    for (size_t i = 0; i < names.size() && i < kListed; ++i) list += (i ? ", " : "") + names[i];
    if (names.size() > kListed) list += " and " + std::to_string(names.size() - kListed) + " more";
    main.emitRemark() << pass << ": stays whole on every rank: " << list << " (" << why << ")";
  }
}

namespace {

bool isBackwardOp(mlir::Operation* op) {
  return pd::OpView::isFrameworkOp(op) && (pd::OpView(op).role() & pd::kBackward);
}

// In the order of their first use.
std::vector<Need> needsOf(pd::ProgramOp main, llvm::ArrayRef<pd::VarOp> variables,
                          llvm::function_ref<bool(mlir::OpOperand&)> isTaken, bool again) {
  std::vector<Need> needs;
  llvm::DenseMap<mlir::StringAttr, llvm::SmallVector<pd::GetOp>> gets;
  for (auto get : main.getBodyBlock()->getOps<pd::GetOp>())
    gets[get.getVarAttr().getAttr()].push_back(get);
  for (pd::VarOp var : variables) {
    Need phases[2] = {{var, {}}, {var, {}}};
    for (pd::GetOp get : gets.lookup(var.getSymNameAttr()))
      for (mlir::OpOperand& use : get.getValue().getUses()) {
        if (!isTaken(use)) continue;
        mlir::Operation* user = use.getOwner();
        Need& need = phases[again && isBackwardOp(user)];
        need.uses.push_back(&use);
        if (!need.first || user->isBeforeInBlock(need.first)) need.first = user;
      }
    phases[1].backward = true;
    for (Need& need : phases) {
      need.number = needs.size();
      if (need.first) needs.push_back(std::move(need));
    }
  }
  llvm::sort(needs, [](const Need& a, const Need& b) {
    return a.first == b.first ? a.number < b.number : a.first->isBeforeInBlock(b.first);
  });
  return needs;
}

void waitFor(const Started& started, mlir::Operation* before) {
  mlir::OpBuilder builder(before);
  for (auto [pending, needs] : llvm::zip(started.pending, started.needs)) {
    auto wait =
        dist::WaitOp::create(builder, before->getLoc(),
                             llvm::cast<dist::PendingType>(pending.getType()).getTypes(), pending);
    for (auto [need, whole] : llvm::zip(needs, wait.getResults()))
      for (mlir::OpOperand* use : need->uses) use->set(whole);
  }
}

}  // namespace

// Variables in the order in which they are first needed, cut into segments of at most `bytes`;
// forward and backward needs do not share one. A variable that is larger than that has a segment of
// its own.
std::vector<std::vector<Need>> segmentsOf(pd::ProgramOp main, llvm::ArrayRef<pd::VarOp> variables,
                                          llvm::function_ref<bool(mlir::OpOperand&)> isTaken,
                                          int64_t bytes, bool again) {
  std::vector<std::vector<Need>> segments;
  int64_t sum = 0;
  for (Need& need : needsOf(main, variables, isTaken, again)) {
    const int64_t own = bytesOf(need.var.getType());
    sum += own;
    if (segments.empty() || sum > bytes || segments.back().front().backward != need.backward) {
      segments.emplace_back();
      sum = own;
    }
    segments.back().push_back(std::move(need));
  }
  return segments;
}

void overlapSegments(
    std::vector<std::vector<Need>>& segments,
    llvm::function_ref<Started(llvm::MutableArrayRef<Need>, mlir::Operation* before)> start) {
  Started next;
  for (auto [number, segment] : llvm::enumerate(segments)) {
    mlir::Operation* place = segment.front().first;
    const Started current = number == 0 ? start(segment, place) : std::move(next);
    waitFor(current, place);
    if (number + 1 < segments.size()) next = start(segments[number + 1], place);
  }
}

}  // namespace dtranspile::passes
