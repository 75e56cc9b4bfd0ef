#include "compiler/export/collective/sums.h"

#include "compiler/export/collective/row_sums.h"
#include "dialects/pd/types.h"

namespace dtranspile {
namespace {

// The one op that takes all results of `op`; null where there are several.
mlir::Operation* onlyUser(mlir::Operation* op) {
  mlir::Operation* user = nullptr;
  for (mlir::Operation* each : op->getUsers()) {
    if (user && user != each) return nullptr;
    user = each;
  }
  return user;
}

// Of layers that are split over ranks (tensor-parallel).
bool isOfLayers(mlir::Operation* op) {
  dist::CommOp comm = dist::lookupComm(op, dist::commOf(op));
  return comm && comm.getCarries() == llvm::StringRef("layers");
}

}  // namespace

// SelectedRows travel as gathers, in ops of their own; what is left of the all_reduce then is
// nothing.
mlir::LogicalResult Sums::allReduce(dist::AllReduceOp op, int ring) {
  const bool pending = llvm::isa<dist::PendingType>(op->getResult(0).getType());
  if (op.getReduce() == dist::Reduce::Or && pending)
    return op.emitError("export: a started all-reduce of booleans has no translation");
  if (op.getReduce() == dist::Reduce::Or) return anyOf(op, ring);
  if (!pending && isOfLayers(op)) return sumLayers(op, ring);
  auto isRows = [](mlir::Type type) { return llvm::isa<pd::RowsType>(type); };
  if (llvm::any_of(op.getInputs().getTypes(), isRows)) {
    if (mlir::failed(gatherRows(emitter_, op, ring))) return mlir::failure();
    return identity(op);
  }
  bool waits = pending;
  Started sum = start(op, op.getReduce(), ring, waits);
  if (waits) started_[*op->getResult(0).user_begin()] = sum;
  else op->replaceAllUsesWith(sum.results);
  return drop(op);
}

// The framework's all-reduces take no booleans: flags travel as numbers, of which the largest says
// whether one is set.
mlir::LogicalResult Sums::anyOf(dist::AllReduceOp op, int ring) {
  for (auto [value, result] : llvm::zip(op.getInputs(), op.getResults())) {
    const int role = roleOf(value);
    const std::string name = dist::nameOf(value).str();
    mlir::RankedTensorType type = pd::tensorOf(value.getType());
    if (!type)
      return op.emitError(
          "export: an all-reduce of booleans that are no dense tensor has no "
          "translation");
    const auto cast = [&](mlir::Value from, const std::string& to, mlir::Type element) {
      const auto code = [](mlir::Type one) { return static_cast<int64_t>(*pd::dtypeOf(one)); };
      return emitter_.create(
          op.getLoc(), "cast", {{"X", {from}}}, to,
          mlir::RankedTensorType::get(type.getShape(), element),
          {emitter_.named("in_dtype", code(pd::tensorOf(from.getType()).getElementType())),
           emitter_.named("out_dtype", code(element))},
          role);
    };
    mlir::Value number =
        cast(value, emitter_.freshName(name + ".number"), emitter_.builder().getI32Type());
    number = emitter_.inPlace(
        op.getLoc(), "c_allreduce_max", number,
        {emitter_.named("ring_id", ring), emitter_.flag("use_calc_stream", true)}, role);
    result.replaceAllUsesWith(
        cast(number, emitter_.freshName(name + ".any"), emitter_.builder().getI1Type()));
  }
  return drop(op);
}

// What a row-parallel layer gives, and the gradient of what a column-parallel one takes. A value
// that is read before it is summed as well keeps its own cell.
mlir::LogicalResult Sums::sumLayers(dist::AllReduceOp op, int ring) {
  for (auto [value, result] : llvm::zip(op.getInputs(), op.getResults()))
    result.replaceAllUsesWith(emitter_.inPlace(
        op.getLoc(), ("c_allreduce_" + dist::stringifyReduce(op.getReduce())).str(), value,
        {emitter_.named("ring_id", ring), emitter_.flag("use_calc_stream", true),
         emitter_.flag("use_model_parallel", true)},
        roleOf(value), /*keeps=*/true));
  return drop(op);
}

// c_allgather joins along the first dim, c_concat (of model parallelism) along the last one; no
// operator joins along others.
mlir::LogicalResult Sums::allGather(dist::AllGatherOp op, int ring) {
  if (llvm::isa<dist::PendingType>(op->getResult(0).getType()) || op.getRagged())
    return op.emitError(
        "export: a gather that is started, or of parts of different extents, has no translation "
        "into operators of the framework");
  const auto dim = static_cast<int64_t>(op.getDim());
  dist::CommOp comm = dist::lookupComm(op, op.getCommAttr());
  const std::vector<int64_t> group = groupOf(comm, emitter_.mesh(), emitter_.rank());
  const auto size = static_cast<int64_t>(group.size());
  const int64_t place = llvm::find(group, emitter_.rank()) - group.begin();
  for (auto [value, result] : llvm::zip(op.getInputs(), op.getResults())) {
    mlir::RankedTensorType type = pd::tensorOf(value.getType()),
                           whole = pd::tensorOf(result.getType());
    const bool last = type && dim == type.getRank() - 1;
    if (!type || !whole || (dim != 0 && !last) ||
        (!type.isDynamicDim(dim) && type.getDimSize(dim) * size != whole.getDimSize(dim)))
      return op.emitError(
          "export: parts along a dim that is neither the first nor the last, flat parts and padded "
          "ones have no gather among the operators of the framework");
    Emitter::Attributes attributes = {emitter_.named("ring_id", ring),
                                      emitter_.named("nranks", size),
                                      emitter_.flag("use_calc_stream", true)};
    if (dim != 0) {
      attributes.push_back(emitter_.named("rank", place));
      attributes.push_back(emitter_.flag("use_model_parallel", true));
    }
    result.replaceAllUsesWith(
        emitter_.create(op.getLoc(), dim == 0 ? "c_allgather" : "c_concat", {{"X", {value}}},
                        emitter_.freshName(dist::nameOf(value).str() + ".whole"), result.getType(),
                        attributes, roleOf(value)));
  }
  return drop(op);
}

// The framework's all-reduces work in place, on one variable. A started one runs on the
// communication stream: what was computed must be there first (c_sync_calc_stream), and the wait
// synchronises the ring's stream (finish).
Sums::Started Sums::start(mlir::Operation* op, dist::Reduce reduce, int ring, bool waits) {
  Started sum{llvm::SmallVector<mlir::Value>(op->getOperands()), {}, ring, 0};
  sum.role = roleOf(sum.results.front());
  sum.buffer = sum.results.front();
  if (sum.results.size() > 1) sum.buffer = coalesce(op, sum.results, sum.role);
  if (waits)
    sum.buffer = emitter_.inPlace(op->getLoc(), "c_sync_calc_stream", sum.buffer, {}, sum.role);
  sum.buffer = emitter_.inPlace(
      op->getLoc(), ("c_allreduce_" + dist::stringifyReduce(reduce)).str(), sum.buffer,
      {emitter_.named("ring_id", ring), emitter_.flag("use_calc_stream", !waits)}, sum.role,
      /*keeps=*/true);
  if (sum.results.size() == 1) sum.results.front() = sum.buffer;
  return sum;
}

// A sum by levels is the chain reduce_scatter, wait, all_reduce, wait, all_gather, wait, each the
// only user of the one before, which an all_reduce over both levels equals. The framework has no
// such chain among its operators for programs, and its rings choose their own levels.
mlir::LogicalResult Sums::foldLevels(dist::ReduceScatterOp scatter) {
  llvm::SmallVector<mlir::Operation*> chain = {scatter};
  while (chain.size() < 6 && chain.back()) chain.push_back(onlyUser(chain.back()));
  auto reduce = llvm::dyn_cast_or_null<dist::AllReduceOp>(chain.size() > 2 ? chain[2] : nullptr);
  auto gather = llvm::dyn_cast_or_null<dist::AllGatherOp>(chain.size() > 4 ? chain[4] : nullptr);
  auto isWait = [&](size_t at) {
    return at < chain.size() && llvm::isa_and_nonnull<dist::WaitOp>(chain[at]);
  };
  bool whole = reduce && gather && isWait(1) && isWait(3) && isWait(5) &&
               reduce.getReduce() == scatter.getReduce() &&
               gather.getCommAttr() == scatter.getCommAttr() &&
               llvm::equal(chain[5]->getResultTypes(), scatter.getInputs().getTypes());
  int ring = whole ? ringOver(scatter.getCommAttr(), reduce.getCommAttr()) : -1;
  if (ring < 0)
    return scatter.emitError(
        "export: a reduce_scatter that is no level of a sum over a ring has no translation into "
        "operators of the framework; make the job without sequence_parallel and sharding");
  started_[chain[5]] = start(scatter, scatter.getReduce(), ring, /*waits=*/true);
  folded_.insert(chain.begin() + 1, chain.begin() + 5);
  return drop(scatter);
}

// The ring over the axes of both communicators. Where several carry gradients in turn, the one that
// is as far down the list as `within` is among those of its axes; the last one where there are
// fewer.
int Sums::ringOver(mlir::FlatSymbolRefAttr within, mlir::FlatSymbolRefAttr between) const {
  llvm::SmallVector<mlir::Attribute> axes;
  size_t at = 0, seen = 0;
  mlir::ArrayAttr own;
  for (const Ring& ring : emitter_.rings()) {
    dist::CommOp comm = ring.comm;
    if (comm.getSymName() == within.getValue()) own = comm.getAxes();
    if (comm.getSymName() == within.getValue() || comm.getSymName() == between.getValue())
      llvm::append_range(axes, comm.getAxes());
  }
  for (const Ring& ring : emitter_.rings()) {
    dist::CommOp comm = ring.comm;
    if (comm.getSymName() == within.getValue()) break;
    at += comm.getAxes() == own;
  }
  int found = -1;
  for (const Ring& ring : emitter_.rings()) {
    dist::CommOp comm = ring.comm;
    bool covers =
        comm.getAxes().size() == axes.size() && llvm::all_of(axes, [&](mlir::Attribute axis) {
          return llvm::is_contained(comm.getAxes(), axis);
        });
    if (covers && (found < 0 || seen <= at)) found = ring.id;
    seen += covers;
  }
  return found;
}

// Several values in one buffer, of which the new values are views: the framework's operators reduce
// one variable at a time. A variable's own value goes into the buffer under another name, since the
// variable is not to become a view.
mlir::Value Sums::coalesce(mlir::Operation* op, llvm::SmallVectorImpl<mlir::Value>& values,
                           int role) {
  std::vector<std::pair<std::string, mlir::Type>> parts;
  for (mlir::Value value : values) {
    std::string name = dist::nameOf(value).str();
    if (value.getDefiningOp<pd::GetOp>()) name = emitter_.freshName(name + ".reduced");
    parts.push_back({name, value.getType()});
  }
  mlir::Type element = pd::tensorOf(values.front().getType()).getElementType();
  auto flat = mlir::RankedTensorType::get({mlir::ShapedType::kDynamic}, element);
  std::string name = emitter_.freshName("FusedOutput_" + parts.front().first);
  pd::OpView fused = emitter_.declarations().create(
      emitter_.builder(), op->getLoc(), "coalesce_tensor",
      {{"Input", std::vector<mlir::Value>(values.begin(), values.end())}},
      {{"Output", parts}, {"FusedOutput", {{name, flat}}}},
      {emitter_.flag("copy_data", true), emitter_.flag("use_align", true),
       emitter_.named("dtype", static_cast<int64_t>(*pd::dtypeOf(element)))},
      role);
  for (size_t i = 0; i < values.size(); ++i) values[i] = fused.output("Output", i);
  return fused.output("FusedOutput");
}

// A sum over a group of one.
mlir::LogicalResult Sums::identity(mlir::Operation* op) {
  if (op->getNumResults() == 1 && llvm::isa<dist::PendingType>(op->getResult(0).getType())) {
    mlir::Operation* wait = *op->getResult(0).user_begin();
    wait->replaceAllUsesWith(op->getOperands());
    started_.insert({wait, {}});
  } else {
    op->replaceAllUsesWith(op->getOperands());
  }
  return drop(op);
}

mlir::LogicalResult Sums::finish(dist::WaitOp wait) {
  auto found = started_.find(wait);
  if (found == started_.end()) return wait.emitError("export: waits for nothing that was started");
  if (!found->second.results.empty()) {
    Started& started = found->second;
    mlir::Value done = emitter_.syncRing(wait.getLoc(), started.buffer, started.ring, started.role);
    if (started.results.size() == 1) started.results.front() = done;
    wait->replaceAllUsesWith(started.results);
  }
  started_.erase(found);
  return drop(wait);
}

}  // namespace dtranspile
