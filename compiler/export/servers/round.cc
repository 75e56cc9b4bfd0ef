#include "compiler/export/servers/round.h"

#include "compiler/export/servers/edit.h"
#include "dialects/pd/types.h"
#include "llvm/ADT/StringSet.h"
#include "mlir/IR/IRMapping.h"

namespace dtranspile {
namespace {

using mlir::LogicalResult;
using mlir::Operation;
using mlir::Value;

// As many threads as the framework's own transpiler asks for.
constexpr int kRpcThreads = 12;

// A `?` that stands for the rows of a block.
mlir::Type withRows(mlir::Type type, int64_t rows) {
  auto tensor = llvm::dyn_cast<mlir::RankedTensorType>(type);
  if (!tensor || tensor.getRank() == 0 || !tensor.isDynamicDim(0)) return type;
  llvm::SmallVector<int64_t> shape(tensor.getShape());
  shape[0] = rows;
  return mlir::RankedTensorType::get(shape, tensor.getElementType());
}

class RoundWriter {
 public:
  RoundWriter(pd::ProgramOp main, const RoundPlan& plan, const Tables& tables, int64_t server,
              mlir::Location loc)
      : main_(main),
        plan_(plan),
        tables_(tables),
        server_(server),
        loc_(loc),
        builder_(mlir::OpBuilder::atBlockEnd(main.getBodyBlock())) {}

  LogicalResult run() {
    declareVariables();
    receiveGradients();
    for (const auto& [number, part] : llvm::enumerate(plan_.parts))
      for (Operation* op : part.ops) partOf_[op] = number;
    makeServer();
    int parent = 0, group = 0;
    for (const auto& [number, part] : llvm::enumerate(plan_.parts)) {
      if (part.group != group) parent = nextIndex_ - 1;
      group = part.group;
      if (mlir::failed(writePart(number, parent))) return mlir::failure();
    }
    if (plan_.parts.empty()) writeEmpty();
    finishServer();
    return mlir::success();
  }

 private:
  mlir::NamedAttribute named(llvm::StringRef name, mlir::Attribute value) {
    return builder_.getNamedAttr(name, value);
  }
  mlir::NamedAttribute number(llvm::StringRef name, int64_t value) {
    return named(name, builder_.getI32IntegerAttr(static_cast<int32_t>(value)));
  }
  mlir::Block* top() { return main_.getBodyBlock(); }
  mlir::FlatSymbolRefAttr symbol(llvm::StringRef name) {
    return mlir::FlatSymbolRefAttr::get(builder_.getContext(), name);
  }

  void declare(llvm::StringRef name, mlir::Type type, bool persistable) {
    declarations_.declare(top(), name, type);
    declarations_.find(top(), name).setPersistable(persistable);
  }

  void declareVariables() {
    for (auto var : main_->getParentOfType<mlir::ModuleOp>().getOps<pd::VarOp>())
      declare(var.getSymName(), var.getType(), /*persistable=*/true);
  }

  void addVariable(llvm::StringRef name, mlir::Type type) {
    mlir::OpBuilder before(main_);
    pd::VarOp::create(before, loc_, before.getStringAttr(name), mlir::TypeAttr::get(type),
                      mlir::UnitAttr());
    declare(name, type, /*persistable=*/true);
  }

  // What trainers send, and what it is merged into.
  void receiveGradients() {
    for (const Table& table : tables_.tables()) {
      if (table.gradient.empty()) continue;
      for (const Block* block : table.on(server_)) {
        const mlir::Type type = table.gradientTypeOf(*block);
        const std::string name = table.gradientName(*block);
        addVariable(name, type);
        if (tables_.trainers() == 1) {
          received_.push_back(pd::GetOp::create(builder_, loc_, type, symbol(name)));
          continue;
        }
        for (int64_t trainer = 0; trainer < tables_.trainers(); ++trainer) {
          const std::string sent = table.sentName(*block, trainer);
          declare(sent, type, /*persistable=*/false);
          received_.push_back(
              pd::InputOp::create(builder_, loc_, type, builder_.getStringAttr(sent)));
          receivedByName_[sent] = received_.back();
        }
      }
    }
  }

