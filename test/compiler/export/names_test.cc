// resolveNames: passes move uses of values without regard to names; the exported program must still
// read what they meant.
#include <catch2/catch.hpp>

#include "compiler/export/program.h"
#include "dialects/pd/op_view.h"
#include "test/compiler/import/programs.h"

namespace dtranspile {
namespace {

using test::ProgramBuilder;

// x -> relu -> y; scale writes y again; z = abs(y). The first y and the second are two values of
// one cell.
ProgramBuilder twoVersions() {
  ProgramBuilder program;
  for (const char* name : {"x", "y", "z"}) program.var(0, name, {4});
  program.op(0, "relu", {{"X", {"x"}}}, {{"Out", {"y"}}});
  program.op(0, "scale", {{"X", {"y"}}}, {{"Out", {"y"}}});
  program.op(0, "abs", {{"X", {"y"}}}, {{"Out", {"z"}}});
  return program;
}

mlir::Operation* find(pd::ProgramOp program, llvm::StringRef type, int skip = 0) {
  for (mlir::Operation& op : *program.getBodyBlock())
    if (pd::OpView::isFrameworkOp(&op) && pd::OpView(&op).type() == type && skip-- == 0) return &op;
  return nullptr;
}

// The ops of block 0, one a line: `type in,in -> out,out`.
std::string listing(pd::ProgramOp program) {
  REQUIRE(mlir::succeeded(resolveNames(program)));
  framework::ProgramDesc desc;
  REQUIRE(mlir::succeeded(exportProgram(program, desc)));
  std::string out;
  for (const auto& op : desc.blocks(0).ops()) {
    out += op.type();
    for (const auto& slot : op.inputs())
      for (const auto& name : slot.arguments()) out += " " + name;
    out += " ->";
    for (const auto& slot : op.outputs())
      for (const auto& name : slot.arguments()) out += " " + name;
    out += "\n";
  }
  return out;
}

bool declares(pd::ProgramOp program, llvm::StringRef name) {
  return static_cast<bool>(program.lookupDecl(name));
}

}  // namespace

TEST_CASE("an imported program keeps its names") {
  test::Context context;
  test::Result result(context, twoVersions().bytes());
  CHECK(listing(result.program()) == "relu x -> y\nscale y -> y\nabs y -> z\n");
  CHECK_FALSE(declares(result.program(), "y@v1"));
}

TEST_CASE("a value read after a later write of its cell gets a cell of its own") {
  test::Context context;
  test::Result result(context, twoVersions().bytes());
  pd::ProgramOp program = result.program();
  pd::OpView(find(program, "abs")).setInput("X", 0, find(program, "relu")->getResult(0));
  CHECK(listing(program) == "relu x -> y@v1\nscale y@v1 -> y\nabs y@v1 -> z\n");
  CHECK(declares(program, "y@v1"));
  CHECK(listing(program) == "relu x -> y@v1\nscale y@v1 -> y\nabs y@v1 -> z\n");
}

TEST_CASE("a name that is taken is passed over") {
  test::Context context;
  ProgramBuilder builder = twoVersions();
  builder.var(0, "y@v1", {4});
  test::Result result(context, builder.bytes());
  pd::OpView(find(result.program(), "abs"))
      .setInput("X", 0, find(result.program(), "relu")->getResult(0));
  CHECK(listing(result.program()) == "relu x -> y@v2\nscale y@v2 -> y\nabs y@v2 -> z\n");
}

TEST_CASE("a fed value read after a write of its cell is copied first") {
  test::Context context;
  ProgramBuilder builder;
  for (const char* name : {"x", "z"}) builder.var(0, name, {4});
  builder.op(0, "relu", {{"X", {"x"}}}, {{"Out", {"x"}}});
  builder.op(0, "abs", {{"X", {"x"}}}, {{"Out", {"z"}}});
  test::Result result(context, builder.bytes());
  pd::ProgramOp program = result.program();
  pd::OpView abs(find(program, "abs"));
  abs.setInput("X", 0, pd::OpView(find(program, "relu")).input("X"));
  CHECK(listing(program) == "assign x -> x@v1\nrelu x@v1 -> x\nabs x@v1 -> z\n");
}

TEST_CASE("the old value of a persistable, read after its update, is copied before it") {
  test::Context context;
  ProgramBuilder builder;
  builder.var(0, "w", {4}, true);
  builder.var(0, "g", {4});
  builder.var(0, "z", {4});
  builder.op(0, "elementwise_add", {{"X", {"w"}}, {"Y", {"g"}}}, {{"Out", {"w"}}});
  builder.op(0, "abs", {{"X", {"w"}}}, {{"Out", {"z"}}});
  test::Result result(context, builder.bytes());
  pd::ProgramOp program = result.program();
  pd::OpView(find(program, "abs"))
      .setInput("X", 0, pd::OpView(find(program, "elementwise_add")).input("X"));
  CHECK(listing(program) == "assign w -> w@v1\nelementwise_add w@v1 g -> w\nabs w@v1 -> z\n");
  pd::DeclOp copy = program.lookupDecl("w@v1");
  REQUIRE(copy);
  CHECK_FALSE(copy.isPersistable());
}

TEST_CASE("two reads of a persistable without a write between them are one value") {
  test::Context context;
  ProgramBuilder builder;
  builder.var(0, "w", {4}, true);
  builder.var(0, "z", {4});
  builder.op(0, "abs", {{"X", {"w"}}}, {{"Out", {"z"}}});
  test::Result result(context, builder.bytes());
  pd::ProgramOp program = result.program();
  mlir::Operation* abs = find(program, "abs");
  mlir::OpBuilder build(abs);
  auto again = llvm::cast<pd::GetOp>(build.clone(*abs->getOperand(0).getDefiningOp()));
  abs->setOperand(0, again.getValue());
  CHECK(listing(program) == "abs w -> z\n");
}

TEST_CASE("setting a persistable to a value of another name assigns it") {
  test::Context context;
  ProgramBuilder builder = twoVersions();
  builder.var(0, "w", {4}, true);
  builder.op(0, "assign", {{"X", {"z"}}}, {{"Out", {"w"}}});
  test::Result result(context, builder.bytes());
  pd::ProgramOp program = result.program();
  auto set = *program.getBodyBlock()->getOps<pd::SetOp>().begin();
  mlir::Operation* assign = set.getValue().getDefiningOp();
  set.getValueMutable().set(find(program, "abs")->getResult(0));
  assign->erase();
  CHECK(listing(program) == "relu x -> y\nscale y -> y\nabs y -> z\nassign z -> w\n");
}

TEST_CASE("a branch that sets a persistable to a value of another name assigns it there") {
  test::Context context;
  ProgramBuilder builder;
  builder.var(0, "flag", {1}, false, 0);
  builder.var(0, "w", {4}, true);
  int inner = builder.addBlock(0);
  test::OpDesc& branch =
      builder.op(0, "conditional_block", {{"Cond", {"flag"}}}, {{"Out", {}}, {"Scope", {}}});
  test::blockAttr(branch, "sub_block", inner);
  builder.op(inner, "scale", {{"X", {"w"}}}, {{"Out", {"w"}}});
  test::Result result(context, builder.bytes());
  pd::ProgramOp program = result.program();
  program.walk([](mlir::Operation* op) {
    if (pd::OpView::isFrameworkOp(op) && pd::OpView(op).type() == "scale")
      op->setAttr("outs", mlir::Builder(op->getContext())
                              .getArrayAttr({pd::SlotAttr::get(
                                  op->getContext(), mlir::StringAttr::get(op->getContext(), "Out"),
                                  {mlir::StringAttr::get(op->getContext(), "other")})}));
  });
  CHECK(listing(program) == "conditional_block flag ->\n");
  framework::ProgramDesc desc;
  REQUIRE(mlir::succeeded(exportProgram(program, desc)));
  REQUIRE(desc.blocks_size() == 2);
  REQUIRE(desc.blocks(1).ops_size() == 2);
  CHECK(desc.blocks(1).ops(1).type() == "assign");
  CHECK(desc.blocks(1).ops(1).inputs(0).arguments(0) == "other");
  CHECK(desc.blocks(1).ops(1).outputs(0).arguments(0) == "w");
}

TEST_CASE("a persistable set inside a branch is another value after it") {
  test::Context context;
  ProgramBuilder builder;
  builder.var(0, "flag", {1}, false, 0);
  builder.var(0, "w", {4}, true);
  builder.var(0, "before", {4});
  builder.var(0, "after", {4});
  int inner = builder.addBlock(0);
  builder.op(0, "abs", {{"X", {"w"}}}, {{"Out", {"before"}}});
  test::OpDesc& branch =
      builder.op(0, "conditional_block", {{"Cond", {"flag"}}}, {{"Out", {}}, {"Scope", {}}});
  test::blockAttr(branch, "sub_block", inner);
  builder.op(inner, "scale", {{"X", {"w"}}}, {{"Out", {"w"}}});
  builder.op(0, "abs", {{"X", {"w"}}}, {{"Out", {"after"}}});
  test::Result result(context, builder.bytes());
  pd::ProgramOp program = result.program();
  CHECK(listing(program) == "abs w -> before\nconditional_block flag ->\nabs w -> after\n");
}

}  // namespace dtranspile
