#include "test/compiler/verify/claims/checker.h"

#include <cstdlib>
#include <regex>

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
  if (op.spec() && op.spec()->effects & (pd::kRandom | pd::kHost | pd::kCommunicates)) {
    ++tally.untested["draws numbers, or talks to the outside"];
    return;
  }
  ++tally.instances;
  for (int64_t n : {2, 3, 4}) Trial(instance, *rule, n, native_, tally).run();
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
