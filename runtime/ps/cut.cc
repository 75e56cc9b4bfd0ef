#include "runtime/ps/cut.h"

#include <cstring>
#include <map>

#include "runtime/base/status.h"

namespace dtranspile::ps {
namespace {

int64_t Product(const std::vector<int64_t>& extents, size_t begin, size_t end) {
  int64_t product = 1;
  for (size_t d = begin; d < end; ++d) product *= extents[d];
  return product;
}

}  // namespace

int64_t RanksOf(const Mesh& mesh) {
  int64_t ranks = 1;
  for (const auto& [axis, size] : mesh) ranks *= size;
  return ranks;
}

// Which part each server has. Servers are numbered along their mesh, the last axis fastest. Without
// a layout every server has the whole.
absl::StatusOr<Cut> Cut::Make(const exec::Layout* layout, const Mesh& servers) {
  Cut cut;
  cut.layout_ = layout;
  exec::Position position;
  position.mesh = {servers.begin(), servers.end()};
  const int64_t count = RanksOf(servers);
  for (int64_t server = 0; server < count; ++server) {
    int64_t rest = server;
    for (auto axis = servers.rbegin(); axis != servers.rend(); ++axis) {
      position.coordinates[axis->first] = rest % axis->second;
      rest /= axis->second;
    }
    exec::Place place;
    if (layout != nullptr) {
      DT_ASSIGN_OR_RETURN(place, exec::PlaceOf(layout->axes, position));
      if (cut.parts_ == nullptr) cut.parts_ = std::make_unique<exec::Parts>(*layout, place.of);
    }
    cut.parts_of_.push_back(place.at);
  }
  return cut;
}

std::vector<int64_t> Cut::OneForEach() const {
  std::map<int64_t, int64_t> first;  // server by part
  for (int64_t server = 0; server < servers(); ++server) first.emplace(part(server), server);
  std::vector<int64_t> list;
  for (const auto& [part, server] : first) list.push_back(server);
  return list;
}

std::vector<int64_t> Cut::Dims(int64_t part, const std::vector<int64_t>& whole) const {
  if (!parts_) return whole;
  return has_pad() ? parts_->room_dims() : parts_->dims(part);
}

void Cut::Take(int64_t part, size_t size, const std::vector<int64_t>& whole, const std::byte* from,
               std::byte* to) const {
  if (parts_) return parts_->Take(part, size, from, to, has_pad());
  std::memcpy(to, from, static_cast<size_t>(Product(whole, 0, whole.size())) * size);
}

// The runs of bytes that make up a part: where they lie in the whole and where in the part. `size`
// is that of an element, `whole` the extents of the whole. Runs that touch in the whole are joined.
std::vector<Cut::Piece> Cut::Pieces(int64_t part, int64_t size,
                                    const std::vector<int64_t>& whole) const {
  if (!parts_) return {{0, 0, Product(whole, 0, whole.size()) * size}};
  // Elements around and inside of an index of the cut dimension; the flattened tensor has none.
  int64_t outer = 1, unit = size;
  if (layout_->dim >= 0) {
    const auto dim = static_cast<size_t>(layout_->dim);
    outer = Product(layout_->whole, 0, dim);
    unit *= Product(layout_->whole, dim + 1, layout_->whole.size());
  }
  const int64_t rows = has_pad() ? parts_->room() : parts_->extent(part);
  std::vector<Piece> pieces;
  for (int64_t o = 0; o < outer; ++o)
    parts_->ForRuns(part, [&](int64_t begin, int64_t extent, int64_t local) {
      const Piece piece{(o * layout_->extent + begin) * unit, (o * rows + local) * unit,
                        extent * unit};
      if (!pieces.empty() && pieces.back().whole + pieces.back().bytes == piece.whole)
        pieces.back().bytes += piece.bytes;
      else pieces.push_back(piece);
    });
  return pieces;
}

int64_t Cut::RowOf(int64_t part, int64_t local) const {
  if (parts_ == nullptr) return local;
  if (layout_->kind == exec::LayoutKind::kCyclic) return part + local * parts_->count();
  int64_t row = -1;
  parts_->ForRuns(part, [&](int64_t begin, int64_t extent, int64_t first) {
    if (local >= first && local < first + extent) row = begin + local - first;
  });
  return row;
}

}  // namespace dtranspile::ps
