// Where the elements of a cut variable are, in closed form: nothing here is as large as the
// variable, and but for hashed blocks nothing as large as the number of blocks. Even parts have one
// extent, the last ones padded. Block k lies on part (first + k) mod N, behind the k div N blocks
// that this part had before it, all of which are whole ones: only the last block of all can be
// shorter. Cyclic rows are blocks of one. Hashed blocks have no formula and are counted once, in
// the order of their numbers.
#include "runtime/exec/layout.h"

#include <xxhash.h>

#include <cstring>

#include "absl/strings/str_cat.h"

namespace dtranspile::exec {
namespace {

int64_t DivideUp(int64_t a, int64_t b) { return a / b + (a % b != 0); }

}  // namespace

absl::StatusOr<Place> PlaceOf(const std::vector<std::string>& axes, const Position& position) {
  Place place;
  for (const std::string& axis : axes) {
    const auto size = position.mesh.find(axis), at = position.coordinates.find(axis);
    if (size == position.mesh.end() || at == position.coordinates.end())
      return absl::InvalidArgumentError(
          absl::StrCat("axis '", axis, "' is none of this rank's mesh"));
    place.at = place.at * size->second + at->second;
    if (__builtin_mul_overflow(place.of, size->second, &place.of))
      return absl::InvalidArgumentError(absl::StrCat("more parts than 2^63 along '", axis, "'"));
  }
  return place;
}

Parts::Parts(const Layout& layout, int64_t of) : layout_(layout), of_(of) {
  for (size_t i = 0; layout.dim >= 0 && i < layout.whole.size(); ++i) {
    const auto dim = static_cast<size_t>(layout.dim);
    if (i < dim) outer_ *= layout.whole[i];
    if (i > dim) inner_ *= layout.whole[i];
  }
  if (layout.kind == LayoutKind::kBlocks || layout.kind == LayoutKind::kHashed)
    blocks_ = DivideUp(layout.extent, layout.per);
  if (layout.kind != LayoutKind::kHashed) return;
  std::map<int64_t, int64_t> ends;
  for (int64_t k = 0; k < blocks_; ++k) {
    const std::string name = absl::StrCat(layout.name, ".block", k);
    const auto part =
        static_cast<int64_t>(XXH3_64bits(name.data(), name.size()) % static_cast<uint64_t>(of_));
    int64_t& end = ends[part];
    hashed_.push_back({part, end});
    end += BlockExtent(k);
  }
  extents_ = std::move(ends);
}

int64_t Parts::extent(int64_t part) const {
  const int64_t n = layout_.extent;
  switch (layout_.kind) {
    case LayoutKind::kEven: return std::clamp<int64_t>(n - part * room(), 0, room());
    case LayoutKind::kBlocks: {
      const int64_t first = FirstBlock(part);
      if (first >= blocks_) return 0;
      const int64_t count = (blocks_ - 1 - first) / of_ + 1;
      const bool has_last = (blocks_ - 1 - first) % of_ == 0;
      return has_last ? (count - 1) * layout_.per + BlockExtent(blocks_ - 1) : count * layout_.per;
    }
    case LayoutKind::kHashed: {
      const auto found = extents_.find(part);
      return found == extents_.end() ? 0 : found->second;
    }
    case LayoutKind::kCyclic: return part < n ? (n - 1 - part) / of_ + 1 : 0;
  }
  return 0;
}

int64_t Parts::room() const {
  switch (layout_.kind) {
    case LayoutKind::kEven:
    case LayoutKind::kCyclic: return DivideUp(layout_.extent, of_);
    case LayoutKind::kBlocks: return extent(layout_.first % of_);  // block 0 and every N-th one
    case LayoutKind::kHashed: {
      int64_t most = 0;
      for (const auto& [part, one] : extents_) most = std::max(most, one);
      return most;
    }
  }
  return 0;
}

Parts::Block Parts::block(int64_t number) const {
  Block block{number, number * layout_.per, BlockExtent(number), 0, 0};
  if (layout_.kind == LayoutKind::kHashed) {
    block.part = hashed_[static_cast<size_t>(number)].part;
    block.local = hashed_[static_cast<size_t>(number)].local;
  } else {
    block.part = (layout_.first % of_ + number % of_) % of_;
    block.local = number / of_ * layout_.per;  // those before it are whole ones
  }
  return block;
}

std::vector<Parts::Block> Parts::owned(int64_t part) const {
  std::vector<Block> list;
  if (layout_.kind == LayoutKind::kBlocks)
    for (int64_t k = FirstBlock(part); k < blocks_; k += of_) list.push_back(block(k));
  if (layout_.kind == LayoutKind::kHashed)
    for (int64_t k = 0; k < blocks_; ++k)
      if (hashed_[static_cast<size_t>(k)].part == part) list.push_back(block(k));
  return list;
}

Parts::Found Parts::find(int64_t index) const {
  switch (layout_.kind) {
    case LayoutKind::kEven: return {index / room(), index % room()};
    case LayoutKind::kCyclic: return {index % of_, index / of_};
    case LayoutKind::kBlocks:
    case LayoutKind::kHashed: break;
  }
  const Block one = block(index / layout_.per);
  return {one.part, one.local + index % layout_.per};
}

std::vector<int64_t> Parts::WithExtent(int64_t extent) const {
  if (layout_.dim < 0) return {extent};
  std::vector<int64_t> dims = layout_.whole;
  dims[static_cast<size_t>(layout_.dim)] = extent;
  return dims;
}

int64_t Parts::FirstBlock(int64_t part) const { return (part - layout_.first % of_ + of_) % of_; }

void Parts::Take(int64_t part, size_t bytes, const std::byte* whole, std::byte* to,
                 bool pad) const {
  const int64_t rows = pad ? room() : extent(part);
  if (rows > extent(part) && outer_ * inner_ > 0)
    std::memset(to, 0, static_cast<size_t>(outer_ * rows * inner_) * bytes);
  ForPieces(part, bytes, pad, [&](size_t from_whole, size_t at, size_t count) {
    std::memcpy(to + at, whole + from_whole, count);
  });
}

void Parts::Put(int64_t part, size_t bytes, const std::byte* from, std::byte* whole,
                bool pad) const {
  ForPieces(part, bytes, pad, [&](size_t to_whole, size_t at, size_t count) {
    std::memcpy(whole + to_whole, from + at, count);
  });
}

}  // namespace dtranspile::exec
