#include "compiler/export/servers/round.h"

#include "compiler/export/servers/round_writer.h"

namespace dtranspile {

using mlir::Operation;
using mlir::Value;

namespace {

// As many threads as the framework's own transpiler asks for.
constexpr int kRpcThreads = 12;
// What the framework calls servers with rounds, and those that apply what comes without its
// communicator on trainers.
constexpr int kSyncMode = 0, kHalfAsyncMode = 2;

}  // namespace

// The parts of the round (planRound) in their order, each a block of listen_and_serv. The
// framework's server runs the blocks of one group side by side and one group after the other; it
// tells groups apart by the parents of their blocks, so the parent of a group is the last block of
// the group before.
mlir::LogicalResult RoundWriter::run() {
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

void RoundWriter::declareVariables() {
  for (auto var : main_->getParentOfType<mlir::ModuleOp>().getOps<pd::VarOp>())
    declare(var.getSymName(), var.getType(), /*persistable=*/true);
}

void RoundWriter::addVariable(llvm::StringRef name, mlir::Type type) {
  mlir::OpBuilder before(main_);
  pd::VarOp::create(before, loc_, before.getStringAttr(name), mlir::TypeAttr::get(type),
                    mlir::UnitAttr());
  declare(name, type, /*persistable=*/true);
}

// One trainer's gradient, or anybody's where each is an update, arrives in the variable that the
// update reads; of several trainers in a round each has a
// variable of its own, which writeMerged adds up.
void RoundWriter::receiveGradients() {
  for (const Table& table : tables_.tables()) {
    if (table.gradient.empty()) continue;
    for (const Block* block : table.on(server_)) {
      const mlir::Type type = table.gradientTypeOf(*block);
      const std::string name = table.gradientName(*block);
      addVariable(name, type);
      if (!tables_.sums()) {
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

void RoundWriter::makeServer() {
  mlir::OperationState state(loc_, "pd.listen_and_serv");
  for (size_t i = 0; i < std::max<size_t>(1, plan_.parts.size()); ++i)
    state.addRegion()->emplaceBlock();
  state.addAttribute("ins", builder_.getArrayAttr({}));
  state.addAttribute("outs", builder_.getArrayAttr({}));
  server_op_ = builder_.create(state);
}

// Blocks see only what they capture by name, so values are forgotten between parts.
mlir::LogicalResult RoundWriter::writePart(size_t number, int parent) {
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

void RoundWriter::writeEmpty() {
  index_ = nextIndex_++;
  captured_.emplace_back();
  builder_.setInsertionPointToEnd(&server_op_->getRegion(0).front());
  endBlock(0);
}

// The block as the importer would describe it.
void RoundWriter::endBlock(int parent) {
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

// Block 1, where the first part holds the learning-rate schedule: the framework runs it once before
// all others; -1 where there is none.
int RoundWriter::scheduleBlock() {
  if (plan_.parts.empty()) return -1;
  for (Operation* op : plan_.parts.front().ops)
    if (pd::OpView::isFrameworkOp(op) && (pd::OpView(op).role() & pd::kLrSched) != 0) return 1;
  return -1;
}

// Operands and attributes, once all blocks are known: what they capture, which gradient belongs to
// which block. `checkpint` is how the framework spells it.
void RoundWriter::finishServer() {
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
      number("distributed_mode", tables_.rounds() ? kSyncMode : kHalfAsyncMode),
      named("endpoint", builder_.getStringAttr(tables_.endpoints()[server_])),
      strings("grad_to_block_id", gradientBlocks_),
      number("lr_decay_block_id", scheduleBlock()),
      number("op_role", pd::kForward),
      named("optimize_blocks", pd::BlocksAttr::get(builder_.getContext(),
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

mlir::LogicalResult writeRound(pd::ProgramOp main, const RoundPlan& plan, const Tables& tables,
                               int64_t server, mlir::Location loc) {
  return RoundWriter(main, plan, tables, server, loc).run();
}

}  // namespace dtranspile
