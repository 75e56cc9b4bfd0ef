// The sequences of an argument with LoD, for the kernels of ops that work sequence by sequence
// (runtime/kernels/cpu/ops). A sequence is a span of rows of the last level; upper levels group
// sequences.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <vector>

#include "runtime/kernels/cpu/op_call.h"

namespace dtranspile::kernels {

// n + 1 numbers that do not decrease: sequence i has the rows [offsets[i], offsets[i + 1]).
using Offsets = std::vector<int64_t>;

inline int64_t CountOf(const Offsets& offsets) { return static_cast<int64_t>(offsets.size()) - 1; }
inline int64_t LengthAt(const Offsets& offsets, int64_t i) {
  return offsets[static_cast<size_t>(i) + 1] - offsets[static_cast<size_t>(i)];
}
int64_t LongestOf(const Offsets& offsets);

// Whether every level of the LoD begins with 0, does not decrease and ends with the number of items
// of the next one, the last level with the rows of the tensor; leaves a message that names the
// argument if not, and if there is no LoD.
bool CheckLod(OpCall& call, const DtBuffer& buffer);

// The checked offsets of level `level`, -1 for the last one.
bool LevelOf(OpCall& call, const DtBuffer& buffer, int64_t level, Offsets& offsets);
inline bool SequencesOf(OpCall& call, const DtBuffer& buffer, Offsets& offsets) {
  return LevelOf(call, buffer, -1, offsets);
}

// Lengths that an op takes beside a padded tensor: `count` numbers, checked to lie in [0, extent].
bool LengthsOf(OpCall& call, const DtBuffer& lengths, int64_t count, int64_t extent,
               std::vector<int64_t>& values);

// One level; and the LoD `like` with another last level.
Lod LodFrom(const Offsets& offsets);
Lod WithLastLevel(const Lod& like, const Offsets& offsets);

// Elements and bytes of one row (all dims but the first).
inline int64_t RowSize(const DtBuffer& buffer) { return Elements(buffer, 1, buffer.rank); }
inline int64_t RowBytes(const DtBuffer& buffer) { return RowSize(buffer) * ElementSize(buffer); }

// The extents of `like` with another number of rows.
std::vector<int64_t> WithRows(const DtBuffer& like, int64_t rows);

// Whether the argument has this number of rows; leaves a message if not.
bool CheckRows(OpCall& call, const DtBuffer& buffer, int64_t rows);

// Whether every argument of these slots has that element type; leaves a message if not. Absent ones
// count as right.
bool CheckTypes(OpCall& call, DType type, std::initializer_list<int> slots);
inline bool CheckTypes(OpCall& call, const DtBuffer& like, std::initializer_list<int> slots) {
  return CheckTypes(call, TypeOf(like), slots);
}

// Copies `rows` rows of `bytes` bytes; nothing for none.
void CopyRows(DtBuffer& to, int64_t to_row, const DtBuffer& from, int64_t from_row, int64_t rows,
              int64_t bytes);

}  // namespace dtranspile::kernels
