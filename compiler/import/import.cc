// ProgramDesc to dialect pd: instructions over named cells become values (docs/dialects/pd.md). The order of work: budgets, parse,
// structure and block interfaces (blocks.cc), then one walk per block that keeps the current value of every name.
#include "compiler/import/import.h"

#include "compiler/import/attributes.h"
#include "compiler/import/blocks.h"
#include "compiler/import/framework.pb.h"
#include "dialects/pd/op_view.h"
#include "dialects/pd/types.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/Diagnostics.h"

namespace dtranspile {
namespace {

using framework::BlockDesc;
using framework::OpDesc;
using framework::ProgramDesc;
using framework::VarDesc;
using mlir::Attribute;
using mlir::Value;

// The fields of a message that this schema does not know, for `extra`.
template <typename Message>
std::string unknownHex(const Message& message) {
  std::string bytes;
  message.unknown_fields().SerializeToString(&bytes);
  return llvm::toHex(bytes);
}

// The current value of every name while one block is walked. Persistables are forwarded within a block; a block op may have
// written any of them.
struct Cells {
  llvm::DenseMap<llvm::StringRef, Value> values;
  llvm::DenseMap<llvm::StringRef, Value> persistables;
};

class Importer {
 public:
  Importer(mlir::ModuleOp module, const ProgramDesc& program, const ImportOptions& options)
      : context_(module.getContext()), builder_(context_), module_(module), program_(program), options_(options), analysis_(program) {
    file_ = builder_.getStringAttr(options.file);
    blank_ = builder_.getStringAttr("");
    empty_ = builder_.getStringAttr(pd::kEmptyArgument);
  }

  mlir::FailureOr<pd::ProgramOp> run();

 private:
  mlir::LogicalResult importBlock(int index, mlir::Block* block, Cells& cells);
  mlir::LogicalResult importOp(int block, int index, Cells& cells);
  mlir::LogicalResult importAttributes(int block, int index, const OpDesc& op, mlir::OperationState& state);
  mlir::LogicalResult importRegions(int block, int index, mlir::Operation* op, Cells& cells);
  mlir::LogicalResult importOrphan(int index);
  void importDecl(const VarDesc& var);
  mlir::LogicalResult importVariables();
  mlir::LogicalResult fillRegion(int index, mlir::Region& region);
  mlir::DictionaryAttr describeBlock(int index, bool orphan);
  void describeProgram(pd::ProgramOp program);

  Value read(int block, llvm::StringRef name, Cells& cells, bool strong);
  void write(int block, llvm::StringRef name, Value value, Cells& cells, bool inRegion);
  mlir::Type typeOf(int block, llvm::StringRef name);
  mlir::Type typeOf(const VarDesc& var);
  mlir::ArrayAttr names(llvm::ArrayRef<llvm::StringRef> list);
  mlir::Location at(int block, int op);
  mlir::InFlightDiagnostic error(int block, int op);