  void makeServer() {
    mlir::OperationState state(loc_, "pd.listen_and_serv");
    for (size_t i = 0; i < std::max<size_t>(1, plan_.parts.size()); ++i)
      state.addRegion()->emplaceBlock();
    state.addAttribute("ins", builder_.getArrayAttr({}));
    state.addAttribute("outs", builder_.getArrayAttr({}));
    server_op_ = builder_.create(state);
  }

  LogicalResult writePart(size_t number, int parent) {
    mlir::Region& region = server_op_->getRegion(static_cast<unsigned>(number));
    part_ = number;
    index_ = nextIndex_++;
    map_.clear();
    captured_.emplace_back();
    builder_.setInsertionPointToEnd(&region.front());
    for (Operation* op : plan_.parts[number].ops)
      if (mlir::failed(llvm::isa<dist::ForeachBlockOp>(op)
                           ? writeLoop(llvm::cast<dist::ForeachBlockOp>(op))
                           : writeOp(op, /*block=*/nullptr)))
        return mlir::failure();
    endBlock(parent);
    return mlir::success();
  }

  void writeEmpty() {
    index_ = nextIndex_++;
    captured_.emplace_back();
    builder_.setInsertionPointToEnd(&server_op_->getRegion(0).front());
    endBlock(0);
  }

  void endBlock(int parent) {
    pd::YieldOp::create(builder_, loc_, mlir::ValueRange());
    llvm::SmallVector<llvm::StringRef> names;
    for (const auto& [name, argument] : captured_.back()) names.push_back(name);
    mlir::ArrayAttr none = builder_.getArrayAttr({});
    described_.push_back(builder_.getDictionaryAttr(
        {named("captures", builder_.getStrArrayAttr(names)),
         named("idx", builder_.getI32IntegerAttr(index_)), named("locals", none),
         named("parent", builder_.getI32IntegerAttr(parent)), named("saved", none),
         named("written", none)}));
    optimizeBlocks_.push_back(index_);
  }

