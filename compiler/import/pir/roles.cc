#include "compiler/import/pir/roles.h"

#include <unordered_map>
#include <unordered_set>

#include "compiler/import/pir/op_mapping.h"
#include "dialects/pd/op_view.h"
#include "llvm/ADT/STLExtras.h"

namespace dtranspile::pir {
namespace {

// Values looked at on the way from an update to its gradient; a legal program needs a few.
constexpr size_t kMaxSearch = 500;

bool isGradientOp(const Op& op) {
  const Rule* rule = findRule(op);
  return rule && rule->gradient;
}

// Sums of partial gradients, which may stand after the last gradient op.
bool isSum(const Op& op) {
  return op.name == "pd_op.add_n" || op.name == "pd_op.add_n_with_kernel" ||
         op.name == "builtin.combine";
}

class Finder {
 public:
  explicit Finder(const Program& program) : program_(program) {
    found_.role.assign(program.ops.size(), pd::kForward);
    for (size_t i = 0; i < program.ops.size(); ++i)
      for (const Result& result : program.ops[i].results)
        producer_.try_emplace(result.id, static_cast<int>(i));
  }

  // PIR has no attribute op_role; roles follow from the graph. The backward part begins where the
  // first gradient op's seed is made and ends behind the last gradient op; an op with a parameter
  // and its gradient as operands is an update; the seed leads to the loss.
  Roles run() {
    int count = static_cast<int>(program_.ops.size()), first = -1, last = -1;
    for (int i = 0; i < count; ++i) {
      if (!isGradientOp(program_.ops[i])) continue;
      if (first < 0) first = i;
      last = i;
    }
    int start = first;
    if (first >= 0) findSeed(first, start);
    for (int i = std::max(start, 0); first >= 0 && i < count; ++i) classify(i, last);
    for (int i = 0; i < count; ++i) findUpdate(i);
    if (found_.seed) found_.role[producer_[found_.seed]] = pd::kBackward | pd::kLoss;
    if (auto loss = producer_.find(found_.loss); loss != producer_.end())
      found_.role[loss->second] = pd::kForward | pd::kLoss;
    return std::move(found_);
  }

 private:
  // full_like(loss, 1): the gradient of the loss by itself.
  void findSeed(int first, int& start) {
    for (int64_t id : program_.ops[first].operands) {
      auto made = producer_.find(id);
      if (made == producer_.end()) continue;
      const Op& op = program_.ops[made->second];
      if (op.name != "pd_op.full_like" || op.operands.empty()) continue;
      found_.seed = id;
      found_.loss = op.operands[0];
      start = made->second;
      return;
    }
  }

  void classify(int index, int last) {
    const Op& op = program_.ops[index];
    auto fromBackward = [&](int64_t id) { return backward_.contains(id); };
    bool reads = llvm::any_of(
        op.operands, [&](int64_t id) { return backward_.contains(id) || update_.contains(id); });
    bool isBackward = index <= last || (isSum(op) && !op.operands.empty() &&
                                        llvm::all_of(op.operands, fromBackward));
    if (!isBackward && !reads) return;
    found_.role[index] = isBackward ? pd::kBackward : pd::kOptimize;
    for (const Result& result : op.results) (isBackward ? backward_ : update_).insert(result.id);
  }

  // An update names its parameter and gradient, which is what op_role_var of a ProgramDesc says.
  // The op that first made the gradient, before clips and decays, is told so too.
  void findUpdate(int index) {
    const Op& op = program_.ops[index];
    const Rule* rule = findRule(op);
    if (!rule) return;
    int parameter = rule->operand("Param"), gradient = rule->operand("Grad");
    if (parameter < 0 || gradient < 0 ||
        std::max(parameter, gradient) >= static_cast<int>(op.operands.size()))
      return;
    found_.role[index] = pd::kOptimize;
    int64_t variable = op.operands[parameter];
    found_.gradients[index].push_back({variable, op.operands[gradient]});
    int64_t raw = rawGradient(op.operands[gradient], typeOf(variable));
    if (raw) found_.gradients[producer_[raw]].push_back({variable, raw});
  }

  const Type* typeOf(int64_t id) {
    auto made = producer_.find(id);
    if (made == producer_.end()) return nullptr;
    for (const Result& result : program_.ops[made->second].results)
      if (result.id == id) return &result.type;
    return nullptr;
  }

  // The value of the backward part that an update's gradient comes from, through clipping,
  // regularisation and casts: the nearest one with the extents of the parameter; 0 when there is
  // none or more than one.
  int64_t rawGradient(int64_t id, const Type* parameter) {
    std::vector<int64_t> level = {id};
    std::unordered_set<int64_t> seen = {id};
    while (!level.empty() && seen.size() < kMaxSearch) {
      std::vector<int64_t> candidates, next;
      for (int64_t value : level) {
        const Type* type = typeOf(value);
        if (backward_.contains(value) && type && parameter && type->dims == parameter->dims)
          candidates.push_back(value);
        if (backward_.contains(value) || !update_.contains(value)) continue;
        for (int64_t operand : program_.ops[producer_[value]].operands)
          if (seen.insert(operand).second) next.push_back(operand);
      }
      if (!candidates.empty()) return candidates.size() == 1 ? candidates[0] : 0;
      level = std::move(next);
    }
    return 0;
  }

  const Program& program_;
  Roles found_;
  std::unordered_map<int64_t, int> producer_;
  std::unordered_set<int64_t> backward_, update_;
};

}  // namespace

Roles findRoles(const Program& program) { return Finder(program).run(); }

}  // namespace dtranspile::pir
