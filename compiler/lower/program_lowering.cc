#include "compiler/lower/program_lowering.h"

#include "compiler/lower/constants.h"
#include "compiler/lower/op_lowering.h"
#include "compiler/lower/rules.h"
#include "dialects/dist/dist.h"
#include "dialects/dist/lookup.h"
#include "dialects/pd/position.h"

namespace dtranspile::lower {

using llvm::failure;
using llvm::LogicalResult;
using llvm::success;

namespace {

bool isStatic(llvm::ArrayRef<int64_t> dims) {
  return llvm::none_of(dims, [](int64_t d) { return d < 0; });
}

// Bytes that a tensor of these dims takes, or nothing if they do not fit into 62 bits.
bool sizeFits(llvm::ArrayRef<int64_t> dims) {
  int64_t bytes = 16;
  for (int64_t d : dims) {
    if (llvm::MulOverflow(bytes, std::max<int64_t>(d, 1), bytes) || bytes > (int64_t{1} << 50))
      return false;
  }
  return true;
}

// True for ops that matter whether somebody reads their results or not, and for those with such an
// op in a region. A block that no op refers to is never run.
bool hasEffect(mlir::Operation* op) {
  if (op->getName().getStringRef() == "pd.orphan_block") return false;
  const pd::OpSpec* spec = pd::OpView(op).spec();
  if (!spec || (spec->effects & (pd::kHost | pd::kCommunicates)) != 0) return true;
  mlir::WalkResult found = op->walk([&](mlir::Operation* inner) {
    const bool effect =
        inner != op &&
        (llvm::isa<pd::SetOp>(inner) ||
         (pd::OpView::isFrameworkOp(inner) && inner->getNumRegions() == 0 && hasEffect(inner)));
    return effect ? mlir::WalkResult::interrupt() : mlir::WalkResult::advance();
  });
  return found.wasInterrupted();
}

// Draws when it runs. An op with regions says nothing about what stands in them.
bool isRandom(pd::OpView op) {
  const pd::OpSpec* spec = op.spec();
  return spec && (spec->effects & pd::kRandom) != 0 && op.operation()->getNumRegions() == 0;
}

// True if an op of `among` behind `op` reads the value, or ends an operation under way that does.
bool isReadBehind(mlir::Operation* op, mlir::Value value,
                  const llvm::DenseSet<mlir::Operation*>& among) {
  auto counts = [&](mlir::Operation* user) {
    return user->getBlock() == op->getBlock() && among.contains(user) && op->isBeforeInBlock(user);
  };
  return llvm::any_of(value.getUsers(), [&](mlir::Operation* user) {
    return counts(user) || llvm::any_of(user->getUsers(), [&](mlir::Operation* end) {
             return llvm::isa<dist::WaitOp>(end) && counts(end);
           });
  });
}

}  // namespace

// Serves inference with the infos of the lowering.
class InferAdapter : public pd::InferContext {
 public:
  InferAdapter(ProgramLowering& program, pd::OpView op) : program_(program), op_(op) {}
  const pd::OpView& op() const override { return op_; }
  const pd::TensorInfo* in(llvm::StringRef slot, unsigned index) const override {
    return infoOf(op_.input(slot, index));
  }
  using pd::InferContext::out;
  unsigned inCount(llvm::StringRef slot) const override { return op_.inputCount(slot); }
  unsigned outCount(llvm::StringRef slot) const override { return op_.outputCount(slot); }
  void out(llvm::StringRef slot, unsigned index, pd::TensorInfo info) override {
    if (mlir::Value value = op_.output(slot, index)) program_.infos_[value] = std::move(info);
  }
  std::optional<llvm::SmallVector<int64_t>> constant(llvm::StringRef slot,
                                                     unsigned index) const override {
    mlir::Value value = op_.input(slot, index);
    return value ? constantOf(value, [&](mlir::Value v) { return infoOf(v); }) : std::nullopt;
  }
  int64_t programVersion() const override { return program_.program_.getVersion(); }
  LogicalResult fail(const llvm::Twine& message) override {
    return op_.operation()->emitError() << op_.type() << ": " << message;
  }

