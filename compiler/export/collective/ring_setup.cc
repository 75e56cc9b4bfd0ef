#include "compiler/export/collective/ring_setup.h"

#include "dialects/pd/types.h"
#include "llvm/ADT/StringExtras.h"

namespace dtranspile {
namespace {

// The members agree by their places in the list of endpoints, which all ranks have alike.
void makeRing(Emitter& emitter, const Ring& ring, llvm::ArrayRef<std::string> endpoints) {
  std::vector<int64_t> members = groupOf(ring.comm, emitter.mesh(), emitter.rank());
  llvm::SmallVector<llvm::StringRef> all, others;
  int64_t position = 0;
  for (size_t i = 0; i < members.size(); ++i) {
    all.push_back(endpoints[members[i]]);
    if (members[i] == emitter.rank()) position = static_cast<int64_t>(i);
    else others.push_back(all.back());
  }
  std::string name = emitter.freshName("comm_id");
  mlir::Location loc = dist::CommOp(ring.comm).getLoc();
  pd::OpView id = emitter.declarations().create(
      emitter.builder(), loc, "c_gen_nccl_id", {},
      {{"Out", {{name, pd::RawType::get(emitter.builder().getContext(), "RAW")}}}},
      {emitter.named("rank", position),
       emitter.named("endpoint", emitter.builder().getStringAttr(endpoints[emitter.rank()])),
       emitter.named("other_endpoints", emitter.builder().getStrArrayAttr(others)),
       emitter.named("ring_id", ring.id)},
      pd::kForward);
  emitter.declarations().create(
      emitter.builder(), loc, "c_comm_init", {{"X", {id.output("Out")}}}, {},
      {emitter.named("nranks", static_cast<int64_t>(members.size())),
       emitter.named("rank", position), emitter.named("ring_id", ring.id),
       emitter.named("endpoints", emitter.builder().getStringAttr(llvm::join(all, ",")))},
      pd::kForward);
}

}  // namespace

// In front of the first op that communicates: a ring must exist before it is used, and as late as
// possible leaves the order of start-up alone.
void makeRings(Emitter& emitter, mlir::Block& block, llvm::ArrayRef<std::string> endpoints) {
  mlir::OpBuilder& builder = emitter.builder();
  builder.setInsertionPointToEnd(&block);
  for (mlir::Operation& op : block)
    if (dist::commOf(&op)) {
      builder.setInsertionPoint(&op);
      // A broadcast reads its variables right before it.
      while (builder.getInsertionPoint() != block.begin() &&
             llvm::isa<pd::GetOp>(*std::prev(builder.getInsertionPoint())))
        builder.setInsertionPoint(&*std::prev(builder.getInsertionPoint()));
      break;
    }
  for (const Ring& ring : emitter.rings()) makeRing(emitter, ring, endpoints);
}

}  // namespace dtranspile
