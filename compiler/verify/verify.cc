#include "compiler/verify/verify.h"

#include "compiler/verify/communication/communication.h"
#include "compiler/verify/refinement/refinement.h"
#include "compiler/verify/relations/relations.h"
#include "compiler/verify/structure/structure.h"

namespace dtranspile::verify {
namespace {

// The other rungs take a well-formed module for granted.
Rung skipped(const std::string& name) {
  Rung rung;
  rung.name = name;
  Message message;
  message.level = Message::Level::Unknown;
  message.rule = "skipped";
  message.text = "not looked at, because the structure of the job is refuted";
  message.remedy = "correct what rung structure says first";
  rung.add(std::move(message));
  return rung;
}

// `whole`: the single-device step, without any deviation.
void requireWhole(Rung& rung) {
  for (Message& message : rung.messages)
    if (message.rule == "site" && message.level == Message::Level::Note) {
      message.level = Message::Level::Refuted;
      message.remedy = siteRemedy(message.op) + ", or do not require `whole`";
      rung.verdict = Verdict::Refuted;
    }
  for (const Condition& condition : rung.conditions) {
    if (condition.kind != "contract") continue;
    Message message;
    message.rule = "contract";
    message.position = "the job";
    message.text =
        "holds under the contract \"" + condition.name + "\" only: " + condition.statement;
    message.remedy = "make the job without what needs the contract, or do not require `whole`";
    rung.add(std::move(message));
  }
}

}  // namespace

std::vector<std::string> rungNames() {
  return {"structure", "refinement", "relations", "communication"};
}

std::vector<std::string> defaultRungs(mlir::ModuleOp job) {
  if (job && needsRefinement(job)) return rungNames();
  return {"structure", "relations", "communication"};
}

// Rungs from cheap to dear. A module whose structure is refuted is not looked at further, since the
// other rungs rely on it; those are reported as not run, which is no success. The trial run (rung
// 5) is the caller's, who has a runtime.
VerifyReport verifyJob(mlir::ModuleOp job, const nlohmann::ordered_json* manifest,
                       const VerifyOptions& options) {
  VerifyReport report;
  report.required = options.require.empty() ? defaultRungs(job) : options.require;
  report.rungs.push_back(verifyStructure(job, manifest, options.given, options.wellFormed));
  if (report.rungs.front().verdict == Verdict::Refuted) {
    if (llvm::is_contained(report.required, "refinement"))
      report.rungs.push_back(skipped("refinement"));
    report.rungs.push_back(skipped("relations"));
    report.rungs.push_back(skipped("communication"));
    return report;
  }
  if (llvm::is_contained(report.required, "refinement") || needsRefinement(job))
    report.rungs.push_back(verifyRefinement(job));
  report.rungs.push_back(verifyRelations(job, manifest));
  if (options.whole) requireWhole(report.rungs.back());
  report.rungs.push_back(verifyCommunication(job));
  return report;
}

}  // namespace dtranspile::verify
