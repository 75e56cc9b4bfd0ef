#include "compiler/lower/program_lowering.h"

#include "compiler/lower/block_lowering.h"
#include "compiler/lower/complex_rules.h"
#include "compiler/lower/dist_lowering.h"
#include "compiler/lower/op_lowering.h"
#include "compiler/lower/pieces.h"
#include "compiler/lower/rules.h"
#include "compiler/lower/server_lowering.h"
#include "dialects/dist/changes.h"
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

// Draws when it runs. An op with regions says nothing about what stands in them.
bool isRandom(pd::OpView op) {
  const pd::OpSpec* spec = op.spec();
  return spec && (spec->effects & pd::kRandom) != 0 && op.operation()->getNumRegions() == 0;
}

// Where a located value, or variable, is; all ranks for others.
exec::Selector placeOf(mlir::Type type) {
  auto at = llvm::dyn_cast<dist::AtType>(type);
  return at ? selectorOf(at.getWhere()) : exec::Selector();
}

}  // namespace

// Needed values first (from fetches and from what has effects, backwards), since ops whose results
// nobody needs are not lowered; in start-up all that draws numbers is kept, so that each op draws
// those that it draws in the reference. All missing rules are reported at once, before anything is
// lowered.
llvm::FailureOr<PlanProgram> ProgramLowering::run(mlir::Block& block) {
  if (failed(findFetches(block))) return failure();
  for (const Fetched& fetch : fetched_)
    if (fetch.value) needed().add(fetch.value);
  if (request().startup) needed().keepSequence();
  needed().mark(block);
  if (!request().startup) numberRandomOps();
  takeArguments(block);
  if (failed(checkRules(block)) || failed(lowerBlock(block))) return failure();
  for (const Fetched& fetch : fetched_) {
    auto combine = request().combine.find(fetch.name);
    result().fetches.push_back(
        {fetch.name, fetch.value ? fetchBuffer(fetch.value) : variable(fetch.name)->buffer,
         combine == request().combine.end() ? "same" : combine->second, fetch.at});
  }
  return std::move(result());
}

// What arrives with the request that a handler answers.
void ProgramLowering::takeArguments(mlir::Block& block) {
  for (mlir::BlockArgument argument : block.getArguments()) {
    const pd::TensorInfo arrives = pd::declaredInfo(argument.getType());
    const int buffer = newBuffer("from", arrives);
    result().arguments.push_back(buffer);
    bind(argument, buffer, arrives);
  }
}

// The last value of every fetched name; persistables are read at the end of the step.
LogicalResult ProgramLowering::findFetches(mlir::Block& block) {
  llvm::StringMap<mlir::Value> last;
  for (mlir::Operation& op : block)
    if (!llvm::isa<dist::RemoteOp>(op))  // whoever has the variable tells it
      for (mlir::Value result : op.getResults()) last[dist::nameOf(result)] = result;
  for (const std::string& name : request().fetches) {
    if (const Persistable* persistable = variable(name)) {
      fetched_.push_back({name, {}, persistable->at});
      continue;
    }
    mlir::Value value = last.lookup(name);
    if (!value)
      return program().emitError() << "fetch " << name << ": the program has no such variable";
    fetched_.push_back({name, value, placeOf(value.getType())});
  }
  return success();
}

// Tensors are reported: of a list its items, one after the other, with a level of LoD above
// theirs.
int ProgramLowering::fetchBuffer(mlir::Value value) {
  pd::TensorInfo tensor = info(value);
  if (tensor.kind != pd::Kind::TensorArray) return bufferOf(value);
  tensor.kind = pd::Kind::Tensor;
  tensor.lodLevel += 1;
  if (tensor.dims.empty()) tensor.dims.push_back(-1);
  tensor.dims[0] = -1;
  const int rows = newBuffer(pd::nameOf(value), tensor);
  add({.op = "fetch",
       .args = {bufferOf(value), rows},
       .writes = {false, true},
       .reads = {true, false},
       .what = CallNode{.callee = "dt_list_rows", .slots = {0, 1, 2}}});
  return rows;
}

