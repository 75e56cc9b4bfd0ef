#include "compiler/export/program.h"

#include <map>

#include "compiler/import/attributes.h"
#include "dialects/pd/op_view.h"
#include "google/protobuf/text_format.h"
#include "llvm/ADT/StringExtras.h"

namespace dtranspile {
namespace {

using framework::BlockDesc;
using framework::OpDesc;
using framework::ProgramDesc;
using framework::VarDesc;
using mlir::Attribute;

template <typename Message>
void restoreUnknown(mlir::DictionaryAttr dictionary, Message& message) {
  auto extra = dictionary ? dictionary.getAs<mlir::StringAttr>("extra") : mlir::StringAttr();
  if (extra) message.mutable_unknown_fields()->ParseFromString(llvm::fromHex(extra.getValue()));
}

class Exporter {
 public:
  explicit Exporter(ProgramDesc& out) : out_(out) {}

  mlir::LogicalResult run(pd::ProgramOp program) {
    describeProgram(program);
    auto description = program->getAttrOfType<mlir::DictionaryAttr>("block");
    if (mlir::failed(exportBlock(program.getBodyBlock(), description, 0))) return mlir::failure();
    // Blocks were collected in the order of their owners; the file has them by index.
    std::map<int, BlockDesc*> byIndex;
    for (BlockDesc* block : blocks_) {
      if (!byIndex.emplace(block->idx(), block).second) return program.emitError() << "two regions say that they are block " << block->idx();
    }
    int next = 0;
    for (auto& [index, block] : byIndex) {
      if (index != next++) return program.emitError() << "block " << next - 1 << " is missing; the next one is " << index;
      out_.mutable_blocks()->UnsafeArenaAddAllocated(block);
    }
    return mlir::success();
  }

 private:
  void describeProgram(pd::ProgramOp program) {
    if (Attribute version = program->getAttr("version")) {
      out_.mutable_version();
      if (auto number = llvm::dyn_cast<mlir::IntegerAttr>(version)) out_.mutable_version()->set_version(number.getInt());
    }
    if (auto pairs = program->getAttrOfType<mlir::ArrayAttr>("op_versions")) {
      auto* map = out_.mutable_op_version_map();
      for (size_t i = 0; i + 1 < pairs.size(); i += 2) {
        auto* pair = map->add_pair();
        pair->set_op_name(llvm::cast<mlir::StringAttr>(pairs[i]).getValue().str());
        pair->mutable_op_version()->set_version(static_cast<int32_t>(llvm::cast<mlir::IntegerAttr>(pairs[i + 1]).getInt()));
      }
    }
    if (auto extra = program->getAttrOfType<mlir::StringAttr>("extra")) out_.mutable_unknown_fields()->ParseFromString(llvm::fromHex(extra.getValue()));
  }

  mlir::LogicalResult exportBlock(mlir::Block* body, mlir::DictionaryAttr description, int fallbackIndex) {
    auto number = [&](llvm::StringRef name, int fallback) {
      auto value = description ? description.getAs<mlir::IntegerAttr>(name) : mlir::IntegerAttr();
      return value ? static_cast<int>(value.getInt()) : fallback;
    };
    auto* block = new BlockDesc();
    blocks_.push_back(block);
    block->set_idx(number("idx", fallbackIndex));
    block->set_parent_idx(number("parent", fallbackIndex == 0 ? -1 : 0));
    if (description && description.get("forward")) block->set_forward_block_idx(number("forward", -1));
    restoreUnknown(description, *block);
    for (mlir::Operation& op : *body)
      if (mlir::failed(exportOp(op, *block))) return mlir::failure();
    return mlir::success();
  }

  mlir::LogicalResult exportOp(mlir::Operation& op, BlockDesc& block) {
    if (auto decl = llvm::dyn_cast<pd::DeclOp>(op)) {
      exportDecl(decl, *block.add_vars());
      return mlir::success();
    }
    if (llvm::isa<pd::InputOp, pd::GetOp, pd::SetOp, pd::UndefOp, pd::YieldOp>(op)) return mlir::success();
    if (!pd::OpView::isFrameworkOp(&op)) return op.emitError() << "'" << op.getName() << "' has no counterpart in a ProgramDesc";
    if (op.getName().stripDialect() != "orphan_block" && mlir::failed(exportFrameworkOp(op, *block.add_ops()))) return mlir::failure();
    auto blocks = op.getAttrOfType<mlir::ArrayAttr>("blocks");
    for (auto [index, region] : llvm::enumerate(op.getRegions()))
      if (mlir::failed(exportBlock(&region.front(), llvm::dyn_cast<mlir::DictionaryAttr>(blocks[index]), -1))) return mlir::failure();
    return mlir::success();
  }

