// ProgramDesc to dialect pd: instructions over named cells become values (docs/dialects/pd.md). The
// order of work: views of the bytes (wire.cc), structure and block interfaces (blocks.cc), then one
// walk per block that keeps the current value of every name. Programs repeat themselves, so what
// has been built from some bytes once is found again by those bytes: attributes, kinds of
// variables, slot patterns.
#include "compiler/import/import.h"

#include "compiler/import/importer.h"
#include "compiler/program_desc/framework.pb.h"
#include "dialects/pd/types.h"
#include "llvm/ADT/StringExtras.h"

namespace dtranspile {

using framework::OpDesc;
using mlir::Attribute;
using mlir::Value;

// Names are numbers here (wire.cc), so that an attribute is looked up without hashing text.
mlir::StringAttr Importer::nameAttr(Name name) {
  mlir::StringAttr& attribute = nameAttrs_[name];
  if (!attribute) attribute = builder_.getStringAttr(program_.names[name]);
  return attribute;
}

mlir::StringAttr Importer::slotName(llvm::StringRef name) {
  mlir::StringAttr& attribute = slotNames_[name];
  if (!attribute) attribute = builder_.getStringAttr(name);
  return attribute;
}

// For people "block 0, op 3", for tools file, block and op as line and column. A program that was
// made from another format (PIR) has the positions of that one.
mlir::Location Importer::at(int block, int op) {
  if (static_cast<size_t>(block) < options_.positions.size() &&
      static_cast<size_t>(op) < options_.positions[block].size())
    op = options_.positions[block][op];
  llvm::SmallString<32> name;
  llvm::raw_svector_ostream(name) << "block " << block << ", op " << op;
  return mlir::NameLoc::get(builder_.getStringAttr(name),
                            mlir::FileLineColLoc::get(file_, block, op));
}

// An error at an op, with the user's own call stack where the program carries it.
mlir::InFlightDiagnostic Importer::error(int block, int index) {
  const WireOp& op = program_.blocks[block].ops[index];
  mlir::InFlightDiagnostic diagnostic = mlir::emitError(at(block, index))
                                        << "op '" << op.type << "' ";
  OpDesc::Attr parsed;
  for (const WireAttr& attribute : op.attrs)
    if (attribute.name == "op_callstack" &&
        parsed.ParsePartialFromArray(attribute.bytes.data(),
                                     static_cast<int>(attribute.bytes.size())) &&
        parsed.strings_size())
      diagnostic.attachNote() << "made here: "
                              << llvm::join(parsed.strings().begin(), parsed.strings().end(), " ");
  return diagnostic;
}

// Nothing of a program is left in the module where part of it could not be imported.
mlir::FailureOr<pd::ProgramOp> Importer::run() {
  if (!analysis_.run()) {
    const BlockError& why = analysis_.error;
    if (why.op >= 0) return error(why.block, why.op) << why.message;
    return mlir::emitError(start_) << "not a legal program: " << why.message;
  }
  if (mlir::failed(importVariables())) return mlir::failure();
  findRewritten();
  builder_.setInsertionPointToEnd(module_.getBody());
  auto program = pd::ProgramOp::create(builder_, start_, builder_.getStringAttr(options_.symbol));
  describeProgram(program);
  mlir::Block* body = &program.getBody().emplaceBlock();
  builder_.setInsertionPointToEnd(body);
  Cells cells;
  mlir::LogicalResult ok = importBlock(0, cells);
  for (int orphan : analysis_.orphans()) {
    if (mlir::failed(ok)) break;
    ok = importOrphan(orphan);
  }
  if (mlir::failed(ok)) {
    program.erase();
    return mlir::failure();
  }
  recordParts(body);
  return program;
}

// Everything of the file that belongs to the program as a whole.
void Importer::describeProgram(pd::ProgramOp op) {
  if (program_.version) {
    framework::Version version;
    version.ParsePartialFromArray(program_.version->data(),
                                  static_cast<int>(program_.version->size()));
    if (version.has_version())
      op->setAttr("version", builder_.getI64IntegerAttr(version.version()));
    else op->setAttr("version", builder_.getUnitAttr());
  }
  if (program_.opVersions) {
    framework::OpVersionMap map;
    map.ParsePartialFromArray(program_.opVersions->data(),
                              static_cast<int>(program_.opVersions->size()));
    llvm::SmallVector<Attribute> pairs;
    for (const auto& pair : map.pair()) {
      pairs.push_back(builder_.getStringAttr(pair.op_name()));
      pairs.push_back(builder_.getI32IntegerAttr(pair.op_version().version()));
    }
    op->setAttr("op_versions", builder_.getArrayAttr(pairs));
  }
  op->setAttr("block", describeBlock(0, false));
  if (!program_.unknown.empty())
    op->setAttr("extra", builder_.getStringAttr(llvm::toHex(program_.unknown)));
}

mlir::ArrayAttr Importer::names(llvm::ArrayRef<Name> list) {
  llvm::SmallVector<Attribute> attributes;
  for (Name name : list) attributes.push_back(nameAttr(name));
  return builder_.getArrayAttr(attributes);
}

// What the file says of a block beside its ops and variables, and the names of the region's
// arguments (captures, locals) and results (written, saved), in their order.
mlir::DictionaryAttr Importer::describeBlock(int index, bool orphan) {
  const WireBlock& block = program_.blocks[index];
  mlir::NamedAttrList list;
  list.set("idx", builder_.getI32IntegerAttr(block.idx));
  list.set("parent", builder_.getI32IntegerAttr(block.parent));
  if (block.forward) list.set("forward", builder_.getI32IntegerAttr(*block.forward));
  if (!block.unknown.empty()) list.set("extra", builder_.getStringAttr(llvm::toHex(block.unknown)));
  if (index == 0) return list.getDictionary(context_);
  const BlockInterface& interface = analysis_.interface(index);
  if (!orphan) list.set("captures", names(interface.captures.getArrayRef()));
  list.set("locals", names(interface.locals.getArrayRef()));
  if (!orphan) list.set("written", names(interface.written.getArrayRef()));
  list.set("saved", names(interface.saved.getArrayRef()));
  return list.getDictionary(context_);
}

//===----------------------------------------------------------------------===//
// Cells
//===----------------------------------------------------------------------===//

// The value that a name has now. A name without one is a persistable (a pd.get at its first read,
// shared by later ones until it is set), a feed (in the main block, where an op needs the value),
// or nothing that anybody has written (pd.undef).
Value Importer::read(int block, Name name, Cells& cells, bool strong) {
  auto found = cells.values.find(name);
  if (found != cells.values.end()) return found->second;
  const WireVar* var = analysis_.resolve(block, name);
  mlir::Type type = typeOf(block, name);
  if (var && var->persistable.value_or(false)) {
    Value& value = cells.persistables[name];
    if (!value)
      value =
          pd::GetOp::create(builder_, unknown_, type, mlir::FlatSymbolRefAttr::get(nameAttr(name)));
    return value;
  }
  Value& value = cells.values[name];
  bool fed = block == 0 && var && pd::tensorOf(type) && !llvm::isa<pd::ArrayType>(type) &&
             (strong || var->needCheckFeed.value_or(false));
  if (!fed) return value = pd::UndefOp::create(builder_, unknown_, type, nameAttr(name));
  mlir::OpBuilder::InsertionGuard guard(builder_);
  if (lastInput_) builder_.setInsertionPointAfter(lastInput_);
  auto input = pd::InputOp::create(builder_, unknown_, type, nameAttr(name));
  lastInput_ = input;
  return value = input;
}

// A block op sets persistables inside its region; after it they are read anew.
void Importer::write(int block, Name name, Value value, Cells& cells, bool inRegion) {
  if (!analysis_.isPersistable(block, name)) {
    cells.values[name] = value;
    return;
  }
  if (inRegion) return;
  pd::SetOp::create(builder_, unknown_, mlir::FlatSymbolRefAttr::get(nameAttr(name)), value);
  cells.persistables[name] = value;
}

// Persistables are forgotten after the regions: they may have been set inside.
mlir::LogicalResult Importer::importRegions(int block, int index, mlir::Operation* op,
                                            Cells& cells) {
  llvm::SmallVector<Attribute> descriptions;
  for (auto [child, region] : llvm::zip_equal(analysis_.owned(block, index), op->getRegions())) {
    descriptions.push_back(describeBlock(child, false));
    if (mlir::failed(fillRegion(child, region))) return mlir::failure();
  }
  op->setAttr("blocks", builder_.getArrayAttr(descriptions));
  cells.persistables.clear();
  return mlir::success();
}

// A block that no op owns is kept as the region of an op of its own, so that an export can write it
// again.
mlir::LogicalResult Importer::importOrphan(int index) {
  mlir::OperationState state(at(index, 0), "pd.orphan_block");
  state.addAttribute("ins", builder_.getArrayAttr({}));
  state.addAttribute("outs", builder_.getArrayAttr({}));
  state.addAttribute("attrs", builder_.getDictionaryAttr({}));
  state.addAttribute("blocks", builder_.getArrayAttr({describeBlock(index, true)}));
  state.addRegion();
  return fillRegion(index, builder_.create(state)->getRegion(0));
}

// The region's arguments are the first values of its names; at its end it yields what was written,
// then what the block's gradient will read. A snapshot is such a value as it was when the block
// began.
mlir::LogicalResult Importer::fillRegion(int index, mlir::Region& region) {
  mlir::OpBuilder::InsertionGuard guard(builder_);
  mlir::Block* body = builder_.createBlock(&region);
  const BlockInterface& interface = analysis_.interface(index);
  Cells cells;
  for (const auto* list : {&interface.captures, &interface.locals})
    for (Name name : *list) cells.values[name] = body->addArgument(typeOf(index, name), unknown_);
  llvm::DenseMap<Name, Value> snapshots;
  for (Name name : interface.snapshots) snapshots[name] = cells.values[name];
  if (mlir::failed(importBlock(index, cells))) return mlir::failure();
  llvm::SmallVector<Value> yields;
  for (Name name : interface.written) yields.push_back(read(index, name, cells, false));
  for (Name name : interface.saved)
    yields.push_back(snapshots.contains(name) ? snapshots[name] : read(index, name, cells, false));
  pd::YieldOp::create(builder_, unknown_, yields);
  return mlir::success();
}

// Declarations first, as in the file; inputs are put after them, in front of all ops.
mlir::LogicalResult Importer::importBlock(int index, Cells& cells) {
  const WireBlock& block = program_.blocks[index];
  for (const WireVar& var : block.vars) importDecl(var);
  if (index == 0 && !builder_.getInsertionBlock()->empty())
    lastInput_ = &builder_.getInsertionBlock()->back();
  cells.values.reserve(block.vars.size());
  for (int i = 0; i < static_cast<int>(block.ops.size()); ++i)
    if (mlir::failed(importOp(index, i, cells))) return mlir::failure();
  return mlir::success();
}

mlir::FailureOr<pd::ProgramOp> importProgram(mlir::ModuleOp module, llvm::StringRef bytes,
                                             const ImportOptions& options) {
  WireProgram program;
  std::string why = readWire(bytes, options.budget, program);
  if (!why.empty())
    return mlir::emitError(mlir::FileLineColLoc::get(module.getContext(), options.file, 0, 0))
           << "not a ProgramDesc: " << why;
  if (program.lostFields > 0)
    mlir::emitWarning(mlir::FileLineColLoc::get(module.getContext(), options.file, 0, 0))
        << "has " << program.lostFields
        << " fields within slots, attributes or versions that no known format has; they are not "
           "kept";
  return Importer(module, program, options).run();
}

}  // namespace dtranspile