// Ops that run and that nothing lowers, blocks included: all of them, so that one message names
// them.
void ProgramLowering::findMissing(mlir::Block& block, Missing& missing) {
  for (mlir::Operation& op : block) {
    if (!needed().isLive(&op) || llvm::isa<pd::DeclOp, pd::InputOp, pd::GetOp, pd::SetOp,
                                           pd::UndefOp, pd::YieldOp, dist::YieldOp>(op))
      continue;
    const bool framework = pd::OpView::isFrameworkOp(&op);
    const llvm::StringRef type = framework ? pd::OpView(&op).type() : op.getName().getStringRef();
    if (framework ? !isNative(type) : !distLowering(&op)) {
      missing[type.str()].push_back(&op);
      continue;
    }
    for (mlir::Region& region : op.getRegions())
      if (!region.empty()) findMissing(region.front(), missing);
  }
}

// One error that lists every type without a lowering, with a note at each such op.
LogicalResult ProgramLowering::checkRules(mlir::Block& block) {
  Missing missing;
  findMissing(block, missing);
  if (missing.empty()) return success();
  std::string names;
  for (const auto& [type, ops] : missing) names += (names.empty() ? "" : ", ") + type;
  mlir::InFlightDiagnostic error = program().emitError()
                                   << "cannot be run natively: no lowering for " << missing.size()
                                   << " op type(s): " << names;
  for (const auto& [type, ops] : missing) {
    for (mlir::Operation* op : ops) error.attachNote(op->getLoc()) << pd::describe(op);
  }
  return error;
}

// One op, by what it is. Everything emitted meanwhile says that it belongs to it (At).
LogicalResult ProgramLowering::lower(mlir::Operation& op) {
  if (llvm::isa<pd::DeclOp>(op)) return success();
  const At here(*this, pd::describe(&op));
  if (auto input = llvm::dyn_cast<pd::InputOp>(op)) return lowerInput(input);
  if (auto get = llvm::dyn_cast<pd::GetOp>(op)) return lowerGet(get);
  if (auto set = llvm::dyn_cast<pd::SetOp>(op)) return lowerSet(set);
  if (auto undef = llvm::dyn_cast<pd::UndefOp>(op)) return lowerUndef(undef), success();
  if (LowerDist lowerDist = distLowering(&op)) return lowerDist(*this, &op);
  pd::OpView view(&op);
  return isRandom(view) ? lowerRandom(view) : lowerFramework(view);
}

// An op that a pass has inserted stands for none of the reference: such ops count downwards.
void ProgramLowering::numberRandomOps() {
  const bool isRole = program()
                          ->walk([](mlir::Operation* op) {
                            return op->hasAttr(dist::kSrcAttr) ? mlir::WalkResult::interrupt()
                                                               : mlir::WalkResult::advance();
                          })
                          .wasInterrupted();
  int64_t number = -1;
  program()->walk<mlir::WalkOrder::PreOrder>([&](mlir::Operation* op) {
    if (!pd::OpView::isFrameworkOp(op)) return;
    ++number;
    if (!isRandom(pd::OpView(op))) return;
    auto source = op->getAttrOfType<mlir::IntegerAttr>(dist::kSrcAttr);
    draws_[op] = {number, source ? source.getInt() : isRole ? -1 - number : number};
  });
}

// Says before the op whose numbers it draws (dt_random_stream), and after it that it is over.
LogicalResult ProgramLowering::lowerRandom(pd::OpView op) {
  std::vector<int64_t> lineage, number;
  std::vector<std::string> streams;
  if (auto axes = op.operation()->getAttrOfType<mlir::ArrayAttr>(dist::kStreamsAttr)) {
    for (auto axis : axes.getAsValueRange<mlir::StringAttr>()) streams.push_back(axis.str());
  }
  if (auto draw = draws_.find(op.operation()); draw != draws_.end())
    lineage = {draw->second.lineage}, number = {draw->second.number};
  if (streams.empty() && lineage.empty()) return lowerFramework(op);
  auto say = [&] {
    CallNode call{.callee = "dt_random_stream", .slots = {0}};
    call.addInts(lineage);
    call.addInts(number);
    call.addStrings(streams);
    add({.op = position(), .keep = true, .what = std::move(call)});
  };
  say();
  if (failed(lowerFramework(op))) return failure();
  lineage.clear(), number.clear(), streams.clear();
  say();
  return success();
}

