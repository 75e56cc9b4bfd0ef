#include "compiler/verify/relations/contracts.h"

#include "compiler/analysis/position.h"
#include "dialects/pd/op_view.h"

namespace dtranspile::verify {
namespace {

bool isStatistics(const Question&, mlir::Operation* update) {
  return pd::OpView::isFrameworkOp(update) && pd::OpView(update).type() == "batch_norm";
}
bool isState(const Question& question, mlir::Operation* update) {
  return !pd::OpView::isFrameworkOp(update) || !isUpdate(question, update, update);
}
bool isOptimizerState(const Question& question, mlir::Operation* update) {
  return pd::OpView::isFrameworkOp(update) && isUpdate(question, update, update);
}

constexpr ContractRow kContracts[] = {
    {"parts", "the ops that are listed as sites are evaluated on each rank's share of the batch",
     nullptr},
    {"batch_statistics", "running statistics are those of a rank's own share of each batch",
     isStatistics},
    {"local_state", "a variable accumulates over a rank's own share of each batch", isState},
    {"local_sgd",
     "every rank takes the step on its own share, then parameters are averaged; the optimizer's "
     "state stays with its rank",
     isOptimizerState},
    {"fp16_wire", "values are rounded on their way between ranks", nullptr},
};

}  // namespace

const ContractRow* findContract(llvm::StringRef tag) {
  const ContractRow* found =
      llvm::find_if(kContracts, [&](const ContractRow& row) { return row.tag == tag; });
  return found == std::end(kContracts) ? nullptr : found;
}

void checkContracts(mlir::ModuleOp job, const Contracts& contracts, Rung& findings) {
  for (const auto& [tag, sites] : contracts.sites) {
    const ContractRow* row = findContract(tag);
    findings.conditions.push_back(
        {"contract", tag, row ? row->statement.str() : "not known to this program"});
    if (!row)
      findings.add(messageAt(job, Message::Level::Unknown, "contract",
                             "the contract \"" + tag + "\" is none of those that are understood",
                             "declare one of those in docs/verification.md"));
  }
}

}  // namespace dtranspile::verify