  void exportDecl(pd::DeclOp decl, VarDesc& var) {
    if (auto extra = decl.getExtra()) var.ParsePartialFromString(llvm::fromHex(*extra));
    var.set_name(decl.getName().str());
    var.mutable_type()->set_type(decl.getKind());
    if (std::optional<uint32_t> dtype = decl.getDtype()) {
      framework::TensorDesc* tensor = description(decl, *var.mutable_type());
      tensor->set_data_type(static_cast<int32_t>(*dtype));
      tensor->clear_dims();
      if (auto dims = decl.getDims())
        for (int64_t dim : *dims) tensor->add_dims(dim);
    }
    if (auto value = decl.getPersistable()) var.set_persistable(*value);
    if (auto value = decl.getNeedCheckFeed()) var.set_need_check_feed(*value);
    if (auto value = decl.getIsParameter()) var.set_is_parameter(*value);
    if (auto value = decl.getStopGradient()) var.set_stop_gradient(*value);
  }

  static framework::TensorDesc* description(pd::DeclOp decl, framework::VarType& type) {
    if (decl.getKind() == 8) return type.mutable_selected_rows();
    framework::LoDTensorDesc* tensor = decl.getKind() == 13 ? type.mutable_tensor_array() : type.mutable_lod_tensor();
    if (std::optional<uint32_t> lod = decl.getLod()) tensor->set_lod_level(static_cast<int32_t>(*lod));
    return tensor->mutable_tensor();
  }

  mlir::LogicalResult exportFrameworkOp(mlir::Operation& op, OpDesc& desc) {
    pd::OpView view(&op);
    desc.set_type(view.type().str());
    unsigned operand = 0;
    for (Attribute attribute : op.getAttrOfType<mlir::ArrayAttr>("ins")) {
      auto slot = llvm::cast<pd::SlotAttr>(attribute);
      bool hidden = slot.getName().getValue().starts_with("$");
      OpDesc::Var* out = hidden ? nullptr : desc.add_inputs();
      if (out) out->set_parameter(slot.getName().getValue().str());
      for (mlir::StringAttr argument : slot.getArgs()) {
        llvm::StringRef name = argument.getValue();
        if (name != pd::kEmptyArgument) name = pd::nameOf(op.getOperand(operand++));
        if (out) out->add_arguments(name.data(), name.size());
      }
    }
    for (Attribute attribute : op.getAttrOfType<mlir::ArrayAttr>("outs")) {
      auto slot = llvm::cast<pd::SlotAttr>(attribute);
      if (slot.getName().getValue().starts_with("$")) continue;
      OpDesc::Var* out = desc.add_outputs();
      out->set_parameter(slot.getName().getValue().str());
      for (mlir::StringAttr argument : slot.getArgs()) out->add_arguments(argument.getValue().data(), argument.getValue().size());
    }
    if (auto target = op.getAttrOfType<mlir::BoolAttr>("is_target")) desc.set_is_target(target.getValue());
    if (auto extra = op.getAttrOfType<mlir::StringAttr>("extra")) desc.mutable_unknown_fields()->ParseFromString(llvm::fromHex(extra.getValue()));
    return exportAttributes(op, desc);
  }

  mlir::LogicalResult exportAttributes(mlir::Operation& op, OpDesc& desc) {
    auto attributes = op.getAttrOfType<mlir::DictionaryAttr>("attrs");
    auto order = op.getAttrOfType<mlir::DenseI32ArrayAttr>("order");
    size_t count = order ? order.size() : attributes.size();
    for (size_t i = 0; i < count; ++i) {
      size_t at = order ? static_cast<size_t>(order[i]) : i;
      if (at >= attributes.size()) return op.emitError() << "the order of its attributes names number " << at << " of " << attributes.size();
      mlir::NamedAttribute named = attributes.getValue()[at];
      OpDesc::Attr* out = desc.add_attrs();
      out->set_name(named.getName().getValue().str());
      if (!exportAttribute(named.getValue(), *out)) return op.emitError() << "attribute '" << named.getName().getValue() << "' has no counterpart in a ProgramDesc";
    }
    return mlir::success();
  }

  ProgramDesc& out_;
  std::vector<BlockDesc*> blocks_;
};

}  // namespace

mlir::LogicalResult exportProgram(pd::ProgramOp program, ProgramDesc& out) { return Exporter(out).run(program); }

mlir::FailureOr<std::string> exportProgramBytes(pd::ProgramOp program) {
  if (mlir::failed(resolveNames(program))) return mlir::failure();
  ProgramDesc desc;
  if (mlir::failed(exportProgram(program, desc))) return mlir::failure();
  return desc.SerializePartialAsString();
}

mlir::FailureOr<std::string> exportProgramText(pd::ProgramOp program) {
  if (mlir::failed(resolveNames(program))) return mlir::failure();
  ProgramDesc desc;
  if (mlir::failed(exportProgram(program, desc))) return mlir::failure();
  std::string text;
  google::protobuf::TextFormat::PrintToString(desc, &text);
  return text;
}

}  // namespace dtranspile
