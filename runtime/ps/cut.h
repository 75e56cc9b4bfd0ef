// How a table lies on the servers of a role, as a trainer cuts what it pushes and puts together
// what it pulls. Used by the client (client.h).
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "runtime/exec/layout.h"

namespace dtranspile::ps {

// Axes of a role's mesh with their sizes, the first one major.
using Mesh = std::vector<std::pair<std::string, int64_t>>;

// The number of ranks of a mesh.
int64_t RanksOf(const Mesh& mesh);

class Cut {
 public:
  // `layout` outlives the cut; null: the table is whole on every server. kInvalidArgument for an
  // axis that the mesh lacks.
  static absl::StatusOr<Cut> Make(const exec::Layout* layout, const Mesh& servers);

  // The part of a server; several have the same one where the mesh has more axes than the layout.
  int64_t part(int64_t server) const { return parts_of_[static_cast<size_t>(server)]; }
  int64_t servers() const { return static_cast<int64_t>(parts_of_.size()); }
  int64_t parts() const { return parts_ ? parts_->count() : 1; }
  // One server for every part: the first one that has it.
  std::vector<int64_t> OneForEach() const;

  // Extents of the memory of a part of a tensor with the extents `whole`.
  std::vector<int64_t> Dims(int64_t part, const std::vector<int64_t>& whole) const;

  // Bytes of a part out of the whole tensor, and chunks of them back into it; elements have `size`
  // bytes.
  void Take(int64_t part, size_t size, const std::vector<int64_t>& whole, const std::byte* from,
            std::byte* to) const;

  // What lies together in the part and in the whole, in bytes, in the order of the part.
  struct Piece {
    int64_t whole = 0, part = 0, bytes = 0;
  };
  std::vector<Piece> Pieces(int64_t part, int64_t size, const std::vector<int64_t>& whole) const;

  // Whether rows can be cut: the layout is along dimension 0.
  bool by_rows() const { return layout_ == nullptr || layout_->dim == 0; }
  // The row of the whole that is number `local` of a part.
  int64_t RowOf(int64_t part, int64_t local) const;
  // The part of a row of the whole, and its number there.
  exec::Parts::Found Find(int64_t row) const {
    return parts_ ? parts_->find(row) : exec::Parts::Found{0, row};
  }

 private:
  // Even parts that are cut inside of a row lie in rows of equal extents, the last ones padded.
  bool has_pad() const { return parts_ && layout_->dim > 0; }

  const exec::Layout* layout_ = nullptr;
  std::unique_ptr<exec::Parts> parts_;  // null without a layout
  std::vector<int64_t> parts_of_;       // by server
};

}  // namespace dtranspile::ps
