// What the tests of rung 4 share: programs of the corpus that passes have changed, and edits of
// what they made.
#pragma once

#include <catch2/catch.hpp>
#include <string>

#include "compiler/verify/refinement/refinement.h"
#include "test/compiler/verify/jobs.h"
#include "test/corpus_path.h"

namespace dtranspile::verify::test {

inline mlir::ModuleOp nested(mlir::ModuleOp job, llvm::StringRef name) {
  for (auto module : job.getOps<mlir::ModuleOp>())
    if (module.getSymName() == std::optional<llvm::StringRef>(name)) return module;
  throw std::runtime_error("the job has no module @" + name.str());
}

inline std::string textOf(const Rung& rung) {
  std::string text;
  for (const Message& message : rung.messages)
    text += message.rule + " " + message.position + ": " + message.text + "\n";
  return text;
}

// How many programs the passes take; they are proved of all of them.
inline int proveAll(const Strategy& strategy) {
  Jobs jobs;
  mlir::ScopedDiagnosticHandler quiet(jobs.context(),
                                      [](mlir::Diagnostic&) { return mlir::success(); });
  int proved = 0;
  for (const char* corpus : {"fluid18", "static26"})
    for (const std::string& name : dtranspile::test::CorpusCases(corpus)) {
      mlir::OwningOpRef<mlir::ModuleOp> job;
      try {
        job = jobs.make(std::string(corpus) + "/" + name, strategy);
      } catch (const std::runtime_error&) {
        continue;  // refused by name: tests of the pass
      }
      if (!needsRefinement(*job)) continue;
      const Rung rung = verifyRefinement(*job);
      INFO(corpus << "/" << name << "\n" << textOf(rung));
      CHECK(rung.verdict == Verdict::Holds);
      CHECK_FALSE(rung.conditions.empty());
      ++proved;
    }
  return proved;
}

using Edit = std::function<void(mlir::ModuleOp reference)>;

inline Rung edited(const char* program, const Strategy& strategy, const Edit& edit) {
  Jobs jobs;
  auto job = jobs.make(program, strategy);
  CHECK(verifyRefinement(*job).verdict == Verdict::Holds);
  edit(nested(*job, "reference"));
  return verifyRefinement(*job);
}

inline pd::ProgramOp program(mlir::ModuleOp module, llvm::StringRef name) {
  return module.lookupSymbol<pd::ProgramOp>(name);
}

inline void setFloat(pd::OpView op, llvm::StringRef name, float value) {
  op.setAttr(name, mlir::Builder(op.operation()->getContext()).getF32FloatAttr(value));
}

inline pd::OpView first(mlir::Operation* root, llvm::StringRef type) {
  std::vector<pd::OpView> all = opsOfType(root, type);
  if (all.empty()) throw std::runtime_error("no op of type " + type.str());
  return all.front();
}

// The op of the branch, or of the main program, with that result.
inline pd::OpView makerOf(mlir::Operation* root, llvm::StringRef type, llvm::StringRef result) {
  for (pd::OpView op : opsOfType(root, type))
    for (mlir::Value value : op.operation()->getResults())
      if (pd::nameOf(value).contains(result)) return op;
  throw std::runtime_error("no " + type.str() + " gives " + result.str());
}

inline pd::SetOp setOf(mlir::Operation* root, llvm::StringRef variable) {
  pd::SetOp last;
  for (pd::SetOp set : opsOf<pd::SetOp>(root))
    if (set.getVar().contains(variable)) last = set;
  return last;
}

inline void exchange(pd::OpView op, llvm::StringRef a, llvm::StringRef b) {
  mlir::Value x = op.input(a), y = op.input(b);
  op.setInput(a, 0, y);
  op.setInput(b, 0, x);
}

struct Wrong {
  const char* what;
  Edit edit;
  const char* says = "";  // why the proof is left open
};

inline void leavesOpen(const char* program, const Strategy& strategy,
                       const std::vector<Wrong>& wrongs) {
  for (const Wrong& wrong : wrongs) {
    INFO(wrong.what);
    const Rung rung = edited(program, strategy, wrong.edit);
    CHECK(rung.verdict == Verdict::Unknown);
    CHECK_THAT(textOf(rung), Catch::Contains(wrong.says) && !Catch::Equals(""));
  }
}

}  // namespace dtranspile::verify::test
