#include "test/compiler/verify/claims/checker.h"

#include <cstdlib>
#include <regex>

#include "dialects/dist/dist.h"
#include "test/compiler/verify/claims/elements.h"
#include "test/compiler/verify/claims/trial.h"

namespace dtranspile::claims {
namespace {

// Instances that differ in extents only, and of one type at all: a sum over products, which nearly
// every case of the corpus ends with, need not be looked at 1,500 times.
constexpr int kMostAlike = 2, kMostOfType = 40;

bool picked(llvm::StringRef type, const std::string& name) {
  const char* pattern = std::getenv("DTRANSPILE_OPS");
  if (!pattern) return true;
  const std::regex wanted(pattern);
  return std::regex_match(type.str(), wanted) ||
         std::regex_match(name.substr(name.rfind('/') + 1), wanted);
}

}  // namespace

bool Checker::isNew(const Instance& instance) {
  const std::string key = instance.op.key();
  std::string extents = key, shape = key;
  for (const TensorPtr& tensor : instance.operands) {
    extents += std::string(" ") + NameOf(tensor->dtype);
    shape += std::string(" ") + NameOf(tensor->dtype) + (tensor->lod.empty() ? "" : "~");
    for (int64_t dim : tensor->dims) {
      extents += "," + std::to_string(dim);
      shape += dim == 1 ? ",1" : ",n";
    }
    for (const auto& level : tensor->lod) extents += "~" + std::to_string(level.size());
  }
  if (!seen_.insert(extents).second) return false;
  if (++alike_[shape] > kMostAlike) return false;
  return ++ofType_[instance.op.view().type().str()] <= kMostOfType;
}

void Checker::check(const Instance& instance) {
  const pd::OpView op = instance.op.view();
  const verify::ParsedRule* rule = ruleOf_(op.type());
  if (!rule || !isNew(instance)) return;
  Tally& tally = report_.of(op.type().str());
  if (op.spec() && op.spec()->effects & (pd::kHost | pd::kCommunicates)) {
    ++tally.untested["talks to the outside"];
    return;
  }
  ++tally.instances;
  if (op.spec() && op.spec()->effects & pd::kRandom) return checkDraws(instance, *rule, tally);
  for (int64_t n : {2, 3, 4}) Trial(instance, *rule, n, native_, tally).run();
  if (inHalf_.insert(op.type().str()).second) checkHalf(instance, *rule, tally);
}

// The first instance of a type with floats of 16 bits, where the op takes them.
void Checker::checkHalf(const Instance& instance, const verify::ParsedRule& rule, Tally& tally) {
  for (DType half : {DType::kFloat16, DType::kBFloat16}) {
    Tensors operands = instance.operands;
    bool any = false;
    for (TensorPtr& operand : operands)
      if (operand->dtype == DType::kFloat64 || operand->dtype == DType::kFloat32) {
        operand = onGrid(*operand, half);
        if (!operand) return;
        any = true;
      }
    if (!any) return;
    absl::StatusOr<Tensors> results = native_.run(instance.op, operands);
    if (!results.ok()) continue;
    ++tally.instances;
    const Instance halved{instance.op, std::move(operands), std::move(*results), instance.where};
    Trial(halved, rule, half == DType::kFloat16 ? 2 : 4, native_, tally).run();
  }
}

// The op as it stands in a job: by one generator on all ranks, and by one of each rank's own. With
// a seed of its own it draws the same in every run, so that what it draws is looked at without.
void Checker::checkDraws(const Instance& instance, const verify::ParsedRule& rule, Tally& tally) {
  mlir::OpBuilder builder(instance.op.op);
  for (const bool own : {false, true}) {
    mlir::Operation* op = builder.clone(*instance.op.op);
    const llvm::SmallVector<llvm::StringRef> axes(own, "dp");
    op->setAttr(dist::kStreamsAttr, builder.getStrArrayAttr(axes));
    pd::OpView view(op);
    for (llvm::StringRef seed : {"seed", "fix_seed"})
      if (own && view.spec()->attribute(seed)) view.setAttr(seed, {});
    const OneOp one(op);
    if (absl::StatusOr<Tensors> results = native_.run(one, instance.operands); results.ok()) {
      const Instance drawing{one, instance.operands, std::move(*results), instance.where};
      for (int64_t n : {2, 4}) Trial(drawing, rule, n, native_, tally).run();
    } else {
      ++tally.untested[std::string(results.status().message())];
    }
    op->erase();
  }
}

void Checker::checkCase(const std::string& name) {
  Visitor visitor;
  visitor.visit = [&](const Instance& instance) {
    if (visitor.wanted(instance.op.view().type())) check(instance);
  };
  visitor.leave = [&](llvm::StringRef type, const std::string& why) {
    if (visitor.wanted(type)) ++report_.of(type.str()).untested[why];
  };
  visitor.wanted = [&](llvm::StringRef type) { return picked(type, name) && ruleOf_(type); };
  visitCase(name, native_, visitor);
}

}  // namespace dtranspile::claims