  mlir::MLIRContext* context_;
  mlir::OpBuilder builder_;
  mlir::ModuleOp module_;
  const ProgramDesc& program_;
  const ImportOptions& options_;
  BlockAnalysis analysis_;
  mlir::StringAttr file_, blank_, empty_;
  llvm::DenseMap<const VarDesc*, mlir::Type> types_;
  mlir::Operation* lastInput_ = nullptr;  // inputs of block 0 stand together behind the declarations
};

mlir::Location Importer::at(int block, int op) {
  std::string name = "block " + std::to_string(block) + ", op " + std::to_string(op);
  return mlir::NameLoc::get(builder_.getStringAttr(name), mlir::FileLineColLoc::get(file_, block, op));
}

// An error at an op, with the user's own call stack where the program carries it.
mlir::InFlightDiagnostic Importer::error(int block, int index) {
  const OpDesc& op = program_.blocks(block).ops(index);
  mlir::InFlightDiagnostic diagnostic = mlir::emitError(at(block, index)) << "op '" << op.type() << "' ";
  for (const OpDesc::Attr& attribute : op.attrs())
    if (attribute.name() == "op_callstack" && attribute.strings_size())
      diagnostic.attachNote() << "made here: " << llvm::join(attribute.strings().begin(), attribute.strings().end(), " ");
  return diagnostic;
}

mlir::FailureOr<pd::ProgramOp> Importer::run() {
  if (!analysis_.run()) return mlir::emitError(mlir::FileLineColLoc::get(file_, 0, 0)) << "not a legal program: " << analysis_.error;
  if (mlir::failed(importVariables())) return mlir::failure();
  builder_.setInsertionPointToEnd(module_.getBody());
  auto program = pd::ProgramOp::create(builder_, mlir::FileLineColLoc::get(file_, 0, 0), builder_.getStringAttr(options_.symbol));
  describeProgram(program);
  mlir::Block* body = &program.getBody().emplaceBlock();
  builder_.setInsertionPointToEnd(body);
  Cells cells;
  mlir::LogicalResult ok = importBlock(0, body, cells);
  for (int orphan : analysis_.orphans()) {
    if (mlir::failed(ok)) break;
    ok = importOrphan(orphan);
  }
  if (mlir::failed(ok)) {
    program.erase();
    return mlir::failure();
  }
  return program;
}

// Everything of the file that belongs to the program as a whole.
void Importer::describeProgram(pd::ProgramOp op) {
  if (program_.has_version()) {
    if (program_.version().has_version()) op->setAttr("version", builder_.getI64IntegerAttr(program_.version().version()));
    else op->setAttr("version", builder_.getUnitAttr());
  }
  if (program_.has_op_version_map()) {
    llvm::SmallVector<Attribute> pairs;
    for (const auto& pair : program_.op_version_map().pair()) {
      pairs.push_back(builder_.getStringAttr(pair.op_name()));
      pairs.push_back(builder_.getI32IntegerAttr(pair.op_version().version()));
    }
    op->setAttr("op_versions", builder_.getArrayAttr(pairs));
  }
  op->setAttr("block", describeBlock(0, false));
  if (!program_.unknown_fields().empty()) op->setAttr("extra", builder_.getStringAttr(unknownHex(program_)));
}

mlir::ArrayAttr Importer::names(llvm::ArrayRef<llvm::StringRef> list) {
  llvm::SmallVector<Attribute> attributes;
  for (llvm::StringRef name : list) attributes.push_back(builder_.getStringAttr(name));
  return builder_.getArrayAttr(attributes);
}

mlir::DictionaryAttr Importer::describeBlock(int index, bool orphan) {
  const BlockDesc& block = program_.blocks(index);
  mlir::NamedAttrList list;
  list.set("idx", builder_.getI32IntegerAttr(block.idx()));
  list.set("parent", builder_.getI32IntegerAttr(block.parent_idx()));
  if (block.has_forward_block_idx()) list.set("forward", builder_.getI32IntegerAttr(block.forward_block_idx()));
  if (!block.unknown_fields().empty()) list.set("extra", builder_.getStringAttr(unknownHex(block)));
  if (index == 0) return list.getDictionary(context_);
  const BlockInterface& interface = analysis_.interface(index);
  if (!orphan) list.set("captures", names(interface.captures.getArrayRef()));
  list.set("locals", names(interface.locals.getArrayRef()));
  if (!orphan) list.set("written", names(interface.written.getArrayRef()));
  list.set("saved", names(interface.saved.getArrayRef()));
  return list.getDictionary(context_);
}

//===----------------------------------------------------------------------===//
// Declarations
//===----------------------------------------------------------------------===//

// The description that belongs to a variable's kind; null where the kind has none.
const framework::TensorDesc* descriptionOf(const VarDesc& var, int* lod, bool* hasLod) {
  const framework::VarType& type = var.type();
  const framework::LoDTensorDesc* withLod = nullptr;
  if (type.type() == 7 && type.has_lod_tensor()) withLod = &type.lod_tensor();
  if (type.type() == 13 && type.has_tensor_array()) withLod = &type.tensor_array();
  if (withLod) {
    *lod = withLod->lod_level();
    *hasLod = withLod->has_lod_level();
    return &withLod->tensor();
  }
  return type.type() == 8 && type.has_selected_rows() ? &type.selected_rows() : nullptr;
}

// Does the VarDesc hold anything that pd.decl has no field for?
bool hasExtra(const VarDesc& var) {
  const framework::VarType& type = var.type();
  int described = (type.type() == 7 && type.has_lod_tensor()) + (type.type() == 13 && type.has_tensor_array()) + (type.type() == 8 && type.has_selected_rows());
  int present = type.has_selected_rows() + type.has_lod_tensor() + type.has_tensor_array() + type.has_reader() + type.has_tuple() + type.has_string() +
                type.has_strings() + type.has_vocab() + type.has_sparse_coo() + type.has_sparse_csr();
  return var.attrs_size() || present != described || !var.unknown_fields().empty() || !type.unknown_fields().empty();
}

mlir::Type Importer::typeOf(const VarDesc& var) {
  mlir::Type& type = types_[&var];
  if (type) return type;
  int lod = 0;
  bool hasLod = false;
  const framework::TensorDesc* description = descriptionOf(var, &lod, &hasLod);
  std::optional<int> dtype;
  llvm::SmallVector<int64_t> dims;
  if (description) {
    dtype = description->data_type();
    dims.assign(description->dims().begin(), description->dims().end());
  }
  return type = pd::valueType(context_, var.type().type(), dtype, dims, lod);
}

mlir::Type Importer::typeOf(int block, llvm::StringRef name) {
  const VarDesc* var = analysis_.resolve(block, name);
  return var ? typeOf(*var) : pd::RawType::get(context_, "UNDECLARED");
}

void Importer::importDecl(const VarDesc& var) {
  int lod = 0;
  bool hasLod = false;
  const framework::TensorDesc* description = descriptionOf(var, &lod, &hasLod);
  auto flag = [&](bool present, bool value) { return present ? builder_.getBoolAttr(value) : mlir::BoolAttr(); };
  mlir::DenseI64ArrayAttr dims;
  if (description) {
    llvm::SmallVector<int64_t> extents(description->dims().begin(), description->dims().end());
    dims = builder_.getDenseI64ArrayAttr(extents);
  }
  pd::DeclOp::create(builder_, builder_.getUnknownLoc(), builder_.getStringAttr(var.name()), builder_.getI32IntegerAttr(var.type().type()),
                     description ? builder_.getI32IntegerAttr(description->data_type()) : mlir::IntegerAttr(), dims,
                     hasLod ? builder_.getI32IntegerAttr(lod) : mlir::IntegerAttr(), flag(var.has_persistable(), var.persistable()),
                     flag(var.has_need_check_feed(), var.need_check_feed()), flag(var.has_is_parameter(), var.is_parameter()),
                     flag(var.has_stop_gradient(), var.stop_gradient()),
                     hasExtra(var) ? builder_.getStringAttr(llvm::toHex(var.SerializePartialAsString())) : mlir::StringAttr());
}

// One pd.var per persistable name of any block, in order of declaration.
mlir::LogicalResult Importer::importVariables() {
  llvm::StringSet<> trained;
  for (const BlockDesc& block : program_.blocks())
    for (const OpDesc& op : block.ops())
      for (const OpDesc::Var& slot : op.inputs())
        if (slot.parameter() == "Param")
          for (const std::string& name : slot.arguments()) trained.insert(name);
  llvm::StringMap<pd::VarOp> known;
  for (auto var : module_.getOps<pd::VarOp>()) known[var.getSymName()] = var;
  builder_.setInsertionPointToStart(module_.getBody());
  if (!known.empty()) {
    for (auto var : module_.getOps<pd::VarOp>()) builder_.setInsertionPointAfter(var);
  }
  for (const BlockDesc& block : program_.blocks()) {
    for (const VarDesc& var : block.vars()) {
      if (!var.persistable()) continue;
      bool parameter = var.has_is_parameter() ? var.is_parameter() : trained.contains(var.name());
      pd::VarOp& op = known[var.name()];
      if (!op) op = pd::VarOp::create(builder_, mlir::FileLineColLoc::get(file_, 0, 0), var.name(), typeOf(var), false);
      if (parameter) op.setParameter(true);
    }
  }
  return mlir::success();
}

//===----------------------------------------------------------------------===//
// Cells
//===----------------------------------------------------------------------===//

Value Importer::read(int block, llvm::StringRef name, Cells& cells, bool strong) {
  if (analysis_.isPersistable(block, name)) {
    Value& value = cells.persistables[name];
    if (!value) value = pd::GetOp::create(builder_, builder_.getUnknownLoc(), typeOf(block, name), mlir::FlatSymbolRefAttr::get(context_, name));
    return value;
  }
  Value& value = cells.values[name];
  if (value) return value;
  mlir::Type type = typeOf(block, name);
  const VarDesc* var = analysis_.resolve(block, name);
  bool fed = block == 0 && var && pd::tensorOf(type) && !llvm::isa<pd::ArrayType>(type) && (strong || var->need_check_feed());
  if (!fed) return value = pd::UndefOp::create(builder_, builder_.getUnknownLoc(), type, builder_.getStringAttr(name));
  mlir::OpBuilder::InsertionGuard guard(builder_);
  if (lastInput_) builder_.setInsertionPointAfter(lastInput_);
  auto input = pd::InputOp::create(builder_, builder_.getUnknownLoc(), type, builder_.getStringAttr(name));
  lastInput_ = input;
  return value = input;
}

// A block op sets persistables inside its region; behind it they are read anew.
void Importer::write(int block, llvm::StringRef name, Value value, Cells& cells, bool inRegion) {
  if (!analysis_.isPersistable(block, name)) {
    cells.values[name] = value;
    return;
  }
  if (inRegion) return;
  pd::SetOp::create(builder_, builder_.getUnknownLoc(), mlir::FlatSymbolRefAttr::get(context_, name), value);
  cells.persistables[name] = value;
}

//===----------------------------------------------------------------------===//
// Ops
//===----------------------------------------------------------------------===//

mlir::LogicalResult Importer::importAttributes(int block, int index, const OpDesc& op, mlir::OperationState& state) {
  llvm::SmallVector<mlir::NamedAttribute> list;
  llvm::SmallVector<mlir::StringAttr> order;
  bool sorted = true;
  for (const OpDesc::Attr& attribute : op.attrs()) {
    std::string why;
    Attribute value = importAttribute(builder_, attribute, why);
    if (!value) return error(block, index) << "has attribute '" << attribute.name() << "' that " << why;
    mlir::StringAttr name = builder_.getStringAttr(attribute.name());
    sorted &= order.empty() || order.back().getValue() < name.getValue();
    order.push_back(name);
    list.emplace_back(name, value);
  }
  if (!sorted) {
    std::sort(list.begin(), list.end(), [](const mlir::NamedAttribute& a, const mlir::NamedAttribute& b) { return a.getName().getValue() < b.getName().getValue(); });
    for (size_t i = 1; i < list.size(); ++i)
      if (list[i].getName() == list[i - 1].getName() && list[i].getValue() != list[i - 1].getValue())
        return error(block, index) << "has attribute '" << list[i].getName().getValue() << "' twice, with different values";
    list.erase(std::unique(list.begin(), list.end(), [](auto& a, auto& b) { return a.getName() == b.getName(); }), list.end());
    llvm::SmallVector<int32_t> positions;
    for (mlir::StringAttr name : order) {
      auto found = llvm::lower_bound(list, name.getValue(), [](const mlir::NamedAttribute& a, llvm::StringRef b) { return a.getName().getValue() < b; });
      positions.push_back(static_cast<int32_t>(found - list.begin()));
    }
    state.addAttribute("order", builder_.getDenseI32ArrayAttr(positions));
  }
  state.addAttribute("attrs", mlir::DictionaryAttr::getWithSorted(context_, list));
  if (op.has_is_target()) state.addAttribute("is_target", builder_.getBoolAttr(op.is_target()));
  if (!op.unknown_fields().empty()) state.addAttribute("extra", builder_.getStringAttr(unknownHex(op)));
  return mlir::success();
}

// Collects the slots of one side of an op.
class SlotList {
 public:
  SlotList(mlir::MLIRContext* context) : context_(context) {}
  void add(mlir::StringAttr name, llvm::ArrayRef<mlir::StringAttr> arguments) { slots_.push_back(pd::SlotAttr::get(context_, name, arguments)); }
  mlir::ArrayAttr get() { return mlir::ArrayAttr::get(context_, slots_); }

