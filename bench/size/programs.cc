#include "bench/size/programs.h"

#include "compiler/program_desc/framework.pb.h"

namespace dtranspile::bench {
namespace {

using framework::BlockDesc;
using framework::OpDesc;
using framework::ProgramDesc;

constexpr int kTensor = 7, kStepScopes = 11, kBool = 0, kFloat32 = 5;
// Codes of attribute types.
constexpr int kInt = 0, kFloat = 1, kInts = 3, kFloats = 4, kStrings = 5, kBoolean = 6, kBlock = 8,
              kLongs = 11;
constexpr int kForward = 0, kBackward = 1, kOptimize = 2, kLoss = 256;

using Names = std::vector<std::string>;
using Slots = std::vector<std::pair<std::string, Names>>;

struct Program {
  Program() {
    desc.mutable_version()->set_version(2006002);
    add(-1);
  }

  BlockDesc& add(int parent) {
    BlockDesc& block = *desc.add_blocks();
    block.set_idx(desc.blocks_size() - 1);
    block.set_parent_idx(parent);
    return block;
  }

  framework::VarDesc& var(const std::string& name, std::vector<int64_t> dims,
                          int dtype = kFloat32) {
    framework::VarDesc& var = *desc.mutable_blocks(0)->add_vars();
    var.set_name(name);
    var.mutable_type()->set_type(kTensor);
    auto* tensor = var.mutable_type()->mutable_lod_tensor()->mutable_tensor();
    tensor->set_data_type(dtype);
    for (int64_t dim : dims) tensor->add_dims(dim);
    return var;
  }

  OpDesc& op(const std::string& type, const Slots& inputs, const Slots& outputs,
             int role = kForward, int block = 0) {
    OpDesc& op = *desc.mutable_blocks(block)->add_ops();
    op.set_type(type);
    for (bool in : {true, false})
      for (const auto& [name, arguments] : in ? inputs : outputs) {
        OpDesc::Var& slot = in ? *op.add_inputs() : *op.add_outputs();
        slot.set_parameter(name);
        for (const std::string& argument : arguments) slot.add_arguments(argument);
      }
    attr(op, "op_role", kInt).set_i(role);
    return op;
  }

  static OpDesc::Attr& attr(OpDesc& op, const std::string& name, int type) {
    OpDesc::Attr& attr = *op.add_attrs();
    attr.set_name(name);
    attr.set_type(type);
    return attr;
  }

  // One after the other, fed by `x`.
  void relu() {
    var("x", {-1, 8});
    var("y", {-1, 8});
    op("relu", {{"X", {"x"}}}, {{"Out", {"y"}}});
  }

  std::string bytes() const { return desc.SerializePartialAsString(); }

