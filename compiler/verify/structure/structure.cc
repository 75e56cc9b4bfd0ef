#include "compiler/verify/structure/structure.h"

#include <algorithm>
#include <optional>

#include "compiler/analysis/position.h"
#include "compiler/analysis/program_info.h"
#include "compiler/analysis/relations/analysis.h"
#include "compiler/analysis/relations/reference.h"
#include "compiler/artifact/job.h"
#include "compiler/specialize/specialize.h"
#include "compiler/verify/structure/schedules.h"
#include "dialects/dist/lookup.h"
#include "dialects/pd/op_view.h"
#include "dialects/pd/position.h"
#include "mlir/IR/Verifier.h"

namespace dtranspile::verify {
namespace {

using Json = nlohmann::ordered_json;

mlir::ModuleOp nested(mlir::ModuleOp job, llvm::StringRef name) {
  for (auto module : job.getOps<mlir::ModuleOp>())
    if (module.getSymName() == std::optional<llvm::StringRef>(name)) return module;
  return {};
}

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

// "X(2) Y(1) ": slots with the number of their values; those without any are as good as absent.
std::string namesOf(mlir::Operation* op, llvm::StringRef which) {
  std::string text;
  for (mlir::Attribute attribute : op->getAttrOfType<mlir::ArrayAttr>(which)) {
    auto slot = llvm::cast<pd::SlotAttr>(attribute);
    if (slot.getArgs().empty()) continue;
    text += slot.getName().getValue().str() + "(" + std::to_string(slot.getArgs().size()) + ") ";
  }
  return text;
}

// The same of a composite, which names the slot of every value.
std::string namesOf(mlir::ArrayAttr slots) {
  std::string text;
  for (auto at = slots.begin(); at != slots.end();) {
    auto next = std::find_if(at, slots.end(), [&](mlir::Attribute slot) { return slot != *at; });
    text +=
        llvm::cast<mlir::StringAttr>(*at).getValue().str() + "(" + std::to_string(next - at) + ") ";
    at = next;
  }
  return text;
}

// An attribute of one dictionary that the other lacks, or has another value for; none where they
// are equal. A missing dictionary is empty.
std::optional<std::string> differenceOf(mlir::DictionaryAttr mine, mlir::DictionaryAttr theirs) {
  auto lookup = [](mlir::DictionaryAttr dictionary, mlir::StringAttr name) {
    return dictionary ? dictionary.get(name) : mlir::Attribute();
  };
  for (mlir::DictionaryAttr dictionary : {mine, theirs})
    for (mlir::NamedAttribute attribute :
         dictionary ? dictionary.getValue() : llvm::ArrayRef<mlir::NamedAttribute>())
      if (lookup(mine, attribute.getName()) != lookup(theirs, attribute.getName()))
        return attribute.getName().str();
  return std::nullopt;
}

// D30: an op that stands for one of the reference has its type, slots and attributes. So has a
// composite, by another name; rung 2 reads its body.
void checkForm(mlir::Operation* op, const Reference& reference, Rung& rung) {
  auto number = op->getAttrOfType<mlir::IntegerAttr>(dist::kSrcAttr);
  if (!number) return;
  mlir::Operation* original = reference.op(number.getInt());
  auto refute = [&](std::string text) {
    rung.add(messageAt(op, Message::Level::Refuted, "D30", std::move(text),
                       "correct dist.src, or keep the op as the reference has it"));
  };
  if (!original)
    return refute("stands for op " + std::to_string(number.getInt()) +
                  " of the reference, which has " + std::to_string(reference.opCount()));
  auto composite = llvm::dyn_cast<dist::CompositeOp>(op);
  bool named = composite ? composite.getOp() == "sync_" + pd::OpView(original).type().str()
                         : op->getName() == original->getName();
  if (!named) return refute("stands for " + pd::describe(original) + ", which is of another type");
  for (bool ins : {true, false}) {
    llvm::StringRef which = ins ? "ins" : "outs";
    std::string theirs = namesOf(original, which);
    std::string mine = composite
                           ? namesOf(ins ? composite.getInputSlots() : composite.getOutputSlots())
                           : namesOf(op, which);
    if (mine != theirs)
      return refute("has the slots " + mine + "and stands for " + pd::describe(original) +
                    ", which has " + theirs);
  }
  auto different = differenceOf(op->getAttrOfType<mlir::DictionaryAttr>("attrs"),
                                original->getAttrOfType<mlir::DictionaryAttr>("attrs"));
  if (different)
    refute("differs from " + pd::describe(original) + " in attribute `" + *different + "`");
}

void checkLineage(mlir::ModuleOp job, Rung& rung) {
  mlir::ModuleOp reference = nested(job, "reference");
  if (!reference) reference = nested(job, "source");
  if (!reference) {
    rung.add(messageAt(job, Message::Level::Unknown, "reference",
                       "the job holds no reference program",
                       "make the job with transpile, which stores it"));
    return;
  }
  for (auto role : job.getOps<dist::RoleOp>())
    for (llvm::StringRef name : {"startup", "main"}) {
      pd::ProgramOp program = findProgram(role, name), original = findProgram(reference, name);
      if (!program || !original) continue;
      Reference numbers(original);
      program->walk([&](mlir::Operation* op) { checkForm(op, numbers, rung); });
    }
}

int64_t checkClasses(mlir::ModuleOp job, Rung& rung) {
  int64_t count = 0;
  for (auto role : job.getOps<dist::RoleOp>()) {
    Diagnostics diagnostics(job.getContext(), rung, "specialise");
    mlir::FailureOr<std::vector<RankClass>> classes = classesOf(role);
    if (mlir::failed(classes)) continue;
    // What we cannot form yet may be right all the same.
    if (mlir::Operation* op = firstUnsupported(role)) {
      rung.add(messageAt(op, Message::Level::Unknown, "specialise", kUnsupported,
                         "rewrite this part of the job with ops that have a specialisation"));
      count += static_cast<int64_t>(classes->size());
      continue;
    }
    for (const RankClass& one : *classes) {
      ++count;
      (void)specialize(role, one);  // its diagnostics are the messages
    }
  }
  return count;
}

// Fields of the strategy that the module says too; what it does not say (how gradients were put
// into buckets, say) is the word of the manifest.
struct StrategyFact {
  const char* field;
  Json (*inModule)(mlir::ModuleOp job, const Json& manifest);
};
constexpr StrategyFact kStrategyFacts[] = {
    {"trainers",
     [](mlir::ModuleOp, const Json& manifest) {
       return manifest["roles"].empty() ? Json() : manifest["roles"][0]["ranks"];
     }},
    {"collective_mode",
     [](mlir::ModuleOp job, const Json&) {
       return Json(Contracts::of(job).declares("local_sgd") ? "local_sgd" : "grad_allreduce");
     }},
};

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
  Json expected = makeManifest(job, strategy);
  for (const StrategyFact& fact : kStrategyFacts)
    if (Json found = fact.inModule(job, expected);
        strategy.contains(fact.field) && strategy[fact.field] != found)
      refute(std::string("strategy.") + fact.field,
             "is " + strategy[fact.field].dump() + "; the module was made with " + found.dump());
  for (const auto& [field, value] : expected.items())
    if (field != "digest" && (!manifest.contains(field) || manifest[field] != value))
      refute(field, "does not say what the module says");
  // That of a manifest that says all that is expected, and no more, has been computed.
  if (manifest != expected && manifest.value("digest", "") != digestOf(job, manifest))
    refute("digest", "is not the digest of this job: one of its files was changed");
}

std::string textOf(pd::ProgramOp program) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  if (program) program->print(stream, mlir::OpPrintingFlags().useLocalScope());
  return text;
}

void checkGiven(mlir::ModuleOp job, mlir::ModuleOp given, Rung& rung) {
  for (llvm::StringRef name : {"main", "startup"}) {
    pd::ProgramOp program = findProgram(given, name);
    if (!program || textOf(program) == textOf(findProgram(nested(job, "source"), name))) continue;
    rung.add(messageAt(program, Message::Level::Refuted, "source",
                       "is not the program that the job was made from",
                       "give the program that transpile was given, or make the job again"));
  }
}

}  // namespace

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
    checkLineage(job, rung);
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
