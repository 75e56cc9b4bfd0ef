// Which part of a tensor a rank has (plan.h, Layout; docs/dialects/dist.md): rank data, worked out
// from the rank's coordinates when a plan is loaded. Used by the executor for persistent memory,
// slices and blocks, by the worker and the launcher for --init and --save, by runtime/ps for
// pushes and pulls, and by the compiler for the extents that it writes into plans.
//
// Of extent n over N coordinates (several axes: first one major, as one number):
//   even      part c is [c·⌈n/N⌉, (c+1)·⌈n/N⌉) cut off at n; its memory has ⌈n/N⌉, the pad is zero
//   blocks    block k, [k·per, (k+1)·per) cut off at n, is on coordinate (first + k) mod N
//   hashed    block k is on coordinate XXH3_64("NAME.block" k) mod N
//   cyclic    index i is on coordinate i mod N
// A part holds its indices one after the other, in rising order. Of even parts of dims the memory,
// pad included, may be cut once more, flat (flat_parts): part c is then the flat part c mod F of
// the part c div F.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "runtime/exec/plan.h"

namespace dtranspile::exec {

// Where a rank stands: its coordinate on every axis of its role's mesh, and the axes' sizes.
struct Position {
  std::map<std::string, int64_t> coordinates, mesh;
};

// One of `of` parts.
struct Place {
  int64_t at = 0, of = 1;
};

// The place along some axes. kInvalidArgument names an axis that the mesh lacks.
absl::StatusOr<Place> PlaceOf(const std::vector<std::string>& axes, const Position& position);

// The parts of a layout over `of` coordinates. The layout is one that CheckPlan has found right and
// outlives this.
class Parts {
 public:
  Parts(const Layout& layout, int64_t of);

  const Layout& layout() const { return layout_; }
  int64_t count() const { return of_; }

  // Indices of the cut extent that a part has.
  int64_t extent(int64_t part) const;
  // What its memory has room for, equal on all ranks: the largest part; of even parts with pad.
  int64_t room() const;
  // Extents of a part, and of its memory. The flattened tensor (dim -1) has one.
  std::vector<int64_t> dims(int64_t part) const;
  std::vector<int64_t> room_dims() const;

  // Blocks; 0 of other layouts than kBlocks and kHashed.
  int64_t blocks() const { return blocks_; }
  struct Block {
    int64_t number = 0;
    int64_t begin = 0, extent = 0;  // in the whole
    int64_t part = 0, local = 0;    // who has it, and where it begins there
  };
  Block block(int64_t number) const;
  // The blocks of a part, in rising order.
  std::vector<Block> owned(int64_t part) const;

  // Who has an index, and which one it is there.
  struct Found {
    int64_t part = 0, local = 0;
  };
  Found find(int64_t index) const;

  // Calls run(begin, extent, local) for the contiguous runs of a part, in rising order.
  template <typename Run>
  void ForRuns(int64_t part, Run run) const;

  // Calls copy(offset in the whole, offset in the part, bytes), in bytes, for what lies together in
  // both.
  template <typename Copy>
  void ForPieces(int64_t part, size_t bytes, bool pad, Copy copy) const;

  // Copies a part out of the whole tensor and back. Elements of `bytes` each; the memory of a part
  // has the extents `dims(part)`, or room_dims() where `pad` is set, which then becomes zero.
  void Take(int64_t part, size_t bytes, const std::byte* whole, std::byte* to, bool pad) const;
  void Put(int64_t part, size_t bytes, const std::byte* from, std::byte* whole, bool pad) const;

 private:
  std::vector<int64_t> WithExtent(int64_t extent) const;
  // Where a part begins in the whole, along every dim.
  std::vector<int64_t> Begins(int64_t part) const;
  // What lies together of a part of several dims: where, in elements.
  struct Piece {
    int64_t whole = 0, part = 0, count = 0;
  };
  std::vector<Piece> Pieces(int64_t part, bool pad) const;
  int64_t FirstBlock(int64_t part) const;  // of kBlocks; may be after the last one
  int64_t BlockExtent(int64_t number) const {
    return std::min(layout_.per, layout_.extent - number * layout_.per);
  }
  // Of flat parts of what cuts of dims leave: these cuts, and which flat part of theirs.
  struct Inner {
    Layout layout;
    std::unique_ptr<Parts> parts;
  };
  int64_t ElementsToCut() const;
  const Layout& layout_;
  const int64_t of_;
  std::shared_ptr<const Inner> inner_;
  int64_t along_ = 1;  // parts of the first dim that is cut
  int64_t blocks_ = 0;
  int64_t outer_ = 1, within_ = 1;  // elements around and inside of an index
  // Of kHashed: where every block is, and the extents of the parts that have some.
  std::vector<Found> hashed_;
  std::map<int64_t, int64_t> extents_;
};

template <typename Run>
void Parts::ForRuns(int64_t part, Run run) const {
  const int64_t n = layout_.extent;
  switch (layout_.kind) {
    case LayoutKind::kEven:
      if (const int64_t begin = part * room(); begin < n) run(begin, extent(part), int64_t{0});
      return;
    case LayoutKind::kBlocks:
    case LayoutKind::kHashed:
      for (const Block& one : owned(part)) run(one.begin, one.extent, one.local);
      return;
    case LayoutKind::kCyclic:
      for (int64_t i = part, local = 0; i < n; i += of_, ++local) run(i, int64_t{1}, local);
      return;
  }
}

template <typename Copy>
void Parts::ForPieces(int64_t part, size_t bytes, bool pad, Copy copy) const {
  if (inner_ || !layout_.also.empty()) {
    for (const Piece& one : Pieces(part, pad))
      copy(static_cast<size_t>(one.whole) * bytes, static_cast<size_t>(one.part) * bytes,
           static_cast<size_t>(one.count) * bytes);
    return;
  }
  const size_t unit = static_cast<size_t>(within_) * bytes;
  const int64_t rows = pad ? room() : extent(part);
  for (int64_t o = 0; o < outer_; ++o)
    ForRuns(part, [&](int64_t begin, int64_t extent, int64_t local) {
      copy(static_cast<size_t>(o * layout_.extent + begin) * unit,
           static_cast<size_t>(o * rows + local) * unit, static_cast<size_t>(extent) * unit);
    });
}

}  // namespace dtranspile::exec
