// Rung 4 on what passes make of the corpus: every right @reference is proved, every wrong one of a
// table is left open.
#include "dialects/pd/declarations.h"
#include "test/compiler/verify/refinement/edited.h"

namespace dtranspile::verify::test {
namespace {

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

Strategy withAmp() {
  Strategy strategy;
  strategy.trainers = 1;
  strategy.amp = true;
  return strategy;
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

TEST_CASE("steps that are not counted leave the proof open, and it says why") {
  auto main = [](mlir::ModuleOp m) { return program(m, "main"); };
  leavesOpen(
      "fluid18/mnist_mlp", merging(4, true),
      {{"the counter begins with nothing",
        [](mlir::ModuleOp m) { setOf(program(m, "startup"), "gradient_merge_step").erase(); },
        "` does not begin with a number"},
       {"the counter is of 32 bits",
        [](mlir::ModuleOp m) {
          auto narrow = [](mlir::Type type) {
            auto tensor = llvm::dyn_cast<mlir::RankedTensorType>(type);
            return tensor && tensor.getElementType().isInteger(64)
                       ? mlir::Type(tensor.clone(mlir::IntegerType::get(type.getContext(), 32)))
                       : type;
          };
          for (pd::VarOp var : opsOf<pd::VarOp>(m))
            if (var.getSymName() == "gradient_merge_step") var.setType(narrow(var.getType()));
          m.walk([&](mlir::Operation* op) {
            for (mlir::OpResult result : op->getResults())
              if (auto get = llvm::dyn_cast<pd::GetOp>(op);
                  get ? get.getVar() == "gradient_merge_step"
                      : pd::nameOf(result).starts_with("gradient_merge_"))
                result.setType(narrow(result.getType()));
          });
        },
        "it does for two periods, and is no remainder of a counter"},
       {"the remainder by zero",
        [=](mlir::ModuleOp m) {
          setFloat(makerOf(main(m), "fill_constant", "gradient_merge_k"), "value", 0);
        },
        "the condition is not computed from a counter"},
       {"the counter ends as a square",
        [=](mlir::ModuleOp m) {
          pd::SetOp set = setOf(main(m), "gradient_merge_step");
          mlir::OpBuilder builder(set);
          mlir::Value now = set.getValue();
          set.getValueMutable().assign(
              pd::Declarations()
                  .create(builder, set.getLoc(), "elementwise_mul", {{"X", {now}}, {"Y", {now}}},
                          {{"Out", {{"a_square", now.getType()}}}}, {}, pd::kOptimize)
                  .output("Out"));
        },
        "` is not counted up"},
       {"the counter ends as the remainder",
        [=](mlir::ModuleOp m) {
          pd::OpView rest = makerOf(main(m), "elementwise_mod", "gradient_merge_rest");
          pd::SetOp set = setOf(main(m), "gradient_merge_step");
          set->moveAfter(rest.operation());
          set.getValueMutable().assign(rest.output("Out"));
        },
        "it does for two periods, and is no remainder of a counter"}});
  Jobs jobs;
  const Rung rung = verifyRefinement(*jobs.make("fluid18/mnist_mlp", merging(1 << 21, true)));
  CHECK(rung.verdict == Verdict::Unknown);
  CHECK_THAT(textOf(rung), Catch::Contains("the period is too long to be counted out"));
}

TEST_CASE("a loss scale that is declared to stay") {
  Strategy fixed = withAmp();
  fixed.use_dynamic_loss_scaling = false;
  leavesOpen("static26/mlp_amp_ready", fixed,
             {{"moves",
               [](mlir::ModuleOp m) {
                 pd::ProgramOp main = program(m, "main");
                 for (pd::GetOp get : opsOf<pd::GetOp>(main)) {
                   if (!get.getVar().contains("loss_scaling")) continue;
                   auto builder = mlir::OpBuilder::atBlockEnd(main.getBodyBlock());
                   mlir::Value twice =
                       pd::Declarations()
                           .create(builder, get.getLoc(), "scale", {{"X", {get.getValue()}}},
                                   {{"Out", {{"twice", get.getValue().getType()}}}},
                                   {builder.getNamedAttr("scale", builder.getF32FloatAttr(2))},
                                   pd::kOptimize)
                           .output("Out");
                   pd::SetOp::create(builder, get.getLoc(), get.getVarAttr(), twice);
                   return;
                 }
               },
               "it is declared to stay"}});
}

TEST_CASE("mixed precision is proved of every program that it takes") {
  CHECK(proveAll(withAmp()) >= 10);
  Strategy fixed = withAmp();
  fixed.use_dynamic_loss_scaling = false;
  CHECK(proveAll(fixed) >= 10);
  Strategy other = withAmp();
  other.amp_dtype = "bfloat16";
  CHECK(proveAll(other) >= 10);
  Strategy merged = merging(2, true);
  merged.amp = true;
  CHECK(proveAll(merged) >= 10);
}

namespace {

// Another word in the declared change of pass amp.
std::function<void(mlir::ModuleOp)> declared(const char* option, std::vector<std::string> words) {
  return [=](mlir::ModuleOp reference) {
    auto job = reference->getParentOfType<mlir::ModuleOp>();
    mlir::Builder builder(job.getContext());
    llvm::SmallVector<mlir::Attribute> all;
    for (mlir::Attribute one : job->getAttrOfType<mlir::ArrayAttr>(dist::kChangesAttr)) {
      mlir::NamedAttrList change(llvm::cast<mlir::DictionaryAttr>(one));
      llvm::SmallVector<llvm::StringRef> names(words.begin(), words.end());
      if (option == std::string("use_fp16_guard")) change.set(option, builder.getBoolAttr(true));
      else change.set(option, builder.getStrArrayAttr(names));
      all.push_back(change.getDictionary(job.getContext()));
    }
    job->setAttr(dist::kChangesAttr, builder.getArrayAttr(all));
  };
}

}  // namespace

// Over the reals nothing is told apart: where an op may round is a matter of the framework's lists.
TEST_CASE("what computes in half precision stands on a list, and touches nothing that stays") {
  Strategy white = withAmp();
  white.custom_white_list = {"softmax_with_cross_entropy"};
  leavesOpen("static26/mlp_amp_ready", white,
             {{"the black list", declared("custom_white_list", {}),
               "computes in half precision, and is on no list of such ops"}});
  leavesOpen("static26/mlp_amp_ready", withAmp(),
             {{"names", declared("custom_black_varnames", {"linear_0.tmp_0", "linear_1.tmp_0"}),
               "takes or gives what is to stay"}});
  Strategy pure = withAmp();
  pure.use_pure_fp16 = true;
  pure.use_fp16_guard = false;
  leavesOpen("static26/mlp_amp_ready", pure,
             {{"the guard", declared("use_fp16_guard", {}), "stands under no fp16_guard"}});
}

TEST_CASE("pure precision is proved of every program that it takes") {
  for (const bool brain : {false, true}) {
    Strategy pure = withAmp();
    pure.use_pure_fp16 = !brain;
    pure.use_pure_bf16 = brain;
    pure.use_fp16_guard = false;
    CHECK(proveAll(pure) >= 5);
  }
}

TEST_CASE("a check per gradient is proved as one of all") {
  Strategy staged = withAmp();
  staged.trainers = staged.stages = staged.accumulate_steps = 2;
  staged.pipeline = true;
  CHECK(proveAll(staged) >= 10);
  static const auto main = [](mlir::ModuleOp m) { return program(m, "main"); };
  leavesOpen(
      "fluid18/mnist_mlp", staged,
      {{"an answer is left out",
        [](mlir::ModuleOp m) {
          pd::OpView either = first(main(m), "logical_or");
          either.setInput("Y", 0, either.input("X"));
        }},
       {"the first check decides alone",
        [](mlir::ModuleOp m) {
          mlir::Value found = first(main(m), "check_finite_and_unscale").output("FoundInfinite");
          first(main(m), "logical_not").setInput("X", 0, found);
        }},
       {"the scale looks at the first check alone",
        [](mlir::ModuleOp m) {
          mlir::Value found = first(main(m), "check_finite_and_unscale").output("FoundInfinite");
          first(main(m), "update_loss_scaling").setInput("FoundInfinite", 0, found);
        }},
       {"a gradient keeps the scale", [](mlir::ModuleOp m) {
          pd::OpView check = first(main(m), "check_finite_and_unscale");
          check.output("Out").replaceAllUsesWith(check.input("X"));
        }}});
}

// What the source has no variable for: only the declared change says how it begins and moves.
const std::vector<Wrong>& wrongScales() {
  static const auto main = [](mlir::ModuleOp m) { return program(m, "main"); };
  static const auto startup = [](mlir::ModuleOp m) { return program(m, "startup"); };
  static const auto update = [](mlir::ModuleOp m) {
    return first(program(m, "main"), "update_loss_scaling");
  };
  static const std::vector<Wrong> wrongs = {
      {"good and bad steps exchanged",
       [](mlir::ModuleOp m) { exchange(update(m), "InGoodSteps", "InBadSteps"); }},
      {"good and bad steps set to each other's",
       [](mlir::ModuleOp m) {
         pd::SetOp a = setOf(main(m), "num_good_steps"), b = setOf(main(m), "num_bad_steps");
         mlir::Value value = a.getValue();
         a.getValueMutable().assign(b.getValue());
         b.getValueMutable().assign(value);
       }},
      {"one counter for both",
       [](mlir::ModuleOp m) {
         update(m).setInput("InBadSteps", 0, update(m).input("InGoodSteps"));
       },
       "it does not count steps in two variables of its own"},
      {"good steps are not counted",
       [](mlir::ModuleOp m) { setOf(main(m), "num_good_steps").erase(); }},
      {"bad steps are not counted",
       [](mlir::ModuleOp m) { setOf(main(m), "num_bad_steps").erase(); }},
      {"the scale stays", [](mlir::ModuleOp m) { setOf(main(m), "loss_scaling").erase(); }},
      {"another first scale",
       [](mlir::ModuleOp m) {
         setFloat(makerOf(startup(m), "fill_constant", "loss_scaling"), "value", 4);
       }},
      {"good steps begin elsewhere",
       [](mlir::ModuleOp m) {
         setFloat(makerOf(startup(m), "fill_constant", "num_good_steps"), "value", 3);
       },
       "` does not begin at 0"},
      {"bad steps begin with nothing",
       [](mlir::ModuleOp m) { setOf(startup(m), "num_bad_steps").erase(); }},
      {"it grows by another ratio", [](mlir::ModuleOp m) { setFloat(update(m), "incr_ratio", 3); },
       "` is not what the declared numbers make of it"},
      {"it shrinks by another ratio",
       [](mlir::ModuleOp m) { setFloat(update(m), "decr_ratio", 0.25F); }},
      {"it grows in other steps",
       [](mlir::ModuleOp m) {
         update(m).setAttr("incr_every_n_steps",
                           mlir::Builder(m.getContext()).getI32IntegerAttr(7));
       }},
      {"it shrinks in other steps",
       [](mlir::ModuleOp m) {
         update(m).setAttr("decr_every_n_nan_or_inf",
                           mlir::Builder(m.getContext()).getI32IntegerAttr(7));
       }},
      {"it is not moved at all",
       [](mlir::ModuleOp m) {
         update(m).setAttr("stop_update", mlir::Builder(m.getContext()).getBoolAttr(true));
       }},
      {"it looks at something else",
       [](mlir::ModuleOp m) {
         pd::OpView op = update(m);
         mlir::OpBuilder builder(op.operation());
         mlir::Value found = op.input("FoundInfinite");
         op.setInput("FoundInfinite", 0,
                     pd::Declarations()
                         .create(builder, found.getLoc(), "logical_not", {{"X", {found}}},
                                 {{"Out", {{"not_found", found.getType()}}}}, {}, pd::kOptimize)
                         .output("Out"));
       },
       "it does not look at what the check of all gradients found"},
      {"a variable more", [](mlir::ModuleOp m) {
         mlir::OpBuilder builder(main(m));
         pd::VarOp::create(
             builder, m.getLoc(), builder.getStringAttr("extra"),
             mlir::TypeAttr::get(mlir::RankedTensorType::get({1}, builder.getF32Type())),
             mlir::UnitAttr());
       }}};
  return wrongs;
}

TEST_CASE("a loss scale that begins or moves otherwise is not proved") {
  leavesOpen("static26/mlp_amp_ready", withAmp(), wrongScales());
}

TEST_CASE("nor is it in steps that are merged") {
  Strategy strategy = merging(2, true);
  strategy.amp = true;
  leavesOpen("static26/mlp_amp_ready", strategy, wrongScales());
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
