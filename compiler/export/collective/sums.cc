// Reductions to all ranks: one op, or one on a flat buffer for a bucket; sums of SelectedRows; sums
// in levels.
#include "compiler/export/collective/exporter.h"

namespace dtranspile {

mlir::LogicalResult Exporter::allReduce(dist::AllReduceOp op) {
  if (op.getReduce() == dist::Reduce::Or)
    return op.emitError("export: the framework has no boolean all-reduce");
  auto isRows = [](mlir::Type type) { return llvm::isa<pd::RowsType>(type); };
  if (llvm::any_of(op.getInputs().getTypes(), isRows)) return sumOfRows(op);
  bool waits = llvm::isa<dist::PendingType>(op->getResult(0).getType());
  Started sum = startSum(op, op.getReduce(), waits);
  if (waits) started_[*op->getResult(0).user_begin()] = sum;
  else op->replaceAllUsesWith(sum.results);
  return drop(op);
}

mlir::LogicalResult Exporter::sumOfRows(dist::AllReduceOp op) {
  for (mlir::Value value : op.getInputs())
    if (mlir::failed(gatherBehind(op, value))) return mlir::failure();
  return identity(op);
}

mlir::LogicalResult Exporter::gatherBehind(mlir::Operation* sum, mlir::Value value) {
  mlir::Operation* maker = value.getDefiningOp();
  llvm::StringRef type = maker && pd::OpView::isFrameworkOp(maker) ? pd::OpView(maker).type() : "";
  const bool embedding = type == "lookup_table_grad" || type == "lookup_table_v2_grad";
  if (!value.hasOneUse() || !llvm::isa<pd::RowsType>(value.getType()) ||
      !(embedding || type == "sum"))
    return sum->emitError("export: the SelectedRows gradient '")
           << dist::nameOf(value)
           << "' is no sum of gradients of lookup_table alone; train this program natively, or "
              "with is_sparse = false";
  pd::OpView view(maker);
  if (!embedding) {
    for (mlir::Value term : view.inputs("X"))
      if (mlir::failed(gatherBehind(sum, term))) return mlir::failure();
    return mlir::success();
  }
  mlir::OpBuilder::InsertionGuard guard(builder_);
  builder_.setInsertionPoint(maker);
  for (llvm::StringRef slot : {"Ids", "Out@GRAD"})
    view.setInput(slot, 0, gathered(maker->getLoc(), view.input(slot)));
  return mlir::success();
}

mlir::Value Exporter::gathered(mlir::Location loc, mlir::Value value) {
  const Ring& ring = *llvm::find_if(rings_, [&](const Ring& one) { return one.id == ring_; });
  const auto ranks = static_cast<int64_t>(groupOf(ring.comm, mesh_, rank_).size());
  mlir::RankedTensorType tensor = pd::tensorOf(value.getType());
  llvm::SmallVector<int64_t> dims(tensor.getShape());
  if (!dims.empty() && dims[0] != mlir::ShapedType::kDynamic) dims[0] *= ranks;
  std::string name = declarations_.freshName(builder_.getInsertionBlock(),
                                             (pd::nameOf(value) + ".gathered").str());
  return declarations_
      .create(builder_, loc, "c_allgather", {{"X", {value}}},
              {{"Out", {{name, mlir::RankedTensorType::get(dims, tensor.getElementType())}}}},
              {named("nranks", number(ranks)), named("ring_id", number(ring_)),
               named("use_calc_stream", builder_.getBoolAttr(true))},
              pd::kBackward)
      .output("Out");
}

Exporter::Started Exporter::startSum(mlir::Operation* op, dist::Reduce reduce, bool waits) {
  Started sum{llvm::SmallVector<mlir::Value>(op->getOperands()), {}, ring_, 0};
  sum.role = roleOf(sum.results.front());
  sum.buffer = sum.results.front();
  if (sum.results.size() > 1) sum.buffer = coalesce(op, sum.results, sum.role);
  if (waits) sum.buffer = inPlace(op->getLoc(), "c_sync_calc_stream", sum.buffer, {}, sum.role);
  sum.buffer = inPlace(
      op->getLoc(), ("c_allreduce_" + dist::stringifyReduce(reduce)).str(), sum.buffer,
      {named("ring_id", number(ring_)), named("use_calc_stream", builder_.getBoolAttr(!waits))},
      sum.role, /*keeps=*/true);
  if (sum.results.size() == 1) sum.results.front() = sum.buffer;
  return sum;
}

mlir::Operation* Exporter::onlyUser(mlir::Operation* op) {
  mlir::Operation* user = nullptr;
  for (mlir::Operation* each : op->getUsers()) {
    if (user && user != each) return nullptr;
    user = each;
  }
  return user;
}

mlir::LogicalResult Exporter::foldLevels(dist::ReduceScatterOp scatter) {
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
        "operators of the framework");
  ring_ = ring;
  started_[chain[5]] = startSum(scatter, scatter.getReduce(), /*waits=*/true);
  folded_.insert(chain.begin() + 1, chain.begin() + 5);
  return drop(scatter);
}

