// Communicators as rings, and which translation an op takes.
#include "compiler/export/collective/exporter.h"

#include "llvm/ADT/StringExtras.h"

namespace dtranspile {

void Exporter::makeRings(mlir::Block& block) {
  builder_.setInsertionPointToEnd(&block);
  for (mlir::Operation& op : block)
    if (dist::commOf(&op)) {
      builder_.setInsertionPoint(&op);
      // A broadcast reads its variables right before it.
      while (builder_.getInsertionPoint() != block.begin() &&
             llvm::isa<pd::GetOp>(*std::prev(builder_.getInsertionPoint())))
        builder_.setInsertionPoint(&*std::prev(builder_.getInsertionPoint()));
      break;
    }
  for (const Ring& ring : rings_) makeRing(block, ring);
}

void Exporter::makeRing(mlir::Block& block, const Ring& ring) {
  std::vector<int64_t> members = groupOf(ring.comm, mesh_, rank_);
  llvm::SmallVector<llvm::StringRef> all, others;
  int64_t position = 0;
  for (size_t i = 0; i < members.size(); ++i) {
    all.push_back(endpoints_[members[i]]);
    if (members[i] == rank_) position = static_cast<int64_t>(i);
    else others.push_back(all.back());
  }
  std::string name = declarations_.freshName(&block, "comm_id");
  mlir::Location loc = dist::CommOp(ring.comm).getLoc();
  pd::OpView id =
      declarations_.create(builder_, loc, "c_gen_nccl_id", {},
                           {{"Out", {{name, pd::RawType::get(builder_.getContext(), "RAW")}}}},
                           {named("rank", number(position)),
                            named("endpoint", builder_.getStringAttr(endpoints_[rank_])),
                            named("other_endpoints", builder_.getStrArrayAttr(others)),
                            named("ring_id", number(ring.id))},
                           pd::kForward);
  declarations_.create(builder_, loc, "c_comm_init", {{"X", {id.output("Out")}}}, {},
                       {named("nranks", number(static_cast<int64_t>(members.size()))),
                        named("rank", number(position)), named("ring_id", number(ring.id)),
                        named("endpoints", builder_.getStringAttr(llvm::join(all, ",")))},
                       pd::kForward);
}

mlir::LogicalResult Exporter::translate(mlir::Block& block) {
  for (mlir::Operation& op : llvm::make_early_inc_range(block)) {
    if (!llvm::isa_and_nonnull<dist::DistDialect>(op.getDialect())) continue;
    builder_.setInsertionPoint(&op);
    if (mlir::failed(translate(&op))) return mlir::failure();
  }
  return mlir::success();
}

mlir::LogicalResult Exporter::translate(mlir::Operation* op) {
  if (folded_.erase(op)) return drop(op);
  if (auto wait = llvm::dyn_cast<dist::WaitOp>(op)) return finish(wait);
  if (auto coord = llvm::dyn_cast<dist::CoordOp>(op)) return exportCoord(coord);
  if (auto slice = llvm::dyn_cast<dist::SliceOp>(op)) return exportSlice(slice);
  if (auto composite = llvm::dyn_cast<dist::CompositeOp>(op)) return frameworkOp(composite);
  if (dist::commOf(op)) {
    ring_ = ringId(op);
    if (ring_ < 0) return identity(op);  // a group of one
  }
  if (auto reduce = llvm::dyn_cast<dist::AllReduceOp>(op)) return allReduce(reduce);
  if (auto scatter = llvm::dyn_cast<dist::ReduceScatterOp>(op)) return foldLevels(scatter);
  if (auto broadcast = llvm::dyn_cast<dist::BroadcastOp>(op)) return exportBroadcast(broadcast);
  if (auto reduce = llvm::dyn_cast<dist::ReduceOp>(op)) return exportReduce(reduce);
  if (auto send = llvm::dyn_cast<dist::SendOp>(op)) return exportSend(send);
  if (auto receive = llvm::dyn_cast<dist::RecvOp>(op)) return exportRecv(receive);
  return op->emitError("export: ")
         << op->getName() << " has no translation into operators of the framework";
}

int Exporter::ringId(mlir::Operation* op) {
  for (const Ring& ring : rings_)
    if (mlir::FlatSymbolRefAttr::get(dist::CommOp(ring.comm).getSymNameAttr()) == dist::commOf(op))
      return ring.id;
  return -1;
}

mlir::LogicalResult Exporter::identity(mlir::Operation* op) {
  if (op->getNumResults() == 1 && llvm::isa<dist::PendingType>(op->getResult(0).getType())) {
    mlir::Operation* wait = *op->getResult(0).user_begin();
    wait->replaceAllUsesWith(op->getOperands());
    started_.insert({wait, {}});
  } else {
    op->replaceAllUsesWith(op->getOperands());
  }
  return drop(op);
}

mlir::LogicalResult Exporter::drop(mlir::Operation* op) {
  op->dropAllUses();
  op->erase();
  return mlir::success();
}

int Exporter::roleOf(mlir::Value value) {
  mlir::Operation* op = value.getDefiningOp();
  return op && pd::OpView::isFrameworkOp(op) ? pd::OpView(op).role() & ~pd::kLoss : pd::kForward;
}

mlir::Value Exporter::inPlace(mlir::Location loc, llvm::StringRef type, mlir::Value value,
                              const Attributes& attributes, int role, bool keeps) {
  std::string name = dist::nameOf(value).str();
  if (keeps && value.getDefiningOp<pd::GetOp>())
    name = declarations_.freshName(builder_.getInsertionBlock(), name + ".reduced");
  return declarations_
      .create(builder_, loc, type, {{"X", {value}}}, {{"Out", {{name, value.getType()}}}},
              attributes, role)
      .output("Out");
}

mlir::LogicalResult Exporter::frameworkOp(dist::CompositeOp op) {
  // dgc_momentum, dgc_clip_by_norm
  if (op.getOp().starts_with("dgc_"))
    return op.emitError("export: ")
           << op.getOp()
           << ": gradients that travel as their largest elements have no form in programs of the "
              "framework, whose graph executor exchanged them between operators; run the job "
              "natively, or make it without dgc";
  std::vector<std::string> inputNames, outputNames;
  std::vector<pd::InputSlot> inputs;
  std::vector<pd::OutputSlot> outputs;
  for (auto [slot, value] :
       llvm::zip(op.getInputSlots().getAsValueRange<mlir::StringAttr>(), op.getInputs())) {
    if (inputs.empty() || inputs.back().name != slot) inputs.push_back({slot, {}});
    inputs.back().values.push_back(value);
  }
  for (auto [slot, name, type] :
       llvm::zip(op.getOutputSlots().getAsValueRange<mlir::StringAttr>(),
                 op.getOutputNames().getAsValueRange<mlir::StringAttr>(), op.getResultTypes())) {
    if (outputs.empty() || outputs.back().name != slot) outputs.push_back({slot, {}});
    outputs.back().results.push_back({name.str(), type});
  }
  auto role = op.getAttrs().getAs<mlir::IntegerAttr>("op_role");
  pd::OpView made = declarations_.create(builder_, op.getLoc(), op.getOp(), inputs, outputs,
                                         op.getAttrs().getValue(),
                                         role ? static_cast<int>(role.getInt()) : pd::kForward);
  op->replaceAllUsesWith(made.operation()->getResults());
  return drop(op);
}

}  // namespace dtranspile
