#include "compiler/verify/relations/contracts.h"

#include "compiler/analysis/position.h"
#include "compiler/analysis/relations/averages.h"
#include "compiler/analysis/relations/compression.h"
#include "compiler/analysis/relations/contract_texts.h"
#include "compiler/analysis/relations/table_sum.h"
#include "dialects/pd/op_view.h"

namespace dtranspile::verify {
namespace {

// What pass `pipeline` writes into the job, and what a verdict says.
constexpr llvm::StringLiteral
    kMicroStatisticsTag = "micro_statistics",
    kMicroStatisticsText =
        "running statistics move once per micro-batch, in the order of the "
        "micro-batches, each time by those of its part of the batch";

constexpr llvm::StringLiteral kPartsTag = "parts", kWireTag = "fp16_wire",
                              kStalenessTag = "staleness";

// Which updates a contract may excuse: a contract about statistics is no word for a parameter.
bool isStatistics(const Question&, mlir::Operation* update) {
  return pd::OpView::isFrameworkOp(update) && pd::OpView(update).type() == "batch_norm";
}
bool isState(const Question& question, mlir::Operation* update) {
  return !pd::OpView::isFrameworkOp(update) || !isUpdate(question, update, update);
}
bool isOptimizerState(const Question& question, mlir::Operation* update) {
  return pd::OpView::isFrameworkOp(update) && isUpdate(question, update, update);
}

// The contracts of docs/verification.md: tag, what a verdict that leans on it says, and the updates
// that it is about (null: not about updates).
constexpr ContractRow kContracts[] = {
    {kPartsTag, "the ops that are listed as sites are evaluated on each rank's share of the batch",
     nullptr},
    {"batch_statistics", "running statistics are those of a rank's own share of each batch",
     isStatistics},
    {kMicroStatisticsTag, kMicroStatisticsText, nullptr},
    {"local_state", "a variable accumulates over a rank's own share of each batch", isState},
    {"local_sgd",
     "every rank takes the step on its own share, then parameters are averaged; the optimizer's "
     "state stays with its rank",
     isOptimizerState},
    {"delay_compensation",
     "a server adds (w - pulled)*g*g to a gradient g, w what it has and `pulled` what the trainer "
     "has "
     "pulled last: nothing where nobody else has pushed in between",
     nullptr},
    {kGradientSumTag,
     "gradients are summed over the ranks and not divided by their number, as often larger than "
     "the reference's as the job says; the update takes them so",
     nullptr},
    {kTableSumTag,
     "gradients of the distributed tables that are listed are summed over the trainers and not "
     "divided by their number, and so many times the reference's; the update takes them so",
     nullptr},
    {kCompressionTag,
     "every rank adds its own gradients up, with momentum, and sends the largest elements of the "
     "sum only; what is not sent is kept, and sent when it is among the largest",
     nullptr},
    {"geo",
     "between two exchanges every trainer takes the reference's steps on its own share of each "
     "batch, with parameters and optimizer state of its own; an exchange adds 1/N of how far it "
     "has "
     "come to what the servers have, and takes over what others have added",
     isOptimizerState},
    {kWireTag, "values are rounded on their way between ranks", nullptr},
    {kStalenessTag,
     "every trainer's step is the reference's on its own share of the batch, applied to what the "
     "servers have when it comes; parameters may have changed since the trainer pulled them",
     nullptr},
};

}  // namespace

// Null for a tag that this program does not know.
const ContractRow* findContract(llvm::StringRef tag) {
  const ContractRow* found =
      llvm::find_if(kContracts, [&](const ContractRow& row) { return row.tag == tag; });
  return found == std::end(kContracts) ? nullptr : found;
}

void refuteStatement(mlir::Operation* at, llvm::StringRef tag, const Contracts& contracts,
                     llvm::StringRef wanted, Rung& findings) {
  const auto said = contracts.statements.find(tag.str());
  findings.add(
      messageAt(at, Message::Level::Refuted, "contract",
                "the contract \"" + tag.str() + "\" says " +
                    (said == contracts.statements.end() ? "nothing" : "\"" + said->second + "\"") +
                    ", and of what the job does it is: " + wanted.str(),
                "let its `statement` say that"));
}

// Every declared contract becomes a condition of the verdict, used or not: whoever reads the
// verdict sees what it leans on.
void checkContracts(mlir::ModuleOp job, const Contracts& contracts, Rung& findings) {
  for (const auto& [tag, sites] : contracts.sites) {
    const ContractRow* row = findContract(tag);
    findings.conditions.push_back(
        {"contract", tag, row ? row->statement.str() : "not known to this program"});
    if (!row)
      findings.add(messageAt(job, Message::Level::Unknown, "contract",
                             "the contract \"" + tag + "\" is none of those that are understood",
                             "declare one of those in docs/verification.md"));
    const llvm::StringRef wanted =
        tag == kMicroStatisticsTag ? llvm::StringRef(kMicroStatisticsText) : contractText(tag);
    if (auto said = contracts.statements.find(tag);
        !wanted.empty() && (said == contracts.statements.end() || said->second != wanted))
      refuteStatement(job, tag, contracts, wanted, findings);
  }
}

// By tag, the names of ops and variables that deviate in what was analysed.
void collectDeviations(const Question& question, const Store& store, llvm::ArrayRef<Site> sites,
                       Deviations& deviations) {
  if (question.startup) return;  // variables are those of main
  for (const Site& site : sites) deviations[kPartsTag.str()].insert(siteName(site.op));
  for (const std::string& name : store.rounded()) deviations[kWireTag.str()].insert(name);
  for (const auto& [name, variable] : store.variables())
    for (llvm::StringRef tag :
         {llvm::StringRef(kStalenessTag), llvm::StringRef(kMicroStatisticsTag)})
      if (variable.now.hasTag(tag)) deviations[tag.str()].insert(name);
  for (const auto& [name, variable] : store.variables())
    for (const State& state : variable.declared.states)
      if (state.isDifferent()) deviations[state.tagAttr().getValue().str()].insert(name);
}

// The list of a contract is exact: what it lists has to deviate, and what deviates has to be
// listed. Sites of "parts" that are not listed have been refuted where they stand.
void checkSiteLists(mlir::ModuleOp job, const Contracts& contracts, const Deviations& deviations,
                    Rung& findings) {
  for (const auto& [tag, listed] : contracts.sites) {
    if (!findContract(tag)) continue;
    const auto at = deviations.find(tag);
    const std::set<std::string> found =
        at == deviations.end() ? std::set<std::string>() : at->second;
    // What these say need not show in a variable: a factor (sites.h), steps between averages of
    // parameters that have no other state, exchanges of a single trainer.
    const bool shows = tag != kGradientSumTag && tag != kLocalSgdTag && tag != kGeoTag;
    if (found.empty() && listed.empty() && shows)
      findings.add(
          messageAt(job, Message::Level::Refuted, "contract",
                    "the contract \"" + tag + "\" lists nothing, and nothing deviates by it",
                    "leave the contract out"));
    for (const std::string& name : listed)
      if (!found.count(name))
        findings.add(messageAt(job, Message::Level::Refuted, "contract",
                               "the contract \"" + tag + "\" lists \"" + name +
                                   "\", and nothing of that name deviates by it",
                               "list in `sites` what deviates, and nothing else"));
    if (tag == kPartsTag) continue;
    for (const std::string& name : found)
      if (!listed.count(name))
        findings.add(messageAt(
            job, Message::Level::Refuted, "contract",
            "`" + name + "` deviates by the contract \"" + tag + "\", which does not list it",
            "list it in the contract's `sites`, or remove what makes it differ"));
  }
}

}  // namespace dtranspile::verify
