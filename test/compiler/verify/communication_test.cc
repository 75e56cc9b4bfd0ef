// Rung 3 on the texts of two classes of ranks, of which one was changed.
#include "compiler/verify/communication/communication.h"

#include <catch2/catch.hpp>

#include "compiler/specialize/specialize.h"
#include "test/compiler/verify/jobs.h"

namespace dtranspile::verify::test {
namespace {

using Catch::Matchers::Contains;

// fluid18/mnist_mlp on 4 ranks as two classes, rank 0 and the others; `edit` changes the text of
// the second.
Rung runEdited(const Strategy& strategy, const std::function<void(mlir::ModuleOp)>& edit) {
  Jobs jobs;
  auto job = jobs.make("fluid18/mnist_mlp", strategy);
  dist::RoleOp role = *job->getOps<dist::RoleOp>().begin();
  mlir::FailureOr<std::vector<RankClass>> classes = classesOf(role);
  REQUIRE(mlir::succeeded(classes));
  REQUIRE(classes->size() == 1);
  auto zero = specialize(role, classes->front()), others = specialize(role, classes->front());
  REQUIRE(mlir::succeeded(zero));
  REQUIRE(mlir::succeeded(others));
  edit(**others);
  mlir::MLIRContext* context = jobs.context();
  auto dp = mlir::StringAttr::get(context, "dp");
  ClassText texts[] = {
      classTextOf(**zero, dist::SelAttr::point(context, "dp", 0)),
      classTextOf(**others, dist::SelAttr::of(context, {dist::AxisSetAttr::of(dp, {{1, 4}})}))};
  texts[0].name = "trainer[dp=0]";
  texts[1].name = "trainer[dp=1..3]";
  Rung rung = verifyCommunication(texts);
  VerifyReport report;
  report.rungs.push_back(rung);
  UNSCOPED_INFO(messagesOf(report));
  return rung;
}

std::vector<dist::AllReduceOp> reductions(mlir::ModuleOp text) {
  for (auto program : text.getOps<pd::ProgramOp>())
    if (program.getSymName() == "main") return opsOf<dist::AllReduceOp>(program);
  return {};
}

// Moves a reduction in front of the one before it; its operand comes earlier in these programs, or
// is moved along.
void swapWithNext(mlir::ModuleOp text, size_t index) {
  std::vector<dist::AllReduceOp> ops = reductions(text);
  ops[index]->moveAfter(ops[index + 1]);
}

const Message& only(const Rung& rung, const std::string& rule) {
  REQUIRE(rung.verdict == Verdict::Refuted);
  REQUIRE(rung.messages.size() == 1);
  CHECK(rung.messages[0].rule == rule);
  CHECK_FALSE(rung.messages[0].remedy.empty());
  return rung.messages[0];
}

}  // namespace

TEST_CASE("equal texts match") {
  Rung rung = runEdited(unfused(4), [](mlir::ModuleOp) {});
  CHECK(rung.verdict == Verdict::Holds);
  CHECK(rung.messages.empty());
}

TEST_CASE("one class reduces in another order: other values meet") {
  Rung rung = runEdited(unfused(4), [](mlir::ModuleOp text) { swapWithNext(text, 0); });
  const Message& message = only(rung, "match");
  CHECK(message.rankClass == "trainer[dp=1..3]");
  CHECK_THAT(message.text, Contains("operation 0 on @grad0"));
  CHECK(message.notes.size() == 2);
}

TEST_CASE("one class reduces in another order on two communicators: a cycle") {
  Strategy strategy = unfused(4);
  strategy.nccl_comm_num = 2;
  Rung rung = runEdited(strategy, [](mlir::ModuleOp text) { swapWithNext(text, 0); });
  const Message& message = only(rung, "deadlock");
  REQUIRE(message.notes.size() == 2);
  CHECK_THAT(message.notes[0], Contains("trainer[dp=0] waits") && Contains("@grad0") &&
                                   Contains("for trainer[dp=1..3]"));
  CHECK_THAT(message.notes[1], Contains("trainer[dp=1..3] waits") && Contains("@grad1") &&
                                   Contains("for trainer[dp=0]"));
}

TEST_CASE(
    "one class starts operations of two communicators in another order: nobody waits, but devices "
    "may (D28)") {
  const std::string head = R"mlir(module {
dist.mesh @world [dp = 4]
dist.comm @a on @world over [dp] group
dist.comm @b on @world over [dp] group
pd.program @main attributes {version = 2006002 : i64} {
  %x = pd.input "x" : tensor<4xf32>
)mlir";
  const std::string a =
      "  %p = dist.all_reduce sum (%x) on @a : (tensor<4xf32>) -> !dist.pending<tensor<4xf32>>\n";
  const std::string b =
      "  %q = dist.all_reduce sum (%x) on @b : (tensor<4xf32>) -> !dist.pending<tensor<4xf32>>\n";
  const std::string tail = R"mlir(
  %u = dist.wait %p : (!dist.pending<tensor<4xf32>>) -> tensor<4xf32>
  %v = dist.wait %q : (!dist.pending<tensor<4xf32>>) -> tensor<4xf32>
}})mlir";
  Jobs jobs;
  auto zero = jobs.parse(head + a + b + tail), same = jobs.parse(head + a + b + tail),
       others = jobs.parse(head + b + a + tail);
  auto dp = mlir::StringAttr::get(jobs.context(), "dp");
  ClassText first = classTextOf(*zero, dist::SelAttr::point(jobs.context(), "dp", 0));
  auto rest = dist::SelAttr::of(jobs.context(), {dist::AxisSetAttr::of(dp, {{1, 4}})});
  CHECK(verifyCommunication({first, classTextOf(*same, rest)}).verdict == Verdict::Holds);
  CHECK_THAT(only(verifyCommunication({first, classTextOf(*others, rest)}), "D28").text,
             Contains("@a and @b in different orders"));
}

