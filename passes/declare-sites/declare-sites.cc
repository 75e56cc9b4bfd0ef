// Says which ops the job evaluates per share of the batch. Last pass of a pipeline: it judges the
// job as it is.
#include "compiler/analysis/position.h"
#include "compiler/analysis/program_info.h"
#include "compiler/analysis/relations/contract_texts.h"
#include "compiler/analysis/relations/sites.h"
#include "passes/declare-sites/pass.h"
#include "passes/support/job.h"

namespace dtranspile::passes {
#define GEN_PASS_DEF_DECLARESITES
#include "passes/declare-sites/pass.h.inc"

namespace {

struct DeclareSites : impl::DeclareSitesBase<DeclareSites> {
  // Lists ops whose result on shares of a batch, put together, is not that on the whole batch
  // (batch norm, means over counted labels …), as the relation analysis finds them, in the contract
  // "parts". Ops of the update are no sites, and what does not fit at all is left for verify to
  // refute.
  void runOnOperation() override {
    mlir::ModuleOp job = getOperation();
    std::vector<std::string> names;
    for (auto role : job.getOps<dist::RoleOp>()) {
      pd::ProgramOp program = findProgram(role, "main"),
                    original = findProgram(referenceModule(job), "main");
      if (!program || !original) continue;
      const verify::Reference reference(original);
      const verify::Contracts contracts = verify::Contracts::of(job);
      const verify::Question question{role, program, reference, contracts};
      for (const verify::Site& site : verify::reachedSites(question, verify::analyse(question)))
        if (!site.reason.misfit && !isUpdate(question, site.op))
          names.push_back(verify::siteName(site.op));
    }
    if (!names.empty()) addContract(job, "parts", verify::contractText("parts"), names);
  }

 private:
  // An update that takes what was not reduced is no site: it is wrong, or what local SGD declares.
  static bool isUpdate(const verify::Question& question, mlir::Operation* op) {
    auto number = op->getAttrOfType<mlir::IntegerAttr>(dist::kSrcAttr);
    mlir::Operation* reference = number ? question.reference.op(number.getInt()) : nullptr;
    return reference && verify::isUpdate(question, op, reference);
  }
};

}  // namespace
}  // namespace dtranspile::passes
