// Programs that say too much, too little, or two things at once: what would be lost is refused or
// kept, what would take memory is refused before it takes it.
#include <catch2/catch.hpp>

#include "compiler/export/program.h"
#include "compiler/import/usable.h"
#include "compiler/import/wire.h"
#include "dialects/pd/op_view.h"
#include "mlir/IR/Verifier.h"
#include "test/compiler/import/programs.h"

namespace dtranspile {
namespace {

using Catch::Matchers::Contains;
using test::OpDesc;
using test::ProgramBuilder;

ProgramBuilder relu() {
  ProgramBuilder program;
  program.var(0, "x", {4});
  program.var(0, "y", {4});
  program.op(0, "relu", {{"X", {"x"}}}, {{"Out", {"y"}}});
  return program;
}

std::string refusal(const std::string& bytes) {
  test::Context context;
  test::Result result(context, bytes);
  CHECK_FALSE(result.module);
  return result.diagnostics;
}

// Whether somebody may act on the program, and what was said.
std::pair<bool, std::string> judged(const ProgramBuilder& program) {
  test::Context context;
  test::Result result(context, program.bytes());
  REQUIRE(result.module);
  test::Diagnostics diagnostics(context);
  const bool good =
      mlir::succeeded(mlir::verify(*result.module)) && mlir::succeeded(checkUsable(*result.module));
  return {good, diagnostics.text};
}

bool survives(const std::string& bytes) {
  test::Context context;
  test::Result result(context, bytes);
  if (!result.module) return false;
  auto out = exportProgramBytes(result.program());
  return mlir::succeeded(out) && *out == bytes;
}

}  // namespace

TEST_CASE("a value beside the one that an attribute's type speaks of is refused") {
  using Give = void (*)(OpDesc::Attr&);
  const std::pair<const char*, Give> kFields[] = {
      {"i", [](OpDesc::Attr& a) { a.set_i(1); }},
      {"f", [](OpDesc::Attr& a) { a.set_f(1); }},
      {"s", [](OpDesc::Attr& a) { a.set_s("1"); }},
      {"ints", [](OpDesc::Attr& a) { a.add_ints(1); }},
      {"floats", [](OpDesc::Attr& a) { a.add_floats(1); }},
      {"strings", [](OpDesc::Attr& a) { a.add_strings("1"); }},
      {"b", [](OpDesc::Attr& a) { a.set_b(true); }},
      {"bools", [](OpDesc::Attr& a) { a.add_bools(true); }},
      {"block_idx", [](OpDesc::Attr& a) { a.set_block_idx(1); }},
      {"l", [](OpDesc::Attr& a) { a.set_l(1); }},
      {"blocks_idx", [](OpDesc::Attr& a) { a.add_blocks_idx(1); }},
      {"longs", [](OpDesc::Attr& a) { a.add_longs(1); }},
      {"float64s", [](OpDesc::Attr& a) { a.add_float64s(1); }},
      {"var_name", [](OpDesc::Attr& a) { a.set_var_name("x"); }},
      {"vars_name", [](OpDesc::Attr& a) { a.add_vars_name("x"); }},
      {"float64", [](OpDesc::Attr& a) { a.set_float64(1); }},
  };
  // Types INT to FLOAT64 have these fields in this order.
  const int count = static_cast<int>(std::size(kFields));
  for (int type = 0; type < count; ++type) {
    if (type == 8 || type == 10) continue;  // blocks: another test
    for (int other = 0; other < count; ++other) {
      ProgramBuilder program = relu();
      OpDesc::Attr& attribute = test::attr(*program.block(0).mutable_ops(0), "a", type);
      kFields[type].second(attribute);
      kFields[other].second(attribute);
      INFO("type " << type << " with " << kFields[other].first);
      if (type == other) {
        CHECK(survives(program.bytes()));
        continue;
      }
      CHECK_THAT(refusal(program.bytes()),
                 Contains("block 0, op 0") && Contains("has attribute 'a'") &&
                     Contains(std::string("carries a value in field '") + kFields[other].first));
    }
  }
}

TEST_CASE("a value beside the one that a scalar's type speaks of is refused") {
  ProgramBuilder program = relu();
  OpDesc::Attr& attribute = test::attr(*program.block(0).mutable_ops(0), "a", 17);
  framework::Scalar& scalar = *attribute.add_scalars();
  scalar.set_type(framework::Scalar::LONG);
  scalar.set_i(7);
  CHECK(survives(program.bytes()));
  scalar.set_r(7.5);
  CHECK_THAT(refusal(program.bytes()), Contains("carries a value in field 'r'"));
}

TEST_CASE("fields of no known format within slots and attributes are said to be lost") {
  for (int which = 0; which < 2; ++which) {
    ProgramBuilder program = relu();
    OpDesc& op = *program.block(0).mutable_ops(0);
    google::protobuf::Message& message =
        which ? static_cast<google::protobuf::Message&>(*op.mutable_inputs(0))
              : static_cast<google::protobuf::Message&>(test::attr(op, "op_role", 0));
    if (!which) op.mutable_attrs(0)->set_i(0);
    message.GetReflection()->MutableUnknownFields(&message)->AddVarint(900, 1);
    test::Context context;
    test::Result result(context, program.bytes());
    CHECK(result.module);
    CHECK_THAT(result.diagnostics, Contains("has 1 fields within slots"));
  }
}

TEST_CASE("versions that no release has written are refused by who acts on a program") {
  ProgramBuilder program = relu();
  program.desc().mutable_version()->set_version(3003001);
  CHECK(judged(program).first);
  for (int64_t version : {int64_t{4000000}, int64_t{9000000000}, int64_t{-1}}) {
    program.desc().mutable_version()->set_version(version);
    CHECK(survives(program.bytes()));
    auto [good, text] = judged(program);
    CHECK_FALSE(good);
    CHECK_THAT(text, Contains("of version " + std::to_string(version)) &&
                         Contains("known are 0 to 3999999"));
  }
  program.desc().mutable_version()->set_version(2006002);
  auto* pair = program.desc().mutable_op_version_map()->add_pair();
  pair->set_op_name("relu");
  pair->mutable_op_version()->set_version(5);
  CHECK(judged(program).first);
  pair->mutable_op_version()->set_version(1 << 20);
  auto [good, text] = judged(program);
  CHECK_FALSE(good);
  CHECK_THAT(text, Contains("op 'relu' of version 1048576"));
}

TEST_CASE(
    "a variable declared twice in a block is kept, and acted upon only if both say the same") {
  ProgramBuilder program = relu();
  program.var(0, "x", {4});
  CHECK(survives(program.bytes()));
  CHECK(judged(program).first);
  for (int which = 0; which < 3; ++which) {
    ProgramBuilder other = relu();
    framework::VarDesc& again =
        other.var(0, "x", {which == 0 ? 5 : 4}, /*persistable=*/false, which == 1 ? 6 : 5);
    if (which == 2) again.set_stop_gradient(true);
    CHECK(survives(other.bytes()));
    auto [good, text] = judged(other);
    CHECK_FALSE(good);
    CHECK_THAT(text, Contains("variable 'x' is declared twice in one block"));
  }
  // A block within may have a variable of that name.
  ProgramBuilder inner = relu();
  inner.addBlock(0);
  inner.var(1, "x", {7});
  CHECK(judged(inner).first);
}

TEST_CASE("what the IR would take is refused before it is taken") {
  // A minimal op takes a few bytes of a file and hundreds of memory.
  std::string ops, vars;
  for (int i = 0; i < 100'000; ++i) ops += std::string("\x22\x03\x1a\x01", 4) + "a";
  const std::string body = std::string("\x08\0\x10\0", 4) + ops;
  std::string bytes = "\x0a";
  for (size_t rest = body.size();; rest >>= 7) {
    bytes.push_back(static_cast<char>(rest < 0x80 ? rest : rest | 0x80));
    if (rest < 0x80) break;
  }
  bytes += body;
  WireProgram program;
  Budget budget;
  CHECK(readWire(bytes, budget, program).empty());
  budget.freeMemory = 1 << 20;
  WireProgram refused;
  CHECK_THAT(readWire(bytes, budget, refused),
             Contains("the 100000 ops here") && Contains("64 times that and 1 MiB"));
  CHECK(refused.blocks.empty());
}

TEST_CASE("an op has as many slots as an op may have") {
  ProgramBuilder program = relu();
  OpDesc& op = program.op(0, "custom", {}, {});
  for (int i = 0; i < 256; ++i) op.add_inputs()->set_parameter("S" + std::to_string(i));
  CHECK(survives(program.bytes()));
  op.add_inputs()->set_parameter("more");
  CHECK_THAT(refusal(program.bytes()), Contains("an op with 257 slots (at most 256)"));
}

TEST_CASE("arguments are found where holes stand between them") {
  ProgramBuilder program;
  std::vector<std::string> arguments;
  for (int i = 0; i < 100; ++i) {
    const bool hole = i % 7 == 3 || i == 99;
    arguments.push_back(hole ? "@EMPTY@" : "v" + std::to_string(i));
    if (!hole) program.var(0, arguments.back(), {4});
  }
  program.op(0, "custom", {{"X", arguments}}, {{"A", {"v0", "@EMPTY@"}}, {"Out", arguments}});
  CHECK(survives(program.bytes()));
  test::Context context;
  test::Result result(context, program.bytes());
  REQUIRE(result.module);
  result.program()->walk([&](mlir::Operation* op) {
    if (!pd::OpView::isFrameworkOp(op)) return;
    pd::OpView view(op);
    std::vector<mlir::Value> inputs = view.inputs("X"), outputs = view.outputs("Out");
    REQUIRE(inputs.size() == arguments.size());
    for (unsigned i = 0; i < arguments.size(); ++i) {
      const bool hole = arguments[i] == "@EMPTY@";
      CHECK(!inputs[i] == hole);
      CHECK(inputs[i] == view.input("X", i));
      CHECK(outputs[i] == view.output("Out", i));
      CHECK(view.outputName("Out", i) == arguments[i]);
      if (hole) continue;
      CHECK(pd::nameOf(inputs[i]) == arguments[i]);
      CHECK(pd::nameOf(outputs[i]) == arguments[i]);
      CHECK(view.slotOf(llvm::cast<mlir::OpResult>(outputs[i])) ==
            std::make_pair(std::string("Out"), i));
    }
    CHECK_FALSE(view.input("X", 100));
  });
}

}  // namespace dtranspile
