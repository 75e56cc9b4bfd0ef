// Extents of a server's part of a table, and how its bytes are cut into messages: what both sides
// count alike.
#pragma once

#include <algorithm>
#include <cstdint>

#include "runtime/exec/server_link.h"

namespace dtranspile::ps {

// Bytes of a tensor in one message. A multiple of the size of every element type.
inline constexpr int64_t kChunkBytes = int64_t{1} << 20;

inline int64_t CountOf(const exec::Table& table) {
  int64_t count = 1;
  for (int64_t extent : table.dims) count *= extent;
  return count;
}

inline int64_t BytesOf(const exec::Table& table) {
  return CountOf(table) * static_cast<int64_t>(SizeOf(table.dtype));
}

// Rows are those of the leading dimension.
inline int64_t RowsOf(const exec::Table& table) { return table.dims.empty() ? 1 : table.dims[0]; }

// Elements of a row.
inline int64_t WidthOf(const exec::Table& table) {
  int64_t width = 1;
  for (size_t d = 1; d < table.dims.size(); ++d) width *= table.dims[d];
  return width;
}

inline int64_t RowBytesOf(const exec::Table& table) {
  return WidthOf(table) * static_cast<int64_t>(SizeOf(table.dtype));
}

// Numbers of changed rows in one reply.
inline constexpr int64_t kMostChanged = kChunkBytes / static_cast<int64_t>(sizeof(int64_t));

// How many messages so many bytes take; what has no bytes takes one too, which says so.
inline int64_t ChunksOf(int64_t bytes) {
  return std::max<int64_t>((bytes + kChunkBytes - 1) / kChunkBytes, 1);
}

// Rows of SelectedRows, with their numbers, in one message; and rows of a lookup.
inline int64_t RowsPerChunk(int64_t row_bytes) {
  constexpr int64_t kNumberBytes = sizeof(int64_t);
  return std::max<int64_t>(kChunkBytes / (kNumberBytes + row_bytes), 1);
}

}  // namespace dtranspile::ps