int Exporter::ringOver(mlir::FlatSymbolRefAttr within, mlir::FlatSymbolRefAttr between) {
  llvm::SmallVector<mlir::Attribute> axes;
  size_t at = 0, seen = 0;
  mlir::ArrayAttr own;
  for (const Ring& ring : rings_) {
    dist::CommOp comm = ring.comm;
    if (comm.getSymName() == within.getValue()) own = comm.getAxes();
    if (comm.getSymName() == within.getValue() || comm.getSymName() == between.getValue())
      llvm::append_range(axes, comm.getAxes());
  }
  for (const Ring& ring : rings_) {
    dist::CommOp comm = ring.comm;
    if (comm.getSymName() == within.getValue()) break;
    at += comm.getAxes() == own;
  }
  int found = -1;
  for (const Ring& ring : rings_) {
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

mlir::Value Exporter::coalesce(mlir::Operation* op, llvm::SmallVectorImpl<mlir::Value>& values,
                               int role) {
  std::vector<std::pair<std::string, mlir::Type>> parts;
  for (mlir::Value value : values) {
    std::string name = dist::nameOf(value).str();
    if (value.getDefiningOp<pd::GetOp>())
      name = declarations_.freshName(op->getBlock(), name + ".reduced");
    parts.push_back({name, value.getType()});
  }
  mlir::Type element = pd::tensorOf(values.front().getType()).getElementType();
  auto flat = mlir::RankedTensorType::get({mlir::ShapedType::kDynamic}, element);
  std::string name = declarations_.freshName(op->getBlock(), "FusedOutput_" + parts.front().first);
  pd::OpView fused =
      declarations_.create(builder_, op->getLoc(), "coalesce_tensor",
                           {{"Input", std::vector<mlir::Value>(values.begin(), values.end())}},
                           {{"Output", parts}, {"FusedOutput", {{name, flat}}}},
                           {named("copy_data", builder_.getBoolAttr(true)),
                            named("use_align", builder_.getBoolAttr(true)),
                            named("dtype", number(static_cast<int64_t>(*pd::dtypeOf(element))))},
                           role);
  for (size_t i = 0; i < values.size(); ++i) values[i] = fused.output("Output", i);
  return fused.output("FusedOutput");
}

mlir::LogicalResult Exporter::finish(dist::WaitOp wait) {
  auto found = started_.find(wait);
  if (found == started_.end()) return wait.emitError("export: waits for nothing that was started");
  if (!found->second.results.empty()) {
    Started& started = found->second;
    mlir::Value done =
        declarations_
            .create(builder_, wait.getLoc(), "c_sync_comm_stream", {{"X", {started.buffer}}},
                    {{"Out", {{dist::nameOf(started.buffer).str(), started.buffer.getType()}}}},
                    {named("ring_id", number(started.ring))}, started.role)
            .output("Out");
    if (started.results.size() == 1) started.results.front() = done;
    wait->replaceAllUsesWith(started.results);
  }
  started_.erase(found);
  return drop(wait);
}

}  // namespace dtranspile
