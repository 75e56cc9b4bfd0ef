#include "compiler/export/program.h"

#include <map>

#include "compiler/export/wire_writer.h"
#include "compiler/program_desc/attributes.h"
#include "dialects/pd/op_view.h"
#include "google/protobuf/text_format.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/StringSaver.h"

namespace dtranspile {
namespace {

using framework::OpDesc;
using framework::ProgramDesc;
using framework::VarDesc;
using mlir::Attribute;

// Writes the bytes of a ProgramDesc: fields in ascending order, as the framework's own writer does.
// Field numbers: framework.proto.
class Exporter {
 public:
  // Blocks lie in regions of the ops that own them, and in the file one after the other, by the
  // numbers that the description of each region says. So every block is written into a text of its
  // own first, and all of them are put together here.
  mlir::FailureOr<std::string> run(pd::ProgramOp program) {
    auto description = program->getAttrOfType<mlir::DictionaryAttr>("block");
    if (mlir::failed(exportBlock(program.getBodyBlock(), description, 0))) return mlir::failure();
    // Blocks were collected in the order of their owners; the file has them by index.
    WireWriter out;
    int next = 0;
    for (auto& [index, bytes] : blocks_) {
      if (index != next++)
        return program.emitError()
               << "block " << next - 1 << " is missing; the next one is " << index;
      out.bytes(1, bytes);
      bytes = std::string();
    }
    if (mlir::failed(describeProgram(program, out))) return mlir::failure();
    if (out.size() > static_cast<size_t>(std::numeric_limits<int32_t>::max()))
      return program.emitError() << "the program takes " << out.size()
                                 << " bytes; the format ends at 2 GiB";
    return out.take();
  }

 private:
  // Fields 4 (version) and 5 (op_version_map) of framework.proto's ProgramDesc, and fields that
  // were unknown when the file was read, byte by byte.
  mlir::LogicalResult describeProgram(pd::ProgramOp program, WireWriter& out) {
    if (Attribute version = program->getAttr("version")) {
      size_t start = out.begin(4);
      if (auto number = llvm::dyn_cast<mlir::IntegerAttr>(version)) out.integer(1, number.getInt());
      out.end(start);
    }
    if (auto pairs = program->getAttrOfType<mlir::ArrayAttr>("op_versions")) {
      size_t map = out.begin(5);
      for (size_t i = 0; i + 1 < pairs.size(); i += 2) {
        auto name = llvm::dyn_cast<mlir::StringAttr>(pairs[i]);
        auto number = llvm::dyn_cast<mlir::IntegerAttr>(pairs[i + 1]);
        if (!name || !number)
          return program.emitError() << "'op_versions' wants pairs of a name and a number";
        size_t pair = out.begin(1);
        out.bytes(1, name.getValue());
        size_t version = out.begin(2);
        out.integer(1, number.getInt());
        out.end(version);
        out.end(pair);
      }
      out.end(map);
    }
    return writeExtra(program, program->getAttrOfType<mlir::StringAttr>("extra"), out);
  }

  // Fields that the schema does not have.
  static mlir::LogicalResult writeExtra(mlir::Operation* op, mlir::StringAttr extra,
                                        WireWriter& out) {
    std::string bytes;
    if (!extra) return mlir::success();
    if (!llvm::tryGetFromHex(extra.getValue(), bytes))
      return op->emitError() << "'extra' is no hexadecimal text";
    out.raw(bytes);
    return mlir::success();
  }

  // The block of a region, and with its ops those in their regions. `fallbackIndex` is the number
  // of a block without a description: 0 of the program's own, which needs none.
  mlir::LogicalResult exportBlock(mlir::Block* body, mlir::DictionaryAttr description,
                                  int fallbackIndex) {
    auto number = [&](llvm::StringRef name, int fallback) {
      auto value = description ? description.getAs<mlir::IntegerAttr>(name) : mlir::IntegerAttr();
      return value ? static_cast<int>(value.getInt()) : fallback;
    };
    WireWriter out;
    int index = number("idx", fallbackIndex);
    out.integer(1, index);
    out.integer(2, number("parent", fallbackIndex == 0 ? -1 : 0));
    for (auto decl : body->getOps<pd::DeclOp>())
      if (mlir::failed(exportDecl(decl, out))) return mlir::failure();
    for (mlir::Operation& op : *body)
      if (mlir::failed(exportOp(op, out))) return mlir::failure();
    if (description && description.get("forward")) out.integer(5, number("forward", -1));
    mlir::Operation* owner = body->getParentOp();
    if (description &&
        mlir::failed(writeExtra(owner, description.getAs<mlir::StringAttr>("extra"), out)))
      return mlir::failure();
    if (!blocks_.emplace(index, out.take()).second)
      return owner->emitError() << "two regions say that they are block " << index;
    return mlir::success();
  }

