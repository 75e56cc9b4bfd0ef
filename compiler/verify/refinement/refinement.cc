#include "compiler/verify/refinement/refinement.h"

#include <algorithm>
#include <map>

#include "compiler/analysis/norms.h"
#include "compiler/analysis/position.h"
#include "compiler/analysis/program_diff.h"
#include "compiler/analysis/program_info.h"
#include "compiler/verify/refinement/precision.h"
#include "compiler/verify/refinement/proof.h"
#include "dialects/dist/dist.h"

namespace dtranspile::verify {
namespace {

constexpr char kAgain[] = "make the job again from the program that it shall preserve";

void leaveOpen(Rung& rung, mlir::Operation* at, std::string text, std::string remedy = kAgain) {
  rung.add(messageAt(at, Message::Level::Unknown, "refines", std::move(text), std::move(remedy)));
}

// Every variable of the source is one of the reference, and says of itself what it says there; but
// parameters in two precisions may be of another element type.
std::vector<std::string> checkVariables(mlir::ModuleOp source, mlir::ModuleOp reference,
                                        const std::set<std::string>& twice, Rung& rung) {
  std::vector<std::string> names;
  const mlir::SymbolTable theirs(reference);
  const auto facts = [&](pd::VarOp var) {
    mlir::NamedAttrList list(var->getAttrDictionary());
    if (twice.count(var.getSymName().str()))
      list.set("type", mlir::StringAttr::get(var.getContext(),
                                             describeType(var.getType(), /*anyFloat=*/true)));
    return list.getDictionary(var.getContext());
  };
  for (auto var : source.getOps<pd::VarOp>()) {
    names.push_back(var.getSymName().str());
    auto own = theirs.lookup<pd::VarOp>(var.getSymName());
    if (!own)
      leaveOpen(rung, reference,
                "variable `" + var.getSymName().str() + "` of the source is missing");
    else if (facts(own) != facts(var))
      leaveOpen(rung, own,
                "variable `" + var.getSymName().str() + "` is another one than in the source: " +
                    attributeDifference("variable", facts(own), facts(var)));
  }
  std::sort(names.begin(), names.end());
  return names;
}

// Every name that the source declares is declared alike, in its block or in a branch that took its
// ops over.
void checkDeclarations(pd::ProgramOp source, pd::ProgramOp reference, bool anyFloat,
                       const std::set<std::string>& twice, Rung& rung) {
  std::map<std::string, std::vector<pd::DeclOp>> own;
  reference.walk([&](pd::DeclOp decl) { own[decl.getName().str()].push_back(decl); });
  const auto facts = [&](pd::DeclOp decl) {
    mlir::NamedAttrList list(decl->getAttrDictionary());
    if (anyFloat && (!decl.isPersistable() || twice.count(decl.getName().str())))
      list.erase("dtype");
    return list.getDictionary(decl.getContext());
  };
  for (auto decl : source.getBodyBlock()->getOps<pd::DeclOp>()) {
    const std::vector<pd::DeclOp>& found = own[decl.getName().str()];
    if (llvm::any_of(found, [&](pd::DeclOp one) { return facts(one) == facts(decl); })) continue;
    if (found.empty())
      leaveOpen(rung, reference,
                "the declaration of `" + decl.getName().str() + "` in the source is missing");
    else
      leaveOpen(rung, found.front(),
                attributeDifference("declaration", facts(found.front()), facts(decl)));
  }
}

// What a program is fed, and what it says of itself, is what the source says.
void checkProgram(pd::ProgramOp source, pd::ProgramOp reference, Rung& rung) {
  if (source->getAttrDictionary() != reference->getAttrDictionary())
    leaveOpen(rung, reference,
              attributeDifference("program", reference->getAttrDictionary(),
                                  source->getAttrDictionary()));
  std::map<std::string, pd::InputOp> feeds;
  for (pd::InputOp input : inputsOf(source)) feeds[input.getName().str()] = input;
  for (pd::InputOp input : inputsOf(reference)) {
    auto found = feeds.find(input.getName().str());
    if (found == feeds.end() || found->second.getType() != input.getType())
      leaveOpen(rung, input,
                "takes the feed `" + input.getName().str() + "`, which the source takes " +
                    (found == feeds.end() ? "not" : "with another type"));
    else feeds.erase(found);
  }
  for (const auto& [name, input] : feeds)
    leaveOpen(rung, reference, "does not take the feed `" + name + "` of the source");
}

// Programs beside main and start-up are those of the source.
void checkOthers(mlir::ModuleOp source, mlir::ModuleOp reference, bool anyFloat,
                 const std::set<std::string>& twice, Rung& rung) {
  const CompareRules rules{};
  for (auto program : source.getOps<pd::ProgramOp>()) {
    auto own = reference.lookupSymbol<pd::ProgramOp>(program.getSymName());
    if (!own) {
      leaveOpen(rung, reference,
                "program @" + program.getSymName().str() + " of the source is missing");
      continue;
    }
    if (program.getSymName() == "main" || program.getSymName() == "startup") {
      checkDeclarations(program, own, anyFloat, twice, rung);
      checkProgram(program, own, rung);
      continue;
    }
    if (auto found = firstDifference(own, program, rules))
      leaveOpen(rung, found->mine, "differs from the source: " + found->text);
  }
}

// The source with norms written out where a change says so.
mlir::OwningOpRef<mlir::ModuleOp> withNorms(mlir::ModuleOp source,
                                            const std::vector<std::string>& results) {
  mlir::OwningOpRef<mlir::ModuleOp> copy = source.clone();
  std::vector<pd::OpView> ops;
  for (mlir::Operation& op : *findProgram(*copy, "main").getBodyBlock()) {
    const pd::OpView view(&op);
    if (pd::OpView::isFrameworkOp(&op) && takesNorm(view) && !*whyNotWrittenOut(view) &&
        llvm::is_contained(results, normedResult(view).str()))
      ops.push_back(view);
  }
  pd::Declarations declarations;
  for (pd::OpView op : ops) writeOut(op, declarations);
  return copy;
}

}  // namespace

bool needsRefinement(mlir::ModuleOp job) {
  return findModule(job, "reference") || job->hasAttr(dist::kChangesAttr);
}

// The source program, as it was imported, against the reference that semantic passes made of it.
// Without a reference there is nothing to show: no semantic pass ran, and the source is the
// reference. Variables, other roles' programs and the loss are compared by form, precision by
// rules, and the main program and its start-up by symbolic execution (proof.h).
Rung verifyRefinement(mlir::ModuleOp job) {
  Rung rung;
  rung.name = "refinement";
  mlir::ModuleOp source = findModule(job, "source"), reference = findModule(job, "reference");
  if (!source) {  // rung 1 says so
    rung.verdict = Verdict::Unknown;
    rung.notRun = "the job holds no source program";
    return rung;
  }
  pd::ProgramOp main = findProgram(source, "main");
  const Changes changes = changesOf(job, main ? main.getVersion() : 0);
  for (const auto& [pass, statement] : changes.statements)
    rung.conditions.push_back({"change", pass, statement});
  for (const std::string& pass : changes.unknown)
    leaveOpen(rung, job, "nothing is known of what pass `" + pass + "` makes of a program",
              "make the job with the passes of this version");
  if (!reference) {
    if (!changes.statements.empty())
      leaveOpen(rung, job, "changes are declared, but the job has no reference beside its source");
    return rung;
  }
  pd::ProgramOp own = findProgram(reference, "main");
  const std::set<std::string> twice =
      changes.copies && own ? parametersWithCopies(own) : std::set<std::string>();
  std::vector<std::string> variables = checkVariables(source, reference, twice, rung), added;
  const mlir::SymbolTable ofSource(source);
  for (auto var : reference.getOps<pd::VarOp>())
    if (!ofSource.lookup(var.getSymName())) added.push_back(var.getSymName().str());
  checkOthers(source, reference, changes.anyFloat, twice, rung);
  if (!main || !own) return rung;
  // Whoever runs the job is told the loss, which roles of ops name.
  if (findLoss(main) != findLoss(own))
    leaveOpen(
        rung, own,
        "its loss is `" + findLoss(own) + "`; that of the source is `" + findLoss(main) + "`");
  if (changes.anyFloat) checkPrecision(changes, own, rung);
  mlir::OwningOpRef<mlir::ModuleOp> written;  // the proof refers to it
  Proof proof(changes, std::move(variables), std::move(added), main, rung);
  proof.findCopies(own);
  if (pd::ProgramOp startup = findProgram(source, "startup"))
    if (pd::ProgramOp theirs = findProgram(reference, "startup")) proof.startup({startup, theirs});
  if (!changes.writtenOut.empty()) {
    written = withNorms(source, changes.writtenOut);
    main = findProgram(*written, "main");
  }
  proof.main({main, own});
  rung.stat("atoms", proof.atoms());
  rung.stat("cases", proof.cases());
  if (proof.asked() > 0) rung.stat("questions", proof.asked());
  return rung;
}

}  // namespace dtranspile::verify