// A feed's buffer has the extents of the data that will be fed, where the caller says them, else
// those that the program declares. Rows of a ragged feed are unknown: it becomes a value.
LogicalResult ProgramLowering::lowerInput(pd::InputOp op) {
  pd::TensorInfo feed = pd::declaredInfo(op.getValue().getType());
  const std::string name = op.getName().str();
  if (feed.kind != pd::Kind::Tensor)
    return op.emitError() << "feed " << name << " is no tensor: not supported";
  joinMicroBatches(op, feed);
  const bool ragged = feed.lodLevel > 0;
  if (auto it = request().feedDims.find(name); it != request().feedDims.end()) {
    bool fits = it->second.size() == feed.dims.size();
    for (size_t i = ragged; fits && i < feed.dims.size(); ++i)
      fits = feed.dims[i] < 0 || feed.dims[i] == it->second[i];
    if (!fits)
      return op.emitError() << "feed " << name << ": the data do not have the declared dims "
                            << op.getValue().getType();
    feed.dims.assign(it->second.begin(), it->second.end());
  }
  // The rows of a ragged batch differ from step to step.
  if (ragged && !feed.dims.empty()) feed.dims[0] = -1;
  if (!ragged && !isStatic(feed.dims))
    return op.emitError()
           << "feed " << name
           << " has extents of -1, which those of its data are; give them with --feeds or --feed";
  if (isStatic(feed.dims) && !sizeFits(feed.dims))
    return op.emitError() << "feed " << name << " is too large";
  const int data = newBuffer(name, feed);
  auto split = request().splits.find(name);
  result().feeds.push_back(
      {name, data,
       split == request().splits.end() ? nullptr : std::make_shared<FeedSplit>(split->second)});
  return cutFeed(*this, op, data, std::move(feed));
}

// Nobody has written it, so whoever reads it looks at its type only; a list is empty, each time it
// gets here.
void ProgramLowering::lowerUndef(pd::UndefOp op) {
  info(op.getValue()) = pd::declaredInfo(op.getValue().getType());
  if (info(op.getValue()).kind != pd::Kind::TensorArray) return;
  add({.op = position(),
       .args = {bufferOf(op.getValue())},
       .writes = {true},
       .reads = {false},
       .what = CallNode{.callee = "dt_list_clear", .slots = {0, 1}}});
}

// True if a needed op after `op`, or one within it, reads the value, or ends an operation under
// way that does.
bool ProgramLowering::isReadBehind(mlir::Operation* op, mlir::Value value) {
  auto counts = [&](mlir::Operation* user) {
    mlir::Operation* around = op->getBlock()->findAncestorOpInBlock(*user);
    if (!around || !needed().isLive(user)) return false;
    return op->isBeforeInBlock(around) || (around == op && user != op);
  };
  return llvm::any_of(value.getUsers(), [&](mlir::Operation* user) {
    return counts(user) || llvm::any_of(user->getUsers(), [&](mlir::Operation* end) {
             return llvm::isa<dist::WaitOp>(end) && counts(end);
           });
  });
}

static LogicalResult refuseVariable(mlir::Operation* op, llvm::StringRef name) {
  return op->emitError() << "persistable " << name
                         << " is no dense tensor, or shares the storage of others: not supported";
}

