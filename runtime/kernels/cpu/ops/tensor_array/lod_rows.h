// Rows of ragged tensors picked sequence by sequence, with the levels below them: what rank tables
// and masks do to a batch. For the kernels of this folder.
#pragma once

#include "runtime/kernels/cpu/op_call.h"

namespace dtranspile::kernels {

// A tensor that rows are taken of. `name`, for messages, and the other pointers belong to the
// buffer.
struct RowSource {
  const char* name = "";
  const Lod* lod = nullptr;
  const std::byte* data = nullptr;
  int64_t rows = 0, row_bytes = 0;

  // Items of a level; of one past the last level: rows.
  int64_t Items(size_t level) const {
    return level < lod->size() ? static_cast<int64_t>((*lod)[level].size()) - 1 : rows;
  }
};

// False with a message for a scalar, and for a LoD that does not cut its rows.
bool SourceOf(OpCall& call, const DtBuffer& buffer, RowSource& source);

// Rows in the order in which they were added, and their LoD.
class RowCollector {
 public:
  // Items [begin, end) of `level` with all levels from there on. False with a message where there
  // are none such.
  bool Add(OpCall& call, const RowSource& x, int64_t begin, int64_t end, size_t level);

  // Writes them to `out`: rows of the extents and type of `like`, LoD `upper` followed by the
  // collected levels.
  bool Write(OpCall& call, const DtBuffer& like, const Lod& upper, DtBuffer& out) const;

 private:
  struct Piece {
    const std::byte* data;
    int64_t bytes;
  };
  std::vector<Piece> pieces_;
  Lod lod_;
  int64_t rows_ = 0;
};

}  // namespace dtranspile::kernels
