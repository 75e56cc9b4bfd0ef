// Planted bugs in updates whose norms are summed over the parts of layers.
#include "dialects/dist/lookup.h"
#include "dialects/pd/declarations.h"
#include "test/compiler/verify/mutations/edits.h"

namespace dtranspile::verify::test {
namespace {

constexpr const char* kPrograms[] = {"fluid18/lamb_mlp", "fluid18/lars_mlp"};

// Two replicas of two parts. The edit gets the sum of the first update's norms.
void refutedWith(const std::function<void(mlir::ModuleOp, dist::AllReduceOp)>& edit) {
  Strategy strategy = unfused(4);
  strategy.tensor_parallel = true;
  strategy.tensor_parallel_degree = 2;
  for (const char* program : kPrograms) {
    const VerifyReport report = verifyEdited(
        [&](mlir::ModuleOp job, pd::ProgramOp main) {
          auto composites = opsOf<dist::CompositeOp>(main);
          REQUIRE(!composites.empty());
          REQUIRE(composites[0].getOp().starts_with("sharded_"));
          edit(job, opsOf<dist::AllReduceOp>(composites[0]).at(0));
        },
        program, strategy);
    INFO(program << "\n" << messagesOf(report));
    notVerified(report);
  }
}

}  // namespace

TEST_CASE("norms of layers that are those of a part") {
  refutedWith([](mlir::ModuleOp, dist::AllReduceOp sum) { bypass(sum); });
}

TEST_CASE("norms of layers that are summed over the replicas") {
  refutedWith([](mlir::ModuleOp job, dist::AllReduceOp sum) {
    for (dist::CommOp comm : opsOf<dist::CommOp>(job))
      if (comm.getCarries() == llvm::StringRef("gradients"))
        sum.setCommAttr(mlir::FlatSymbolRefAttr::get(comm.getSymNameAttr()));
    REQUIRE(dist::lookupComm(sum, sum.getCommAttr()).overAxis("dp"));
  });
}

TEST_CASE("norms of layers that are summed twice") {
  refutedWith([](mlir::ModuleOp, dist::AllReduceOp sum) { repeat(sum); });
}

namespace {

// The first value of the first body, under another name.
void refutedNamed(const std::string& name, const std::string& says) {
  Strategy strategy = unfused(4);
  strategy.tensor_parallel = true;
  strategy.tensor_parallel_degree = 2;
  for (const char* program : kPrograms) {
    const VerifyReport report = verifyEdited(
        [&](mlir::ModuleOp, pd::ProgramOp main) {
          auto norm = opsOfType(opsOf<dist::CompositeOp>(main).at(0), "squared_l2_norm").at(0);
          mlir::Builder builder(main.getContext());
          norm.operation()->setAttr("outs", builder.getArrayAttr({pd::SlotAttr::get(
                                                main.getContext(), builder.getStringAttr("Out"),
                                                {builder.getStringAttr(name)})}));
        },
        program, strategy);
    INFO(program);
    CHECK_THAT(refuted(report, "name").text, Catch::Matchers::Contains(says));
  }
}

}  // namespace

TEST_CASE("names in the bodies of composites, which exports write too") {
  refutedNamed("learning_rate_0", "the variable `learning_rate_0`");
  refutedNamed("mean_0.tmp_0", "`mean_0.tmp_0`, which the reference computes");
  refutedNamed("fc_0.tmp_0@GRAD", "`fc_0.tmp_0@GRAD`, which the reference computes");
}

TEST_CASE("declarations of what bodies of composites make") {
  Strategy strategy = unfused(4);
  strategy.tensor_parallel = true;
  strategy.tensor_parallel_degree = 2;
  const auto edited = [&](const std::function<void(pd::DeclOp)>& edit) {
    return verifyEdited(
        [&](mlir::ModuleOp, pd::ProgramOp main) {
          auto norm = opsOfType(opsOf<dist::CompositeOp>(main).at(0), "squared_l2_norm").at(0);
          // Bodies declare what they make themselves.
          pd::DeclOp decl =
              pd::Declarations().find(norm.operation()->getBlock(), pd::nameOf(norm.output("Out")));
          REQUIRE(decl);
          edit(decl);
        },
        "fluid18/lars_mlp", strategy);
  };
  CHECK_THAT(refuted(edited([](pd::DeclOp decl) {
                       decl.setDtypeAttr(mlir::Builder(decl.getContext()).getI32IntegerAttr(6));
                     }),
                     "declaration")
                 .text,
             Catch::Matchers::Contains("and it is declared float64 [1]"));
  CHECK_THAT(refuted(edited([](pd::DeclOp decl) { decl.erase(); }), "declaration").text,
             Catch::Matchers::Contains("which its program does not declare"));
}

}  // namespace dtranspile::verify::test