// A value, not a reference: where the variable is written while this value is still read, it is
// copied first.
LogicalResult ProgramLowering::lowerGet(pd::GetOp op) {
  const Persistable* from = variable(op.getVar());
  if (!from) return refuseVariable(op, op.getVar());
  if (op->hasAttr(dist::kAsPulledAttr)) return lowerPulled(*this, op);
  llvm::FailureOr<int> place = placeInVariable(*this, op, *from);
  if (failed(place)) return failure();
  pd::TensorInfo value = pd::declaredInfo(op.getValue().getType());
  if (*place != from->buffer) {
    const std::vector<int64_t>& dims = buffer(*place).dims;
    value.dims.assign(dims.begin(), dims.end());
  }
  info(op.getValue()) = value;
  llvm::ArrayRef<mlir::Operation*> writers = writersBehind(op, op.getVarAttr().getAttr());
  const bool snapshot =
      !writers.empty() &&
      (isReadBehind(writers.front(), op.getValue()) ||
       llvm::any_of(fetched_, [&](const Fetched& fetch) { return fetch.value == op.getValue(); }));
  if (!snapshot) setBuffer(op.getValue(), *place);
  else copy(*place, bufferOf(op.getValue()));
  return success();
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

// The ops after `op` in its block that set the variable, or hold one that does.
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

// The value goes into the memory of the variable; a copy is left out where the op that makes the
// value may write there at once (placeInVariable).
LogicalResult ProgramLowering::lowerSet(pd::SetOp op) {
  const Persistable* to = variable(op.getVar());
  if (!to) return isHeldByParts(op) ? success() : refuseVariable(op, op.getVar());
  // Op positions belong to ops of the file: a set is part of the op that made the value.
  mlir::Operation* producer = op.getValue().getDefiningOp();
  const At here(*this, producer ? pd::describe(producer) : position());
  if (auto slice = llvm::dyn_cast_or_null<dist::SliceOp>(producer); slice && isUneven(slice))
    return setToPart(*this, slice, *to);
  llvm::FailureOr<int> place = placeInVariable(*this, op, *to);
  if (failed(place)) return failure();
  const int from = bufferOf(op.getValue());
  if (plan().storageOf(from) != plan().storageOf(*place)) copy(from, *place);
  return success();
}

namespace {

const LoweringRule* ruleFor(ProgramLowering& program, pd::OpView op) {
  auto complex = [&](mlir::Value value) { return isComplex(program.info(value).dtype); };
  const bool any = llvm::any_of(op.operation()->getOperands(), complex) ||
                   llvm::any_of(op.operation()->getResults(), complex);
  const LoweringRule* rule = any ? findComplexRule(op.type()) : nullptr;
  return rule ? rule : findRule(op.type());
}

}  // namespace

// Results get their declared extents, then those that inference finds for the operands at hand,
// which are more exact; then the op's rule makes nodes of it.
LogicalResult ProgramLowering::lowerFramework(pd::OpView op) {
  if (isBlockOp(op.type())) return lowerBlockOp(*this, op);
  for (mlir::Value result : op.operation()->getResults())
    info(result) = pd::declaredInfo(result.getType());
  InferAdapter adapter(infos(), op, program().getVersion());
  const pd::OpSpec* spec = op.spec();
  if (spec && spec->infer && failed(spec->infer(adapter))) return failure();
  for (mlir::Value result : op.operation()->getResults()) {
    const pd::TensorInfo& of = info(result);
    if (!needed(result)) continue;
    if (of.kind == pd::Kind::Tensor && isStatic(of.dims) && !sizeFits(of.dims))
      return adapter.fail("output " + pd::nameOf(result) + " is too large: not supported");
  }
  if (isMadeInPieces(*this, op.operation())) return lowerInPieces(*this, op);
  updateListsInPlace(op);
  const LoweringRule& rule = *ruleFor(*this, op);
  OpLowering lowering(*this, op, rule);
  const size_t first = body().size();
  if (failed(applyRule(rule, lowering))) return failure();
  lowering.shareLod(first);
  return failure(lowering.refused());
}

// A list has one name in the file, so an op that writes part of it may do so where it is.
void ProgramLowering::updateListsInPlace(pd::OpView op) {
  for (const std::string& slot : op.outputSlots()) {
    mlir::Value result = op.output(slot), old = op.input("$" + slot);
    if (result && old && info(result).kind == pd::Kind::TensorArray)
      setBuffer(result, bufferOf(old));
  }
}

}  // namespace dtranspile::lower
