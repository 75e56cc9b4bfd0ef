#include "compiler/lower/transfers.h"

#include "dialects/dist/lookup.h"
#include "dialects/pd/types.h"

namespace dtranspile::lower {
namespace {

int64_t divideUp(int64_t a, int64_t b) { return a < 0 ? a : a / b + (a % b != 0); }

// Infers all of a program that may be reached by a transfer; what it does not follow (what blocks
// of the framework give) has its declared type.
class TransferWalk {
 public:
  TransferWalk(pd::ProgramOp program, const LoweringRequest& request)
      : program_(program), request_(request), mesh_(dist::meshOf(program)) {}

  // In the order of the transfers of the program.
  std::vector<pd::TensorInfo> run() {
    walk(*program_.getBodyBlock());
    return std::move(transfers_);
  }

 private:
  void walk(mlir::Block& block) {
    for (mlir::Operation& op : block) see(&op);
  }

  void declare(mlir::Operation* op) {
    for (mlir::Value result : op->getResults())
      infos_[result] = pd::declaredInfo(dist::unlocated(result.getType()));
  }

  pd::TensorInfo infoOf(mlir::Value value) {
    const pd::TensorInfo* known = infos_.find(value);
    return known ? *known : pd::declaredInfo(dist::unlocated(value.getType()));
  }

  // Infers extents through one stage's program, as far as they are known: dist.transfer, in the
  // order of the program, tells what the next stage receives.
  void see(mlir::Operation* op) {
    declare(op);
    if (auto input = llvm::dyn_cast<pd::InputOp>(op)) return feed(input);
    if (auto on = llvm::dyn_cast<dist::OnOp>(op)) return guard(on);
    if (llvm::isa<dist::MicroOp, dist::CompositeOp>(op)) return region(op);
    if (auto transfer = llvm::dyn_cast<dist::TransferOp>(op)) {
      transfers_.push_back(infoOf(transfer.getInput()));
      infos_[transfer.getOutput()] = transfers_.back();
      return;
    }
    if (auto wait = llvm::dyn_cast<dist::WaitOp>(op))
      return communicated(wait.getPending().getDefiningOp(), op);
    if (dist::commOf(op) && op->getNumOperands() > 0) return communicated(op, op);
    if (auto slice = llvm::dyn_cast<dist::SliceOp>(op)) return;  // a static type
    if (!pd::OpView::isFrameworkOp(op)) return;
    pd::OpView view(op);
    InferAdapter adapter(infos_, view, program_.getVersion(), /*quiet=*/true);
    if (const pd::OpSpec* spec = view.spec(); spec && spec->infer) (void)spec->infer(adapter);
  }

  void feed(pd::InputOp input) {
    auto given = request_.feedDims.find(input.getName().str());
    if (given == request_.feedDims.end()) return;
    pd::TensorInfo& info = infos_[input.getValue()];
    info.dims.assign(given->second.begin(), given->second.end());
    auto batch = input->getAttrOfType<dist::BatchAttr>(dist::kBatchAttr);
    for (mlir::StringAttr axis : batch ? batch.getAxes() : llvm::ArrayRef<mlir::StringAttr>())
      if (mesh_ && !mesh_.indexOf(axis.getValue()))
        info.dims[static_cast<size_t>(batch.getDim())] /= mesh_.sizeOf(axis.getValue()).value_or(1);
  }

  void guard(dist::OnOp on) {
    region(on);
    if (!on.getOtherwise().empty()) walk(on.getOtherwise().front());
  }

  // Arguments are operands, results what the body yields.
  void region(mlir::Operation* op) {
    mlir::Block& body = op->getRegion(0).front();
    for (auto [argument, operand] : llvm::zip(body.getArguments(), op->getOperands()))
      infos_[argument] = infoOf(operand);
    walk(body);
    for (auto [result, value] : llvm::zip(op->getResults(), body.getTerminator()->getOperands()))
      infos_[result] = infoOf(value);
  }

  // Results of an operation between ranks that are not static are as its operands, but for the dim
  // that it cuts or puts together.
  void communicated(mlir::Operation* start, mlir::Operation* end) {
    if (!start || start->getNumOperands() != end->getNumResults()) return;
    dist::CommOp comm = dist::lookupComm(start, dist::commOf(start));
    const int64_t size = comm && mesh_ ? comm.groupSize(mesh_) : 1;
    for (auto [operand, result] : llvm::zip(start->getOperands(), end->getResults())) {
      if (infos_[result].isStatic()) continue;
      pd::TensorInfo info = infoOf(operand);
      auto extent = [&](llvm::StringRef name) -> int64_t* {
        auto dim = start->getAttrOfType<mlir::IntegerAttr>(name);
        const bool fits =
            dim && dim.getInt() >= 0 && dim.getInt() < static_cast<int64_t>(info.dims.size());
        return fits ? &info.dims[static_cast<size_t>(dim.getInt())] : nullptr;
      };
      int64_t* cut = extent(llvm::isa<dist::AllToAllOp>(start) ? "split" : "dim");
      if (cut && llvm::isa<dist::AllGatherOp>(start)) *cut *= *cut < 0 ? 1 : size;
      else if (cut) *cut = divideUp(*cut, size);
      if (int64_t* joined = extent("concat")) *joined *= *joined < 0 ? 1 : size;
      infos_[result] = std::move(info);
    }
  }

  pd::ProgramOp program_;
  const LoweringRequest& request_;
  dist::MeshOp mesh_;
  ValueInfos infos_;
  std::vector<pd::TensorInfo> transfers_;
};

}  // namespace

const pd::TensorInfo* knownSent(Lowering& lowering, dist::RecvOp recv) {
  pd::ProgramOp whole = lowering.request().whole;
  if (!whole || !recv.getNumber()) return nullptr;
  if (!lowering.transfers()) lowering.transfers() = TransferWalk(whole, lowering.request()).run();
  const auto number = static_cast<size_t>(*recv.getNumber());
  const std::vector<pd::TensorInfo>& all = *lowering.transfers();
  return number < all.size() ? &all[number] : nullptr;
}

// What a stage receives has the extents that the sender gives it, which its own type may leave
// open: buffers are planned before any step runs, so that they are taken from the sender's program.
llvm::FailureOr<pd::TensorInfo> sentInfo(Lowering& lowering, dist::RecvOp recv) {
  auto refuse = [&](const llvm::Twine& why) {
    return recv.emitError() << lowering.position() << ": what arrives"
                            << (recv.getVariable() ? " ('" + *recv.getVariable() + "')" : "")
                            << " has extents of -1, " << why;
  };
  if (!lowering.request().whole || !recv.getNumber())
    return refuse("which only the job knows: compile the job, or write them in the type"),
           llvm::failure();
  const pd::TensorInfo* sent = knownSent(lowering, recv);
  if (!sent || llvm::any_of(sent->dims, [](int64_t d) { return d < 0; }))
    return refuse(
               "which the stage that sends it does not know either: give the dims of its feeds "
               "(--shape)"),
           llvm::failure();
  return *sent;
}

}  // namespace dtranspile::lower