  // Ops that only say how values and variables hang together (reads, sets, feeds, ends of blocks)
  // have no counterpart: in the file names say it. A pd.orphan_block owns a block that no op refers
  // to, and is no op there.
  mlir::LogicalResult exportOp(mlir::Operation& op, WireWriter& out) {
    if (llvm::isa<pd::DeclOp, pd::InputOp, pd::GetOp, pd::SetOp, pd::UndefOp, pd::YieldOp>(op))
      return mlir::success();
    if (!pd::OpView::isFrameworkOp(&op))
      return op.emitError() << "'" << op.getName() << "' has no counterpart in a ProgramDesc";
    if (op.getName().stripDialect() != "orphan_block" && mlir::failed(exportFrameworkOp(op, out)))
      return mlir::failure();
    if (op.getNumRegions() == 0) return mlir::success();
    auto blocks = op.getAttrOfType<mlir::ArrayAttr>("blocks");
    for (auto [index, region] : llvm::enumerate(op.getRegions()))
      if (mlir::failed(exportBlock(&region.front(),
                                   llvm::dyn_cast<mlir::DictionaryAttr>(blocks[index]), -1)))
        return mlir::failure();
    return mlir::success();
  }

  // A VarDesc: name = 1, type = 2, persistable = 3, need_check_feed = 4, is_parameter = 5,
  // stop_gradient = 6. Absent attributes stay absent in the file.
  mlir::LogicalResult exportDecl(pd::DeclOp decl, WireWriter& out) {
    size_t start = out.begin(3);
    if (decl.getExtra()) {
      if (mlir::failed(exportDeclWithExtra(decl, out))) return mlir::failure();
      out.end(start);
      return mlir::success();
    }
    out.bytes(1, decl.getName());
    size_t type = out.begin(2);
    out.integer(1, static_cast<int32_t>(decl.getKind()));
    if (std::optional<uint32_t> dtype = decl.getDtype())
      writeDescription(decl, static_cast<int32_t>(*dtype), out);
    out.end(type);
    if (auto value = decl.getPersistable()) out.integer(3, *value);
    if (auto value = decl.getNeedCheckFeed()) out.integer(4, *value);
    if (auto value = decl.getIsParameter()) out.integer(5, *value);
    if (auto value = decl.getStopGradient()) out.integer(6, *value);
    out.end(start);
    return mlir::success();
  }

  // The extents and element type of a variable, at the place that its kind has for them:
  // SelectedRows (8) have a plain tensor, tensors (7) and arrays of them (13) one with a LoD level
  // around it.
  static void writeDescription(pd::DeclOp decl, int32_t dtype, WireWriter& out) {
    bool rows = decl.getKind() == 8;
    size_t description = rows ? 0 : out.begin(decl.getKind() == 13 ? 4 : 3);
    size_t tensor = out.begin(rows ? 2 : 1);
    out.integer(1, dtype);
    if (auto dims = decl.getDims())
      for (int64_t dim : *dims) out.integer(2, dim);
    out.end(tensor);
    if (rows) return;
    if (std::optional<uint32_t> lod = decl.getLod()) out.integer(2, static_cast<int32_t>(*lod));
    out.end(description);
  }

  static framework::TensorDesc* description(pd::DeclOp decl, framework::VarType& type) {
    if (decl.getKind() == 8) return type.mutable_selected_rows();
    framework::LoDTensorDesc* tensor =
        decl.getKind() == 13 ? type.mutable_tensor_array() : type.mutable_lod_tensor();
    if (std::optional<uint32_t> lod = decl.getLod())
      tensor->set_lod_level(static_cast<int32_t>(*lod));
    return tensor->mutable_tensor();
  }

  // The verbatim message, with the fields that pd.decl spells out in place of its own.
  static mlir::LogicalResult exportDeclWithExtra(pd::DeclOp decl, WireWriter& out) {
    VarDesc var;
    std::string extra;
    if (!llvm::tryGetFromHex(*decl.getExtra(), extra) || !var.ParsePartialFromString(extra))
      return decl.emitError() << "'extra' holds no VarDesc";
    var.set_name(decl.getName().str());
    var.mutable_type()->set_type(static_cast<int32_t>(decl.getKind()));
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
    out.raw(var.SerializePartialAsString());
    return mlir::success();
  }