TEST_CASE("one class leaves a reduction out") {
  Rung rung = runEdited(unfused(4), [](mlir::ModuleOp text) {
    dist::AllReduceOp last = reductions(text).back();
    last.getResult(0).replaceAllUsesWith(last.getInputs()[0]);
    last.erase();
  });
  const Message& message = only(rung, "unmatched");
  CHECK(message.rankClass == "trainer[dp=0]");
  CHECK_THAT(message.notes.back(), Contains("trainer[dp=1..3] has ended"));
}

TEST_CASE("one class broadcasts from another root") {
  Rung rung = runEdited(unfused(4), [](mlir::ModuleOp text) {
    opsOf<dist::BroadcastOp>(text)[0].setRootAttr(dist::SelAttr::point(text.getContext(), "dp", 1));
  });
  CHECK_THAT(only(rung, "match").text,
             Contains("broadcast from <dp = 0>") && Contains("broadcast from <dp = 1>"));
}

TEST_CASE("one class combines with another operation") {
  Rung rung = runEdited(
      unfused(4), [](mlir::ModuleOp text) { reductions(text)[2].setReduce(dist::Reduce::Max); });
  CHECK_THAT(only(rung, "match").text, Contains("all_reduce sum") && Contains("all_reduce max"));
}

TEST_CASE("one class creates its communicators in another order") {
  Strategy strategy = unfused(4);
  strategy.nccl_comm_num = 2;
  Rung rung = runEdited(strategy, [](mlir::ModuleOp text) {
    auto comms = llvm::to_vector(text.getOps<dist::CommOp>());
    REQUIRE(comms.size() == 2);
    comms[0]->moveAfter(comms[1]);
  });
  REQUIRE(rung.verdict == Verdict::Refuted);
  CHECK(rung.messages[0].rule == "D3");
}

}  // namespace dtranspile::verify::test
