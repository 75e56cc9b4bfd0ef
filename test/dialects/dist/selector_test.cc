// The algebra of selectors and meshes: what verifiers and specialisation rely on.
#include <catch2/catch.hpp>

#include "dialects/dist/dist.h"
#include "dialects/dist/lookup.h"
#include "dialects/pd/pd.h"
#include "mlir/AsmParser/AsmParser.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Parser/Parser.h"

namespace dtranspile::dist {
namespace {

class Fixture {
 public:
  Fixture() { context.loadDialect<DistDialect, pd::PdDialect>(); }
  SelAttr sel(llvm::StringRef text) {
    return llvm::cast<SelAttr>(mlir::parseAttribute(("#dist.sel<" + text + ">").str(), &context));
  }
  std::string text(mlir::Attribute attribute) {
    std::string out;
    llvm::raw_string_ostream stream(out);
    attribute.print(stream);
    return out;
  }
  mlir::MLIRContext context;
};

TEST_CASE_METHOD(Fixture, "a selector has one form") {
  CHECK(text(sel("pp in {3, 1, 2}")) == "#dist.sel<pp in {1 to 3}>");
  CHECK(text(sel("pp in {4 to 6, 0, 5 to 9}")) == "#dist.sel<pp in {0, 4 to 9}>");
  CHECK(text(sel("pp in {7 to 7}")) == "#dist.sel<pp = 7>");
  CHECK(sel("pp = 1 and dp = 0") == sel("dp in {0} and pp = 1"));
}

TEST_CASE_METHOD(Fixture, "containment and intersection") {
  CHECK(sel("pp in {0 to 3}").contains(sel("pp = 2 and dp = 1")));
  CHECK_FALSE(sel("pp = 2 and dp = 1").contains(sel("pp = 2")));
  CHECK(sel("pp in {0, 2 to 5}").contains(sel("pp in {2, 4}")));
  CHECK_FALSE(sel("pp in {0, 2 to 5}").contains(sel("pp in {1, 4}")));
  CHECK(sel("").contains(sel("pp = 0")));
  CHECK(sel("pp in {0 to 4}").intersect(sel("pp in {3 to 9} and dp = 0")) ==
        sel("pp in {3, 4} and dp = 0"));
  CHECK_FALSE(sel("pp = 0").intersect(sel("pp = 1")));
}

TEST_CASE_METHOD(Fixture, "ranks of a mesh count the last axis fastest") {
  auto module = mlir::parseSourceString<mlir::ModuleOp>(
      "dist.mesh @w [dp = 2, pp = 3] time [micro = 4]", &context);
  MeshOp mesh = *module->getOps<MeshOp>().begin();
  CHECK(mesh.ranks() == 6);
  CHECK(mesh.coordinatesOf(4) == llvm::SmallVector<int64_t>{1, 1});
  CHECK(mesh.sizeOf("micro") == 4);
  CHECK_FALSE(mesh.indexOf("micro"));
  CHECK_FALSE(mesh.sizeOf("mp"));
}

TEST_CASE_METHOD(Fixture, "the guard of an op is the conjunction around it, complements included") {
  auto module = mlir::parseSourceString<mlir::ModuleOp>(R"(
    dist.mesh @w [dp = 2, pp = 5]
    dist.comm @c on @w over [dp] group
    dist.role @r on @w { pd.program @main {
      dist.on <pp in {1, 2}> { dist.yield } else {
        dist.on <pp in {0, 3}> { dist.barrier on @c dist.yield }
        dist.yield } } })",
                                                        &context);
  REQUIRE(module);
  int seen = 0;
  module->walk([&](BarrierOp barrier) {
    ++seen;
    Guard guard = guardOf(barrier);
    CHECK(guard.where == sel("pp in {0, 3}"));
    CHECK(guard.partly.empty());
    CHECK(guard.within(sel("pp in {0, 3, 4}")));
    CHECK(lookupComm(barrier, barrier.getCommAttr()).getSymName() == "c");
  });
  CHECK(seen == 1);
}

TEST_CASE_METHOD(Fixture, "even layouts pad to equal parts") {
  CHECK(LayoutAttr::even(&context, 13).localExtent(4) == 4);
  CHECK(LayoutAttr::even(&context, 12).localExtent(4) == 3);
  CHECK(LayoutAttr::even(&context, 0).localExtent(4) == 0);
  CHECK_FALSE(LayoutAttr::get(&context, LayoutKind::Blocks, 13, 4, 0).localExtent(4));
}

}  // namespace
}  // namespace dtranspile::dist