  // Slots that begin with `$` are ours, for what the file says by names alone (what a block takes
  // from outside), and the file has none of them; their operands are counted all the same, since
  // operands lie in the order of all slots.
  mlir::LogicalResult exportFrameworkOp(mlir::Operation& op, WireWriter& out) {
    size_t start = out.begin(4);
    unsigned operand = 0;
    for (Attribute attribute : op.getAttrOfType<mlir::ArrayAttr>("ins")) {
      auto slot = llvm::cast<pd::SlotAttr>(attribute);
      bool hidden = slot.getName().getValue().starts_with("$");
      size_t message = hidden ? 0 : beginSlot(1, slot, out);
      for (mlir::StringAttr argument : slot.getArgs()) {
        bool empty = argument.getValue() == pd::kEmptyArgument;
        if (!hidden) out.bytes(2, empty ? argument.getValue() : pd::nameOf(op.getOperand(operand)));
        operand += !empty;
      }
      if (!hidden) out.end(message);
    }
    for (Attribute attribute : op.getAttrOfType<mlir::ArrayAttr>("outs")) {
      auto slot = llvm::cast<pd::SlotAttr>(attribute);
      if (slot.getName().getValue().starts_with("$")) continue;
      size_t message = beginSlot(2, slot, out);
      for (mlir::StringAttr argument : slot.getArgs()) out.bytes(2, argument.getValue());
      out.end(message);
    }
    out.bytes(3, pd::OpView(&op).type());
    if (mlir::failed(exportAttributes(op, out))) return mlir::failure();
    if (auto target = op.getAttrOfType<mlir::BoolAttr>("is_target"))
      out.integer(5, target.getValue());
    if (mlir::failed(writeExtra(&op, op.getAttrOfType<mlir::StringAttr>("extra"), out)))
      return mlir::failure();
    out.end(start);
    return mlir::success();
  }

  static size_t beginSlot(uint32_t field, pd::SlotAttr slot, WireWriter& out) {
    size_t start = out.begin(field);
    out.bytes(1, slot.getName().getValue());
    return start;
  }

  // Lists of attributes repeat: their bytes are kept.
  mlir::LogicalResult exportAttributes(mlir::Operation& op, WireWriter& out) {
    auto attributes = op.getAttrOfType<mlir::DictionaryAttr>("attrs");
    if (!attributes) return op.emitError() << "lacks its attributes";
    auto order = op.getAttrOfType<mlir::DenseI32ArrayAttr>("order");
    llvm::StringRef& known = lists_[{attributes, order}];
    if (known.data()) {
      out.raw(known);
      return mlir::success();
    }
    size_t start = out.size();
    size_t count = order ? order.size() : attributes.size();
    for (size_t i = 0; i < count; ++i) {
      size_t at = order ? static_cast<size_t>(order[i]) : i;
      if (at >= attributes.size())
        return op.emitError() << "the order of its attributes names number " << at << " of "
                              << attributes.size();
      if (mlir::failed(writeAttribute(op, attributes.getValue()[at], out))) return mlir::failure();
    }
    known = saver_.save(out.since(start));
    return mlir::success();
  }

  // Single attributes repeat across lists that differ (op_role, op_device): their messages are kept
  // too.
  mlir::LogicalResult writeAttribute(mlir::Operation& op, mlir::NamedAttribute named,
                                     WireWriter& out) {
    llvm::StringRef& known = attributes_[{named.getName(), named.getValue()}];
    if (!known.data()) {
      OpDesc::Attr message;
      message.set_name(named.getName().getValue().str());
      if (!exportAttribute(named.getValue(), message))
        return op.emitError() << "attribute '" << named.getName().getValue()
                              << "' has no counterpart in a ProgramDesc";
      known = saver_.save(message.SerializePartialAsString());
    }
    out.bytes(4, known);
    return mlir::success();
  }

  std::map<int, std::string> blocks_;
  llvm::BumpPtrAllocator arena_;
  llvm::StringSaver saver_{arena_};
  llvm::DenseMap<std::pair<Attribute, Attribute>, llvm::StringRef> lists_, attributes_;
};

}  // namespace

mlir::LogicalResult exportProgram(pd::ProgramOp program, ProgramDesc& out) {
  mlir::FailureOr<std::string> bytes = Exporter().run(program);
  return mlir::success(mlir::succeeded(bytes) && out.ParsePartialFromString(*bytes));
}

mlir::FailureOr<std::string> exportProgramBytes(pd::ProgramOp program) {
  if (mlir::failed(resolveNames(program))) return mlir::failure();
  return Exporter().run(program);
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
