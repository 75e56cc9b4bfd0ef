// What the importer refuses and how it says so: file, block, op, type, variable, and the program's
// own call stack.
#include "compiler/import/import.h"

#include <catch2/catch.hpp>

#include "compiler/export/program.h"
#include "compiler/import/usable.h"
#include "mlir/Bytecode/BytecodeWriter.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"
#include "test/compiler/import/programs.h"

namespace dtranspile {
namespace {

using Catch::Matchers::Contains;
using Catch::Matchers::Equals;
using test::attr;
using test::OpDesc;
using test::ProgramBuilder;

// The one diagnostic of a program that is refused.
std::string refusal(const std::string& bytes, const ImportOptions& options = {}) {
  test::Context context;
  test::Result result(context, bytes, options);
  CHECK_FALSE(result.module);
  return result.diagnostics;
}

std::string refusal(const ProgramBuilder& program) { return refusal(program.bytes()); }

ProgramBuilder relu() {
  ProgramBuilder program;
  program.var(0, "x", {-1, 10});
  program.var(0, "y", {-1, 10});
  program.op(0, "relu", {{"X", {"x"}}}, {{"Out", {"y"}}});
  return program;
}

// The program by way of text and of byte code.
void checkThroughFiles(const ProgramBuilder& program) {
  test::Context context;
  test::Result imported(context, program.bytes());
  INFO(imported.diagnostics);
  REQUIRE(imported.module);
  test::Diagnostics diagnostics(context);
  std::string text = imported.text(), code;
  llvm::raw_string_ostream stream(code);
  REQUIRE(mlir::succeeded(mlir::writeBytecodeToFile(*imported.module, stream)));
  for (const std::string& file : {text, code}) {
    auto module = mlir::parseSourceString<mlir::ModuleOp>(file, mlir::ParserConfig(&context));
    INFO(diagnostics.text << text);
    REQUIRE(module);
    auto bytes = exportProgramBytes(*module->getOps<pd::ProgramOp>().begin());
    REQUIRE(mlir::succeeded(bytes));
    CHECK((*bytes == program.bytes()));
  }
}

}  // namespace

TEST_CASE("what is no ProgramDesc is refused with file and byte") {
  ImportOptions options;
  options.file = "main.pdmodel";
  CHECK_THAT(refusal("not a program", options),
             Contains("\"main.pdmodel\":0:0") && Contains("not a ProgramDesc: byte "));
  CHECK_THAT(refusal(""), Contains("not a legal program: the program has no block"));
}

TEST_CASE("blocks must be numbered, have earlier parents, and be referred to where they are") {
  ProgramBuilder program = relu();
  program.block(0).set_idx(3);
  CHECK_THAT(refusal(program), Contains("block 0 says that its index is 3"));
  program = relu();
  program.block(0).set_parent_idx(0);
  CHECK_THAT(refusal(program), Contains("block 0 has parent 0, but is the root"));
  program = relu();
  program.addBlock(1);
  CHECK_THAT(refusal(program), Contains("block 1 has parent 1, which is no earlier block"));
  program = relu();
  program.addBlock(0, 7);
  CHECK_THAT(refusal(program), Contains("gradient of block 7, which is no earlier block"));
}

TEST_CASE("a block attribute out of range names op, type and call stack") {
  for (int target : {-1, 0, 2, 1 << 30}) {
    ProgramBuilder program = relu();
    program.addBlock(0);
    OpDesc& loop = program.op(0, "while", {{"Condition", {"x"}}}, {});
    test::blockAttr(loop, "sub_block", target);
    test::callstack(loop, "train.py:31");
    ImportOptions options;
    options.file = "main.pdmodel";
    CHECK_THAT(
        refusal(program.bytes(), options),
        Contains("block 0, op 1") && Contains("\"main.pdmodel\":0:1") && Contains("op 'while'") &&
            Contains("refers to block " + std::to_string(target) + " in attribute 'sub_block'") &&
            Contains("note: made here: train.py:31"));
  }
}

TEST_CASE("blocks that contain themselves or each other are refused") {
  ProgramBuilder own = relu();
  own.addBlock(0);
  test::blockAttr(own.op(1, "while", {}, {}), "sub_block", 1);
  CHECK_THAT(refusal(own), Contains("refers to the block that it stands in"));
  ProgramBuilder pair = relu();
  pair.addBlock(0);
  pair.addBlock(0);
  test::blockAttr(pair.op(1, "while", {}, {}), "sub_block", 2);
  test::blockAttr(pair.op(2, "while", {}, {}), "sub_block", 1);
  CHECK_THAT(refusal(pair), Contains("block 1 is contained in itself"));
}

TEST_CASE("nesting has a limit: of parents, of owners, of gradients of gradients") {
  ProgramBuilder parents = relu();
  for (int k = 0; k < 200; ++k) parents.addBlock(k);
  CHECK_THAT(refusal(parents), Contains("has more than 64 blocks around it"));
  ProgramBuilder owners = relu();
  for (int k = 0; k < 200; ++k) {
    owners.addBlock(0);
    test::blockAttr(owners.op(k, "while", {}, {}), "sub_block", k + 1);
  }
  CHECK_THAT(refusal(owners), Contains("ops with blocks around it"));
  ProgramBuilder gradients = relu();
  for (int k = 0; k < 400; ++k) gradients.addBlock(0, k);
  test::blockAttr(gradients.op(0, "while", {}, {}), "sub_block", 400);
  CHECK_THAT(refusal(gradients), Contains("too long a chain of gradients"));
}

TEST_CASE("what blocks exchange has a budget") {
  ProgramBuilder program = relu();
  OpDesc& inner = program.op(0, "while", {{"X", {}}}, {{"Out", {}}});
  test::blockAttr(inner, "sub_block", program.addBlock(0));
  test::OpDesc& use = program.op(1, "sum", {{"X", {}}}, {{"Out", {"y"}}});
  for (int i = 0; i < 100; ++i) {
    program.var(0, "v" + std::to_string(i), {1});
    use.mutable_inputs(0)->add_arguments("v" + std::to_string(i));
  }
  ImportOptions options;
  options.budget.maxInterfaceNames = 50;
  CHECK_THAT(refusal(program.bytes(), options), Contains("exchange more than 50 names"));
}

TEST_CASE("a loop of many blocks pays for what each of them might copy") {
  ProgramBuilder program = relu();
  OpDesc& loop = program.op(0, "while", {{"X", {}}}, {{"Out", {}}});
  for (int i = 0; i < 100; ++i) {
    program.var(0, "v" + std::to_string(i), {1});
    loop.mutable_inputs(0)->add_arguments("v" + std::to_string(i));
  }
  OpDesc::Attr& blocks = attr(loop, "blocks", 10);
  for (int i = 0; i < 100; ++i) blocks.add_blocks_idx(program.addBlock(0));
  ImportOptions options;
  options.budget.maxInterfaceNames = 5000;
  CHECK_THAT(refusal(program.bytes(), options), Contains("exchange more than 5000 names"));
}

TEST_CASE("slots and attributes are keys") {
  ProgramBuilder program = relu();
  program.op(0, "sum", {{"X", {"x"}}, {"X", {"y"}}}, {{"Out", {"y"}}});
  CHECK_THAT(refusal(program),
             Contains("block 0, op 1") && Contains("op 'sum' has input slot 'X' twice"));
  program = relu();
  program.op(0, "relu", {{"X", {"x"}}}, {{"Out", {"y"}}, {"Out", {"x"}}});
  CHECK_THAT(refusal(program), Contains("op 'relu' has output slot 'Out' twice"));
  program = relu();
  program.op(0, "relu", {{"$X", {"x"}}}, {{"Out", {"y"}}});
  CHECK_THAT(refusal(program),
             Contains("has input slot '$X'; names of slots do not begin with '$'"));
  program = relu();
  ProgramBuilder::Slots many;
  for (int i = 0; i < 20; ++i) many.push_back({"S" + std::to_string(i % 19), {}});
  program.op(0, "custom", many, {});
  CHECK_THAT(refusal(program), Contains("op 'custom' has input slot 'S0' twice"));
  program = relu();
  OpDesc& twice = program.op(0, "relu", {{"X", {"x"}}}, {{"Out", {"y"}}});
  attr(twice, "axis", 0).set_i(1);
  attr(twice, "axis", 0).set_i(2);
  CHECK_THAT(refusal(program),
             Contains("op 'relu' has attribute 'axis' twice, with different values"));
}

TEST_CASE("an attribute must carry a value of its type") {
  struct {
    int type;
    const char* name;
  } rows[] = {{0, "INT"},  {1, "FLOAT"}, {2, "STRING"},   {6, "BOOLEAN"}, {8, "BLOCK"},
              {9, "LONG"}, {13, "VAR"},  {15, "FLOAT64"}, {16, "SCALAR"}};
  for (auto& row : rows) {
    ProgramBuilder program = relu();
    attr(*program.block(0).mutable_ops(0), "axis", row.type);
    CHECK_THAT(refusal(program),
               Contains("op 'relu' has attribute 'axis' that is declared as " +
                        std::string(row.name) + ", but carries no value of that type"));
  }
  // Scalars whose type nobody knows: field 1 of the message with number 9.
  for (int type : {16, 17}) {
    ProgramBuilder program = relu();
    OpDesc::Attr& number = attr(*program.block(0).mutable_ops(0), "axis", type);
    framework::Scalar& scalar = type == 16 ? *number.mutable_scalar() : *number.add_scalars();
    scalar.mutable_unknown_fields()->AddVarint(1, 9);
    CHECK_THAT(refusal(program),
               Contains("is declared as SCALAR") && Contains("but carries no value of that type"));
  }
  for (int code : {-1, 18, 1000}) {
    ProgramBuilder program = relu();
    attr(*program.block(0).mutable_ops(0), "axis", code);
    CHECK_THAT(refusal(program), Contains("has type code " + std::to_string(code)));
  }
}

TEST_CASE("a persistable that cannot be a symbol of the module is refused") {
  ProgramBuilder program = relu();
  program.var(0, "", {1}, true);
  CHECK_THAT(refusal(program), Contains("a persistable variable cannot be called ''"));
  program = relu();
  program.var(0, "main", {1}, true);
  CHECK_THAT(refusal(program), Contains("a persistable variable cannot be called 'main'"));
}

TEST_CASE("two programs of one name do not fit into one module") {
  test::Context context;
  test::Result first(context, relu().bytes());
  test::Diagnostics diagnostics(context);
  CHECK(mlir::failed(importProgram(*first.module, relu().bytes(), {})));
  CHECK_THAT(diagnostics.text, Contains("there is a 'main' in the module already"));
}

TEST_CASE("a program and its start-up program share variables") {
  test::Context context;
  ProgramBuilder main = relu(), startup;
  main.var(0, "w", {10, 10}, true);
  main.op(0, "mul", {{"X", {"x"}}, {"Y", {"w"}}}, {{"Out", {"y"}}});
  startup.var(0, "w", {10, 10}, true);
  startup.op(0, "fill_constant", {}, {{"Out", {"w"}}});
  test::Result module(context, main.bytes());
  ImportOptions options;
  options.symbol = "startup";
  REQUIRE(mlir::succeeded(importProgram(*module.module, startup.bytes(), options)));
  CHECK(std::distance(module.module->getOps<pd::VarOp>().begin(),
                      module.module->getOps<pd::VarOp>().end()) == 1);
}

TEST_CASE("persistables that coalesce_tensor makes parts of another one are listed there") {
  auto program = [](const std::vector<int64_t>& whole) {
    ProgramBuilder startup;
    startup.var(0, "a", {2, 3}, true);
    startup.var(0, "b", {4}, true);
    startup.var(0, "whole", whole, true);
    for (const char* name : {"a", "b"}) startup.op(0, "fill_constant", {}, {{"Out", {name}}});
    attr(startup.op(0, "coalesce_tensor", {{"Input", {"a", "b"}}},
                    {{"Output", {"a", "b"}}, {"FusedOutput", {"whole"}}}),
         "dtype", 0)
        .set_i(5);
    return startup;
  };
  test::Context context;
  test::Result result(context, program({10}).bytes());
  INFO(result.diagnostics);
  REQUIRE(result.module);
  CHECK_THAT(result.text(), Contains("pd.var @whole : tensor<10xf32> {pd.parts = [@a, @b]}"));
  CHECK(mlir::succeeded(mlir::verify(*result.module)));
  checkThroughFiles(program({10}));
  // Parts that do not fit are no parts.
  test::Result small(context, program({9}).bytes());
  REQUIRE(small.module);
  CHECK_THAT(small.text(), !Contains("pd.parts"));
}

TEST_CASE("an op without a row is kept as pd.opaque") {
  ProgramBuilder program = relu();
  OpDesc& custom = program.op(0, "py_func_of_mine", {{"X", {"y", "@EMPTY@"}}}, {{"Out", {"y"}}});
  attr(custom, "handle", 0).set_i(7);
  test::Context context;
  test::Result result(context, program.bytes());
  CHECK_THAT(
      result.text(),
      Contains("pd.opaque \"py_func_of_mine\" X(%1, empty) -> Out(\"y\") {handle = 7 : i32}"));
  checkThroughFiles(program);
}

TEST_CASE("an op that does not fit its row is named with its position and call stack") {
  ProgramBuilder program = relu();
  OpDesc& bad = program.op(0, "relu", {}, {{"Out", {"y"}}});
  test::callstack(bad, "train.py:12, in net");
  test::Context context;
  test::Result result(context, program.bytes());
  REQUIRE(result.module);
  test::Diagnostics diagnostics(context);
  CHECK(mlir::failed(mlir::verify(*result.module)));
  CHECK_THAT(diagnostics.text,
             Contains("block 0, op 1") &&
                 Contains("'pd.relu' op [P6] needs an argument in input slot 'X'") &&
                 Contains("note: made here: train.py:12, in net"));
}

TEST_CASE("who acts on a program wants its names declared") {
  auto judged = [](const ProgramBuilder& program) {
    test::Context context;
    test::Result result(context, program.bytes());
    REQUIRE(result.module);
    test::Diagnostics diagnostics(context);
    const bool good = mlir::succeeded(checkUsable(*result.module));
    return std::make_pair(good, diagnostics.text);
  };
  CHECK(judged(relu()) == std::make_pair(true, std::string()));
  ProgramBuilder reads = relu();
  reads.op(0, "mul", {{"X", {"y"}}, {"Y", {"nowhere"}}}, {{"Out", {"y"}}});
  auto [good, text] = judged(reads);
  CHECK_FALSE(good);
  CHECK_THAT(
      text,
      Contains("block 0, op 1") &&
          Contains(
              "mul: reads 'nowhere' as Y, which no block declares and no op before it writes"));
  // Where the slot may be empty, a name of nothing is a null pointer to the framework.
  ProgramBuilder optional = relu();
  optional.op(0, "reshape2", {{"X", {"x"}}, {"Shape", {"nowhere"}}},
              {{"Out", {"y"}}, {"XShape", {"@EMPTY@"}}});
  CHECK(judged(optional).first);
  // Written and then read: it works, and is said.
  ProgramBuilder writes = relu();
  writes.op(0, "relu", {{"X", {"x"}}}, {{"Out", {"made"}}});
  writes.op(0, "relu", {{"X", {"made"}}}, {{"Out", {"y"}}});
  auto [works, said] = judged(writes);
  CHECK(works);
  CHECK_THAT(said, Contains("relu: writes 'made', which no block declares"));
}

TEST_CASE("every type of attribute survives text and byte code") {
  ProgramBuilder program = relu();
  program.addBlock(0);
  program.addBlock(0);
  OpDesc& op = program.op(0, "custom", {}, {});
  attr(op, "a_int", 0).set_i(-3);
  attr(op, "b_float", 1).set_f(0.1f);
  attr(op, "c_string", 2).set_s(std::string("text \"\\\xff\0\n", 10));
  for (int value : {1, -2})
    op.mutable_attrs()->size() == 3 ? attr(op, "d_ints", 3).add_ints(value)
                                    : op.mutable_attrs(3)->add_ints(value);
  attr(op, "e_floats", 4).add_floats(1e-45f);
  attr(op, "f_strings", 5).add_strings("");
  attr(op, "g_boolean", 6).set_b(true);
  OpDesc::Attr& booleans = attr(op, "h_booleans", 7);
  booleans.add_bools(false);
  booleans.add_bools(true);
  attr(op, "i_block", 8).set_block_idx(1);
  attr(op, "j_long", 9).set_l(std::numeric_limits<int64_t>::min());
  attr(op, "k_blocks", 10).add_blocks_idx(2);
  attr(op, "l_longs", 11).add_longs(int64_t{1} << 40);
  attr(op, "m_float64s", 12).add_float64s(-0.0);
  attr(op, "n_var", 13).set_var_name("x");
  attr(op, "o_vars", 14).add_vars_name("y");
  attr(op, "p_float64", 15).set_float64(std::numeric_limits<double>::infinity());
  framework::Scalar& scalar = *attr(op, "q_scalar", 16).mutable_scalar();
  scalar.set_type(framework::Scalar::COMPLEX128);
  scalar.mutable_c()->set_r(1.5);
  scalar.mutable_c()->set_i(-2);
  OpDesc::Attr& scalars = attr(op, "r_scalars", 17);
  framework::Scalar* each = scalars.add_scalars();
  each->set_type(framework::Scalar::BOOLEAN);
  each->set_b(false);
  each = scalars.add_scalars();
  each->set_type(framework::Scalar::LONG);
  each->set_i(7);
  each = scalars.add_scalars();
  each->set_type(framework::Scalar::FLOAT64);
  each->set_r(0.25);
  for (int type : {3, 4, 5, 7, 10, 11, 12, 14, 17})
    attr(op, "s_empty" + std::to_string(10 + type), type);
  checkThroughFiles(program);
}

TEST_CASE("floats that are no numbers survive") {
  ProgramBuilder program = relu();
  OpDesc& op = program.op(0, "custom", {}, {});
  attr(op, "a", 1).set_f(std::numeric_limits<float>::quiet_NaN());
  attr(op, "b", 1).set_f(-std::numeric_limits<float>::infinity());
  attr(op, "c", 15).set_float64(std::numeric_limits<double>::quiet_NaN());
  attr(op, "d", 12).add_float64s(std::numeric_limits<double>::infinity());
  checkThroughFiles(program);
}

TEST_CASE("attributes keep the order of the file, repeated ones too") {
  ProgramBuilder program = relu();
  OpDesc& op = program.op(0, "custom", {}, {});
  attr(op, "z", 0).set_i(1);
  attr(op, "a", 0).set_i(2);
  attr(op, "z", 0).set_i(1);
  checkThroughFiles(program);
}

TEST_CASE("declarations of every kind survive") {
  ProgramBuilder program = relu();
  for (int kind : {9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 25, 26, 27, 28, 30, 31, 40, -2})
    program.var(0, "v" + std::to_string(kind), {2, -1}, false, 5, kind);
  framework::VarDesc& reader = program.var(0, "reader", {}, false, 5, 15);
  reader.mutable_type()->mutable_reader()->add_lod_tensor()->mutable_tensor()->set_data_type(3);
  program.var(0, "rows", {}, false, 5, 8).mutable_type()->mutable_selected_rows()->set_data_type(5);
  framework::VarDesc& flags = program.var(0, "flags", {0, 5});
  flags.set_need_check_feed(false);
  flags.set_is_parameter(false);
  flags.set_stop_gradient(true);
  flags.mutable_type()->mutable_lod_tensor()->set_lod_level(2);
  framework::VarDesc& attributes = program.var(0, "attributes", {1}, true);
  auto* attribute = attributes.add_attrs();
  attribute->set_name("trainable");
  attribute->set_type(0);
  attribute->set_i(1);
  program.var(0, "unknown_dtype", {1}, false, 99);
  program.var(0, "negative", {-7, 3});
  program.var(0, "x", {4});  // declared twice
  checkThroughFiles(program);
}

// A variable has one declaration, that of its last writer: `reshape(..., inplace=True)`.
TEST_CASE("a variable that is written twice has the extents that each op computes") {
  ProgramBuilder program;
  program.var(0, "x", {-1, 2, 6});
  program.var(0, "y", {-1, 6, 2});
  program.var(0, "s", {0, -1, 2, 6});
  OpDesc& turned = program.op(0, "transpose2", {{"X", {"x"}}}, {{"Out", {"y"}}, {"XShape", {"s"}}});
  OpDesc::Attr& axes = attr(turned, "axis", 3);
  for (int axis : {1, 0, 2}) axes.add_ints(axis);
  OpDesc& back = program.op(0, "transpose2", {{"X", {"y"}}}, {{"Out", {"y"}}, {"XShape", {"s"}}});
  OpDesc::Attr& again = attr(back, "axis", 3);
  for (int axis : {1, 2, 0}) again.add_ints(axis);
  checkThroughFiles(program);
  test::Context context;
  test::Result imported(context, program.bytes());
  REQUIRE(imported.module);
  CHECK_THAT(imported.text(), Contains("(tensor<?x2x6xf32>) -> (tensor<2x?x6xf32>"));
  CHECK_THAT(imported.text(), Contains("(tensor<2x?x6xf32>) -> (tensor<?x6x2xf32>"));
}

// The framework declares the batch of a product of batches 1 and -1 as 1, and so what follows.
TEST_CASE("the batch of a product that is declared as 1 is not known to be 1") {
  ProgramBuilder program;
  program.var(0, "w", {1, 3, 4});
  program.var(0, "u", {-1, 4, 5});
  for (const char* name : {"p", "r"}) program.var(0, name, {1, 3, 5});
  program.var(0, "q", {1, 3, 3});
  program.op(0, "matmul_v2", {{"X", {"w"}}, {"Y", {"u"}}}, {{"Out", {"p"}}});
  program.op(0, "relu", {{"X", {"p"}}}, {{"Out", {"r"}}});
  attr(program.op(0, "matmul_v2", {{"X", {"w"}}, {"Y", {"w"}}}, {{"Out", {"q"}}}), "trans_y", 6)
      .set_b(true);
  checkThroughFiles(program);
  test::Context context;
  test::Result imported(context, program.bytes());
  REQUIRE(imported.module);
  CHECK_THAT(imported.text(), Contains("-> tensor<?x3x5xf32>") &&
                                  Contains("(tensor<?x3x5xf32>) -> tensor<?x3x5xf32>") &&
                                  Contains("-> tensor<1x3x3xf32>"));
}

// The framework leaves what it infers nothing of without dims, as it does the loss of 2.5 and
// later.
TEST_CASE("a result that the framework declares no dims of has those that its op gives") {
  ProgramBuilder program;
  program.desc().mutable_version()->set_version(2006002);
  program.var(0, "u", {-1, 3, 4});
  program.var(0, "w", {4, 5});
  program.var(0, "p", {-1, 3, 5});
  for (const char* name : {"kept_u", "kept_w", "loss"}) program.var(0, name, {});
  program.var(0, "shape_u", {-1, 3, 4});
  program.var(0, "shape_w", {4, 5});
  OpDesc& product = program.op(
      0, "einsum", {{"Operands", {"u", "w"}}},
      {{"InnerCache", {"kept_u", "kept_w"}}, {"Out", {"p"}}, {"XShape", {"shape_u", "shape_w"}}});
  attr(product, "equation", 2).set_s("bij,jk->bik");
  program.op(0, "mean", {{"X", {"p"}}}, {{"Out", {"loss"}}});
  checkThroughFiles(program);
  test::Context context;
  test::Result imported(context, program.bytes());
  REQUIRE(imported.module);
  CHECK_THAT(imported.text(), Contains("-> (tensor<?x3x4xf32>, tensor<4x5xf32>, tensor<?x3x5xf32>, "
                                       "tensor<?x3x4xf32>, tensor<4x5xf32>)") &&
                                  Contains("-> tensor<f32>"));
}

}  // namespace dtranspile
