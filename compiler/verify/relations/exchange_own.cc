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
    const bool exchanged =
        set->getBlock() != pd::ProgramOp(parties.main).getBodyBlock() &&
        set->getParentOp() == &pd::ProgramOp(parties.main).getBodyBlock()->back();
    if (exchanged || (writer && pd::OpView::isFrameworkOp(writer) &&
                      (pd::OpView(writer).role() & pd::kOptimize))) {
      deviations[kGeoTag.str()].insert(set.getVar().str());
      continue;
    }
    auto var = llvm::dyn_cast_or_null<pd::VarOp>(
        mlir::SymbolTable::lookupSymbolIn(parties.trainers, set.getVarAttr().getAttr()));
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
