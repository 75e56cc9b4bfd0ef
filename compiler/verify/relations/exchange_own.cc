#include "compiler/analysis/position.h"
#include "compiler/analysis/relations/differences.h"
#include "compiler/verify/relations/exchange_parts.h"
#include "dialects/pd/op_view.h"

namespace dtranspile::verify {
namespace {

// That the contract by which a variable differs is about such variables.
void checkCovered(const Question& question, pd::SetOp set, llvm::StringRef tag, Rung& findings) {
  const ContractRow* row = findContract(tag);
  const int number = question.reference.finalNumber(set.getVar());
  if (row && row->covers && number >= 0 &&
      row->covers(question, question.reference.definingOp(number)))
    return;
  findings.add(messageAt(set, Message::Level::Refuted, "contract",
                         quoted(set.getVar()) + " is declared to differ by the contract \"" +
                             tag.str() + "\", which is not about it",
                         "declare the variable as what it is, and make it so"));
}

}  // namespace

// In geo-SGD trainers and servers each hold the reference's own variable, and exchange what they
// have added to it: so its relation is of scale one, without tags, whole on every trainer, and on
// servers at most cut into blocks (`cut`).
void checkIsReferences(pd::VarOp var, dist::RoleOp role, bool cut, Rung& findings) {
  const auto relation = var->getAttrOfType<dist::RelAttr>(dist::kRelAttr);
  if (!relation) return;
  const Axes axes = axesOf(role);
  const Reading declared = readingOf(relation, axes);
  const bool whole = declared.known && llvm::all_of(declared.states, [&](const State& state) {
                       return state.isReplicated() || (cut && state.isSplit()) ||
                              (state.isDifferent() && state.tagAttr().getValue() == kGeoTag &&
                               !var.getParameter());
                     });
  std::string wrong;
  if (!declared.scale.isOne())
    wrong = "is declared to be " + declared.scale.text() + " times that of the reference";
  else if (!relation.getTags().empty())
    wrong =
        "is declared to deviate by the contract \"" + relation.getTags()[0].getValue().str() + "\"";
  else if (!whole) wrong = "is declared " + textOf(declared, axes);
  else if (var->hasAttr(dist::kAtAttr) && !cut) wrong = "exists on some of the trainers only";
  if (wrong.empty()) return;
  findings.add(messageAt(var, Message::Level::Refuted, "geo-exchange",
                         quoted(var.getSymName()) + " " + wrong +
                             ": trainers and servers hold the reference's itself, and add to it",
                         "declare it with dist.rel = #dist.rel<\"" + standsFor(var).str() +
                             (cut ? "\", and the part that a server has>" : "\">")));
}

// Trainers' variables that their own updates make different are the contract's; others that differ
// declare so, by a contract of theirs.
void collectOwn(const Parties& parties, const Reference& reference, const Contracts& contracts,
                Rung& findings, Deviations& deviations) {
  const Question question{parties.trainers, parties.main, reference, contracts};
  const Differences differences(question);
  for (const Differences::Ending& ending : differences.endings()) {
    if (ending.along.none()) continue;
    pd::SetOp set = ending.set;
    mlir::Operation* writer = set.getValue().getDefiningOp();
    auto var = llvm::dyn_cast_or_null<pd::VarOp>(
        mlir::SymbolTable::lookupSymbolIn(parties.trainers, set.getVarAttr().getAttr()));
    const bool exchanged =
        set->getBlock() != pd::ProgramOp(parties.main).getBodyBlock() &&
        set->getParentOp() == &pd::ProgramOp(parties.main).getBodyBlock()->back();
    if (exchanged || (writer && pd::OpView::isFrameworkOp(writer) &&
                      (pd::OpView(writer).role() & pd::kOptimize))) {
      deviations[kGeoTag.str()].insert(set.getVar().str());
      if (var && !exchanged) checkIsReferences(var, parties.trainers, /*cut=*/false, findings);
      continue;
    }
    auto relation = var ? var->getAttrOfType<dist::RelAttr>(dist::kRelAttr) : dist::RelAttr();
    for (int axis : ending.along.set_bits()) {
      dist::AxisRelAttr state =
          relation ? relation.lookup(differences.axes().names[static_cast<size_t>(axis)])
                   : dist::AxisRelAttr();
      if (state && state.getState() == dist::StateKind::Different) {
        checkCovered(question, set, state.getTag().getValue(), findings);
        deviations[state.getTag().getValue().str()].insert(set.getVar().str());
        continue;
      }
      findings.add(
          messageAt(set, Message::Level::Refuted, "invariant",
                    "sets " + quoted(set.getVar()) +
                        " to what differs between trainers, and the variable does not say so",
                    "declare it X along these axes, by a contract that is about it"));
      break;
    }
  }
}

}  // namespace dtranspile::verify