  // The value of the round where this block can take it.
  Value use(Value value) {
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

  // Whether a block behind this one takes a value.
  bool crosses(Value value) {
    return llvm::any_of(value.getUsers(), [&](Operation* user) {
      return user != plan_.round->getTerminator() && partOf(user) != part_;
    });
  }

  // Leaves a value to later blocks, in a variable of its own.
  void keep(Value original, Value here) {
    if (!crosses(original) || kept_.contains(original)) return;
    std::string name = pd::nameOf(here).str();
    if (!handedOn_.contains(name)) {
      name = declarations_.freshName(top(), name + ".kept");
      addVariable(name, here.getType());
    }
    setVariable(builder_, declarations_, loc_, name, here, pd::kOptimize);
    kept_[original] = name;
  }

  LogicalResult writeOp(Operation* op, const Block* block) {
    if (auto set = llvm::dyn_cast<pd::SetOp>(op)) return writeSet(set, block);
    if (auto get = llvm::dyn_cast<pd::GetOp>(op)) return writeGet(get, block);
    if (auto merged = llvm::dyn_cast<dist::MergedOp>(op)) return writeMerged(merged, block);
    if (auto copy = llvm::dyn_cast<dist::CopyOp>(op);
        copy && copy.getOutput().getType() == copy.getInput().getType()) {
      map_.map(copy.getOutput(), use(copy.getInput()));
      return mlir::success();
    }
    if (!pd::OpView::isFrameworkOp(op) && !llvm::isa<pd::UndefOp>(op))
      return op->emitError("export: ")
             << op->getName() << " has no translation into operators of the framework's servers";
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

  // A cut variable has no meaning outside of the loops over its blocks.
  LogicalResult checkWholes(Operation* op) {
    LogicalResult good = mlir::success();
    forVariables(op, [&](llvm::StringRef name, bool) {
      if (tables_.find(name) && mlir::succeeded(good))
        good = op->emitError("export: '")
               << name << "' is cut into blocks: the framework's servers see one of them at a "
                          "time; read and set it inside of dist.foreach_block";
    });
    return good;
  }

  LogicalResult writeGet(pd::GetOp get, const Block* block) {
    const Table* table = tables_.find(get.getVar());
    if (!block || !table) return (void)use(get.getValue()), mlir::success();
    const Block& own = table->blocks[block->number];
    map_.map(get.getValue(), pd::GetOp::create(builder_, get.getLoc(), table->typeOf(own),
                                               symbol(table->blockName(own))));
    return mlir::success();
  }

  LogicalResult writeSet(pd::SetOp set, const Block* block) {
    const Table* table = tables_.find(set.getVar());
    if (!block && mlir::failed(checkWholes(set))) return mlir::failure();
    if (!block) keepOlder(set.getVar(), set);
    std::string name = set.getVar().str();
    if (table) name = table->blockName(table->blocks[block->number]);
    setVariable(builder_, declarations_, set.getLoc(), name, use(set.getValue()), pd::kOptimize);
    return mlir::success();
  }

  size_t partOf(Operation* op) {
    while (!partOf_.contains(op)) op = op->getParentOp();
    return partOf_.lookup(op);
  }

  // What has been read of a variable before `at` sets it stays what it is, here and in later blocks.
  void keepOlder(llvm::StringRef name, Operation* at) {
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

  // Σ over trainers in the order of their ranks, times 1/N for a mean.
  LogicalResult writeMerged(dist::MergedOp merged, const Block* block) {
    const Table* table = tables_.find(merged.getVar());
    if (!block || !table || table->gradient.empty())
      return merged.emitError("export: '")
             << merged.getVar()
             << (block ? "' has no gradient that a trainer pushes"
                       : "' is merged outside of dist.foreach_block: the framework's servers see "
                         "one block at a time");
    const Block& own = table->blocks[block->number];
    const std::string name = table->gradientName(own);
    const mlir::Type type = table->gradientTypeOf(own);
    gradientBlocks_.push_back(name + ":" + std::to_string(index_));
    if (llvm::isa<pd::RowsType>(type)) rowGradients_.push_back(name + ":" + table->blockName(own));
    Value value;
    if (tables_.trainers() == 1) {
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

  Value capture(const std::string& name, mlir::Type type) {
    for (const auto& [known, argument] : captured_.back())
      if (known == name) return argument;
    Value argument = builder_.getInsertionBlock()->addArgument(type, loc_);
    captured_.back().push_back({name, argument});
    return argument;
  }

  // Its body, once for each block of the server.
  LogicalResult writeLoop(dist::ForeachBlockOp loop) {
    const Table* table = tables_.find(loop.getVar());
    if (!table)
      return loop.emitError("export: '") << loop.getVar() << "' is not cut into blocks";
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

  Value constant(mlir::Location loc, int64_t value) {
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

  // Names, types and numbers of blocks as they are on this server.
  void finishCopy(Operation* original, Operation* copy, const Block* block) {
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

  static void giveRows(Operation* op, int64_t rows) {
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

  static bool isSetBehind(Operation* op, llvm::StringRef name) {
    for (; op; op = op->getNextNode())
      if (auto set = llvm::dyn_cast<pd::SetOp>(op); set && set.getVar() == name) return true;
    return false;
  }

  // Results are variables of the server, where they go there; else they have a name that no other
  // block has, for all blocks run in one scope.
  std::string nameHere(Operation* original, llvm::StringRef name, const Block* block) {
    const Table* table = tables_.find(name);
    const bool variable = table || plan_.variables.contains(name) || declarations_.find(top(), name);
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

  // Blocks of control flow are numbered behind the block that they stand in.
  void renumber(Operation* op, int parent) {
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

  // The schedule of the learning rate is the first block, where that runs alone.
  int scheduleBlock() {
    if (plan_.parts.empty()) return -1;
    for (Operation* op : plan_.parts.front().ops)
      if (pd::OpView::isFrameworkOp(op) && (pd::OpView(op).role() & pd::kLrSched) != 0) return 1;
    return -1;
  }

  void finishServer() {
    llvm::SmallVector<mlir::Attribute> slots;
    llvm::SmallVector<Value> operands;
    auto addSlot = [&](llvm::StringRef name, llvm::ArrayRef<Value> values) {
      llvm::SmallVector<mlir::StringAttr> arguments(values.size(), builder_.getStringAttr(""));
      slots.push_back(
          pd::SlotAttr::get(builder_.getContext(), builder_.getStringAttr(name), arguments));
      operands.append(values.begin(), values.end());
    };
    for (const auto& captures : captured_) {
      llvm::SmallVector<Value> values;
      for (const auto& [name, argument] : captures) values.push_back(receivedByName_[name]);
      addSlot("$capture", values);
    }
    addSlot("X", received_);
    server_op_->setOperands(operands);
    auto strings = [&](llvm::StringRef name, const std::vector<std::string>& list) {
      llvm::SmallVector<llvm::StringRef> texts(list.begin(), list.end());
      return named(name, builder_.getStrArrayAttr(texts));
    };
    std::vector<mlir::NamedAttribute> attributes = {
        number("Fanin", tables_.trainers()),
        number("checkpint_block_id", -1),
        named("dc_asgd", builder_.getBoolAttr(false)),
        number("distributed_mode", 0),
        named("endpoint", builder_.getStringAttr(tables_.endpoints()[server_])),
        strings("grad_to_block_id", gradientBlocks_),
        number("lr_decay_block_id", scheduleBlock()),
        number("op_role", pd::kForward),
        named("optimize_blocks",
              pd::BlocksAttr::get(builder_.getContext(),
                                  builder_.getDenseI32ArrayAttr(optimizeBlocks_))),
        strings("prefetch_var_name_to_block_id", {}),
        number("pserver_id", server_),
        number("rpc_get_thread_num", kRpcThreads),
        number("rpc_prefetch_thread_num", kRpcThreads),
        number("rpc_send_thread_num", kRpcThreads),
        strings("sparse_grad_to_param", rowGradients_)};
    server_op_->setAttr("ins", builder_.getArrayAttr(slots));
    server_op_->setAttr("attrs", mlir::DictionaryAttr::get(builder_.getContext(), attributes));
    server_op_->setAttr("blocks", builder_.getArrayAttr(described_));
  }

  pd::ProgramOp main_;
  const RoundPlan& plan_;
  const Tables& tables_;
  int64_t server_;
  mlir::Location loc_;
  mlir::OpBuilder builder_;
  pd::Declarations declarations_;
  Operation* server_op_ = nullptr;
  std::vector<Value> received_;
  llvm::StringMap<Value> receivedByName_;
  llvm::DenseMap<Operation*, size_t> partOf_;
  size_t part_ = 0;                       // the block that is written, among the plan's
  int index_ = 0, nextIndex_ = 1;         // its number in the program, and the next one
  mlir::IRMapping map_;                   // values of the round in this block
  llvm::DenseMap<Value, std::string> kept_;  // variables that hand values to later blocks
  llvm::StringSet<> handedOn_;               // of them, those that ops of the round write
  llvm::StringMap<size_t> ownerOfName_;   // of names that are no variables
  std::vector<std::vector<std::pair<std::string, Value>>> captured_;
  llvm::SmallVector<mlir::Attribute> described_;
  llvm::SmallVector<int32_t> optimizeBlocks_;
  std::vector<std::string> gradientBlocks_, rowGradients_;
};

}  // namespace

mlir::LogicalResult writeRound(pd::ProgramOp main, const RoundPlan& plan, const Tables& tables,
                               int64_t server, mlir::Location loc) {
  return RoundWriter(main, plan, tables, server, loc).run();
}

}  // namespace dtranspile
