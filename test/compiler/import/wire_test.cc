// The reader of the wire format: what it refuses, with position and reason, and that it never takes
// more than its budget.
#include "compiler/import/wire.h"

#include <catch2/catch.hpp>

#include "test/compiler/import/programs.h"

namespace dtranspile {
namespace {

using Catch::Matchers::Contains;
using Catch::Matchers::Equals;
using namespace std::string_literals;

std::string read(const std::string& bytes, const Budget& budget = {}) {
  WireProgram program;
  return readWire(bytes, budget, program);
}

std::string varint(size_t value) {
  std::string out;
  for (; value > 0x7f; value >>= 7) out.push_back(static_cast<char>(value | 0x80));
  out.push_back(static_cast<char>(value));
  return out;
}

// One field: tag and body.
std::string field(int number, const std::string& body) {
  return varint(number << 3 | 2) + varint(body.size()) + body;
}

std::string number(int field, int value) {
  return {static_cast<char>(field << 3), static_cast<char>(value)};
}

std::string block(const std::string& more) { return field(1, number(1, 0) + number(2, 0) + more); }
std::string op(const std::string& more) { return block(field(4, field(3, "relu") + more)); }

std::string small() {
  test::ProgramBuilder program;
  program.var(0, "x", {-1, 10});
  program.var(0, "y", {-1, 10});
  test::OpDesc& relu = program.op(0, "relu", {{"X", {"x"}}}, {{"Out", {"y"}}});
  test::attr(relu, "op_role", 0).set_i(0);
  test::callstack(relu, "train.py:1");
  program.desc().mutable_version()->set_version(2006002);
  return program.bytes();
}

}  // namespace

TEST_CASE("a program gives views of its parts") {
  std::string bytes = small();
  WireProgram program;
  REQUIRE(readWire(bytes, {}, program).empty());
  REQUIRE(program.blocks.size() == 1);
  const WireBlock& root = program.blocks[0];
  CHECK(root.idx == 0);
  CHECK(root.parent == -1);
  CHECK_FALSE(root.forward);
  REQUIRE(root.vars.size() == 2);
  CHECK(program.names[root.vars[1].name] == "y");
  CHECK_FALSE(root.vars[1].persistable);
  REQUIRE(root.ops.size() == 1);
  const WireOp& relu = root.ops[0];
  CHECK(relu.type == "relu");
  REQUIRE(relu.inputs.size() == 1);
  CHECK(relu.inputs[0].parameter == "X");
  CHECK(relu.inputs[0].arguments == llvm::ArrayRef<Name>(root.vars[0].name));
  REQUIRE(relu.attrs.size() == 2);
  CHECK(relu.attrs[1].name == "op_callstack");
  CHECK(relu.attrs[1].type == 5);
  CHECK(relu.attrBytes.ends_with("train.py:1"));
}

TEST_CASE(
    "a program cut anywhere is refused or is a shorter program, and never read past its end") {
  std::string bytes = small();
  int refused = 0;
  for (size_t length = 0; length < bytes.size(); ++length) {
    std::string cut(bytes.data(), length);
    cut.shrink_to_fit();
    refused += !read(cut).empty();
  }
  // Legal: nothing, the block without its version.
  CHECK(refused == static_cast<int>(bytes.size()) - 2);
}

TEST_CASE("malformed numbers and lengths are refused with their position") {
  CHECK_THAT(read("\x08"s), Equals("byte 1: the file ends inside a number"));
  CHECK_THAT(read(std::string(11, '\xff')), Contains("a number of more than 64 bits"));
  CHECK_THAT(read("\x0a\x05\x08"s),
             Equals("byte 2: a field of 5 bytes reaches past the end of its message"));
  CHECK_THAT(read("\x0a\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"s),
             Contains("a field of 18446744073709551615 bytes reaches past the end"));
  CHECK_THAT(read("\x0d\x01"s), Contains("the file ends inside a field"));
  CHECK_THAT(read("\x00\x01"s), Contains("field number 0 is not legal"));
  CHECK_THAT(read("\x0b\x01"s), Contains("wire type 3 does not occur in programs"));
  CHECK_THAT(read(std::string("\xff\xff\xff\xff\xff\x07", 6) + "x"), Contains("is not legal"));
}

TEST_CASE("a field with the wire type of another is refused by name") {
  CHECK_THAT(read(number(1, 0)),
             Contains("field 'blocks' of ProgramDesc has wire type 0, expected 2"));
  CHECK_THAT(read(block(number(4, 0))),
             Contains("field 'ops' of BlockDesc has wire type 0, expected 2"));
  CHECK_THAT(read(block(field(1, "x"))),
             Contains("field 'idx' of BlockDesc has wire type 2, expected 0"));
  CHECK_THAT(read(op(field(4, field(1, "a") + number(2, 1) + field(4, "abcd")))),
             Contains("field 'f' of OpDesc.Attr has wire type 2, expected 5"));
}

TEST_CASE("a message without a required field is refused by name") {
  CHECK_THAT(read(field(1, number(1, 0))),
             Contains("BlockDesc lacks its required field 'parent_idx'"));
  CHECK_THAT(read(block(field(4, ""))), Contains("OpDesc lacks its required field 'type'"));
  CHECK_THAT(read(op(field(1, ""))), Contains("OpDesc.Var lacks its required field 'parameter'"));
  CHECK_THAT(read(op(field(4, field(1, "axis")))),
             Contains("OpDesc.Attr lacks its required field 'type'"));
  CHECK_THAT(read(op(field(4, field(1, "a") + number(2, 16) + field(20, "")))),
             Contains("Scalar lacks its required field 'type'"));
  CHECK_THAT(read(block(field(3, field(1, "x")))),
             Contains("VarDesc lacks its required field 'type'"));
  CHECK_THAT(read(block(field(3, field(1, "x") + field(2, number(1, 7) + field(3, ""))))),
             Contains("LoDTensorDesc lacks its required field 'tensor'"));
}

TEST_CASE("lists of numbers may be packed") {
  std::string attribute = field(1, "axes") + number(2, 3);
  CHECK(read(op(field(4, attribute + field(6, "\x01\x02\x03")))).empty());
  CHECK_THAT(read(op(field(4, attribute + field(6, "\x01\x82")))),
             Contains("the file ends inside a number"));
  CHECK_THAT(read(op(field(4, attribute + field(7, "abcde")))),
             Contains("a packed list ends inside a number"));
}

TEST_CASE("fields of other versions are kept as they are") {
  std::string extra = field(14, "unique");
  std::string bytes = op(extra) + field(3, "compatible");
  WireProgram program;
  REQUIRE(readWire(bytes, {}, program).empty());
  CHECK(program.blocks[0].ops[0].unknown == extra);
  CHECK(program.unknown == field(3, "compatible"));
}

TEST_CASE("budgets hold before objects are made") {
  Budget budget;
  budget.maxBytes = 10;
  CHECK_THAT(read(small(), budget), Contains("at most 10 are read"));
  budget = {};
  budget.maxOps = 0;
  CHECK_THAT(read(small(), budget), Contains("more than 0 ops"));
  budget = {};
  budget.maxVars = 1;
  CHECK_THAT(read(small(), budget), Contains("more than 1 variables"));
  budget = {};
  budget.maxBlocks = 0;
  CHECK_THAT(read(small(), budget), Contains("more than 0 blocks"));
  budget = {};
  budget.maxFields = 20;
  CHECK_THAT(read(small(), budget), Contains("more than 20 fields"));
  budget = {};
  budget.maxNameBytes = 4;
  CHECK_THAT(read(small(), budget), Contains("a name of 7 bytes (at most 4)"));
}

TEST_CASE("packed lists count into the budget") {
  Budget budget;
  budget.maxFields = 1000;
  std::string attribute = field(1, "axes") + number(2, 3);
  CHECK_THAT(read(op(field(4, attribute + field(6, std::string(2000, '\1'))) + field(4, attribute)),
                  budget),
             Contains("more than 1000 fields"));
}

}  // namespace dtranspile