  ProgramDesc desc;
};

std::string numbered(const char* stem, int64_t i) { return stem + std::to_string(i); }

Names all(const char* stem, int64_t count) {
  Names names;
  for (int64_t i = 0; i < count; ++i) names.push_back(numbered(stem, i));
  return names;
}

std::string ops(int64_t size) {
  Program program;
  program.var("v0", {-1, 8});
  for (int64_t i = 0; i < size; ++i) {
    program.var(numbered("v", i + 1), {-1, 8});
    program.op("relu", {{"X", {numbered("v", i)}}}, {{"Out", {numbered("v", i + 1)}}});
  }
  return program.bytes();
}

// The results of one op are the arguments of another.
std::string arguments(int64_t size) {
  Program program;
  program.var("x", {size, 8});
  program.var("y", {size, 8});
  program.var("s", {1, 8});
  for (int64_t i = 0; i < size; ++i) program.var(numbered("p", i), {1, 8});
  OpDesc& split = program.op("split", {{"X", {"x"}}}, {{"Out", all("p", size)}});
  Program::attr(split, "num", kInt).set_i(static_cast<int>(size));
  program.op("sum", {{"X", all("p", size)}}, {{"Out", {"s"}}});
  program.op("concat", {{"X", all("p", size)}}, {{"Out", {"y"}}});
  return program.bytes();
}

std::string attributes(int64_t size) {
  Program program;
  program.var("x", {4});
  program.var("y", {4});
  OpDesc& op = program.op("custom", {{"X", {"x"}}}, {{"Out", {"y"}}});
  for (int64_t i = 0; i < size; ++i)
    Program::attr(op, numbered("a", i), kInt).set_i(static_cast<int>(i));
  return program.bytes();
}

std::string numbers(int64_t size) {
  Program program;
  program.var("y", {size});
  OpDesc& op = program.op("assign_value", {}, {{"Out", {"y"}}});
  Program::attr(op, "shape", kInts).add_ints(static_cast<int>(size));
  Program::attr(op, "dtype", kInt).set_i(kFloat32);
  OpDesc::Attr& values = Program::attr(op, "fp32_values", kFloats);
  for (int64_t i = 0; i < size; ++i) values.add_floats(static_cast<float>(i));
  return program.bytes();
}

std::string variables(int64_t size) {
  Program program;
  program.relu();
  for (int64_t i = 0; i < size; ++i) program.var(numbered("v", i), {4, 8});
  return program.bytes();
}

// Each with its gradient and update: y = Σ x·w, loss = mean(y).
std::string parameters(int64_t size) {
  Program program;
  program.var("x", {-1, 8});
  program.var("rate", {1}).set_persistable(true);
  for (const char* name : {"y", "y@GRAD"}) program.var(name, {-1, 8});
  for (const char* name : {"loss", "loss@GRAD"}) program.var(name, {1});
  for (int64_t i = 0; i < size; ++i) {
    framework::VarDesc& weight = program.var(numbered("w", i), {8});
    weight.set_persistable(true);
    weight.set_is_parameter(true);
    program.var(numbered("w", i) + "@GRAD", {8});
    program.var(numbered("p", i), {-1, 8});
    program.op("elementwise_mul", {{"X", {"x"}}, {"Y", {numbered("w", i)}}},
               {{"Out", {numbered("p", i)}}});
  }
  program.op("sum", {{"X", all("p", size)}}, {{"Out", {"y"}}});
  program.op("mean", {{"X", {"y"}}}, {{"Out", {"loss"}}}, kForward | kLoss);
  OpDesc& one = program.op("fill_constant", {}, {{"Out", {"loss@GRAD"}}}, kBackward | kLoss);
  Program::attr(one, "shape", kLongs).add_longs(1);
  Program::attr(one, "value", kFloat).set_f(1);
  Program::attr(one, "dtype", kInt).set_i(kFloat32);
  program.op("mean_grad", {{"X", {"y"}}, {"Out@GRAD", {"loss@GRAD"}}}, {{"X@GRAD", {"y@GRAD"}}},
             kBackward);
  auto ofParameter = [&](OpDesc& op, int64_t i) {
    OpDesc::Attr& names = Program::attr(op, "op_role_var", kStrings);
    names.add_strings(numbered("w", i));
    names.add_strings(numbered("w", i) + "@GRAD");
  };
  for (int64_t i = 0; i < size; ++i)
    ofParameter(program.op("elementwise_mul_grad",
                           {{"X", {"x"}}, {"Y", {numbered("w", i)}}, {"Out@GRAD", {"y@GRAD"}}},
                           {{"Y@GRAD", {numbered("w", i) + "@GRAD"}}}, kBackward),
                i);
  for (int64_t i = 0; i < size; ++i)
    ofParameter(program.op("sgd",
                           {{"Param", {numbered("w", i)}},
                            {"Grad", {numbered("w", i) + "@GRAD"}},
                            {"LearningRate", {"rate"}}},
                           {{"ParamOut", {numbered("w", i)}}}, kOptimize),
                i);
  return program.bytes();
}

OpDesc& branch(Program& program, int64_t block, const Names& reads, const Names& writes) {
  const std::string scope = numbered("scope", block);
  framework::VarDesc& var = *program.desc.mutable_blocks(0)->add_vars();
  var.set_name(scope);
  var.mutable_type()->set_type(kStepScopes);
  OpDesc& op = program.op("conditional_block", {{"Cond", {"c"}}, {"Input", reads}},
                          {{"Out", writes}, {"Scope", {scope}}});
  Program::attr(op, "sub_block", kBlock).set_block_idx(static_cast<int>(block));
  Program::attr(op, "is_scalar_condition", kBoolean).set_b(true);
  return op;
}

std::string blocks(int64_t size) {
  Program program;
  program.var("c", {1}, kBool);
  program.relu();
  for (int64_t i = 1; i <= size; ++i) {
    branch(program, i, {"x"}, {"y"});
    program.add(0);
    program.op("relu", {{"X", {"x"}}}, {{"Out", {"y"}}}, kForward, static_cast<int>(i));
  }
  return program.bytes();
}

// One block that reads so many names of the block around it, and writes as many.
std::string captures(int64_t size) {
  Program program;
  program.var("c", {1}, kBool);
  program.var("x", {4});
  for (int64_t i = 0; i < size; ++i) {
    program.var(numbered("r", i), {4});
    program.var(numbered("w", i), {4});
    program.op("relu", {{"X", {"x"}}}, {{"Out", {numbered("r", i)}}});
    program.op("relu", {{"X", {"x"}}}, {{"Out", {numbered("w", i)}}});
  }
  branch(program, 1, all("r", size), all("w", size));
  program.add(0);
  for (int64_t i = 0; i < size; ++i)
    program.op("relu", {{"X", {numbered("r", i)}}}, {{"Out", {numbered("w", i)}}}, kForward, 1);
  return program.bytes();
}

}  // namespace

const std::vector<Direction>& directions() {
  static const std::vector<Direction> kDirections = {
      {"ops", ops, 1'000'000},
      {"arguments of one op", arguments, 1'000'000},
      {"attributes of one op", attributes, 1'000'000},
      {"numbers in one attribute", numbers, 1'000'000},
      {"variables", variables, 1'000'000},
      {"parameters", parameters, 100'000},
      {"blocks", blocks, 99'999},
      {"captures of one block", captures, 100'000},
  };
  return kDirections;
}

}  // namespace dtranspile::bench
