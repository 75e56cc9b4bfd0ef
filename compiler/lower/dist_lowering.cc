// Communication of a specialised program: every collective becomes start and wait nodes on the
// communicators of the plan. A blocking op is waited for at once, a started one (`!dist.pending`)
// at its dist.wait. Part of ProgramLowering.
#include "compiler/lower/program_lowering.h"
#include "dialects/dist/dist.h"
#include "dialects/dist/lookup.h"

namespace dtranspile::lower {
namespace {

using llvm::failure;
using llvm::LogicalResult;
using llvm::success;

// What a dist op is in the plan; `gathers`: the extents of its results differ from those of its
// operands.
struct CollectiveRow {
  llvm::StringLiteral op;  // name in the dialect
  comm::Kind kind;
  bool reduces = false;
  bool rooted = false;
  bool gathers = false, scatters = false;
};
constexpr CollectiveRow kCollectives[] = {
    {"all_reduce", comm::Kind::kAllReduce, true},
    {"broadcast", comm::Kind::kBroadcast, false, true},
    {"reduce", comm::Kind::kReduce, true, true},
    {"all_gather", comm::Kind::kAllGather, false, false, true},
    {"reduce_scatter", comm::Kind::kReduceScatter, true, false, false, true},
    {"barrier", comm::Kind::kBarrier},
};

const CollectiveRow* rowOf(mlir::Operation* op) {
  for (const CollectiveRow& row : kCollectives) {
    if (op->getName().getStringRef() == ("dist." + row.op).str()) return &row;
  }
  return nullptr;
}

std::optional<comm::ReduceOp> reduceOf(llvm::StringRef name) {
  using comm::ReduceOp;
  for (ReduceOp op :
       {ReduceOp::kSum, ReduceOp::kMax, ReduceOp::kMin, ReduceOp::kProd, ReduceOp::kOr})
    if (name == comm::NameOf(op)) return op;
  return std::nullopt;
}

// Rank inside the group of the member that the selector names: coordinates of the comm's axes, the
// last one fastest.
std::optional<int64_t> rootOf(dist::SelAttr selector, dist::CommOp comm, dist::MeshOp mesh) {
  int64_t rank = 0;
  for (auto axis : comm.getAxes().getAsRange<mlir::StringAttr>()) {
    dist::AxisSetAttr set = selector.lookup(axis.getValue());
    std::optional<int64_t> size = mesh.sizeOf(axis.getValue());
    if (!set || !set.isPoint() || !size) return std::nullopt;
    rank = rank * *size + set.getBounds()[0];
  }
  return rank;
}

// Extents of the result of a gather or scatter whose parts are contiguous: along dim 0, or of the
// flattened tensor. False, with `why`, for others: they would need copies.
bool partExtents(mlir::Operation* op, const CollectiveRow& row, int64_t size, mlir::Type result,
                 pd::TensorInfo& info, std::string& why) {
  auto dim = op->getAttrOfType<mlir::IntegerAttr>("dim");
  if (!dim || dim.getInt() > 0 || op->hasAttr("ragged")) {
    why = "only dim 0 and the flattened tensor are supported natively";
    return false;
  }
  const bool flat = dim.getInt() == dist::kFlat;
  auto whole = llvm::dyn_cast<mlir::RankedTensorType>(result);
  if (row.gathers) {
    if (flat &&
        (!whole || !whole.hasStaticShape() || whole.getNumElements() != info.elements() * size)) {
      why = "a flattened result that is no multiple of its parts is not supported natively";
      return false;
    }
    if (flat) info.dims.assign(whole.getShape().begin(), whole.getShape().end());
    else info.dims[0] *= size;
    return true;
  }
  if (flat) info.dims = {info.elements()};
  if (info.dims[0] % size != 0) {
    why = std::to_string(info.dims[0]) + (flat ? " elements" : " rows") + " do not divide by " +
          std::to_string(size) + " ranks";
    return false;
  }
  info.dims[0] /= size;
  return true;
}

}  // namespace

bool ProgramLowering::isCommunication(mlir::Operation* op) {
  return rowOf(op) || llvm::isa<dist::WaitOp>(op);
}

void addCommunicators(mlir::Operation* table, Plan& plan) {
  for (auto comm : table->getRegion(0).getOps<dist::CommOp>()) {
    Comm entry{comm.getSymName().str(), {}};
    for (auto axis : comm.getAxes().getAsRange<mlir::StringAttr>())
      entry.axes.push_back(axis.getValue().str());
    plan.comms.push_back(std::move(entry));
  }
}

LogicalResult ProgramLowering::lowerCommunication(mlir::Operation* op) {
  if (auto wait = llvm::dyn_cast<dist::WaitOp>(op))
    return lowerWait(wait.getPending().getDefiningOp(), wait->getResults());
  const bool started =
      op->getNumResults() == 1 && llvm::isa<dist::PendingType>(op->getResult(0).getType());
  if (failed(startCollective(op))) return failure();
  return started ? success() : lowerWait(op, op->getResults());
}

// One start per element type, as the segments of an operation are of one type, and one per value.
LogicalResult ProgramLowering::startCollective(mlir::Operation* op) {
  const CollectiveRow& row = *rowOf(op);
  dist::CommOp comm = dist::lookupComm(op, dist::commOf(op));
  dist::MeshOp mesh = comm ? dist::meshOfComm(comm) : dist::MeshOp();
  if (!mesh) return op->emitError() << position_ << ": its communicator is not in this program";
  const int64_t size = comm.groupSize(mesh);
  StartNode what{.collective = row.kind};
  for (size_t i = 0; i < plan_.comms.size(); ++i) {
    if (plan_.comms[i].name == comm.getSymName()) what.comm = static_cast<int>(i);
  }
  if (row.reduces) {
    // mean is a sum that the program divides; the runtime has the five others.
    llvm::StringRef how =
        dist::stringifyReduce(op->getAttrOfType<dist::ReduceAttr>("reduce").getValue());
    const std::optional<comm::ReduceOp> reduce = reduceOf(how);
    if (!reduce)
      return op->emitError() << position_ << ": reduction '" << how
                             << "' is not supported natively";
    what.reduce = *reduce;
  }
  if (row.rooted) {
    std::optional<int64_t> root = rootOf(op->getAttrOfType<dist::SelAttr>("root"), comm, mesh);
    if (!root)
      return op->emitError() << position_ << ": its root is not one member of "
                             << comm.getSymName();
    what.root = static_cast<int>(*root);
  }
  llvm::SmallVector<mlir::Type> results = dist::completedTypes(op->getResultTypes());
  std::map<DType, std::pair<std::vector<int>, std::vector<int>>> groups;
  std::vector<std::pair<std::vector<int>, std::vector<int>>> starts;  // values go one by one
  Started& state = started_[op];
  for (auto [index, input] : llvm::enumerate(op->getOperands())) {
    pd::TensorInfo info = infos_[input];
    const bool value = isRunTimeValue(info);
    if (value && (row.op != "all_reduce" || info.kind == pd::Kind::TensorArray ||
                  (info.kind == pd::Kind::SelectedRows && what.reduce != comm::ReduceOp::kSum)))
      return op->emitError() << position_ << ": " << dist::nameOf(input)
                             << " is SelectedRows, a list, or has extents that depend on data: "
                             << row.op << " (" << comm::NameOf(what.reduce)
                             << ") of it is not supported natively";
    std::string why;
    if ((row.gathers || row.scatters) && !partExtents(op, row, size, results[index], info, why))
      return op->emitError() << position_ << ": " << why;
    state.buffers.push_back(newBuffer(dist::nameOf(input), info));
    state.infos.push_back(info);
    auto& lists = value ? starts.emplace_back() : groups[info.dtype];
    lists.first.push_back(bufferOf(input));
    lists.second.push_back(state.buffers.back());
  }
  if (op->getNumOperands() == 0) groups[DType::kFloat32];
  for (auto& [dtype, lists] : groups) starts.push_back(std::move(lists));
  for (auto& lists : starts) {
    what.ticket = nextTicket_++;
    what.inputs = static_cast<int>(lists.first.size());
    Node start{.op = position_, .args = lists.first, .what = what};
    start.args.insert(start.args.end(), lists.second.begin(), lists.second.end());
    for (size_t i = 0; i < start.args.size(); ++i) {
      start.reads.push_back(static_cast<int>(i) < what.inputs);
      start.writes.push_back(static_cast<int>(i) >= what.inputs);
    }
    state.tickets.push_back(what.ticket);
    add(std::move(start));
  }
  return success();
}

LogicalResult ProgramLowering::lowerWait(mlir::Operation* start, mlir::ResultRange results) {
  auto it = start ? started_.find(start) : started_.end();
  if (it == started_.end() || it->second.buffers.size() < results.size())
    return program_.emitError() << position_ << ": waits for something that was not started";
  for (int ticket : it->second.tickets) {
    add({.op = position_, .what = WaitNode{ticket}});
  }
  for (auto [i, result] : llvm::enumerate(results)) {
    infos_[result] = it->second.infos[i];
    buffers_[result] = it->second.buffers[i];
  }
  return success();
}

}  // namespace dtranspile::lower
