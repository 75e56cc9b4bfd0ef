#include "passes/tensor-parallel/rewrite.h"

#include "compiler/analysis/relations/part_bodies.h"
#include "llvm/ADT/SetVector.h"
#include "passes/sharding/norms.h"

namespace dtranspile::passes {
namespace {

using verify::State;

constexpr State kTerm = {dist::StateKind::Partial, dist::Reduce::Sum, 0, nullptr};

}  // namespace

TensorRewriter::TensorRewriter(JobOnAxes& job, const TensorPlan& plan, dist::CommOp comm)
    : job_(job),
      plan_(plan),
      comm_(comm),
      axes_(mlir::Builder(job.main.getContext()).getStrArrayAttr({plan.axis()})) {}

// Types first, since everything else reads them: every value that lies in parts gets the type of
// its part, and `whole_` remembers the old one. Then operands are converted where the plan says so,
// and ops with a form of their own are composed.
void TensorRewriter::run() {
  collect(*job_.main.getBodyBlock());
  for (mlir::Operation* op : ops_) {
    if (plan_.hasForm(op)) formed_.push_back(op);
    if (plan_.sumsNorms(op)) normed_.push_back(op);
    if (plan_.sumsTerms(op)) termSums_.push_back({op, howTermsAreSummed(op)});
  }
  closeShapes();
  const auto makePart = [&](mlir::Value value) {
    const State state = plan_.stateOf(value);
    if (!state.isSplit()) return;
    whole_[value] = value.getType();
    value.setType(partType(value.getType(), state.dim));
  };
  for (mlir::Operation* op : ops_) {
    for (mlir::Value result : op->getResults()) makePart(result);
    if (!plan_.looksInto(op)) continue;
    for (mlir::Value argument : op->getRegion(0).getArguments()) makePart(argument);
  }
  if (plan_.cutsSequences()) sumVectorsTogether();
  for (mlir::Operation* op : ops_) {
    convertOperands(op);
    declareStreams(op);
  }
  composeFormed();
  declareVariables();
}

void TensorRewriter::collect(mlir::Block& block) {
  for (mlir::Operation& op : block) {
    ops_.push_back(&op);
    if (plan_.looksInto(&op)) collect(op.getRegion(0).front());
  }
}

// What the type says of a dim that is not known while compiling stays so.
mlir::Type TensorRewriter::partType(mlir::Type whole, int64_t dim) const {
  auto tensor = llvm::dyn_cast<mlir::RankedTensorType>(whole);
  if (!tensor || dim >= tensor.getRank() || tensor.isDynamicDim(dim)) return whole;
  llvm::SmallVector<int64_t> shape(tensor.getShape());
  shape[dim] /= plan_.size();
  return mlir::RankedTensorType::get(shape, tensor.getElementType(), tensor.getEncoding());
}

mlir::Type TensorRewriter::typeAs(mlir::Value value, const State& state) const {
  const auto found = whole_.find(value);
  const mlir::Type whole = found == whole_.end() ? value.getType() : found->second;
  return state.isSplit() ? partType(whole, state.dim) : whole;
}

//===----------------------------------------------------------------------===//
// Operands
//===----------------------------------------------------------------------===//

mlir::Value& TensorRewriter::made(mlir::Value value, const State& state) {
  auto& all = made_[value];
  for (auto& [other, result] : all)
    if (other == state) return result;
  return all.emplace_back(state, mlir::Value()).second;
}

mlir::Value TensorRewriter::cut(mlir::OpBuilder& builder, mlir::Location loc, mlir::Value whole,
                                mlir::Type type, int64_t dim) {
  const int64_t extent = llvm::cast<mlir::RankedTensorType>(whole.getType()).getDimSize(dim);
  return dist::SliceOp::create(builder, loc, type, whole, builder.getI64IntegerAttr(dim),
                               dist::LayoutAttr::even(builder.getContext(), extent), axes_);
}

// A whole value as a term of a sum over n ranks: 1/n of it on each.
mlir::Value TensorRewriter::share(mlir::OpBuilder& builder, mlir::Operation* before,
                                  mlir::Value whole) {
  const std::string name =
      declarations_.freshName(before->getBlock(), (pd::nameOf(whole) + "@TERM").str());
  return scale(builder, before->getLoc(), whole, 1.0 / static_cast<double>(plan_.size()), name,
               pd::OpView(before).role(), declarations_);
}

// Gradients of scales and biases of norms are terms on parts of sequences, and little to send: all
// that are there in front of the first op that takes one whole are summed in one operation.
void TensorRewriter::sumVectorsTogether() {
  mlir::Block* body = job_.main.getBodyBlock();
  mlir::Operation* first = nullptr;
  llvm::SmallVector<mlir::OpOperand*> uses;
  for (mlir::Operation* op : ops_) {
    if (op->getBlock() != body) continue;
    const auto see = [&](mlir::Operation* user) {
      for (mlir::OpOperand& use : user->getOpOperands()) {
        const State has = plan_.stateOf(use.get());
        if (!has.isPartial() || has.reduce != dist::Reduce::Sum ||
            !plan_.takes(use).isReplicated() || verify::rankOf(use.get()) > 1)
          continue;
        if (!first) first = op;
        uses.push_back(&use);
      }
    };
    if (plan_.looksInto(op)) see(op);
    else op->walk(see);
  }
  llvm::erase_if(uses, [&](mlir::OpOperand* use) {
    mlir::Operation* maker = use->get().getDefiningOp();
    return !maker || maker->getBlock() != body || !maker->isBeforeInBlock(first);
  });
  if (!uses.empty()) makeAll(first, uses);
}

// Makes what an op takes out of what there is: a slice, a sum, or parts put together, in front of
// it.
void TensorRewriter::convertOperands(mlir::Operation* op) {
  llvm::SmallVector<mlir::OpOperand*> uses;
  const auto add = [&](mlir::Operation* user) {
    for (mlir::OpOperand& use : user->getOpOperands())
      if (!(plan_.takes(use) == plan_.stateOf(use.get()))) uses.push_back(&use);
  };
  // What stands in blocks that are not looked into gets its operands in front of all of it.
  if (plan_.looksInto(op)) add(op);
  else op->walk(add);
  if (uses.empty()) return;
  makeAll(op, uses);
  // All values first: one may be asked for in two ways.
  llvm::SmallVector<mlir::Value> values;
  for (mlir::OpOperand* use : uses) values.push_back(made(use->get(), plan_.takes(*use)));
  for (auto [use, value] : llvm::zip(uses, values)) use->set(value);
}

// Makes what these uses take and nobody has taken before. Values that are sent in the same way go
// together.
void TensorRewriter::makeAll(mlir::Operation* before, llvm::ArrayRef<mlir::OpOperand*> uses) {
  struct Group {
    llvm::SmallVector<mlir::Value> values;
    llvm::SmallVector<mlir::Type> types;
  };
  const State whole;
  mlir::OpBuilder builder(before);
  const mlir::Location loc = before->getLoc();
  // By dim, or by reduction, and element type: in the order of the operands, whatever the pointers.
  llvm::MapVector<std::pair<int, const void*>, Group> gathers, scatters, sums;
  const auto add = [&](Group& group, mlir::Value value, const State& state) {
    if (llvm::is_contained(group.values, value)) return;
    group.values.push_back(value);
    group.types.push_back(typeAs(value, state));
  };
  for (mlir::OpOperand* use : uses) {
    const mlir::Value value = use->get();
    const State has = plan_.stateOf(value), wants = plan_.takes(*use);
    if (made(value, wants)) continue;
    const void* element =
        llvm::cast<mlir::RankedTensorType>(value.getType()).getElementType().getAsOpaquePointer();
    if (has.isSplit() && !made(value, whole)) add(gathers[{has.dim, element}], value, whole);
    if (has.isPartial() && has.reduce == dist::Reduce::Sum && wants.isSplit())
      add(scatters[{wants.dim, element}], value, wants);
    else if (has.isPartial() && !made(value, whole))
      add(sums[{static_cast<int>(has.reduce), element}], value, whole);
  }
  const auto keep = [&](const Group& group, mlir::ResultRange results, const State& state) {
    for (auto [value, result] : llvm::zip(group.values, results)) made(value, state) = result;
  };
  const auto sum = dist::ReduceAttr::get(builder.getContext(), dist::Reduce::Sum);
  for (auto& [key, group] : gathers)
    keep(group,
         dist::AllGatherOp::create(builder, loc, group.types, group.values, symbolOf(comm_),
                                   builder.getI64IntegerAttr(key.first), mlir::UnitAttr())
             ->getResults(),
         whole);
  for (auto& [key, group] : scatters)
    keep(group,
         dist::ReduceScatterOp::create(builder, loc, group.types, sum, group.values,
                                       symbolOf(comm_), builder.getI64IntegerAttr(key.first))
             ->getResults(),
         State::split(key.first));
  for (auto& [key, group] : sums)
    keep(group,
         dist::AllReduceOp::create(
             builder, loc, group.types,
             dist::ReduceAttr::get(builder.getContext(), static_cast<dist::Reduce>(key.first)),
             group.values, symbolOf(comm_))
             ->getResults(),
         whole);
  for (mlir::OpOperand* use : uses) {
    const mlir::Value value = use->get();
    const State has = plan_.stateOf(value), wants = plan_.takes(*use);
    if (made(value, wants)) continue;
    const mlir::Value from = has.isReplicated() ? value : made(value, whole);
    const mlir::Value result = wants == kTerm
                                   ? share(builder, before, from)
                                   : cut(builder, loc, from, typeAs(value, wants), wants.dim);
    made(value, wants) = result;
  }
}

//===----------------------------------------------------------------------===//
// What is said of ops and variables
//===----------------------------------------------------------------------===//

// Parts of one draw are drawn each for itself.
void TensorRewriter::declareStreams(mlir::Operation* op) {
  const pd::OpSpec* spec = pd::OpView::isFrameworkOp(op) ? pd::OpView(op).spec() : nullptr;
  if (!spec || !(spec->effects & pd::kRandom)) return;
  if (llvm::any_of(op->getResults(),
                   [&](mlir::Value result) { return plan_.stateOf(result).isSplit(); }))
    op->setAttr(dist::kStreamsAttr, axes_);
}

// Last: what the plan says of a value it says of the result of its op.
void TensorRewriter::composeFormed() {
  const verify::Parts parts{plan_.axis(), plan_.size(), symbolOf(comm_), job_.main.getVersion()};
  for (mlir::Operation* op : formed_) verify::composeParts(pd::OpView(op), parts, declarations_);
  for (mlir::Operation* op : normed_)
    replaceByNormed(pd::OpView(op), symbolOf(comm_), declarations_);
  for (auto [op, how] : termSums_) verify::composeTermSum(pd::OpView(op), how, declarations_);
}

verify::TermSum TensorRewriter::howTermsAreSummed(mlir::Operation* op) const {
  verify::TermSum how;
  how.comm = symbolOf(comm_);
  for (mlir::OpOperand& use : op->getOpOperands()) {
    const State state = plan_.takes(use);
    how.isTerm.push_back(state.isPartial());
    if (state.isSplit()) how.dim = state.dim;
  }
  return how;
}

void TensorRewriter::closeShapes() {
  for (auto [op, before] : plan_.opened())
    if (llvm::none_of(op->getResults(),
                      [&](mlir::Value result) { return plan_.stateOf(result).isSplit(); }))
      pd::OpView(op).setAttr("shape", before);
}

// After this a variable is of the type of a part, in memory and in checkpoints; its relation says
// of what. Start-up makes the whole, equal on all ranks, and keeps a part.
void TensorRewriter::declareVariables() {
  llvm::DenseMap<pd::VarOp, int> dims;
  llvm::SmallVector<pd::VarOp> variables;
  for (auto [var, dim] : plan_.stored()) {
    dims[var] = dim;
    variables.push_back(var);
  }
  keepPartsInStartup(
      job_.startup, variables,
      [&](mlir::OpBuilder& builder, mlir::Location loc, pd::VarOp var, mlir::Value whole) {
        return cut(builder, loc, whole, partType(var.getType(), dims[var]), dims[var]);
      });
  for (pd::VarOp var : variables) {
    const auto state =
        dist::AxisRelAttr::split(llvm::cast<mlir::StringAttr>(axes_[0]), dims[var], {});
    var->setAttr(dist::kRelAttr, dist::RelAttr::of(var.getSymNameAttr(), state));
    var.setTypeAttr(mlir::TypeAttr::get(partType(var.getType(), dims[var])));
  }
}

}  // namespace dtranspile::passes
