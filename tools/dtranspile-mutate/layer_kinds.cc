// Layers that are split over ranks: what is summed and where, which dim is cut, where heads end.
#include "dialects/dist/lookup.h"
#include "dialects/pd/types.h"
#include "tools/dtranspile-mutate/edits.h"

namespace dtranspile::mutate {
namespace {

bool carriesLayers(mlir::Operation* op) {
  dist::CommOp comm = dist::commOf(op) ? dist::lookupComm(op, dist::commOf(op)) : dist::CommOp();
  return comm && comm.getCarries() == "layers";
}

template <typename Op>
std::vector<Op> onLayers(JobView& view) {
  std::vector<Op> found;
  view.program->walk([&](Op op) {
    if (carriesLayers(op)) found.push_back(op);
  });
  return found;
}

// The axis that layers are split over; empty where none are.
std::string layerAxis(JobView& view) {
  for (auto comm : view.job.getOps<dist::CommOp>())
    if (comm.getCarries() == "layers" && comm.getAxes().size() == 1)
      return llvm::cast<mlir::StringAttr>(comm.getAxes()[0]).getValue().str();
  return "";
}

// The sum behind the op that adds a bias, or a residual, in place of in front of it: that is added
// once per rank.
void summedBehind(JobView& view, Edits& edits) {
  for (auto op : onLayers<dist::AllReduceOp>(view))
    for (auto [result, operand] : llvm::zip(resultsOf(op), op->getOperands()))
      for (mlir::OpOperand& use : result.getUses()) {
        mlir::Operation* user = use.getOwner();
        if (!pd::OpView::isFrameworkOp(user) || pd::OpView(user).type() != "elementwise_add")
          continue;
        edits.add(user, "adds to the term " + quoted(operand) + ", and the sum follows",
                  [user, at = &use, term = operand, op]() mutable {
                    at->set(term);
                    mlir::Value sum = user->getResult(0);
                    Readers readers(sum);
                    mlir::OpBuilder builder(user->getContext());
                    builder.setInsertionPointAfter(user);
                    readers.read(reduced(builder, sum, dist::lookupComm(op, op.getCommAttr())));
                  });
      }
}

// A term that is read before it is summed, by one of its readers.
void termRead(JobView& view, Edits& edits) {
  for (auto op : onLayers<dist::AllReduceOp>(view))
    for (auto [result, operand] : llvm::zip(resultsOf(op), op->getOperands()))
      for (mlir::OpOperand& use : result.getUses())
        edits.add(use.getOwner(), "takes the term " + quoted(operand),
                  [at = &use, term = operand]() { at->set(term); });
}

// A part that is read before it is put together, by one of its readers; a term that is cut by its
// sum, before that.
void partRead(JobView& view, Edits& edits) {
  for (auto op : onLayers<dist::AllGatherOp>(view))
    for (auto [result, operand] : llvm::zip(resultsOf(op), op->getOperands()))
      for (mlir::OpOperand& use : result.getUses())
        edits.add(use.getOwner(), "takes the part " + quoted(operand),
                  [at = &use, part = operand]() { at->set(part); });
  for (auto op : onLayers<dist::ReduceScatterOp>(view))
    for (auto [result, operand] : llvm::zip(resultsOf(op), op->getOperands()))
      for (mlir::OpOperand& use : result.getUses())
        edits.add(use.getOwner(), "takes the term " + quoted(operand),
                  [at = &use, term = operand]() { at->set(term); });
}

// Terms are cut by their sum along another dim.
void scatteredOtherwise(JobView& view, Edits& edits) {
  for (auto op : onLayers<dist::ReduceScatterOp>(view)) {
    auto whole = llvm::dyn_cast<mlir::RankedTensorType>(op.getInputs()[0].getType());
    auto part = llvm::dyn_cast<mlir::RankedTensorType>(op->getResult(0).getType());
    const auto dim = static_cast<int64_t>(op.getDim());
    if (!whole || !part || op->getNumResults() != 1 || dim < 0) continue;
    const int64_t ranks = whole.getDimSize(dim) / part.getDimSize(dim);
    for (int64_t other = 0; other < whole.getRank(); ++other) {
      if (other == dim || whole.isDynamicDim(other) || whole.getDimSize(other) % ranks) continue;
      llvm::SmallVector<int64_t> extents(whole.getShape());
      extents[other] /= ranks;
      edits.add(op, "along dim " + std::to_string(other), [op, other, whole, extents]() {
        op->setAttr("dim", mlir::Builder(op->getContext()).getI64IntegerAttr(other));
        op->getResult(0).setType(mlir::RankedTensorType::get(extents, whole.getElementType()));
      });
    }
  }
}

// Summed over the replicas, who hold the same part, in place of those who hold the others.
void overReplicas(JobView& view, Edits& edits) {
  const std::string axis = layerAxis(view);
  std::vector<mlir::Operation*> all;
  for (auto op : onLayers<dist::AllReduceOp>(view)) all.push_back(op);
  for (auto op : onLayers<dist::AllGatherOp>(view)) all.push_back(op);
  for (auto op : onLayers<dist::ReduceScatterOp>(view)) all.push_back(op);
  for (mlir::Operation* op : all)
    for (auto comm : view.job.getOps<dist::CommOp>())
      if (comm.getKind() == dist::CommKind::Group && comm.getCarries() != "layers")
        edits.add(op, "on @" + comm.getSymName().str(), [op, comm]() mutable {
          op->setAttr("comm", mlir::FlatSymbolRefAttr::get(comm.getSymNameAttr()));
        });
}

// Half of a head with half of the next one: as many elements, and other ones.
void headsInTheMiddle(JobView& view, Edits& edits) {
  for (mlir::Operation* op : view.framework) {
    const pd::OpView reshape(op);
    auto shape = reshape.type() == "reshape2" || reshape.type() == "reshape"
                     ? llvm::dyn_cast_or_null<mlir::DenseI32ArrayAttr>(reshape.attr("shape"))
                     : mlir::DenseI32ArrayAttr();
    auto type = llvm::dyn_cast<mlir::RankedTensorType>(op->getResult(0).getType());
    if (!shape || !type || type.getRank() < 4 || shape.size() != type.getRank()) continue;
    const int64_t last = type.getRank() - 1;
    if (shape[last] <= 0 || shape[last] % 2 || type.isDynamicDim(last - 1)) continue;
    edits.add(op, "makes heads of half the size", [op, shape, type, last]() {
      llvm::SmallVector<int32_t> entries(shape.asArrayRef());
      entries[last] /= 2;
      if (entries[last - 1] > 0) entries[last - 1] *= 2;
      llvm::SmallVector<int64_t> extents(type.getShape());
      extents[last] /= 2;
      extents[last - 1] *= 2;
      pd::OpView(op).setAttr("shape", mlir::DenseI32ArrayAttr::get(op->getContext(), entries));
      op->getResult(0).setType(mlir::RankedTensorType::get(extents, type.getElementType()));
    });
  }
}

// Cut, or put together, along another dim of the same extent.
void otherDim(JobView& view, Edits& edits) {
  const std::string axis = layerAxis(view);
  const auto add = [&](mlir::Operation* op, mlir::Type whole, int64_t dim) {
    auto type = llvm::dyn_cast<mlir::RankedTensorType>(whole);
    for (int64_t other = 0; type && dim >= 0 && other < type.getRank(); ++other)
      if (other != dim && type.getDimSize(other) == type.getDimSize(dim))
        edits.add(op, "along dim " + std::to_string(other), [op, other, dim]() {
          op->setAttr("dim", mlir::Builder(op->getContext()).getI64IntegerAttr(other));
          if (!llvm::isa<dist::SliceOp>(op)) return;
          auto part = llvm::cast<mlir::RankedTensorType>(op->getResult(0).getType());
          llvm::SmallVector<int64_t> extents(part.getShape());
          std::swap(extents[other], extents[dim]);
          op->getResult(0).setType(mlir::RankedTensorType::get(extents, part.getElementType()));
        });
  };
  view.program->walk([&](dist::SliceOp op) {
    if (op.getAxes().size() == 1 && !axis.empty() &&
        llvm::cast<mlir::StringAttr>(op.getAxes()[0]).getValue() == axis)
      add(op, op.getInput().getType(), static_cast<int64_t>(op.getDim()));
  });
  for (auto op : onLayers<dist::AllGatherOp>(view))
    add(op, op->getResult(0).getType(), static_cast<int64_t>(op.getDim()));
}

// A variable is said to hold parts of another dim, or the whole.
void otherPart(JobView& view, Edits& edits) {
  const std::string axis = layerAxis(view);
  for (pd::VarOp var : variablesOf(view)) {
    auto relation = var->getAttrOfType<dist::RelAttr>(dist::kRelAttr);
    auto type = llvm::dyn_cast<mlir::RankedTensorType>(var.getType());
    if (!relation || !type || axis.empty()) continue;
    for (dist::AxisRelAttr one : relation.getAxes()) {
      if (one.getAxis().getValue() != axis || one.getState() != dist::StateKind::Split) continue;
      for (int64_t dim = -1; dim < type.getRank(); ++dim)
        if (dim != one.getDim())
          edits.add(var, dim < 0 ? "holds the whole" : "holds parts of dim " + std::to_string(dim),
                    [var, relation, one, dim]() mutable {
                      const auto now = dist::AxisRelAttr::split(one.getAxis(), dim, {});
                      var->setAttr(dist::kRelAttr,
                                   dim < 0 ? dist::RelAttr::of(relation.getVariable())
                                           : dist::RelAttr::of(relation.getVariable(), now));
                    });
    }
  }
}

// What is whole enters a sum of terms as it is: it counts once per rank.
void wholeAsTerm(JobView& view, Edits& edits) {
  for (mlir::Operation* op : view.framework) {
    if (!isInserted(op) || pd::OpView(op).type() != "scale") continue;
    mlir::Value given = pd::OpView(op).input("X"), result = op->getResult(0);
    edits.add(op, quoted(given) + " counts once per rank",
              [given, result]() mutable { result.replaceAllUsesWith(given); });
  }
}

// Ranks draw the same for different parts.
void sameDraws(JobView& view, Edits& edits) {
  const std::string axis = layerAxis(view);
  for (mlir::Operation* op : view.framework) {
    auto streams = op->getAttrOfType<mlir::ArrayAttr>(dist::kStreamsAttr);
    if (!streams || axis.empty()) continue;
    const bool own = llvm::is_contained(streams.getAsValueRange<mlir::StringAttr>(), axis);
    edits.add(op, own ? "draws the same for all parts" : "draws another mask on each rank",
              [op, streams, axis, own]() {
                llvm::SmallVector<mlir::Attribute> now;
                for (mlir::Attribute one : streams)
                  if (llvm::cast<mlir::StringAttr>(one).getValue() != axis) now.push_back(one);
                if (!own) now.push_back(mlir::StringAttr::get(op->getContext(), axis));
                op->setAttr(dist::kStreamsAttr, mlir::ArrayAttr::get(op->getContext(), now));
              });
  }
}

}  // namespace

std::vector<Kind> layerKinds() {
  const char* group = "layers";
  return {
      {group, "layer-sum-behind", "a bias or residual is added once per rank", Place::Main,
       summedBehind},
      {group, "layer-term", "a term is read before it is summed", Place::Main, termRead},
      {group, "layer-part-read", "a part is read before it is put together", Place::Main, partRead},
      {group, "layer-scatter-dim", "terms are cut by their sum along another dim", Place::Main,
       scatteredOtherwise},
      {group, "layer-axis", "summed or put together over other ranks", Place::Main, overReplicas},
      {group, "layer-heads", "heads are cut in the middle", Place::Main, headsInTheMiddle},
      {group, "layer-dim", "cut or put together along another dim", Place::Main, otherDim},
      {group, "layer-startup-dim", "a variable begins as a part of another dim", Place::Startup,
       otherDim},
      {group, "layer-part", "a variable is said to hold another part", Place::Main, otherPart},
      {group, "layer-whole-as-term", "what is whole counts once per rank", Place::Main,
       wholeAsTerm},
      {group, "layer-draws", "equal masks for parts, or different ones for wholes", Place::Main,
       sameDraws},
  };
}

}  // namespace dtranspile::mutate
