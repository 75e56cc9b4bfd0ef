// Rung 4 on passes that change what weights are beside their updates: two of four are zero (asp),
// slow ones (lookahead), copies in two precisions (amp).
#include "test/compiler/verify/refinement/edited.h"

namespace dtranspile::verify::test {
namespace {

Strategy withAsp(const std::string& algorithm = "mask_1d") {
  Strategy strategy;
  strategy.trainers = 1;
  strategy.asp = true;
  strategy.asp_mask_algo = algorithm;
  return strategy;
}
Strategy withLookahead(int64_t steps) {
  Strategy strategy;
  strategy.trainers = 1;
  strategy.lookahead = true;
  strategy.lookahead_k = steps;
  strategy.lookahead_alpha = 0.75;
  return strategy;
}
Strategy withPure(bool bfloat16) {
  Strategy strategy;
  strategy.trainers = 1;
  strategy.amp = true;
  (bfloat16 ? strategy.use_pure_bf16 : strategy.use_pure_fp16) = true;
  strategy.use_fp16_guard = false;
  return strategy;
}

pd::ProgramOp mainOf(mlir::ModuleOp m) { return program(m, "main"); }
pd::ProgramOp startupOf(mlir::ModuleOp m) { return program(m, "startup"); }

void setInts(pd::OpView op, llvm::StringRef name, llvm::ArrayRef<int32_t> values) {
  op.setAttr(name, mlir::Builder(op.operation()->getContext()).getDenseI32ArrayAttr(values));
}

// Readers of an op's result take its first operand.
void bypass(pd::OpView op) {
  op.operation()->getResult(0).replaceAllUsesWith(op.operation()->getOperand(0));
}

// The product of an update with a mask.
pd::OpView maskingOf(mlir::ModuleOp m) {
  for (pd::OpView op : opsOfType(mainOf(m), "elementwise_mul"))
    if (auto get = op.input("Y").getDefiningOp<pd::GetOp>(); get && get.getVar().contains("mask"))
      return op;
  throw std::runtime_error("no product with a mask");
}

}  // namespace

TEST_CASE("pruned weights are proved of every program that has some") {
  CHECK(proveAll(withAsp()) >= 25);
  for (const char* algorithm : {"mask_2d_greedy", "mask_2d_best"})
    CHECK(proveAll(withAsp(algorithm)) >= 25);
  Strategy half = withAsp("mask_2d_best");
  half.amp = true;
  CHECK(proveAll(half) >= 10);
  Strategy both = withAsp();
  both.lookahead = true;
  CHECK(proveAll(both) >= 25);
}

TEST_CASE("slow weights are proved of every program that has updates") {
  CHECK(proveAll(withLookahead(1)) >= 25);
  CHECK(proveAll(withLookahead(5)) >= 25);
  Strategy scaled = withLookahead(2);
  scaled.amp = true;
  CHECK(proveAll(scaled) >= 10);
  Strategy merged = withLookahead(2);
  merged.gradient_merge = true;
  for (int64_t steps : {2, 3}) {  // the period of slow weights, and another one
    merged.gradient_merge_k_steps = steps;
    CHECK(proveAll(merged) >= 10);
  }
}

TEST_CASE("parameters in half precision are proved beside their copies") {
  CHECK(proveAll(withPure(false)) >= 5);
  CHECK(proveAll(withPure(true)) >= 5);
}

TEST_CASE("wrongly pruned weights are not proved") {
  leavesOpen(
      "fluid18/mnist_mlp", withAsp(),
      {{"one of four is kept",
        [](mlir::ModuleOp m) {
          setFloat(makerOf(startupOf(m), "fill_constant", "mask_zeros"), "value", 3);
        }},
       {"the smallest are kept",
        [](mlir::ModuleOp m) {
          first(startupOf(m), "argsort")
              .setAttr("descending", mlir::BoolAttr::get(m.getContext(), true));
        }},
       {"the places of the order are taken for ranks",
        [](mlir::ModuleOp m) {
          pd::OpView second = opsOfType(startupOf(m), "argsort")[1];
          second.output("Indices").replaceAllUsesWith(second.input("X"));
        }},
       {"signs count", [](mlir::ModuleOp m) { bypass(first(startupOf(m), "abs")); }},
       {"groups lie along the other extent",
        [](mlir::ModuleOp m) { setInts(first(startupOf(m), "transpose2"), "axis", {0, 1}); }},
       {"the mask of another weight",
        [](mlir::ModuleOp m) {
          pd::SetOp one, other;
          for (pd::SetOp set : opsOf<pd::SetOp>(startupOf(m)))
            if (set.getVar().contains("mask")) (one ? other : one) = set;
          mlir::Value value = other.getValue();
          other.getValueMutable().assign(one.getValue());
          one.getValueMutable().assign(value);
        }},
       {"start-up does not prune",
        [](mlir::ModuleOp m) { bypass(first(startupOf(m), "elementwise_mul")); }},
       {"an update is not pruned", [](mlir::ModuleOp m) { bypass(maskingOf(m)); }},
       {"an update is pruned twice over by another mask",
        [](mlir::ModuleOp m) {
          pd::OpView product = maskingOf(m);
          product.setInput("Y", 0, product.input("X"));
        }},
       {"a mask moves",
        [](mlir::ModuleOp m) {
          pd::OpView product = maskingOf(m);
          mlir::OpBuilder builder(m.getContext());
          builder.setInsertionPointAfter(product.operation());
          auto get = product.input("Y").getDefiningOp<pd::GetOp>();
          pd::SetOp::create(builder, get.getLoc(), get.getVarAttr(),
                            product.operation()->getResult(0));
        }},
       {"a bias is not what it was", [](mlir::ModuleOp m) { setOf(mainOf(m), "b_0").erase(); }}});
}

TEST_CASE("wrong masks of blocks are not proved") {
  const auto setTable = [](pd::OpView table, size_t at, float value) {
    std::vector<float> numbers;
    for (double number : table.getFloats("fp32_values"))
      numbers.push_back(static_cast<float>(number));
    numbers[at] = value;
    table.setAttr("fp32_values",
                  mlir::Builder(table.operation()->getContext()).getDenseF32ArrayAttr(numbers));
  };
  const auto declare = [](mlir::ModuleOp m, llvm::StringRef algorithm) {
    auto job = m->getParentOfType<mlir::ModuleOp>();
    auto changes = job->getAttrOfType<mlir::ArrayAttr>(dist::kChangesAttr);
    mlir::NamedAttrList change(llvm::cast<mlir::DictionaryAttr>(changes[0]));
    mlir::Builder builder(m.getContext());
    change.set("asp_mask_algo", builder.getStrArrayAttr({algorithm}));
    job->setAttr(dist::kChangesAttr, builder.getArrayAttr({change.getDictionary(m.getContext())}));
  };
  const std::vector<Wrong> either = {
      {"another pattern",
       [=](mlir::ModuleOp m) { setTable(first(startupOf(m), "assign_value"), 3, 0); }},
      {"blocks lie along the other extent",
       [](mlir::ModuleOp m) { setInts(first(startupOf(m), "transpose2"), "axis", {0, 1}); }},
      {"rows of blocks are exchanged with columns",
       [](mlir::ModuleOp m) {
         setInts(opsOfType(startupOf(m), "transpose2")[1], "axis", {0, 2, 3, 1});
       }},
      {"the smallest sum",
       [](mlir::ModuleOp m) {
         for (pd::OpView op : opsOfType(startupOf(m), "matmul")) setFloat(op, "alpha", -1);
       }},
      {"start-up does not prune",
       [](mlir::ModuleOp m) { bypass(first(startupOf(m), "elementwise_mul")); }},
      {"another algorithm", [=](mlir::ModuleOp m) { declare(m, "mask_1d"); }},
      {"an unknown algorithm", [=](mlir::ModuleOp m) { declare(m, "mask_3d"); }}};
  std::vector<Wrong> bySize = either;
  bySize.push_back({"the smallest come first", [](mlir::ModuleOp m) {
                      first(startupOf(m), "argsort")
                          .setAttr("descending", mlir::BoolAttr::get(m.getContext(), true));
                    }});
  bySize.push_back({"signs count", [](mlir::ModuleOp m) { bypass(first(startupOf(m), "abs")); }});
  bySize.push_back({"the largest does not outweigh the others", [=](mlir::ModuleOp m) {
                      setTable(opsOfType(startupOf(m), "assign_value")[1], 15, 20000);
                    }});
  leavesOpen("fluid18/mnist_mlp", withAsp("mask_2d_best"), either);
  leavesOpen("fluid18/mnist_mlp", withAsp("mask_2d_greedy"), bySize);
}

TEST_CASE("wrong slow weights are not proved") {
  leavesOpen(
      "fluid18/mnist_mlp", withLookahead(3),
      {{"every fourth step",
        [](mlir::ModuleOp m) {
          setFloat(makerOf(mainOf(m), "fill_constant", "lookahead_k"), "value", 4);
        }},
       {"begun in the second step",
        [](mlir::ModuleOp m) {
          setFloat(makerOf(mainOf(m), "fill_constant", "lookahead_one"), "value", 2);
        }},
       {"a step after those that k divides",
        [](mlir::ModuleOp m) {
          setFloat(makerOf(mainOf(m), "fill_constant", "lookahead_zero"), "value", 1);
        }},
       {"the counter begins at one",
        [](mlir::ModuleOp m) {
          setFloat(makerOf(startupOf(m), "fill_constant", "lookahead_step"), "value", 1);
        }},
       {"the counter counts by two",
        [](mlir::ModuleOp m) { setFloat(makerOf(mainOf(m), "increment", "step"), "step", 2); }},
       {"the counter stays", [](mlir::ModuleOp m) { setOf(mainOf(m), "lookahead_step").erase(); }},
       {"another alpha",
        [](mlir::ModuleOp m) { setFloat(makerOf(mainOf(m), "scale", "FAST"), "scale", 0.5F); }},
       {"the parts exchanged",
        [](mlir::ModuleOp m) {
          setFloat(makerOf(mainOf(m), "scale", "FAST"), "scale", 0.25F);
          setFloat(makerOf(mainOf(m), "scale", "REST"), "scale", 0.75F);
        }},
       {"a parameter does not go back",
        [](mlir::ModuleOp m) {
          mlir::Operation* branch = opsOfType(mainOf(m), "conditional_block")[1].operation();
          setOf(branch, "w_0").erase();
        }},
       {"slow weights do not move",
        [](mlir::ModuleOp m) {
          mlir::Operation* branch = opsOfType(mainOf(m), "conditional_block")[1].operation();
          setOf(branch, "SLOW").erase();
        }},
       {"slow weights do not begin",
        [](mlir::ModuleOp m) {
          setOf(first(mainOf(m), "conditional_block").operation(), "SLOW").erase();
        }},
       {"branches exchanged", [](mlir::ModuleOp m) {
          auto branches = opsOfType(mainOf(m), "conditional_block");
          mlir::Value condition = branches[0].input("Cond");
          branches[0].setInput("Cond", 0, branches[1].input("Cond"));
          branches[1].setInput("Cond", 0, condition);
        }}});
}

TEST_CASE("wrong copies of parameters are not proved") {
  const char* copy = "_fp32_master";
  leavesOpen(
      "static26/mlp_amp_ready", withPure(true),
      {{"a copy stays", [=](mlir::ModuleOp m) { setOf(mainOf(m), copy).erase(); }},
       {"a parameter stays", [](mlir::ModuleOp m) { setOf(mainOf(m), "linear_0.w_0").erase(); }},
       {"a copy begins with another value",
        [=](mlir::ModuleOp m) { setOf(startupOf(m), copy).erase(); }},
       {"a velocity stays", [](mlir::ModuleOp m) { setOf(mainOf(m), "velocity").erase(); }}});
}

}  // namespace dtranspile::verify::test
