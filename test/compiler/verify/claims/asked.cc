#include "test/compiler/verify/claims/asked.h"

#include "llvm/ADT/DenseMap.h"

namespace dtranspile::claims {
namespace {

using verify::Reading;
using verify::Relation;
using verify::State;

Relation relationOf(const Held& held) {
  Relation relation;
  relation.whole = {true, {held.state}, held.scale};
  relation.isZero = held.zero;
  if (held.state.isReplicated()) relation.parts = relation.whole;
  // A split value is on each rank its share.
  if (held.state.isSplit()) relation.parts = {true, {State::parts()}, held.scale};
  return relation;
}

template <typename Context>
void apply(Context& context, const verify::ParsedRule& rule) {
  if constexpr (requires { context.apply(); }) context.apply();
  else rule.rule(context);
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

Asked::Asked(const Instance& instance, const verify::ParsedRule& rule, int64_t n)
    : instance_(instance), rule_(rule) {
  axes_.names.push_back("dp");
  axes_.sizes.push_back(n);
  axes_.meshSizes.push_back(n);
  axes_.isData.push_back(true);
}

Alone& Asked::declared(const Assignment& assignment, bool unknownExtents) {
  std::vector<int> unknown;
  for (const Held& held : assignment)
    unknown.push_back(unknownExtents && held.state.isSplit() ? held.state.dim : -1);
  auto found = made_.find(unknown);
  if (found != made_.end()) return found->second;
  std::vector<mlir::Type> types;
  for (size_t i = 0; i < unknown.size(); ++i) {
    llvm::SmallVector<int> dims;
    if (unknown[i] >= 0) dims.push_back(unknown[i]);
    types.push_back(feedType(instance_.op.values[i].getType(), *instance_.operands[i], dims));
  }
  return made_
      .emplace(unknown, alone(instance_.op, types, unknownExtents ? nullptr : &instance_.results))
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
  for (auto [input, held] : llvm::zip(op.inputs, assignment)) relations[input] = relationOf(held);
  verify::RuleContext context(
      op.op, rule_, axes_, [&](mlir::Value value) -> const Relation& { return relations[value]; });
  apply(context, rule_);
  Answer answer;
  answer.unknownExtents = unknownExtents;
  answer.relations = context.takeResults();
  if (!context.violations().empty()) answer.relations.clear();
  return answer;
}

std::vector<Answer> Asked::answers(const Assignment& assignment) {
  std::vector<Answer> all;
  for (bool unknownExtents : {false, true}) {
    Answer answer = ask(declared(assignment, unknownExtents), assignment, unknownExtents);
    if (llvm::none_of(answer.relations, [](const Relation& one) {
          return one.known() && Answer::untestable(one).empty();
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
