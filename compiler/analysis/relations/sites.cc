#include "compiler/analysis/relations/sites.h"

#include "dialects/pd/op_view.h"

namespace dtranspile::verify {
namespace {

// What the step keeps: values of persistables, and what updates take.
std::vector<mlir::Value> keptValues(const Question& question, const Store& store) {
  std::vector<mlir::Value> kept;
  for (const auto& [name, variable] : store.variables())
    for (const Held& held : variable.held)
      if (auto set = llvm::dyn_cast_or_null<pd::SetOp>(held.setter)) kept.push_back(set.getValue());
  pd::ProgramOp(question.program)->walk([&](mlir::Operation* op) {
    auto number = op->getAttrOfType<mlir::IntegerAttr>(dist::kSrcAttr);
    mlir::Operation* reference =
        number && pd::OpView::isFrameworkOp(op) ? question.reference.op(number.getInt()) : nullptr;
    if (reference && isUpdate(question, op, reference))
      kept.insert(kept.end(), op->operand_begin(), op->operand_end());
  });
  return kept;
}

}  // namespace

// Walks back through what depends on sites; once for all.
std::vector<Site> reachedSites(const Question& question, const Store& store) {
  llvm::SmallPtrSet<mlir::Operation*, 32> seen;
  std::vector<mlir::Value> work = keptValues(question, store);
  while (!work.empty()) {
    mlir::Value at = work.back();
    work.pop_back();
    // What was started has its relation where it is waited for.
    if (!store.of(at).perShare && !llvm::isa<dist::PendingType>(at.getType())) continue;
    mlir::Operation* op = at.getDefiningOp();
    if (op && seen.insert(op).second)
      work.insert(work.end(), op->operand_begin(), op->operand_end());
  }
  std::vector<Site> reached;
  for (const Site& site : store.sites())
    if (seen.contains(site.op)) reached.push_back(site);
  return reached;
}

}  // namespace dtranspile::verify
