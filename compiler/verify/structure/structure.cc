#include "compiler/verify/structure/structure.h"

#include <optional>

#include "compiler/analysis/position.h"
#include "compiler/artifact/job.h"
#include "compiler/specialize/specialize.h"
#include "compiler/verify/structure/inserted.h"
#include "compiler/verify/structure/programs.h"
#include "compiler/verify/structure/schedules.h"
#include "compiler/verify/structure/sources.h"
#include "compiler/verify/structure/strategy_facts.h"
#include "dialects/dist/lookup.h"
#include "dialects/pd/op_view.h"
#include "dialects/pd/position.h"
#include "mlir/IR/Verifier.h"

namespace dtranspile::verify {
namespace {

using Json = nlohmann::ordered_json;

// Diagnostics become messages while this lives.
class Diagnostics {
 public:
  Diagnostics(mlir::MLIRContext* context, Rung& rung, std::string rule)
      : rung_(rung),
        rule_(std::move(rule)),
        handler_(context, [this](mlir::Diagnostic& diagnostic) { return take(diagnostic); }) {}

 private:
  mlir::LogicalResult take(mlir::Diagnostic& diagnostic) {
    if (diagnostic.getSeverity() != mlir::DiagnosticSeverity::Error) return mlir::success();
    Message message;
    message.rule = rule_;
    message.text = diagnostic.str();
    llvm::raw_string_ostream(message.position) << diagnostic.getLocation();
    message.remedy = "correct the op, or the pass that wrote it";
    for (mlir::Diagnostic& note : diagnostic.getNotes()) message.notes.push_back(note.str());
    rung_.add(std::move(message));
    return mlir::success();
  }

  Rung& rung_;
  std::string rule_;
  mlir::ScopedDiagnosticHandler handler_;
};

// What only some ranks hold is opened by operations of dist: a guard on these ranks, a broadcast, a
// transfer. Any other op, which all ranks of its place run, would find nothing on the others.
void checkLocated(mlir::ModuleOp job, Rung& rung) {
  job.walk([&](mlir::Operation* op) {
    if (!op->getDialect() || llvm::isa<dist::DistDialect>(op->getDialect())) return;
    for (mlir::Value operand : op->getOperands())
      if (llvm::isa<dist::AtType>(operand.getType()))
        rung.add(messageAt(op, Message::Level::Refuted, "location",
                           "takes " + nameText(operand) +
                               ", which some ranks only hold, and stands in no guard on these",
                           "take it in a dist.on of the ranks that hold it, or broadcast it"));
  });
}

// The text of a class says whose it is. A job is that of all ranks.
void checkWhole(mlir::ModuleOp job, Rung& rung) {
  for (llvm::StringRef name : {dist::kClassAttr, dist::kRoleAttr, dist::kRanksAttr})
    if (job->hasAttr(name) && !job.getOps<dist::RoleOp>().empty())
      rung.add(messageAt(job, Message::Level::Refuted, "specialise",
                         "has roles, and says by " + name.str() + " that it is the text of a class",
                         "remove the attribute"));
  if (job.getOps<dist::RoleOp>().empty()) return;
  for (auto module : job.getOps<mlir::ModuleOp>())
    if (module.getSymName() != "source" && module.getSymName() != "reference")
      rung.add(messageAt(module, Message::Level::Refuted, "program",
                         "holds a module that is neither @source, which the job was made from, nor "
                         "@reference, which it is compared with: " +
                             module.getSymName().value_or("it has no name").str(),
                         "remove it"));
}

// Specialises the job for every class of ranks, as compile and export will: what cannot be
// specialised is found now, and not on a cluster.
int64_t checkClasses(mlir::ModuleOp job, Rung& rung) {
  int64_t count = 0;
  for (auto role : job.getOps<dist::RoleOp>()) {
    Diagnostics diagnostics(job.getContext(), rung, "specialise");
    mlir::FailureOr<std::vector<RankClass>> classes = classesOf(role);
    if (mlir::failed(classes)) continue;
    for (const RankClass& one : *classes) {
      ++count;
      (void)specialize(role, one);  // its diagnostics are the messages
    }
  }
  return count;
}

// The manifest is a function of the module and the strategy, and so is made again and compared
// field by field. The digest comes last: it is wrong whenever anything else is.
void checkManifest(mlir::ModuleOp job, const Json& manifest, Rung& rung) {
  auto refute = [&](const std::string& field, std::string text) {
    Message message;
    message.rule = "manifest";
    message.position = "manifest.json: " + field;
    message.text = std::move(text);
    message.remedy = "make the job again with transpile; its two files belong together";
    rung.add(std::move(message));
  };
  Json strategy = manifest.value("strategy", Json::object());
  // What fetches are of the reference is found by rung 2, which compares it (checkFetches).
  auto fetches = manifest.find("fetches");
  Json expected = makeManifest(job, strategy, fetches == manifest.end() ? nullptr : &*fetches);
  checkStrategy(job, strategy, expected, refute);
  for (const auto& [field, value] : expected.items())
    if (field != "digest" && (!manifest.contains(field) || manifest[field] != value))
      refute(field, "does not say what the module says");
  for (const auto& [field, value] : manifest.items())
    if (!expected.contains(field)) refute(field, "is no field of a manifest");
  // That of a manifest that says all that is expected, and no more, has been computed.
  if (manifest != expected && manifest.value("digest", "") != digestOf(job, manifest))
    refute("digest", "is not the digest of this job: one of its files was changed");
}

}  // namespace

// Rung 1: the op verifiers, and then all that the form of the job promises.
Rung verifyStructure(mlir::ModuleOp job, const Json* manifest, mlir::ModuleOp given,
                     bool wellFormed) {
  Rung rung;
  rung.name = "structure";
  if (!wellFormed) {
    Diagnostics diagnostics(job.getContext(), rung, "op");
    (void)mlir::verify(job);
  }
  int64_t classes = 0, operations = 0;
  // What follows asks questions that only a well-formed module answers.
  if (rung.verdict == Verdict::Holds) {
    checkPrograms(job, rung);
    checkReference(job, rung);
    checkInserted(job, rung);
    checkLocated(job, rung);
    checkWhole(job, rung);
    checkSchedules(job, rung);
    classes = checkClasses(job, rung);
    if (manifest) checkManifest(job, *manifest, rung);
    if (given) checkGiven(job, given, rung);
  }
  job->walk([&](mlir::Operation*) { ++operations; });
  rung.stat("operations", operations);
  rung.stat("classes", classes);
  return rung;
}

}  // namespace dtranspile::verify
