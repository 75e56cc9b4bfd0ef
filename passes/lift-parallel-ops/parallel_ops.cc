#include "passes/lift-parallel-ops/parallel_ops.h"

#include "dialects/pd/types.h"

namespace dtranspile::passes {
namespace {

// Op, how the operands in its slots lie, how its results do, the op of one device that it becomes
// (empty: it vanishes, since of the whole it is the identity), and whether it has attribute nranks.
constexpr ParallelOp kOps[] = {
    {"c_identity", {{"X", Lies::Whole}}, {{"Out", Lies::Whole}}},
    {"mp_allreduce_sum", {{"X", Lies::Term}}, {{"Out", Lies::Whole}}},
    {"c_allreduce_sum", {{"X", Lies::Term}}, {{"Out", Lies::Whole}}},
    {"c_split", {{"X", Lies::Whole}}, {{"Out", Lies::Columns}}, "", true},
    {"c_concat", {{"X", Lies::Columns}}, {{"Out", Lies::Whole}}, "", true},
    // What the framework makes for the gradient of c_split.
    {"c_allgather", {{"X", Lies::Gathered}}, {{"Out", Lies::Whole}}, "", true},
    {"c_embedding",
     {{"W", Lies::Rows}, {"Ids", Lies::Whole}},
     {{"Out", Lies::Term}},
     "lookup_table_v2"},
    {"c_embedding_grad",
     {{"W", Lies::Rows}, {"Ids", Lies::Whole}, {"Out@GRAD", Lies::Whole}},
     {{"W@GRAD", Lies::Rows}},
     "lookup_table_v2_grad"},
    {"c_softmax_with_cross_entropy",
     {{"Logits", Lies::Columns}, {"Label", Lies::Whole}},
     {{"Softmax", Lies::Columns}, {"Loss", Lies::Whole}},
     "softmax_with_cross_entropy",
     true},
    {"c_softmax_with_cross_entropy_grad",
     {{"Softmax", Lies::Columns}, {"Label", Lies::Whole}, {"Loss@GRAD", Lies::Whole}},
     {{"Logits@GRAD", Lies::Columns}},
     "softmax_with_cross_entropy_grad",
     true},
};

constexpr llvm::StringLiteral kSetUp[] = {
    "c_gen_nccl_id",   "c_gen_bkcl_id",      "c_comm_init",
    "c_comm_init_all", "c_sync_comm_stream", "c_sync_calc_stream",
    "c_wait_comm",     "c_wait_compute",     "c_broadcast",
};

}  // namespace

const ParallelOp* parallelOp(mlir::Operation* op) {
  if (!pd::OpView::isFrameworkOp(op)) return nullptr;
  const auto* at =
      llvm::find_if(kOps, [&](const ParallelOp& one) { return one.type == pd::OpView(op).type(); });
  return at == std::end(kOps) ? nullptr : at;
}

bool setsUpGroups(mlir::Operation* op) {
  return pd::OpView::isFrameworkOp(op) && llvm::is_contained(kSetUp, pd::OpView(op).type());
}

mlir::Type wholeType(mlir::Type part, int64_t dim, int64_t parts) {
  auto tensor = llvm::dyn_cast<mlir::RankedTensorType>(part);
  if (!tensor || dim >= tensor.getRank() || tensor.isDynamicDim(dim)) return part;
  llvm::SmallVector<int64_t> shape(tensor.getShape());
  shape[dim] *= parts;
  return mlir::RankedTensorType::get(shape, tensor.getElementType(), tensor.getEncoding());
}

// All ops of a program are of one rank; two that disagree are shown together.
mlir::LogicalResult Group::seeRank(pd::OpView op, int64_t rank) {
  if (rank < 0 || rank >= degree_)
    return op.operation()->emitError()
           << op.type() << ": is of rank " << rank << ", and a group of tensor_parallel_degree "
           << degree_ << " has the ranks 0 to " << degree_ - 1;
  if (ranked_ && rank != rank_) {
    mlir::InFlightDiagnostic error = op.operation()->emitError()
                                     << op.type() << ": is of rank " << rank
                                     << ", and the program of rank " << rank_
                                     << " before; a program is that of one rank";
    error.attachNote(ranked_->getLoc())
        << pd::OpView(ranked_).type() << " of rank " << rank_ << " is here";
    return error;
  }
  ranked_ = op.operation();
  rank_ = rank;
  return mlir::success();
}

// The rows that a rank has of a vocabulary begin where those of the ranks before it end.
mlir::LogicalResult Group::seeRows(pd::OpView op) {
  const mlir::RankedTensorType table = pd::tensorOf(op.input("W").getType());
  const int64_t rows = table && table.getRank() == 2 ? table.getDimSize(0) : -1;
  if (rows <= 0) return op.operation()->emitError() << op.type() << ": W has no known rows";
  const int64_t start = op.getInt("start_index"), all = op.getInt("vocab_size");
  if (start < 0 || start % rows != 0)
    return op.operation()->emitError() << op.type() << ": start_index is " << start
                                       << ", and no part of " << rows << " rows begins there";
  if (all >= 0 && all != rows * degree_)
    return op.operation()->emitError()
           << op.type() << ": vocab_size is " << all << ", and " << degree_ << " parts of " << rows
           << " rows are " << rows * degree_;
  return seeRank(op, start / rows);
}

// All layers speak to one ring, of as many ranks as the strategy says.
mlir::LogicalResult Group::see(pd::OpView op) {
  mlir::Operation* at = op.operation();
  if (op.type() == "c_embedding" || op.type() == "c_embedding_grad") return seeRows(op);
  const int64_t ring = op.getInt("ring_id");
  if (first_ && ring != ring_) {
    mlir::InFlightDiagnostic error =
        at->emitError() << op.type() << ": speaks to ring " << ring << ", and layers to ring "
                        << ring_ << "; give the program as its layers make it, without the groups "
                        << "of other strategies, which are made here";
    error.attachNote(first_->getLoc()) << pd::OpView(first_).type() << " names ring " << ring_;
    return error;
  }
  first_ = first_ ? first_ : at;
  ring_ = ring;
  const bool counts = parallelOp(at)->counts;
  if (counts && op.getInt("nranks") != degree_)
    return at->emitError() << op.type() << ": nranks is " << op.getInt("nranks")
                           << ", and tensor_parallel_degree is " << degree_
                           << "; say the degree that the program was built for";
  // The gradient of c_split has the rank from the op that it is of; c_allgather itself knows none.
  const bool ranked = counts && (op.type() != "c_allgather" || op.hasAttr("rank"));
  return ranked ? seeRank(op, op.getInt("rank")) : mlir::success();
}

}  // namespace dtranspile::passes