 private:
  mlir::MLIRContext* context_;
  llvm::SmallVector<Attribute> slots_;
};

mlir::LogicalResult Importer::importOp(int block, int index, Cells& cells) {
  const OpDesc& op = program_.blocks(block).ops(index);
  const pd::OpSpec* spec = pd::findOp(op.type());
  mlir::OperationState state(at(block, index), spec ? "pd." + op.type() : "pd.opaque");
  if (!spec) state.addAttribute("type", builder_.getStringAttr(op.type()));
  if (mlir::failed(importAttributes(block, index, op, state))) return mlir::failure();

  SlotList ins(context_), outs(context_);
  llvm::SmallVector<mlir::StringAttr> arguments;
  auto operand = [&](llvm::StringRef name, bool strong) {
    arguments.push_back(name == pd::kEmptyArgument ? empty_ : blank_);
    if (name != pd::kEmptyArgument) state.operands.push_back(read(block, name, cells, strong));
  };
  llvm::ArrayRef<int> children = analysis_.owned(block, index);
  for (int child : children) {
    const BlockInterface& inner = analysis_.interface(child);
    arguments.clear();
    for (llvm::StringRef name : inner.captures) operand(name, inner.readFirst.lookup(name));
    ins.add(builder_.getStringAttr("$capture"), arguments);
  }
  for (const OpDesc::Var& slot : op.inputs()) {
    arguments.clear();
    for (const std::string& name : slot.arguments()) operand(name, true);
    ins.add(builder_.getStringAttr(slot.parameter()), arguments);
  }
  for (const OpDesc::Attr& attribute : op.attrs()) {
    if (attribute.type() != 13 && attribute.type() != 14) continue;
    arguments.clear();
    if (attribute.type() == 13) operand(attribute.var_name(), true);
    for (const std::string& name : attribute.vars_name()) operand(name, true);
    ins.add(builder_.getStringAttr("$" + attribute.name()), arguments);
  }
  llvm::SmallVector<llvm::StringRef> results;
  llvm::DenseSet<llvm::StringRef> listed;
  for (const OpDesc::Var& slot : op.outputs()) {
    const pd::Slot* row = spec ? spec->output(slot.parameter()) : nullptr;
    if (row && row->updates && slot.arguments_size()) {
      arguments.clear();
      for (const std::string& name : slot.arguments()) operand(name, false);
      ins.add(builder_.getStringAttr("$" + slot.parameter()), arguments);
    }
    arguments.clear();
    for (const std::string& name : slot.arguments()) {
      arguments.push_back(builder_.getStringAttr(name));
      if (name == pd::kEmptyArgument) continue;
      results.push_back(name);
      listed.insert(name);
      state.types.push_back(typeOf(block, name));
    }
    outs.add(builder_.getStringAttr(slot.parameter()), arguments);
  }
  for (int child : children) {
    arguments.clear();
    for (llvm::StringRef name : analysis_.interface(child).written) {
      if (!listed.insert(name).second) continue;
      arguments.push_back(builder_.getStringAttr(name));
      results.push_back(name);
      state.types.push_back(typeOf(block, name));
    }
    if (!arguments.empty()) outs.add(builder_.getStringAttr("$written"), arguments);
  }
  state.addAttribute("ins", ins.get());
  state.addAttribute("outs", outs.get());
  for (size_t i = 0; i < children.size(); ++i) state.addRegion();
  mlir::Operation* made = builder_.create(state);
  if (!children.empty()) {
    if (mlir::failed(importRegions(block, index, made, cells))) return mlir::failure();
  }
  for (auto [name, value] : llvm::zip_equal(results, made->getResults())) write(block, name, value, cells, !children.empty());
  return mlir::success();
}

mlir::LogicalResult Importer::importRegions(int block, int index, mlir::Operation* op, Cells& cells) {
  llvm::SmallVector<Attribute> descriptions;
  for (auto [child, region] : llvm::zip_equal(analysis_.owned(block, index), op->getRegions())) {
    descriptions.push_back(describeBlock(child, false));
    if (mlir::failed(fillRegion(child, region))) return mlir::failure();
  }
  op->setAttr("blocks", builder_.getArrayAttr(descriptions));
  cells.persistables.clear();
  return mlir::success();
}

mlir::LogicalResult Importer::importOrphan(int index) {
  mlir::OperationState state(at(index, 0), "pd.orphan_block");
  state.addAttribute("ins", builder_.getArrayAttr({}));
  state.addAttribute("outs", builder_.getArrayAttr({}));
  state.addAttribute("attrs", builder_.getDictionaryAttr({}));
  state.addAttribute("blocks", builder_.getArrayAttr({describeBlock(index, true)}));
  state.addRegion();
  return fillRegion(index, builder_.create(state)->getRegion(0));
}

mlir::LogicalResult Importer::fillRegion(int index, mlir::Region& region) {
  mlir::OpBuilder::InsertionGuard guard(builder_);
  mlir::Block* body = builder_.createBlock(&region);
  const BlockInterface& interface = analysis_.interface(index);
  Cells cells;
  for (const auto* list : {&interface.captures, &interface.locals})
    for (llvm::StringRef name : *list) cells.values[name] = body->addArgument(typeOf(index, name), builder_.getUnknownLoc());
  if (mlir::failed(importBlock(index, body, cells))) return mlir::failure();
  llvm::SmallVector<Value> yields;
  for (llvm::StringRef name : interface.written) yields.push_back(read(index, name, cells, false));
  for (llvm::StringRef name : interface.saved) yields.push_back(read(index, name, cells, false));
  pd::YieldOp::create(builder_, builder_.getUnknownLoc(), yields);
  return mlir::success();
}

mlir::LogicalResult Importer::importBlock(int index, mlir::Block* block, Cells& cells) {
  const BlockDesc& desc = program_.blocks(index);
  for (const VarDesc& var : desc.vars()) importDecl(var);
  if (index == 0 && !block->empty()) lastInput_ = &block->back();
  for (int i = 0; i < desc.ops_size(); ++i)
    if (mlir::failed(importOp(index, i, cells))) return mlir::failure();
  return mlir::success();
}

}  // namespace

mlir::FailureOr<pd::ProgramOp> importProgram(mlir::ModuleOp module, llvm::StringRef bytes, const ImportOptions& options) {
  mlir::Location start = mlir::FileLineColLoc::get(module.getContext(), options.file, 0, 0);
  std::string why = prescan(bytes, options.budget);
  if (!why.empty()) return mlir::emitError(start) << "not a ProgramDesc: " << why;
  google::protobuf::Arena arena;
  auto* program = google::protobuf::Arena::CreateMessage<ProgramDesc>(&arena);
  if (!program->ParsePartialFromArray(bytes.data(), static_cast<int>(bytes.size()))) return mlir::emitError(start) << "not a ProgramDesc: the bytes do not parse";
  if (!program->IsInitialized()) return mlir::emitError(start) << "not a ProgramDesc: required fields are missing (" << llvm::StringRef(program->InitializationErrorString()).take_front(200) << ")";
  return Importer(module, *program, options).run();
}

}  // namespace dtranspile
