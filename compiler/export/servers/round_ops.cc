#include "compiler/export/edit.h"
#include "compiler/export/servers/round_writer.h"
#include "dialects/pd/types.h"

namespace dtranspile {

using mlir::LogicalResult;
using mlir::Operation;
using mlir::Value;

namespace {

// A `?` that stands for the rows of a block.
mlir::Type withRows(mlir::Type type, int64_t rows) {
  auto tensor = llvm::dyn_cast<mlir::RankedTensorType>(type);
  if (!tensor || tensor.getRank() == 0 || !tensor.isDynamicDim(0)) return type;
  llvm::SmallVector<int64_t> shape(tensor.getShape());
  shape[0] = rows;
  return mlir::RankedTensorType::get(shape, tensor.getElementType());
}

}  // namespace

// A value in the part that is being written: known already, or read from the variable that hands it
// on, or undefined as it was.
Value RoundWriter::use(Value value) {
  if (Value known = map_.lookupOrNull(value)) return known;
  Operation* maker = value.getDefiningOp();
  Value here;
  if (auto undef = llvm::dyn_cast_or_null<pd::UndefOp>(maker)) {
    here = builder_.clone(*undef)->getResult(0);
  } else {
    auto get = llvm::dyn_cast_or_null<pd::GetOp>(maker);
    auto kept = kept_.find(value);
    const std::string name = kept != kept_.end() ? kept->second : get.getVar().str();
    here = pd::GetOp::create(builder_, value.getLoc(), value.getType(), symbol(name));
  }
  map_.map(value, here);
  return here;
}

// Whether another part takes the value: each part becomes a block of listen_and_serv, which runs in
// a scope of its own.
bool RoundWriter::crosses(Value value) {
  return llvm::any_of(value.getUsers(), [&](Operation* user) {
    return user != plan_.round->getTerminator() && partOf(user) != part_;
  });
}

void RoundWriter::keep(Value original, Value here) {
  if (!crosses(original) || kept_.contains(original)) return;
  std::string name = pd::nameOf(here).str();
  if (!handedOn_.contains(name)) {
    name = declarations_.freshName(top(), name + ".kept");
    addVariable(name, here.getType());
  }
  setVariable(builder_, declarations_, loc_, name, here, pd::kOptimize);
  kept_[original] = name;
}

// An op of the job where it stands in a block of listen_and_serv. `block` is the block of a table
// that the op works on, null outside of loops. Reads of variables are made anew in each part;
// values that a later part takes are handed on in variables (keep), since the framework clears what
// is local to a block at its end.
LogicalResult RoundWriter::writeOp(Operation* op, const Block* block) {
  if (auto set = llvm::dyn_cast<pd::SetOp>(op)) return writeSet(set, block);
  if (auto get = llvm::dyn_cast<pd::GetOp>(op)) return writeGet(get, block);
  if (auto merged = llvm::dyn_cast<dist::MergedOp>(op)) return writeMerged(merged, block);
  if (auto copy = llvm::dyn_cast<dist::CopyOp>(op);
      copy && copy.getOutput().getType() == copy.getInput().getType()) {
    map_.map(copy.getOutput(), use(copy.getInput()));
    if (!block) keep(copy.getOutput(), use(copy.getInput()));
    return mlir::success();
  }
  if (!pd::OpView::isFrameworkOp(op) && !llvm::isa<pd::UndefOp>(op))
    return op->emitError("export: ")
           << op->getName() << " has no translation into operators of the framework's servers";
  if (pd::OpView::isFrameworkOp(op) && pd::OpView(op).type() == "select_input")
    return op->emitError(
        "export: selects what a round sets (select-updates, of amp and lookahead), and the "
        "framework's updates work in place; make the job without them, or with amp_dtype bfloat16");
  if (!block && mlir::failed(checkWholes(op))) return mlir::failure();
  for (Value value : takenBy(op)) map_.map(value, use(value));
  if (!block)
    forVariables(op, [&](llvm::StringRef name, bool sets) {
      if (sets) keepOlder(name, op);
    });
  Operation* copy = builder_.clone(*op, map_);
  copy->removeAttr(dist::kSrcAttr);
  copy->removeAttr(dist::kRelAttr);
  if (pd::OpView::isFrameworkOp(op)) finishCopy(op, copy, block);
  for (auto [original, here] : llvm::zip(op->getResults(), copy->getResults())) {
    map_.map(original, here);
    if (!block) keep(original, here);
  }
  return mlir::success();
}

// Outside of a loop over blocks there is no one block that a read or set of a table could mean.
LogicalResult RoundWriter::checkWholes(Operation* op) {
  LogicalResult good = mlir::success();
  forVariables(op, [&](llvm::StringRef name, bool) {
    if (tables_.find(name) && mlir::succeeded(good))
      good = op->emitError("export: '")
             << name
             << "' is cut into blocks: the framework's servers see one of them at a "
                "time; read and set it inside of dist.foreach_block";
  });
  return good;
}

// A loop over the blocks of one table may touch others with the same layout: the block of the same
// number, which must be on this server as well.
const Block* RoundWriter::blockOf(Operation* op, const Table& table, const Block& block) {
  const auto number = static_cast<size_t>(block.number);
  if (number < table.blocks.size() && table.blocks[number].server == server_)
    return &table.blocks[number];
  op->emitError("export: block ")
      << block.number << " of '" << table.name
      << "' is on another server than that of the loop: give both variables one layout";
  return nullptr;
}

LogicalResult RoundWriter::writeGet(pd::GetOp get, const Block* block) {
  const Table* table = tables_.find(get.getVar());
  if (!block || !table) return (void)use(get.getValue()), mlir::success();
  const Block* own = blockOf(get, *table, *block);
  if (!own) return mlir::failure();
  map_.map(get.getValue(), pd::GetOp::create(builder_, get.getLoc(), table->typeOf(*own),
                                             symbol(table->blockName(*own))));
  return mlir::success();
}

// A set of a table inside of a loop writes this server's block of it, under the block's name.
LogicalResult RoundWriter::writeSet(pd::SetOp set, const Block* block) {
  const Table* table = tables_.find(set.getVar());
  if (!block && mlir::failed(checkWholes(set))) return mlir::failure();
  if (!block) keepOlder(set.getVar(), set);
  std::string name = set.getVar().str();
  if (table) {
    const Block* own = blockOf(set, *table, *block);
    if (!own) return mlir::failure();
    name = table->blockName(*own);
  }
  setVariable(builder_, declarations_, set.getLoc(), name, use(set.getValue()), pd::kOptimize);
  return mlir::success();
}

size_t RoundWriter::partOf(Operation* op) {
  while (!partOf_.contains(op)) op = op->getParentOp();
  return partOf_.lookup(op);
}

// Before a variable is set: whoever reads the value from before in a later part gets it through a
// variable of its own.
void RoundWriter::keepOlder(llvm::StringRef name, Operation* at) {
  for (auto get : plan_.round->getOps<pd::GetOp>()) {
    if (get.getVar() != name || !get->isBeforeInBlock(at)) continue;
    bool later = false, wanted = false;
    for (Operation* user : get->getUsers()) {
      if (llvm::isa<dist::YieldOp>(user) && user->getBlock() == plan_.round) continue;
      later |= partOf(user) > part_;
      wanted |= partOf(user) >= part_;
    }
    if (!wanted) continue;
    Value here = use(get.getValue());
    if (later) keep(get.getValue(), here);
  }
}

// The sum of what trainers have sent, scaled to their mean where they push it so. The framework's
// server keeps what each trainer sends in a variable of its own and adds nothing up by itself.
LogicalResult RoundWriter::writeMerged(dist::MergedOp merged, const Block* block) {
  const Table* table = tables_.find(merged.getVar());
  if (!block || !table || table->gradient.empty())
    return merged.emitError("export: '")
           << merged.getVar()
           << (block ? "' has no gradient that a trainer pushes"
                     : "' is merged outside of dist.foreach_block: the framework's servers see "
                       "one block at a time");
  const Block* found = blockOf(merged, *table, *block);
  if (!found) return mlir::failure();
  const Block& own = *found;
  const std::string name = table->gradientName(own);
  const mlir::Type type = table->gradientTypeOf(own);
  gradientBlocks_.push_back(name + ":" + std::to_string(index_));
  if (llvm::isa<pd::RowsType>(type)) rowGradients_.push_back(name + ":" + table->blockName(own));
  Value value;
  if (!tables_.sums()) {
    value = pd::GetOp::create(builder_, merged.getLoc(), type, symbol(name));
  } else {
    std::vector<Value> terms;
    for (int64_t trainer = 0; trainer < tables_.trainers(); ++trainer)
      terms.push_back(capture(table->sentName(own, trainer), type));
    const pd::OutputSlot out = {"Out", {{name, type}}};
    value = declarations_
                .create(builder_, merged.getLoc(), "sum", {{"X", terms}}, {out},
                        {named("use_mkldnn", builder_.getBoolAttr(false))}, pd::kForward)
                .output("Out");
    if (table->merge == dist::Merge::Mean)
      value = declarations_
                  .create(builder_, merged.getLoc(), "scale", {{"X", {value}}}, {out},
                          {named("scale", builder_.getF32FloatAttr(
                                              1.0f / static_cast<float>(tables_.trainers())))},
                          pd::kForward)
                  .output("Out");
    setVariable(builder_, declarations_, merged.getLoc(), name, value, pd::kOptimize);
  }
  map_.map(merged.getOutput(), value);
  return mlir::success();
}

Value RoundWriter::capture(const std::string& name, mlir::Type type) {
  for (const auto& [known, argument] : captured_.back())
    if (known == name) return argument;
  Value argument = builder_.getInsertionBlock()->addArgument(type, loc_);
  captured_.back().push_back({name, argument});
  return argument;
}

// The body once per block of this server, unrolled: a carried value is the result of the turn
// before.
LogicalResult RoundWriter::writeLoop(dist::ForeachBlockOp loop) {
  const Table* table = tables_.find(loop.getVar());
  if (!table) return loop.emitError("export: '") << loop.getVar() << "' is not cut into blocks";
  mlir::Block& body = loop.getBody().front();
  llvm::SmallVector<Value> carried;
  for (Value init : loop.getInits()) carried.push_back(use(init));
  for (const Block* block : table->on(server_)) {
    if (!body.getArgument(0).use_empty())
      map_.map(body.getArgument(0), constant(loop.getLoc(), block->number));
    for (auto [argument, value] : llvm::zip(body.getArguments().drop_front(), carried))
      map_.map(argument, value);
    for (Operation& op : body.without_terminator())
      if (mlir::failed(writeOp(&op, block))) return mlir::failure();
    carried.clear();
    for (Value value : body.getTerminator()->getOperands()) carried.push_back(use(value));
  }
  for (auto [result, value] : llvm::zip(loop.getResults(), carried)) {
    map_.map(result, value);
    keep(result, value);
  }
  return mlir::success();
}

Value RoundWriter::constant(mlir::Location loc, int64_t value) {
  auto type = mlir::RankedTensorType::get({1}, builder_.getI64Type());
  const std::string name = declarations_.freshName(builder_.getInsertionBlock(), "block_number");
  return declarations_
      .create(builder_, loc, "fill_constant", {}, {{"Out", {{name, type}}}},
              {named("shape", builder_.getDenseI64ArrayAttr({1})),
               number("dtype", static_cast<int64_t>(DType::kInt64)),
               named("value", builder_.getF32FloatAttr(static_cast<float>(value)))},
              pd::kOptimize)
      .output("Out");
}

void RoundWriter::finishCopy(Operation* original, Operation* copy, const Block* block) {
  if (block) giveRows(copy, block->rows);
  renameResults(copy, [&](mlir::OpResult result, llvm::StringRef name) {
    std::string here = nameHere(original, name, block);
    // What later blocks take is no variable of this one, which the framework would clear.
    const Value meant = original->getResult(result.getResultNumber());
    if (!block && !declarations_.find(top(), here) && crosses(meant)) {
      handedOn_.insert(here);
      addVariable(here, result.getType());
    }
    declarations_.declare(copy->getBlock(), here, result.getType());
    return here;
  });
  renumber(copy, index_);
}

// Within a block tensors that have a row for each of the block's have its number of rows, also
// where a shape is an attribute.
void RoundWriter::giveRows(Operation* op, int64_t rows) {
  bool changed = false;
  for (Value result : op->getResults()) {
    const mlir::Type type = withRows(result.getType(), rows);
    changed |= type != result.getType();
    result.setType(type);
  }
  pd::OpView view(op);
  if (!changed || !view.hasAttr("shape")) return;
  mlir::Attribute shape = view.attr("shape");
  if (auto list = llvm::dyn_cast<mlir::DenseI64ArrayAttr>(shape); list && !list.empty()) {
    llvm::SmallVector<int64_t> dims(list.asArrayRef());
    dims[0] = rows;
    view.setAttr("shape", mlir::DenseI64ArrayAttr::get(op->getContext(), dims));
  } else if (auto ints = llvm::dyn_cast<mlir::DenseI32ArrayAttr>(shape); ints && !ints.empty()) {
    llvm::SmallVector<int32_t> dims(ints.asArrayRef());
    dims[0] = static_cast<int32_t>(rows);
    view.setAttr("shape", mlir::DenseI32ArrayAttr::get(op->getContext(), dims));
  }
}

bool RoundWriter::isSetBehind(Operation* op, llvm::StringRef name) {
  for (; op; op = op->getNextNode())
    if (auto set = llvm::dyn_cast<pd::SetOp>(op); set && set.getVar() == name) return true;
  return false;
}

// Names of results in one server's program: the variable itself where the result is what it is set
// to afterwards, its block's name within a loop, else the job's name, numbered where another part
// has taken it. The framework finds variables by name in the enclosing blocks, so that two parts
// must not share one.
std::string RoundWriter::nameHere(Operation* original, llvm::StringRef name, const Block* block) {
  const Table* table = tables_.find(name);
  const bool variable = table || plan_.variables.contains(name);
  // Blocks of control flow write their results by these names.
  if (original->getNumRegions() != 0) return name.str();
  if (variable && isSetBehind(original, name))
    return table && block ? table->blockName(table->blocks[block->number]) : name.str();
  for (const Table& one : tables_.tables())
    if (one.gradient == name && block) return one.gradientName(one.blocks[block->number]);
  mlir::Block* here = builder_.getInsertionBlock();
  if (variable) return declarations_.freshName(here, (name + ".unused").str());
  auto [found, isNew] = ownerOfName_.try_emplace(name, part_);
  if (found->second == part_) return name.str();
  std::string fresh;
  int k = 0;
  do fresh = (name + "_" + llvm::Twine(k++)).str();
  while (ownerOfName_.try_emplace(fresh, part_).first->second != part_);
  return fresh;
}

// Blocks of control flow get numbers in this program, depth first, and attributes that name them
// follow.
void RoundWriter::renumber(Operation* op, int parent) {
  auto blocks = op->getAttrOfType<mlir::ArrayAttr>("blocks");
  if (!blocks) return;
  llvm::DenseMap<int, int> numbers;
  llvm::SmallVector<mlir::Attribute> described;
  for (auto [region, description] : llvm::zip(op->getRegions(), blocks)) {
    mlir::NamedAttrList fields(llvm::cast<mlir::DictionaryAttr>(description));
    const int index = nextIndex_++;
    if (auto old = llvm::dyn_cast_or_null<mlir::IntegerAttr>(fields.get("idx")))
      numbers[static_cast<int>(old.getInt())] = index;
    fields.set("idx", builder_.getI32IntegerAttr(index));
    fields.set("parent", builder_.getI32IntegerAttr(parent));
    described.push_back(fields.getDictionary(op->getContext()));
    for (Operation& inner : region.front()) renumber(&inner, index);
  }
  op->setAttr("blocks", builder_.getArrayAttr(described));
  mlir::NamedAttrList attributes(op->getAttrOfType<mlir::DictionaryAttr>("attrs"));
  for (mlir::NamedAttribute attribute : llvm::to_vector(attributes)) {
    auto one = llvm::dyn_cast<pd::BlockAttr>(attribute.getValue());
    if (one && numbers.contains(one.getIdx()))
      attributes.set(attribute.getName(),
                     pd::BlockAttr::get(op->getContext(), numbers[one.getIdx()]));
  }
  op->setAttr("attrs", attributes.getDictionary(op->getContext()));
}

}  // namespace dtranspile
