// `show JOB --role R --rank K`: what one rank is told, as comments, and what it runs.
#include "compiler/specialize/specialize.h"
#include "dialects/dist/lookup.h"
#include "dialects/pd/pd.h"
#include "dialects/pd/types.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/raw_ostream.h"
#include "tools/dtranspile/cli/render_job.h"

namespace dtranspile::cli {
namespace {

class RankText {
 public:
  RankText(dist::RoleOp role, dist::MeshOp mesh, int64_t rank)
      : role_(role), mesh_(mesh), rank_(rank), at_(mesh.coordinatesOf(rank)), out_(text_) {}

  std::string header() {
    out_ << "// role " << role_.getSymName() << ", rank " << rank_ << " of " << mesh_.ranks();
    for (auto [axis, c] : llvm::zip(mesh_.getAxes().getAsValueRange<mlir::StringAttr>(), at_))
      out_ << ", " << axis << " = " << c;
    out_ << "\n";
    auto job = llvm::cast<mlir::ModuleOp>(role_->getParentOp());
    for (auto comm : job.getOps<dist::CommOp>())
      if (comm.getMesh() == mesh_.getSymName()) listComm(comm);
    for (auto var : role_.getBody().front().getOps<pd::VarOp>()) listVariable(var);
    return text_;
  }

 private:
  int64_t coordinate(llvm::StringRef axis) const {
    std::optional<unsigned> index = dist::MeshOp(mesh_).indexOf(axis);
    return index ? at_[*index] : 0;
  }

  bool isIn(dist::SelAttr where) const {
    return !where || llvm::all_of(where.getSets(), [&](dist::AxisSetAttr set) {
      return set.contains(coordinate(set.getAxis().getValue()));
    });
  }

  // Ranks of the group: those with this rank's coordinates on all axes that the comm does not name.
  void listComm(dist::CommOp comm) {
    out_ << "// @" << comm.getSymName() << " (" << dist::stringifyCommKind(comm.getKind()) << ")";
    if (comm.getServer()) {
      out_ << ": requests to @" << *comm.getServer() << "\n";
      return;
    }
    if (comm.getSubset() && !isIn(*comm.getSubset())) {
      out_ << ": not in its subset\n";
      return;
    }
    constexpr int kListed = 8;
    int64_t members = 0;
    std::string list;
    for (int64_t other = 0; other < mesh_.ranks() && members <= kListed; ++other) {
      llvm::SmallVector<int64_t> there = mesh_.coordinatesOf(other);
      bool shares = true;
      for (auto [axis, own, its] :
           llvm::zip(mesh_.getAxes().getAsRange<mlir::StringAttr>(), at_, there)) {
        const bool named = comm.overAxis(axis.getValue());
        dist::AxisSetAttr part =
            comm.getSubset() ? comm.getSubset()->lookup(axis) : dist::AxisSetAttr();
        shares &= named ? !part || part.contains(its) : own == its;
      }
      if (!shares) continue;
      list += (members++ ? ", " : "") + std::to_string(other);
    }
    out_ << ": " << comm.groupSize(mesh_)
         << " ranks: " << (members > kListed ? list.substr(0, list.rfind(',')) + ", …" : list)
         << "\n";
  }

  void listVariable(pd::VarOp var) {
    auto where = var->getAttrOfType<dist::SelAttr>(dist::kAtAttr);
    if (where && !isIn(where)) return;
    auto relation = var->getAttrOfType<dist::RelAttr>(dist::kRelAttr);
    std::string part;
    if (relation)
      for (dist::AxisRelAttr state : relation.getAxes())
        if (state.getState() == dist::StateKind::Split) part += partText(state);
    out_ << "// holds @" << var.getSymName() << ": " << var.getType() << part << "\n";
  }

  // Which blocks of the dim, or which indices of it, lie here.
  std::string partText(dist::AxisRelAttr state) {
    const llvm::StringRef axis = state.getAxis().getValue();
    const int64_t size = mesh_.sizeOf(axis).value_or(1), own = coordinate(axis);
    dist::LayoutAttr layout = state.getLayout();
    std::string text = ", dim " + (state.getDim() == dist::kFlat ? std::string("flat")
                                                                 : std::to_string(state.getDim()));
    auto range = [](int64_t from, int64_t to) {
      return " [" + std::to_string(from) + ", " + std::to_string(to) + ")";
    };
    if (!layout) return text + ": part " + std::to_string(own) + " of " + std::to_string(size);
    const int64_t n = layout.getExtent();
    if (layout.getKind() == dist::LayoutKind::Even) {
      const int64_t each = (n + size - 1) / size;
      return text + ":" + range(std::min(n, own * each), std::min(n, (own + 1) * each)) + " of " +
             std::to_string(n);
    }
    if (layout.getKind() == dist::LayoutKind::Cyclic)
      return text + ": indices " + std::to_string(own) + " mod " + std::to_string(size);
    if (layout.getKind() == dist::LayoutKind::Hashed)
      return text + ": blocks by hash of their name";
    constexpr int kListed = 8;
    std::string blocks;
    int listed = 0;
    const int64_t per = layout.getPer(), count = (n + per - 1) / per;
    const int64_t begin = ((own - layout.getFirst()) % size + size) % size;
    for (int64_t k = begin; k < count && listed <= kListed; k += size, ++listed)
      blocks += listed == kListed
                    ? " …"
                    : " " + std::to_string(k) + range(k * per, std::min(n, (k + 1) * per));
    return text + (blocks.empty() ? ": no block" : ": blocks" + blocks) + " of " +
           std::to_string(n);
  }

  dist::RoleOp role_;
  dist::MeshOp mesh_;
  int64_t rank_;
  llvm::SmallVector<int64_t> at_;
  std::string text_;
  llvm::raw_string_ostream out_;
};

}  // namespace

// The text of the rank's class behind comments that say what is this rank's own: coordinates,
// partners, parts.
mlir::FailureOr<std::string> describeRank(dist::RoleOp role, int64_t rank) {
  dist::MeshOp mesh = dist::meshOf(role);
  if (!mesh) return role.emitError("has no mesh");
  if (rank >= mesh.ranks())
    return role.emitError("has the ranks 0 to ") << mesh.ranks() - 1 << ", not " << rank;
  std::string text = RankText(role, mesh, rank).header();
  SpecializeOptions options;
  auto module = specialize(role, classOfRank(role, mesh, rank), options);
  if (mlir::failed(module)) return mlir::failure();
  llvm::raw_string_ostream out(text);
  (*module)->print(out);
  return text + "\n";
}

}  // namespace dtranspile::cli
