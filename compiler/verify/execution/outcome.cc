// From what a trial run found to messages of rung 5. A difference refutes where a right job could
// not have shown it, and leaves the question open where one could: draws, sites that tell copies
// from one sample, feeds that nothing describes. Of several differences the first in time and in
// the order of the program is the message, the others are its consequences and become notes.
#include "compiler/verify/execution/outcome.h"

#include <algorithm>

#include "compiler/analysis/position.h"
#include "compiler/analysis/program_info.h"
#include "dialects/dist/dist.h"
#include "dialects/pd/op_view.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

namespace dtranspile::verify {
namespace {

pd::ProgramOp programOf(mlir::ModuleOp job, llvm::StringRef role, llvm::StringRef program) {
  for (dist::RoleOp one : job.getOps<dist::RoleOp>())
    if (one.getSymName() == role) return findProgram(one, program);
  return {};
}

std::string ticked(llvm::StringRef name) { return ("`" + name + "`").str(); }

// The first eight by name, the others by number: a program may have thousands of parameters.
std::string listOf(const std::vector<std::string>& names) {
  constexpr size_t kMost = 8;
  std::string text;
  for (size_t i = 0; i < std::min(names.size(), kMost); ++i)
    text += (i ? ", " : "") + ticked(names[i]);
  if (names.size() > kMost) text += " and " + std::to_string(names.size() - kMost) + " more";
  return text;
}

// A message at an op, or about the job as a whole where none is known.
Message at(mlir::Operation* op, Message::Level level, std::string rule, std::string text,
           std::string remedy) {
  if (op) return messageAt(op, level, std::move(rule), std::move(text), std::move(remedy));
  Message message;
  message.level = level;
  message.rule = std::move(rule);
  message.position = "the job";
  message.text = std::move(text);
  message.remedy = std::move(remedy);
  return message;
}

std::string momentOf(int64_t step) {
  return step < 0 ? "after the start-up program" : "after step " + std::to_string(step);
}

// "variable `w` of trainer 1 after step 0: …"; a name that the job gave another one (a part, a
// copy) is said with what it stands for.
std::string textOf(const trial::Difference& one) {
  std::string text = one.kind + " " + ticked(one.name);
  if (one.of != one.name) text += ", which stands for " + ticked(one.of) + ",";
  text += " of " + one.role + " " + std::to_string(one.rank) + " " + momentOf(one.step) + ": " +
          one.text;
  return text;
}

// Where the program puts an op: the one that comes first is to blame.
int64_t placeOf(mlir::Operation* op) {
  if (!op) return INT64_MAX;
  mlir::Operation* top = op;
  while (top->getParentOp() && !llvm::isa<pd::ProgramOp>(top->getParentOp()))
    top = top->getParentOp();
  int64_t place = 0;
  for (mlir::Operation& each : *top->getBlock()) {
    if (&each == top) return place;
    ++place;
  }
  return place;
}

// The earliest step, and in it the op that stands first in its program; what differs after it
// follows from it.
void addDifferences(mlir::ModuleOp job, const ExecutionScope& scope, const trial::Result& result,
                    llvm::ArrayRef<trial::Difference> values, Rung& rung) {
  const int64_t step = result.differences.front().step;
  const bool startup = step < 0;
  // Values of a later step only follow from the variables of this one.
  std::vector<const trial::Difference*> all;
  for (const trial::Difference& one : values)
    if (one.step == step) all.push_back(&one);
  if (all.empty())
    for (const trial::Difference& one : result.differences) all.push_back(&one);
  const auto maker = [&](const trial::Difference& one) -> mlir::Operation* {
    if (!startup) return makerOf(job, one.role, one.name);
    pd::ProgramOp program = programOf(job, one.role, "startup");
    mlir::Operation* found = nullptr;
    if (program)
      program.walk([&](pd::SetOp set) {
        if (set.getVar() == one.name)
          found =
              set.getValue().getDefiningOp() ? set.getValue().getDefiningOp() : set.getOperation();
      });
    return found;
  };
  const trial::Difference* first = *std::min_element(
      all.begin(), all.end(),
      [&](const auto* a, const auto* b) { return placeOf(maker(*a)) < placeOf(maker(*b)); });
  const bool draw = first->kind == "draw";
  const bool refuted = scope.decisive || draw;
  std::string text =
      draw ? "ranks that draw their own start-up values keep them apart: " + textOf(*first)
           : "an execution in float64 differs from the reference: " + textOf(*first);
  if (!refuted) text += "; " + scope.doubt + ", so that this refutes nothing";
  std::string remedy =
      refuted
          ? (draw ? "broadcast " + ticked(first->name) + " from one rank after its draw"
                  : "see that this op takes what the reference's does, reduced and scaled as there")
          : "execute the job by hand, and compare it with what it should compute";
  Message message = at(maker(*first), refuted ? Message::Level::Refuted : Message::Level::Unknown,
                       draw ? "draws" : "differs", std::move(text), std::move(remedy));
  message.rankClass = first->role + " " + std::to_string(first->rank);
  constexpr size_t kMostNotes = 5;
  for (const trial::Difference& one : result.differences) {
    if (message.notes.size() == kMostNotes) break;
    if (&one != first) message.notes.push_back(textOf(one));
  }
  rung.add(std::move(message));
}

// A rank that stops refutes nothing: the feeds were made up, and may be what the program cannot
// take.
void addStops(const trial::Result& result, Rung& rung) {
  const trial::Stop& stop = result.stops.front();
  std::string text = stop.role + " " + std::to_string(stop.rank) + " stops";
  if (stop.step >= 0) text += " in step " + std::to_string(stop.step);
  text += ": " + stop.message;
  Message message = at(nullptr, Message::Level::Unknown, "stops", std::move(text),
                       "run the job with dtranspile run to look into it");
  message.rankClass = stop.role + " " + std::to_string(stop.rank);
  rung.add(std::move(message));
}

void addNote(std::string rule, std::string text, Rung& rung) {
  rung.add(at(nullptr, Message::Level::Note, std::move(rule), std::move(text), ""));
}

}  // namespace

Rung executionRung() {
  Rung rung;
  rung.name = "execution";
  rung.holds = "agrees";
  return rung;
}

// Open, with the reason: a rung that did not run must not look like one that held.
Rung notExecuted(std::string why) {
  Rung rung = executionRung();
  rung.verdict = Verdict::Unknown;
  rung.notRun = std::move(why);
  return rung;
}

// For a variable the op whose result it is last set to, for another name the last value of that
// name; null where the role has no main program or no such name.
mlir::Operation* makerOf(mlir::ModuleOp job, llvm::StringRef role, llvm::StringRef name) {
  pd::ProgramOp main = programOf(job, role, "main");
  if (!main) return nullptr;
  mlir::Operation* setter = nullptr;
  main.walk([&](pd::SetOp set) {
    if (set.getVar() == name)
      setter = set.getValue().getDefiningOp() ? set.getValue().getDefiningOp() : set.getOperation();
  });
  if (setter) return setter;
  mlir::Value value = lastNamed(main, name);
  return value ? value.getDefiningOp() : nullptr;
}

// Differences come before stops: a rank that stops may be a consequence. Notes say what an
// agreement does not show: feeds and parameters that the loss does not react to have not been
// tested.
void addOutcome(mlir::ModuleOp job, const ExecutionScope& scope, const trial::Result& result,
                llvm::ArrayRef<trial::Difference> values, Rung& rung) {
  if (!result.failure.empty())
    rung.add(at(nullptr, Message::Level::Unknown, "reference", result.failure,
                "run the saved program with dtranspile run to look into it"));
  if (result.wild)
    rung.add(at(nullptr, Message::Level::Unknown, "not-finite",
                ticked(*result.wild) +
                    " of the reference is no finite number on any of the generated feeds",
                "execute the job on feeds of your own"));
  if (!result.differences.empty()) addDifferences(job, scope, result, values, rung);
  else if (!result.stops.empty()) addStops(result, rung);
  if (scope.equal && rung.verdict == Verdict::Holds)
    addNote("equal-samples",
            "all parts of the batch were given equal samples, since " + scope.why +
                ": what tells samples apart is not seen",
            rung);
  if (!result.unmoved.empty())
    addNote("not-exercised", "the loss does not react to the feeds " + listOf(result.unmoved),
            rung);
  if (!result.unaffected.empty())
    addNote("not-exercised",
            "the loss does not react to the parameters " + listOf(result.unaffected), rung);
  if (!result.frozen.empty())
    addNote("not-exercised", "no step changes the parameters " + listOf(result.frozen), rung);
  if (!scope.skipped.empty() && rung.verdict == Verdict::Holds)
    addNote("not-compared", "of the reference they have no one value: " + listOf(scope.skipped),
            rung);
}

}  // namespace dtranspile::verify
