#include "test/compiler/import/programs.h"

namespace dtranspile::test {

ProgramBuilder::ProgramBuilder() { addBlock(-1); }

int ProgramBuilder::addBlock(int parent, int forward) {
  BlockDesc* block = desc_.add_blocks();
  block->set_idx(desc_.blocks_size() - 1);
  block->set_parent_idx(parent);
  if (forward >= 0) block->set_forward_block_idx(forward);
  return block->idx();
}

framework::VarDesc& ProgramBuilder::var(int block, const std::string& name,
                                        std::vector<int64_t> dims, bool persistable, int dtype,
                                        int kind) {
  framework::VarDesc& var = *desc_.mutable_blocks(block)->add_vars();
  var.set_name(name);
  framework::VarType& type = *var.mutable_type();
  type.set_type(kind);
  if (kind == 7 || kind == 13) {
    framework::LoDTensorDesc& tensor =
        kind == 7 ? *type.mutable_lod_tensor() : *type.mutable_tensor_array();
    tensor.mutable_tensor()->set_data_type(dtype);
    for (int64_t dim : dims) tensor.mutable_tensor()->add_dims(dim);
  }
  if (persistable) var.set_persistable(true);
  return var;
}

OpDesc& ProgramBuilder::op(int block, const std::string& type, const Slots& inputs,
                           const Slots& outputs) {
  OpDesc& op = *desc_.mutable_blocks(block)->add_ops();
  op.set_type(type);
  auto add = [](OpDesc::Var* slot, const auto& from) {
    slot->set_parameter(from.first);
    for (const std::string& argument : from.second) slot->add_arguments(argument);
  };
  for (const auto& slot : inputs) add(op.add_inputs(), slot);
  for (const auto& slot : outputs) add(op.add_outputs(), slot);
  return op;
}

OpDesc::Attr& attr(OpDesc& op, const std::string& name, int type) {
  OpDesc::Attr& attribute = *op.add_attrs();
  attribute.set_name(name);
  attribute.set_type(type);
  return attribute;
}

void blockAttr(OpDesc& op, const std::string& name, int block) {
  attr(op, name, 8).set_block_idx(block);
}

void callstack(OpDesc& op, const std::string& line) {
  attr(op, "op_callstack", 5).add_strings(line);
}

Context::Context() : mlir::MLIRContext(mlir::MLIRContext::Threading::DISABLED) {
  loadDialect<pd::PdDialect>();
}

Diagnostics::Diagnostics(mlir::MLIRContext& context)
    : handler_(&context, [this](mlir::Diagnostic& diagnostic) {
        llvm::raw_string_ostream out(text);
        out << diagnostic.getLocation() << ": " << diagnostic << "\n";
        for (mlir::Diagnostic& note : diagnostic.getNotes()) out << "note: " << note << "\n";
        return mlir::success();
      }) {}

Result::Result(mlir::MLIRContext& context, const std::string& bytes, const ImportOptions& options) {
  Diagnostics collected(context);
  module = mlir::ModuleOp::create(mlir::UnknownLoc::get(&context));
  if (mlir::failed(importProgram(*module, bytes, options))) module = nullptr;
  diagnostics = collected.text;
}

std::string Result::text() const {
  std::string text;
  llvm::raw_string_ostream out(text);
  module.get().print(out);
  return text;
}

pd::ProgramOp Result::program() const { return *module.get().getOps<pd::ProgramOp>().begin(); }

}  // namespace dtranspile::test
