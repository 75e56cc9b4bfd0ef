#include "bench/import/generate.h"

#include "compiler/program_desc/framework.pb.h"

namespace dtranspile::bench {
namespace {

using framework::BlockDesc;
using framework::OpDesc;

constexpr int kTensor = 7, kFloat32 = 5, kInt = 0, kFloat = 1, kString = 2, kStrings = 5,
              kBoolean = 6;

void declare(BlockDesc& block, const std::string& name, std::initializer_list<int64_t> dims,
             bool parameter) {
  framework::VarDesc* var = block.add_vars();
  var->set_name(name);
  var->mutable_type()->set_type(kTensor);
  framework::LoDTensorDesc* tensor = var->mutable_type()->mutable_lod_tensor();
  tensor->set_lod_level(0);
  tensor->mutable_tensor()->set_data_type(kFloat32);
  for (int64_t dim : dims) tensor->mutable_tensor()->add_dims(dim);
  var->set_persistable(parameter);
  var->set_is_parameter(parameter);
}

void slot(OpDesc::Var* slot, const char* name, const std::string& argument) {
  slot->set_parameter(name);
  slot->add_arguments(argument);
}

OpDesc::Attr* attribute(OpDesc& op, const char* name, int type) {
  OpDesc::Attr* attribute = op.add_attrs();
  attribute->set_name(name);
  attribute->set_type(type);
  return attribute;
}

// What every op carries; sorted by name as the framework writes it.
void common(OpDesc& op) {
  attribute(op, "op_callstack", kStrings)->add_strings("  File \"train.py\", line 31, in layer");
  attribute(op, "op_device", kString)->set_s("");
  attribute(op, "op_namescope", kString)->set_s("/");
  attribute(op, "op_role", kInt)->set_i(0);
  attribute(op, "op_role_var", kStrings);
}

void layer(BlockDesc& block, int64_t number) {
  std::string weight = "fc_" + std::to_string(number / 3) + ".w_0",
              bias = "fc_" + std::to_string(number / 3) + ".b_0";
  if (number % 3 == 0) {
    declare(block, weight, {64, 64}, true);
    declare(block, bias, {64}, true);
  }
  std::string x = number == 0 ? "x" : "relu_" + std::to_string(number - 1) + ".tmp_0";
  std::string product = "fc_" + std::to_string(number) + ".tmp_0",
              sum = "fc_" + std::to_string(number) + ".tmp_1",
              out = "relu_" + std::to_string(number) + ".tmp_0";
  for (const std::string& name : {product, sum, out}) declare(block, name, {-1, 64}, false);
  OpDesc& mul = *block.add_ops();
  mul.set_type("mul");
  slot(mul.add_inputs(), "X", x);
  slot(mul.add_inputs(), "Y", weight);
  slot(mul.add_outputs(), "Out", product);
  common(mul);
  attribute(mul, "x_num_col_dims", kInt)->set_i(1);
  attribute(mul, "y_num_col_dims", kInt)->set_i(1);
  OpDesc& add = *block.add_ops();
  add.set_type("elementwise_add");
  slot(add.add_inputs(), "X", product);
  slot(add.add_inputs(), "Y", bias);
  slot(add.add_outputs(), "Out", sum);
  attribute(add, "axis", kInt)->set_i(1);
  common(add);
  attribute(add, "use_mkldnn", kBoolean)->set_b(false);
  OpDesc& relu = *block.add_ops();
  relu.set_type("relu");
  slot(relu.add_inputs(), "X", sum);
  slot(relu.add_outputs(), "Out", out);
  attribute(relu, "mkldnn_scale", kFloat)->set_f(static_cast<float>(number));
  common(relu);
}

}  // namespace

std::string generateProgram(int64_t ops) {
  framework::ProgramDesc program;
  program.mutable_version()->set_version(2006002);
  BlockDesc& block = *program.add_blocks();
  block.set_idx(0);
  block.set_parent_idx(-1);
  declare(block, "x", {-1, 64}, false);
  for (int64_t number = 0; number * 3 < ops; ++number) layer(block, number);
  return program.SerializePartialAsString();
}

}  // namespace dtranspile::bench
