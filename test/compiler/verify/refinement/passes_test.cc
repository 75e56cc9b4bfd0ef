// Rung 4 on what passes make of the corpus: every right @reference is proved, every wrong one of a
// table is left open.
#include <catch2/catch.hpp>

#include "compiler/verify/refinement/refinement.h"
#include "test/compiler/verify/jobs.h"
#include "test/corpus_path.h"

namespace dtranspile::verify::test {
namespace {

mlir::ModuleOp nested(mlir::ModuleOp job, llvm::StringRef name) {
  for (auto module : job.getOps<mlir::ModuleOp>())
    if (module.getSymName() == std::optional<llvm::StringRef>(name)) return module;
  throw std::runtime_error("the job has no module @" + name.str());
}

std::string textOf(const Rung& rung) {
  std::string text;
  for (const Message& message : rung.messages)
    text += message.rule + " " + message.position + ": " + message.text + "\n";
  return text;
}

Strategy merging(int64_t steps, bool average) {
  Strategy strategy;
  strategy.trainers = 1;
  strategy.gradient_merge = true;
  strategy.gradient_merge_k_steps = steps;
  strategy.gradient_merge_avg = average;
  return strategy;
}
Strategy withLamb() {
  Strategy strategy;
  strategy.trainers = 1;
  strategy.lamb = true;
  return strategy;
}
Strategy withLars() {
  Strategy strategy;
  strategy.trainers = 1;
  strategy.lars = true;
  return strategy;
}

// How many programs the passes take, of those that they are proved of.
int proveAll(const Strategy& strategy) {
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

Rung edited(const char* program, const Strategy& strategy, const Edit& edit) {
  Jobs jobs;
  auto job = jobs.make(program, strategy);
  CHECK(verifyRefinement(*job).verdict == Verdict::Holds);
  edit(nested(*job, "reference"));
  return verifyRefinement(*job);
}

pd::ProgramOp program(mlir::ModuleOp module, llvm::StringRef name) {
  return module.lookupSymbol<pd::ProgramOp>(name);
}

void setFloat(pd::OpView op, llvm::StringRef name, float value) {
  op.setAttr(name, mlir::Builder(op.operation()->getContext()).getF32FloatAttr(value));
}

pd::OpView first(mlir::Operation* root, llvm::StringRef type) {
  std::vector<pd::OpView> all = opsOfType(root, type);
  if (all.empty()) throw std::runtime_error("no op of type " + type.str());
  return all.front();
}

// The op of the branch, or of the main program, with that result.
pd::OpView makerOf(mlir::Operation* root, llvm::StringRef type, llvm::StringRef result) {
  for (pd::OpView op : opsOfType(root, type))
    for (mlir::Value value : op.operation()->getResults())
      if (pd::nameOf(value).contains(result)) return op;
  throw std::runtime_error("no " + type.str() + " gives " + result.str());
}

pd::SetOp setOf(mlir::Operation* root, llvm::StringRef variable) {
  pd::SetOp last;
  for (pd::SetOp set : opsOf<pd::SetOp>(root))
    if (set.getVar().contains(variable)) last = set;
  return last;
}

void exchange(pd::OpView op, llvm::StringRef a, llvm::StringRef b) {
  mlir::Value x = op.input(a), y = op.input(b);
  op.setInput(a, 0, y);
  op.setInput(b, 0, x);
}

struct Wrong {
  const char* what;
  Edit edit;
};

void leavesOpen(const char* program, const Strategy& strategy, const std::vector<Wrong>& wrongs) {
  for (const Wrong& wrong : wrongs) {
    INFO(wrong.what);
    const Rung rung = edited(program, strategy, wrong.edit);
    CHECK(rung.verdict == Verdict::Unknown);
    CHECK_FALSE(textOf(rung).empty());
  }
}

}  // namespace

TEST_CASE("lamb and lars are proved of every program that they take") {
  CHECK(proveAll(withLamb()) >= 4);
  CHECK(proveAll(withLars()) >= 4);
}

TEST_CASE("merged steps are proved of every program that they take") {
  CHECK(proveAll(merging(2, true)) >= 15);
  CHECK(proveAll(merging(3, true)) >= 15);
  CHECK(proveAll(merging(4, false)) >= 15);
}

TEST_CASE("merged steps of another update rule are proved") {
  Strategy strategy = merging(3, true);
  strategy.lamb = true;
  CHECK(proveAll(strategy) >= 4);
  strategy.lamb = false;
  strategy.lars = true;
  CHECK(proveAll(strategy) >= 4);
}

TEST_CASE("a wrong lamb is not proved") {
  Strategy excluding = withLamb();
  excluding.lamb_exclude_from_weight_decay = {".b_0"};
  leavesOpen(
      "static26/lenet", excluding,
      {{"another decay",
        [](mlir::ModuleOp m) { setFloat(first(m, "lamb"), "weight_decay", 0.5F); }},
       {"another beta", [](mlir::ModuleOp m) { setFloat(first(m, "lamb"), "beta1", 0.5F); }},
       {"another epsilon", [](mlir::ModuleOp m) { setFloat(first(m, "lamb"), "epsilon", 1e-3F); }},
       {"a parameter that is excluded decays",
        [](mlir::ModuleOp m) {
          for (pd::OpView op : opsOfType(m, "lamb"))
            if (pd::nameOf(op.input("Param")).ends_with(".b_0"))
              setFloat(op, "weight_decay", 0.01F);
        }},
       {"moments exchanged",
        [](mlir::ModuleOp m) { exchange(first(m, "lamb"), "Moment1", "Moment2"); }},
       {"parameter and gradient exchanged",
        [](mlir::ModuleOp m) { exchange(first(m, "lamb"), "Param", "Grad"); }},
       {"an update is not kept", [](mlir::ModuleOp m) { setOf(m, ".w_0").erase(); }},
       {"a rate of its own",
        [](mlir::ModuleOp m) {
          setFloat(first(program(m, "startup"), "fill_constant"), "value", 7);
        }},
       {"an activation changed", [](mlir::ModuleOp m) {
          pd::OpView op = first(program(m, "main"), "relu");
          op.operation()->getResult(0).replaceAllUsesWith(op.input("X"));
        }}});
}

TEST_CASE("wrong merged steps are not proved") {
  const char* name = "@GRAD@GradientMerge";
  auto main = [](mlir::ModuleOp m) { return program(m, "main"); };
  auto startup = [](mlir::ModuleOp m) { return program(m, "startup"); };
  leavesOpen(
      "fluid18/mnist_mlp", merging(4, true),
      {{"a sum is not emptied", [=](mlir::ModuleOp m) { setOf(main(m), name).erase(); }},
       {"the mean of three",
        [=](mlir::ModuleOp m) { setFloat(makerOf(main(m), "scale", "@MEAN"), "scale", 1.F / 3); }},
       {"no mean",
        [=](mlir::ModuleOp m) { setFloat(makerOf(main(m), "scale", "@MEAN"), "scale", 1); }},
       {"every fifth step",
        [=](mlir::ModuleOp m) {
          setFloat(makerOf(main(m), "fill_constant", "gradient_merge_k"), "value", 5);
        }},
       {"every second step",
        [=](mlir::ModuleOp m) {
          setFloat(makerOf(main(m), "fill_constant", "gradient_merge_k"), "value", 2);
        }},
       {"a step too early",
        [=](mlir::ModuleOp m) {
          setFloat(makerOf(startup(m), "fill_constant", "gradient_merge_step"), "value", 1);
        }},
       {"the counter counts by two",
        [=](mlir::ModuleOp m) { setFloat(makerOf(main(m), "increment", "step"), "step", 2); }},
       {"a sum begins with one",
        [=](mlir::ModuleOp m) {
          setFloat(makerOf(startup(m), "fill_constant", name), "value", 1);
        }},
       {"a gradient is added twice",
        [=](mlir::ModuleOp m) {
          pd::OpView sum = makerOf(main(m), "sum", name);
          sum.setInput("X", 0, sum.input("X", 1));
        }},
       {"a gradient is not added",
        [=](mlir::ModuleOp m) {
          for (pd::SetOp set : opsOf<pd::SetOp>(main(m)))
            if (set.getVar().contains(name)) return set.erase();
        }},
       {"a parameter is updated with the gradient of its own step",
        [=](mlir::ModuleOp m) {
          pd::OpView mean = makerOf(main(m), "scale", "@MEAN");
          pd::OpView sum = makerOf(main(m), "sum", name);
          mean.setInput("X", 0, sum.input("X", 1));
        }},
       {"updated in every step",
        [=](mlir::ModuleOp m) {
          pd::OpView equal = makerOf(main(m), "equal", "cond");
          equal.setInput("Y", 0, equal.input("X"));
        }},
       {"a velocity moves in every step", [=](mlir::ModuleOp m) {
          pd::SetOp velocity = setOf(main(m), "velocity");
          for (pd::OpView sum : opsOfType(main(m), "sum")) {
            if (sum.input("X").getType() != velocity.getValue().getType()) continue;
            mlir::OpBuilder builder(sum.operation()->getContext());
            builder.setInsertionPointAfter(sum.operation());
            pd::SetOp::create(builder, velocity.getLoc(), velocity.getVarAttr(), sum.input("X", 1));
            return;
          }
        }}});
}

TEST_CASE("why merged steps are not counted out") {
  const auto main = [](mlir::ModuleOp m) { return program(m, "main"); };
  const auto counter = [=](mlir::ModuleOp m) { return setOf(main(m), "gradient_merge_step"); };
  const struct {
    const char* why;
    Edit edit;
  } table[] = {
      {"`gradient_merge_step` does not begin with a number",
       [=](mlir::ModuleOp m) {
         setFloat(makerOf(program(m, "startup"), "fill_constant", "gradient_merge_step"), "value",
                  0.5F);
       }},
      {"the condition is not computed from a counter",
       [=](mlir::ModuleOp m) {
         setFloat(makerOf(main(m), "fill_constant", "gradient_merge_k"), "value", 0.5F);
       }},
      {"`gradient_merge_step` is not counted up",
       [=](mlir::ModuleOp m) {
         pd::SetOp set = counter(m);
         mlir::OpBuilder builder(set);
         mlir::Operation* half =
             builder.clone(*makerOf(main(m), "fill_constant", "gradient_merge_k").operation());
         setFloat(pd::OpView(half), "value", 0.5F);
         set->setOperand(0, half->getResult(0));
       }},
      {"it does for two periods, and is no remainder of a counter",
       [=](mlir::ModuleOp m) {  // the counter is set back in every fourth step
         pd::SetOp set = counter(m);
         pd::OpView rest = makerOf(main(m), "elementwise_mod", "gradient_merge_rest");
         set->moveAfter(rest.operation());
         set->setOperand(0, rest.output("Out"));
       }},
  };
  for (const auto& one : table) {
    INFO(one.why);
    const Rung rung = edited("fluid18/mnist_mlp", merging(4, true), one.edit);
    CHECK(rung.verdict == Verdict::Unknown);
    CHECK_THAT(textOf(rung), Catch::Contains(one.why));
  }
  Jobs jobs;
  auto longest = jobs.make("fluid18/mnist_mlp", merging((1 << 16) + 1, true));
  CHECK_THAT(textOf(verifyRefinement(*longest)),
             Catch::Contains("the period is too long to be counted out"));
}

TEST_CASE("a change that is not declared is not proved") {
  Jobs jobs;
  auto job = jobs.make("fluid18/mnist_mlp", merging(2, true));
  (*job)->removeAttr("dist.changes");
  CHECK(verifyRefinement(*job).verdict == Verdict::Unknown);
  mlir::Builder builder(jobs.context());
  (*job)->setAttr("dist.changes",
                  builder.getArrayAttr({builder.getDictionaryAttr(
                      {builder.getNamedAttr("pass", builder.getStringAttr("mine"))})}));
  const Rung rung = verifyRefinement(*job);
  CHECK(rung.verdict == Verdict::Unknown);
  CHECK_THAT(textOf(rung), Catch::Contains("nothing is known of what pass `mine`"));
}

}  // namespace dtranspile::verify::test
