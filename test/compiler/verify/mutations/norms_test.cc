// Planted bugs in updates whose norms are summed over the parts of layers.
#include "dialects/dist/lookup.h"
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
    CHECK(exitCode(report.overall()) == 1);
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

}  // namespace dtranspile::verify::test