 private:
  const pd::TensorInfo* infoOf(mlir::Value value) const {
    auto it = value ? program_.infos_.find(value) : program_.infos_.end();
    return it == program_.infos_.end() ? nullptr : &it->second;
  }
  ProgramLowering& program_;
  pd::OpView op_;
};

llvm::FailureOr<std::unique_ptr<PlanProgram>> ProgramLowering::run() {
  if (failed(findFetches())) return failure();
  markNeeded();
  if (!request_.startup) numberRandomOps();
  if (failed(checkRules())) return failure();
  for (mlir::Operation& op : *program_.getBodyBlock()) {
    if (live_.contains(&op) && failed(lowerOp(op))) return failure();
  }
  for (const auto& [name, value] : fetched_) {
    auto combine = request_.combine.find(name);
    result_.fetches.push_back({name, value ? fetchBuffer(value) : variables_[name],
                               combine == request_.combine.end() ? "same" : combine->second});
  }
  return std::make_unique<PlanProgram>(std::move(result_));
}

// The last value of every fetched name; persistables are read at the end of the step.
LogicalResult ProgramLowering::findFetches() {
  llvm::StringMap<mlir::Value> last;
  for (mlir::Operation& op : *program_.getBodyBlock()) {
    for (mlir::Value result : op.getResults()) last[dist::nameOf(result)] = result;
  }
  for (const std::string& name : request_.fetches) {
    const bool variable = variables_.contains(name);
    mlir::Value value = variable ? mlir::Value() : last.lookup(name);
    if (!variable && !value)
      return program_.emitError() << "fetch " << name << ": the program has no such variable";
    fetched_.emplace_back(name, value);
  }
  return success();
}

// Tensors are reported: of a list its items, one behind the other, with a level of LoD above
// theirs.
int ProgramLowering::fetchBuffer(mlir::Value value) {
  pd::TensorInfo info = infos_[value];
  if (info.kind != pd::Kind::TensorArray) return bufferOf(value);
  info.kind = pd::Kind::Tensor;
  info.lodLevel += 1;
  if (info.dims.empty()) info.dims.push_back(-1);
  info.dims[0] = -1;
  const int rows = newBuffer(pd::nameOf(value), info);
  add({.op = "fetch",
       .args = {bufferOf(value), rows},
       .writes = {false, true},
       .reads = {true, false},
       .what = CallNode{.callee = "dt_list_rows", .slots = {0, 1, 2}}});
  return rows;
}

void ProgramLowering::markNeeded() {
  for (const auto& [name, value] : fetched_) {
    if (value) needed_.insert(value);
  }
  for (mlir::Operation& op : llvm::reverse(*program_.getBodyBlock())) {
    const bool framework = pd::OpView::isFrameworkOp(&op);
    const bool structural = llvm::isa<pd::DeclOp, pd::InputOp, pd::GetOp, pd::UndefOp>(op);
    const bool effect = framework ? hasEffect(&op) : !structural;
    if (!effect &&
        llvm::none_of(op.getResults(), [&](mlir::Value v) { return needed_.contains(v); }))
      continue;
    live_.insert(&op);
    needed_.insert(op.operand_begin(), op.operand_end());
    if (op.getNumRegions() > 0) markRegion(&op);
  }
}

// All of a block is needed where its op is: names, not results, tie it to what is outside.
void ProgramLowering::markRegion(mlir::Operation* op) {
  op->walk([&](mlir::Operation* inner) {
    if (inner == op) return;
    live_.insert(inner);
    needed_.insert(inner->operand_begin(), inner->operand_end());
    needed_.insert(inner->result_begin(), inner->result_end());
  });
}

void ProgramLowering::findMissing(mlir::Block& block,
                                  std::map<std::string, std::vector<mlir::Operation*>>& missing) {
  for (mlir::Operation& op : block) {
    if (!live_.contains(&op) ||
        llvm::isa<pd::DeclOp, pd::InputOp, pd::GetOp, pd::SetOp, pd::UndefOp, pd::YieldOp>(op))
      continue;
    const bool outermost = &block == program_.getBodyBlock();
    if (outermost && isCommunication(&op)) continue;
    const bool framework = pd::OpView::isFrameworkOp(&op);
    const llvm::StringRef type = framework ? pd::OpView(&op).type() : op.getName().getStringRef();
    if (framework && isBlockOp(type)) {
      for (mlir::Region& region : op.getRegions()) findMissing(region.front(), missing);
    } else if (!framework || !isNative(type)) {
      missing[type.str()].push_back(&op);
    }
  }
}

LogicalResult ProgramLowering::checkRules() {
  std::map<std::string, std::vector<mlir::Operation*>> missing;
  findMissing(*program_.getBodyBlock(), missing);
  if (missing.empty()) return success();
  std::string names;
  for (const auto& [type, ops] : missing) names += (names.empty() ? "" : ", ") + type;
  mlir::InFlightDiagnostic error = program_.emitError()
                                   << "cannot be run natively: no lowering for " << missing.size()
                                   << " op type(s): " << names;
  for (const auto& [type, ops] : missing) {
    for (mlir::Operation* op : ops) error.attachNote(op->getLoc()) << pd::describe(op);
  }
  return error;
}

LogicalResult ProgramLowering::lowerOp(mlir::Operation& op) {
  position_ = pd::describe(&op);
  if (auto input = llvm::dyn_cast<pd::InputOp>(op)) return lowerInput(input);
  auto get = llvm::dyn_cast<pd::GetOp>(op);
  auto set = llvm::dyn_cast<pd::SetOp>(op);
  if (get || set) {
    llvm::StringRef name = get ? get.getVar() : set.getVar();
    if (set && !variables_.contains(name) && isHeldByParts(set)) return success();
    if (!variables_.contains(name))
      return op.emitError()
             << "persistable " << name
             << " is no dense tensor, or shares the storage of others: not supported";
    return get ? lowerGet(get) : lowerSet(set), success();
  }
  if (auto undef = llvm::dyn_cast<pd::UndefOp>(op)) return lowerUndef(undef), success();
  if (isCommunication(&op)) return lowerCommunication(&op);
  pd::OpView view(&op);
  return isRandom(view) ? lowerRandom(view) : lowerFramework(view);
}

// An op that a pass has inserted stands for none of the reference: such ops count downwards.
void ProgramLowering::numberRandomOps() {
  const bool isRole = program_
                          ->walk([](mlir::Operation* op) {
                            return op->hasAttr(dist::kSrcAttr) ? mlir::WalkResult::interrupt()
                                                               : mlir::WalkResult::advance();
                          })
                          .wasInterrupted();
  int64_t number = -1;
  program_->walk<mlir::WalkOrder::PreOrder>([&](mlir::Operation* op) {
    if (!pd::OpView::isFrameworkOp(op)) return;
    ++number;
    if (!isRandom(pd::OpView(op))) return;
    auto source = op->getAttrOfType<mlir::IntegerAttr>(dist::kSrcAttr);
    draws_[op] = {number, source ? source.getInt() : isRole ? -1 - number : number};
  });
}

// Says before the op whose numbers it draws (runtime/kernels/cpu/random/calls.h), and after it that
// it is over.
LogicalResult ProgramLowering::lowerRandom(pd::OpView op) {
  CallNode call{.callee = "dt_random_stream"};
  const Node after{.op = position_, .keep = true, .what = call};
  if (auto axes = op.operation()->getAttrOfType<mlir::ArrayAttr>(dist::kStreamsAttr)) {
    for (auto axis : axes.getAsValueRange<mlir::StringAttr>()) call.strings.push_back(axis.str());
  }
  if (auto draw = draws_.find(op.operation()); draw != draws_.end())
    call.ints = {draw->second.lineage, draw->second.number};
  if (call.strings.empty() && call.ints.empty()) return lowerFramework(op);
  add({.op = position_, .keep = true, .what = std::move(call)});
  if (failed(lowerFramework(op))) return failure();
  add(after);
  return success();
}

LogicalResult ProgramLowering::lowerInput(pd::InputOp op) {
  pd::TensorInfo info = pd::declaredInfo(op.getValue().getType());
  const std::string name = op.getName().str();
  if (info.kind != pd::Kind::Tensor)
    return op.emitError() << "feed " << name << " is no tensor: not supported";
  const bool ragged = info.lodLevel > 0;
  if (auto it = request_.feedDims.find(name); it != request_.feedDims.end()) {
    bool fits = it->second.size() == info.dims.size();
    for (size_t i = ragged; fits && i < info.dims.size(); ++i)
      fits = info.dims[i] < 0 || info.dims[i] == it->second[i];
    if (!fits)
      return op.emitError() << "feed " << name << ": the data do not have the declared dims "
                            << op.getValue().getType();
    info.dims.assign(it->second.begin(), it->second.end());
  }
  // The rows of a ragged batch differ from step to step.
  if (ragged && !info.dims.empty()) info.dims[0] = -1;
  if (!ragged && !isStatic(info.dims))
    return op.emitError()
           << "feed " << name
           << " has extents of -1, which those of its data are; give them with --feeds or --feed";
  if (isStatic(info.dims) && !sizeFits(info.dims))
    return op.emitError() << "feed " << name << " is too large";
  infos_[op.getValue()] = info;
  auto split = request_.splits.find(name);
  result_.feeds.push_back(
      {name, bufferOf(op.getValue()),
       split == request_.splits.end() ? nullptr : std::make_shared<FeedSplit>(split->second)});
  return success();
}

// Nobody has written it, so whoever reads it looks at its type only; a list is empty, each time it
// gets here.
void ProgramLowering::lowerUndef(pd::UndefOp op) {
  infos_[op.getValue()] = pd::declaredInfo(op.getValue().getType());
  if (infos_[op.getValue()].kind != pd::Kind::TensorArray) return;
  add({.op = position_,
       .args = {bufferOf(op.getValue())},
       .writes = {true},
       .reads = {false},
       .what = CallNode{.callee = "dt_list_clear", .slots = {0, 1}}});
}

// A value, not a reference: where the variable is written while this value is still read, it is
// copied first.
void ProgramLowering::lowerGet(pd::GetOp op) {
  infos_[op.getValue()] = pd::declaredInfo(op.getValue().getType());
  const int variable = variables_[op.getVar()];
  llvm::ArrayRef<mlir::Operation*> writers = writersBehind(op, op.getVarAttr().getAttr());
  const bool snapshot =
      !writers.empty() &&
      (isReadBehind(writers.front(), op.getValue(), live_) ||
       llvm::any_of(fetched_, [&](const auto& fetch) { return fetch.second == op.getValue(); }));
  if (!snapshot) {
    buffers_[op.getValue()] = variable;
    return;
  }
  Node copy{.op = position_,
            .args = {variable, bufferOf(op.getValue())},
            .writes = {false, true},
            .reads = {true, false},
            .what = CopyNode{}};
  add(std::move(copy));
}

// What coalesce_tensor gives a flat variable is what it sets its parts to, and what the variable
// held before is dropped with its storage.
bool ProgramLowering::isHeldByParts(pd::SetOp op) {
  auto gathers = [&](mlir::Operation* from, pd::SetOp set) {
    return from && set.getVar() == op.getVar() && pd::OpView::isFrameworkOp(from) &&
           pd::OpView(from).type() == "coalesce_tensor";
  };
  if (gathers(op.getValue().getDefiningOp(), op)) return true;
  return llvm::any_of(writersBehind(op, op.getVarAttr().getAttr()), [&](mlir::Operation* next) {
    auto set = llvm::dyn_cast<pd::SetOp>(next);
    return set && gathers(set.getValue().getDefiningOp(), set);
  });
}

// The ops behind `op` in its block that set the variable, or hold one that does.
llvm::ArrayRef<mlir::Operation*> ProgramLowering::writersBehind(mlir::Operation* op,
                                                                mlir::StringAttr variable) {
  auto [found, fresh] = writers_.try_emplace(op->getBlock());
  if (fresh)
    for (mlir::Operation& each : *op->getBlock())
      each.walk([&, writers = &found->second](pd::SetOp set) {
        std::vector<mlir::Operation*>& list = (*writers)[set.getVarAttr().getAttr()];
        if (list.empty() || list.back() != &each) list.push_back(&each);
      });
  llvm::ArrayRef<mlir::Operation*> all = found->second[variable];
  const auto* first = llvm::partition_point(
      all, [&](mlir::Operation* writer) { return !op->isBeforeInBlock(writer); });
  return all.drop_front(first - all.begin());
}

void ProgramLowering::lowerSet(pd::SetOp op) {
  const int variable = variables_[op.getVar()], from = bufferOf(op.getValue());
  // Op positions belong to ops of the file: a set is part of the op that made the value.
  if (mlir::Operation* producer = op.getValue().getDefiningOp()) position_ = pd::describe(producer);
  if (plan_.storageOf(from) == plan_.storageOf(variable)) return;
  Node copy{.op = position_,
            .args = {from, variable},
            .writes = {false, true},
            .reads = {true, false},
            .what = CopyNode{}};
  add(std::move(copy));
}

LogicalResult ProgramLowering::lowerFramework(pd::OpView op) {
  if (isBlockOp(op.type())) return BlockLowering(*this, op).run();
  for (mlir::Value result : op.operation()->getResults())
    infos_[result] = pd::declaredInfo(result.getType());
  InferAdapter adapter(*this, op);
  const pd::OpSpec* spec = op.spec();
  if (spec && spec->infer && failed(spec->infer(adapter))) return failure();
  for (mlir::Value result : op.operation()->getResults()) {
    const pd::TensorInfo& info = infos_[result];
    if (!needed(result)) continue;
    if (info.kind == pd::Kind::Tensor && isStatic(info.dims) && !sizeFits(info.dims))
      return adapter.fail("output " + pd::nameOf(result) + " is too large: not supported");
  }
  updateListsInPlace(op);
  const LoweringRule& rule = *findRule(op.type());
  OpLowering lowering(*this, op, rule);
  const size_t first = body_->size();
  if (failed(applyRule(rule, lowering))) return failure();
  lowering.shareLod(first);
  return failure(refused_);
}

// A list has one name in the file, so an op that writes part of it may do so where it is.
void ProgramLowering::updateListsInPlace(pd::OpView op) {
  for (const std::string& slot : op.outputSlots()) {
    mlir::Value result = op.output(slot), old = op.input("$" + slot);
    if (result && old && infos_[result].kind == pd::Kind::TensorArray)
      buffers_[result] = bufferOf(old);
  }
}

void ProgramLowering::refuse(mlir::Operation* op, llvm::StringRef function) {
  if (refused_) return;
  refused_ = true;
  op->emitError() << pd::OpView(op).type()
                  << ": extents known only at run time are not supported natively by " << function;
}

bool isRunTimeValue(const pd::TensorInfo& info) {
  return info.kind != pd::Kind::Tensor || !info.rankKnown || info.lodLevel > 0 ||
         llvm::any_of(info.dims, [](int64_t d) { return d < 0; });
}

int ProgramLowering::bufferOf(mlir::Value value) {
  if (auto it = buffers_.find(value); it != buffers_.end()) return it->second;
  return buffers_[value] = newBuffer(pd::nameOf(value), infos_[value]);
}

int ProgramLowering::newBuffer(llvm::StringRef name, const pd::TensorInfo& info) {
  Buffer buffer{.name = name.str(),
                .dtype = info.dtype,
                .dims = {info.dims.begin(), info.dims.end()},
                .lodLevel = info.lodLevel};
  if (isRunTimeValue(info)) buffer.space = Space::Value;
  if (info.kind == pd::Kind::SelectedRows) buffer.kind = ValueKind::Rows;
  else if (info.kind == pd::Kind::TensorArray) buffer.kind = ValueKind::List;
  return plan_.addBuffer(std::move(buffer));
}

Node& ProgramLowering::add(Node node) {
  body_->push_back(std::move(node));
  return body_->back();
}

}  // namespace dtranspile::lower
