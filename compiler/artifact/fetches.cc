#include "compiler/artifact/fetches.h"

#include "compiler/analysis/program_info.h"
#include "compiler/analysis/relations/analysis.h"
#include "dialects/dist/lookup.h"
#include "dialects/pd/types.h"

namespace dtranspile::verify {
namespace {

// From the whole reading: parts put together are scale times the value. `axes` are those of the
// ranks that have it. Null where no word of the report says how.
const char* fromWhole(const Reading& whole, const Axes& axes, unsigned rankAxes) {
  int64_t ranks = 1, copies = 1;  // copies of every summand
  bool partial = false, split = false, other = false;
  for (unsigned a = 0; a < axes.count(); ++a) {
    const State& state = whole.states[a];
    if (a < rankAxes) ranks *= axes.sizes[a];
    if (axes.sizes[a] == 1) continue;
    if (a < rankAxes && state.isReplicated()) copies *= axes.sizes[a];
    else if (a < rankAxes && state.isPartial() && state.reduce == dist::Reduce::Sum) partial = true;
    else if (a < rankAxes && state.isSplit() && state.dim == 0) split = true;
    else other |= !state.isReplicated();
  }
  if (other) return nullptr;
  if (!partial && !split) return whole.scale.isOne() ? "same" : nullptr;
  // Ranks in mesh order hold consecutive parts.
  if (!partial) return copies == 1 && whole.scale.isOne() ? "concat" : nullptr;
  if (split) return nullptr;
  const Rational total = whole.scale * Rational(copies);
  return total.isOne() ? "sum" : total == Rational(ranks) ? "mean" : nullptr;
}

// One value per share of the batch: the reference's is by definition their mean, if it is a number.
const char* fromShares(const Reading& whole, mlir::Value value) {
  const bool perShare =
      llvm::any_of(whole.states, [](const State& state) { return state.isParts(); });
  mlir::RankedTensorType tensor =
      value && perShare ? pd::tensorOf(value.getType()) : mlir::RankedTensorType();
  return tensor && tensor.hasStaticShape() && tensor.getNumElements() == 1 ? "mean" : nullptr;
}

}  // namespace

// How what ranks fetch is put together into the value of the reference, which its relation says:
// the same, a sum, a mean, parts side by side; or a list, where nothing is known.
std::vector<FetchRelation> fetchRelations(mlir::ModuleOp job, dist::RoleOp role,
                                          llvm::ArrayRef<std::string> names) {
  std::vector<FetchRelation> result;
  pd::ProgramOp main = findProgram(role, "main"),
                original = findProgram(referenceModule(job), "main");
  if (!main || !dist::meshOf(role) || !original) {
    for (const std::string& name : names) result.push_back({name, "?", "list"});
    return result;
  }
  Reference reference(original);
  Contracts contracts = Contracts::of(job);
  return fetchRelations(analyse({role, main, reference, contracts}), role, main, names);
}

std::vector<FetchRelation> fetchRelations(const Store& store, dist::RoleOp role, pd::ProgramOp main,
                                          llvm::ArrayRef<std::string> names) {
  std::vector<FetchRelation> result;
  const size_t rankAxes = dist::meshOf(role).getAxes().size();
  for (const std::string& name : names) {
    const Variable* variable = store.variable(name);
    mlir::Value value = variable ? mlir::Value() : lastNamed(main, name);
    const Relation& relation = variable ? variable->now : store.of(value);
    Place at = variable ? variable->at : Place();
    if (auto some = value ? llvm::dyn_cast<dist::AtType>(value.getType()) : dist::AtType())
      at.where = some.getWhere();
    const char* combine = nullptr;
    if (relation.known()) {
      combine = fromWhole(relation.whole, axesAt(store.axes(), at), rankAxes);
      if (!combine) combine = fromShares(relation.whole, value);
    }
    result.push_back({name, textOf(relation.reading(), store.axes()), combine ? combine : "list"});
  }
  return result;
}

nlohmann::ordered_json fetchesText(llvm::ArrayRef<FetchRelation> fetches) {
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const FetchRelation& one : fetches)
    list.push_back({{"name", one.name}, {"relation", one.relation}, {"combine", one.combine}});
  return list;
}

}  // namespace dtranspile::verify
