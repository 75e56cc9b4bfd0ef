#include "test/compiler/verify/claims/asked.h"

#include "dialects/dist/dist.h"
#include "llvm/ADT/DenseMap.h"

namespace dtranspile::claims {
namespace {

using verify::Reading;
using verify::Relation;
using verify::State;

Relation relationOf(const Held& held, bool uneven) {
  Relation relation;
  relation.whole = {true, {held.state}, held.scale};
  relation.isZero = held.zero;
  if (held.state.isReplicated() || held.state.isParts()) relation.parts = relation.whole;
  relation.perShare = held.state.isParts();
  // A batch is on each rank its share.
  if (held.state.isSplit() && held.state.dim != dist::kFlat && !held.state.layoutAttr())
    relation.parts = {true, {State::parts()}, held.scale};
  relation.uneven = uneven;
  return relation;
}

// Rows of sequences, and what is cut as they are. Parts by a layout say so themselves.
bool isUneven(const Tensor& tensor, const State& state, int64_t n, const Cuts& cuts) {
  if (!state.isSplit() || state.dim == dist::kFlat || state.layoutAttr()) return false;
  if (state.dim == 0 && !tensor.lod.empty()) return true;
  std::optional<Bounds> bounds = boundsOf(tensor, state, n, cuts);
  for (size_t c = 1; bounds && c + 1 < bounds->size(); ++c)
    if ((*bounds)[c + 1] - (*bounds)[c] != (*bounds)[1]) return true;
  return false;
}

}  // namespace

std::string Answer::untestable(const Relation& relation) {
  if (relation.isZero) return "";
  if (relation.perShare || relation.whole.states[0].isParts())
    return "evaluated per share: not the reference's value";
  if (relation.whole.states[0].isDifferent()) return "differs between ranks";
  if (relation.whole.scale.isLost()) return "of lost scale";
  return "";
}

bool Answer::ofShare(const Relation& relation) {
  return relation.known() && relation.perShare && !relation.isZero &&
         !relation.whole.states[0].isDifferent() && !relation.whole.scale.isLost();
}

Asked::Asked(const Instance& instance, const verify::ParsedRule& rule, int64_t n)
    : instance_(instance), rule_(rule) {
  axes_.names.push_back("dp");
  axes_.sizes.push_back(n);
  axes_.meshSizes.push_back(n);
  axes_.isData.push_back(true);
}

// A flat part is declared as one: dim 0 of one.
Alone& Asked::declared(const Assignment& assignment, bool unknownExtents) {
  std::vector<int> key;
  std::vector<mlir::Type> types;
  bool flat = false;
  for (size_t i = 0; i < assignment.size(); ++i) {
    const Tensor& tensor = *instance_.operands[i];
    const State& state = assignment[i].state;
    llvm::SmallVector<int> unknown;
    Tensor part{tensor.dtype, tensor.dims, tensor.lod, {}};
    key.push_back(-1);
    if (state.isSplit()) {
      const bool flattened = state.dim == dist::kFlat;
      flat |= flattened;
      if (flattened) part.dims = {boundsOf(tensor, state, axes_.sizes[0], {})->at(1)};
      if (unknownExtents) unknown.push_back(flattened ? 0 : state.dim);
      key.back() = flattened ? -2 - unknownExtents : unknownExtents ? state.dim : -1;
    }
    types.push_back(feedType(instance_.op.values[i].getType(), part, unknown));
  }
  auto found = made_.find(key);
  if (found != made_.end()) return found->second;
  return made_
      .emplace(key,
               alone(instance_.op, types, unknownExtents || flat ? nullptr : &instance_.results))
      .first->second;
}

Answer Asked::ask(Alone& op, const Assignment& assignment, bool unknownExtents) {
  llvm::DenseMap<mlir::Value, Relation> relations;
  for (mlir::Operation& each : *op.program.getBodyBlock())
    for (mlir::Value value : each.getResults()) {
      Relation& relation = relations[value];
      relation.whole = relation.parts = Reading::replicated(axes_);
      relation.isZero = llvm::isa<pd::UndefOp>(each);
    }
  const int64_t n = axes_.sizes[0];
  const Cuts cuts = cutsOf(instance_.operands, assignment, n).value_or(Cuts());
  for (auto [i, held] : llvm::enumerate(assignment))
    relations[op.inputs[i]] =
        relationOf(held, isUneven(*instance_.operands[i], held.state, n, cuts));
  const Relation nothing{};
  verify::RuleContext context(op.op, rule_, axes_, [&](mlir::Value value) -> const Relation& {
    auto found = relations.find(value);
    return found == relations.end() ? nothing : found->second;
  });
  context.apply();
  Answer answer;
  answer.unknownExtents = unknownExtents;
  answer.relations = context.takeResults();
  if (!context.violations().empty()) answer.relations.clear();
  return answer;
}

std::vector<Answer> Asked::answers(const Assignment& assignment, bool ofShares) {
  std::vector<Answer> all;
  for (bool unknownExtents : {false, true}) {
    Answer answer = ask(declared(assignment, unknownExtents), assignment, unknownExtents);
    if (llvm::none_of(answer.relations, [&](const Relation& one) {
          return ofShares ? Answer::ofShare(one) : one.known() && Answer::untestable(one).empty();
        }))
      continue;
    if (!all.empty() && all[0].relations == answer.relations) continue;
    all.push_back(std::move(answer));
  }
  return all;
}

std::string Asked::text(const Assignment& assignment, const Answer& answer, int result) const {
  const pd::OpView op = instance_.op.view();
  std::string text = instance_.op.text() + " |";
  for (size_t i = 0; i < assignment.size(); ++i) {
    const Tensor& tensor = *instance_.operands[i];
    text += (i ? ", " : " ") + instance_.op.slotsOf(instance_.op.values[i]) + ": " +
            ShapeText(tensor.dtype, tensor.dims) + (tensor.lod.empty() ? "" : " ragged") + " " +
            assignment[i].text();
  }
  text += " ->";
  for (auto [i, relation] : llvm::enumerate(answer.relations)) {
    if (!relation.known() || (result >= 0 && static_cast<int>(i) != result)) continue;
    auto [slot, index] = op.slotOf(instance_.op.op->getResult(static_cast<unsigned>(i)));
    text += " " + slot + (index ? "[" + std::to_string(index) + "]" : "") + " " +
            (relation.isZero ? "0" : textOf(relation.whole, axes_));
  }
  if (answer.unknownExtents) text += " (extents declared unknown)";
  return text;
}

}  // namespace dtranspile::claims
