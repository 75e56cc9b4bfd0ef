// Rung 2 on compressed gradients (pass dgc), text by text: what is wrong with the body of an
// update, with the steps of its branches, with its state.
#include <catch2/catch.hpp>

#include "compiler/verify/relations/relations.h"
#include "dialects/pd/declarations.h"
#include "test/compiler/verify/jobs.h"

namespace dtranspile::verify::test {
namespace {

using Edit = std::function<void(dist::CompositeOp)>;

struct Wrong {
  const char *what, *says;
  Edit edit;
};

// Sums in step 1, half of the elements in steps 2 and 3, a quarter from then on; or from the first
// step on the same number, without branches.
Strategy compressed(bool branches) {
  Strategy strategy = unfused(2);
  strategy.dgc = true;
  strategy.dgc_min_size = 10000;
  strategy.sparsity = {"0.75"};
  if (!branches) return strategy;
  strategy.sparsity = {"0.5", "0.75"};
  strategy.rampup_begin_step = 1;
  strategy.rampup_step = 4;
  return strategy;
}

dist::CompositeOp updateOf(mlir::ModuleOp job) {
  for (auto composite : opsOf<dist::CompositeOp>(job))
    if (composite.getOp() == "dgc_momentum") return composite;
  throw std::runtime_error("the job compresses nothing");
}

std::vector<mlir::Operation*> branchesOf(dist::CompositeOp update) {
  std::vector<mlir::Operation*> found;
  for (mlir::Operation& op : update.getBody().front())
    if (op.getNumRegions()) found.push_back(&op);
  return found;
}

mlir::Operation* setOf(mlir::Operation* root, llvm::StringRef ending, bool last = true) {
  pd::SetOp found;
  for (pd::SetOp set : opsOf<pd::SetOp>(root))
    if (set.getVar().ends_with(ending) && (last || !found)) found = set;
  if (!found) throw std::runtime_error("nothing sets " + ending.str());
  return found;
}

mlir::Block* dense(dist::CompositeOp update) {
  return &branchesOf(update).front()->getRegion(0).front();
}
mlir::Operation* sparse(dist::CompositeOp update) { return branchesOf(update)[1]; }

void setConstant(mlir::Value value, float number) {
  pd::OpView(value.getDefiningOp())
      .setAttr("value", mlir::Builder(value.getContext()).getF32FloatAttr(number));
}

// What decides a branch compares the counter with this.
mlir::Value limitOf(mlir::Value condition) {
  const pd::OpView op(condition.getDefiningOp());
  return op.type() == "logical_and" ? limitOf(op.input("X")) : op.input("Y");
}

unsigned operandIn(dist::CompositeOp update, llvm::StringRef slot) {
  for (auto [i, name] : llvm::enumerate(update.getInputSlots().getAsValueRange<mlir::StringAttr>()))
    if (name == slot) return static_cast<unsigned>(i);
  throw std::runtime_error("no slot " + slot.str());
}

void insertSet(mlir::Operation* before, llvm::StringRef variable, mlir::Value value) {
  mlir::OpBuilder builder(before);
  pd::SetOp::create(builder, before->getLoc(),
                    mlir::FlatSymbolRefAttr::get(before->getContext(), variable), value);
}

void insertDraw(mlir::Operation* before) {
  mlir::OpBuilder builder(before);
  const auto type = mlir::RankedTensorType::get({1}, builder.getF32Type());
  pd::Declarations().create(builder, before->getLoc(), "uniform_random", {},
                            {{"Out", {{"a_draw", type}}}},
                            {builder.getNamedAttr("shape", builder.getDenseI64ArrayAttr({1})),
                             builder.getNamedAttr("dtype", builder.getI32IntegerAttr(5))},
                            pd::kOptimize);
}

void check(bool branches, llvm::ArrayRef<Wrong> wrongs) {
  Jobs jobs;
  for (const Wrong& wrong : wrongs) {
    INFO(wrong.what);
    auto job = jobs.make("fluid18/mnist_mlp", compressed(branches));
    CHECK(verifyRelations(*job).verdict == Verdict::Holds);
    wrong.edit(updateOf(*job));
    const Rung rung = verifyRelations(*job);
    std::string texts;
    for (const Message& message : rung.messages) texts += message.rule + ": " + message.text + "\n";
    INFO(texts);
    CHECK(rung.verdict == Verdict::Refuted);
    CHECK(texts.find(std::string("compression: ")) != std::string::npos);
    CHECK(texts.find(wrong.says) != std::string::npos);
  }
}

}  // namespace

TEST_CASE("a compressed update is the formula, and nothing else") {
  check(true,
        {{"the velocity is a gradient", "takes no variable in slot Velocity",
          [](dist::CompositeOp update) {
            update->setOperand(operandIn(update, "Velocity"),
                               update->getOperand(operandIn(update, "Grad")));
          }},
         {"a rate is set", "sets `learning_rate_0`, which is none of its state",
          [](dist::CompositeOp update) {
            insertSet(branchesOf(update).back()->getRegion(0).front().getTerminator(),
                      "learning_rate_0",
                      update.getBody().front().getArgument(operandIn(update, "LearningRate")));
          }},
         {"a rank knows its number", "is an op that no compression has",
          [](dist::CompositeOp update) {
            mlir::OpBuilder builder(dense(update)->getTerminator());
            dist::CoordOp::create(builder, update.getLoc(),
                                  mlir::RankedTensorType::get({1}, builder.getI64Type()),
                                  builder.getStringAttr("dp"));
          }},
         {"a branch begins in step 0", "runs in steps that cannot be read off its predicate",
          [](dist::CompositeOp update) {
            setConstant(limitOf(pd::OpView(branchesOf(update)[0]).input("Cond")), 0);
          }},
         {"the sum is a maximum",
          "is no sum over all ranks, and puts no parts of all of them together",
          [](dist::CompositeOp update) {
            auto reduce = opsOf<dist::AllReduceOp>(branchesOf(update)[0])[0];
            reduce.setReduceAttr(dist::ReduceAttr::get(update.getContext(), dist::Reduce::Max));
          }},
         {"something is drawn", "does more than to compute a value",
          [](dist::CompositeOp update) { insertDraw(dense(update)->getTerminator()); }},
         {"the dense step takes the own gradient",
          "neither compresses the gradient nor takes the momentum step with the sum of all ranks' "
          "gradients",
          [](dist::CompositeOp update) {
            opsOfType(branchesOf(update)[0], "momentum")[0].setInput("Grad", 0,
                                                                     dense(update)->getArgument(0));
          }},
         {"nothing is kept",
          "` must end as the sum of itself and the velocity, zero where it was sent",
          [](dist::CompositeOp update) { setOf(sparse(update), "__dgc_v__")->erase(); }},
         {"the velocity is left as it was", "does not leave the velocity of its own gradient in `",
          [](dist::CompositeOp update) {
            mlir::Operation* set = setOf(sparse(update), "_velocity_0");
            for (pd::GetOp get : opsOf<pd::GetOp>(sparse(update)))
              if (get.getVar().ends_with("_velocity_0")) set->setOperand(0, get.getValue());
          }},
         {"what was sent is not divided", "` with the mean over all ranks of what was sent",
          [](dist::CompositeOp update) {
            for (pd::OpView op : opsOfType(sparse(update), "scale"))
              if (op.getFloat("scale") == 0.5)
                op.setAttr("scale", mlir::Builder(update.getContext()).getF32FloatAttr(1));
          }}});
}

TEST_CASE("every step is in one branch of a compressed update, and one only") {
  check(
      true,
      {{"a step is left out", "does not begin in the step after those of the branch before it",
        [](dist::CompositeOp update) {
          setConstant(limitOf(pd::OpView(branchesOf(update)[1]).input("Cond")), 2);
        }},
       {"the last branch is left out", "updates nothing from some step on: its branches end",
        [](dist::CompositeOp update) { branchesOf(update).back()->erase(); }},
       {"it ends with sums", "goes back to dense gradients, and what was kept would never be sent",
        [](dist::CompositeOp update) {
          mlir::Operation* last = branchesOf(update).back();
          mlir::OpBuilder builder(last);
          mlir::Operation* copy = builder.clone(*branchesOf(update).front());
          pd::OpView(copy).setInput("Cond", 0, pd::OpView(last).input("Cond"));
          last->erase();
        }},
       {"what it gives is what it took", "something else than what `",
        [](dist::CompositeOp update) {
          mlir::Block& body = update.getBody().front();
          for (mlir::OpOperand& given : body.getTerminator()->getOpOperands())
            for (mlir::BlockArgument taken : body.getArguments())
              if (taken.getType() == given.get().getType()) given.set(taken);
        }},
       {"what it gives was read before it", "something else than what `",
        [](dist::CompositeOp update) {
          for (mlir::Value given : update.getBody().front().getTerminator()->getOperands())
            given.getDefiningOp()->moveBefore(update);
        }},
       {"the residual is set behind the branches", "sets a variable outside of the branches",
        [](dist::CompositeOp update) {
          mlir::Block& body = update.getBody().front();
          insertSet(body.getTerminator(), "fc_1.w_0__dgc_v__", body.getArgument(0));
        }}});
}

TEST_CASE("a compressed update without branches gives what it sets") {
  check(false, {{"the parameter is set, too", "`, and gives it too", [](dist::CompositeOp update) {
                   mlir::Block& body = update.getBody().front();
                   insertSet(body.getTerminator(), "fc_1.w_0", body.getTerminator()->getOperand(0));
                 }}});
}

TEST_CASE("state of a compressed update is each rank's own, and nothing else is said of it") {
  const auto declared = [](dist::RelAttr now, mlir::StringAttr variable, int64_t times,
                           llvm::ArrayRef<mlir::StringAttr> tags) {
    return dist::RelAttr::get(now.getContext(), variable, now.getNumber(), now.getAxes(), times, 1,
                              tags);
  };
  const auto change = [&](dist::CompositeOp update, llvm::StringRef name, bool other, int64_t times,
                          bool tagged) {
    auto var = llvm::cast<pd::VarOp>(mlir::SymbolTable::lookupSymbolIn(
        update->getParentOfType<dist::RoleOp>(), mlir::StringAttr::get(update.getContext(), name)));
    auto now = var->getAttrOfType<dist::RelAttr>(dist::kRelAttr);
    const auto tag = mlir::StringAttr::get(update.getContext(), "dgc");
    var->setAttr(
        dist::kRelAttr,
        declared(now,
                 other ? mlir::StringAttr::get(update.getContext(), "fc_0.w_0_velocity_0")
                       : now.getVariable(),
                 times, tagged ? llvm::ArrayRef(tag) : llvm::ArrayRef<mlir::StringAttr>()));
  };
  const char* says = "` what each rank has by itself, and it is not declared so";
  check(
      true,
      {{"twice the velocity", says,
        [&](dist::CompositeOp update) { change(update, "fc_1.w_0_velocity_0", false, 2, false); }},
       {"the velocity of another parameter", says,
        [&](dist::CompositeOp update) { change(update, "fc_1.w_0_velocity_0", true, 1, false); }},
       {"twice the residual", says,
        [&](dist::CompositeOp update) { change(update, "fc_1.w_0__dgc_v__", false, 2, false); }},
       {"by a contract besides", says,
        [&](dist::CompositeOp update) { change(update, "fc_1.w_0__dgc_v__", false, 1, true); }}});
}

}  // namespace dtranspile::verify::test
