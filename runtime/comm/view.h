// A list of memory pieces seen as one run of bytes. Collectives (collectives.cc) cut and copy the
// segment lists of a request through views, so that no caller has to flatten a bucket.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include "runtime/comm/communicator.h"

namespace dtranspile::comm {

class View {
 public:
  // All bytes of the segments; counts must have been checked (operation.h).
  static View Whole(const std::vector<Segment>& segments, size_t element_bytes);

  // Part `index` of `parts` equal parts of every segment: what rank `index` contributes to a
  // gathered list, or gets from a scattered one.
  static View Part(const std::vector<Segment>& segments, size_t element_bytes, int index,
                   int parts);

  size_t bytes() const { return bytes_; }

  // Calls body(pointer, offset, length) for the contiguous runs that make up [offset, offset +
  // length), offsets counted from the beginning of the view.
  template <typename Body>
  void ForRuns(size_t offset, size_t length, Body body) const {
    size_t begin = 0;
    const size_t end = offset + length;
    for (const Piece& piece : pieces_) {
      if (begin >= end) return;
      const size_t from = std::max(offset, begin), to = std::min(end, begin + piece.bytes);
      if (from < to) body(piece.data + (from - begin), from, to - from);
      begin += piece.bytes;
    }
  }

  // Where the byte at `offset` lies.
  std::byte* At(size_t offset) const;

  // Copies [offset, offset + length) to or from flat memory. Memory that is already in place is
  // left alone.
  void CopyTo(std::byte* flat, size_t offset, size_t length) const;
  void CopyFrom(const std::byte* flat, size_t offset, size_t length) const;

 private:
  struct Piece {
    std::byte* data;
    size_t bytes;
  };

  void Add(void* data, size_t bytes);

  std::vector<Piece> pieces_;
  size_t bytes_ = 0;
};

}  // namespace dtranspile::comm
