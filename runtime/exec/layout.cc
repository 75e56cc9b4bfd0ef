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

// The coordinates along these axes as one number, the first axis major, and how many there are.
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

// Prepares what the closed forms below need. Parts that are cut flat on top of a cut of a dim have
// an inner layout. Hashed blocks have no closed form: the part of each is computed by the hash of
// its name, the same as the framework's, and its place is where the part ended before.
Parts::Parts(const Layout& layout, int64_t of) : layout_(layout), of_(of), along_(of) {
  if (layout.flat_parts > 1) {
    auto inner = std::make_shared<Inner>();
    inner->layout = layout;
    inner->layout.flat_parts = 1;
    inner->parts = std::make_unique<Parts>(inner->layout, of / layout.flat_parts);
    inner_ = std::move(inner);
    return;
  }
  for (const int64_t parts : layout.also_parts) along_ = std::max<int64_t>(1, along_ / parts);
  for (size_t i = 0; layout.dim >= 0 && i < layout.whole.size(); ++i) {
    const auto dim = static_cast<size_t>(layout.dim);
    if (i < dim) outer_ *= layout.whole[i];
    if (i > dim) within_ *= layout.whole[i];
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

// Elements of the memory that is cut flat.
int64_t Parts::ElementsToCut() const {
  int64_t elements = 1;
  for (const int64_t extent : inner_->parts->room_dims()) elements *= extent;
  return elements;
}

// Of even parts that are cut along further dims too, consecutive parts share a range of the first
// one: of_ / along_ of them.
int64_t Parts::extent(int64_t part) const {
  if (inner_)
    return std::clamp<int64_t>(ElementsToCut() - part % layout_.flat_parts * room(), 0, room());
  const int64_t n = layout_.extent;
  switch (layout_.kind) {
    case LayoutKind::kEven:
      return std::clamp<int64_t>(n - part / (of_ / along_) * room(), 0, room());
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

// The extent of the largest part, which is what memory of any of them is laid out for. Of blocks it
// is the part of block 0, which has a block wherever another part has one.
int64_t Parts::room() const {
  if (inner_) return DivideUp(ElementsToCut(), layout_.flat_parts);
  switch (layout_.kind) {
    case LayoutKind::kEven:
    case LayoutKind::kCyclic: return DivideUp(layout_.extent, along_);
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

// The part that has an index of the whole, and where in it.
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
  if (layout_.dim < 0 || inner_) return {extent};
  std::vector<int64_t> dims = layout_.whole;
  dims[static_cast<size_t>(layout_.dim)] = extent;
  return dims;
}

std::vector<int64_t> Parts::room_dims() const {
  std::vector<int64_t> dims = WithExtent(room());
  if (inner_) return dims;
  for (size_t i = 0; i < layout_.also.size(); ++i) {
    int64_t& extent = dims[static_cast<size_t>(layout_.also[i])];
    extent = DivideUp(extent, layout_.also_parts[i]);
  }
  return dims;
}

// Where a part begins in each dim: its number in a mixed radix of the parts of the first dim, then
// of the further ones.
std::vector<int64_t> Parts::Begins(int64_t part) const {
  const std::vector<int64_t> room = room_dims();
  std::vector<int64_t> begins(room.size());
  if (layout_.dim >= 0)
    begins[static_cast<size_t>(layout_.dim)] =
        part / (of_ / along_) * room[static_cast<size_t>(layout_.dim)];
  for (size_t i = layout_.also.size(); i-- > 0; part /= layout_.also_parts[i]) {
    const auto dim = static_cast<size_t>(layout_.also[i]);
    begins[dim] = part % layout_.also_parts[i] * room[dim];
  }
  return begins;
}

std::vector<int64_t> Parts::dims(int64_t part) const {
  std::vector<int64_t> dims = WithExtent(extent(part));
  if (inner_ || layout_.also.empty()) return dims;
  const std::vector<int64_t> room = room_dims(), begins = Begins(part);
  for (const int each : layout_.also) {
    const auto dim = static_cast<size_t>(each);
    dims[dim] = std::clamp<int64_t>(layout_.whole[dim] - begins[dim], 0, room[dim]);
  }
  return dims;
}

// A row of the last dim that is cut, with all that is within it, lies in one piece in both; the
// dims before that are counted through. Flat parts take of these pieces what is theirs.
std::vector<Parts::Piece> Parts::Pieces(int64_t part, bool pad) const {
  if (inner_) {
    std::vector<Piece> pieces;
    const int64_t begin = part % layout_.flat_parts * room(), end = begin + room();
    inner_->parts->ForPieces(
        part / layout_.flat_parts, 1, true, [&](size_t whole, size_t at, size_t count) {
          const auto first = static_cast<int64_t>(at);
          const int64_t from = std::max(begin, first),
                        to = std::min(end, first + static_cast<int64_t>(count));
          if (from < to)
            pieces.push_back({static_cast<int64_t>(whole) + from - first, from - begin, to - from});
        });
    return pieces;
  }
  const std::vector<int64_t> mine = dims(part), memory = pad ? room_dims() : mine,
                             begins = Begins(part);
  const auto last = static_cast<size_t>(layout_.also.back());
  std::vector<Piece> pieces;
  if (std::find(mine.begin(), mine.end(), 0) != mine.end()) return pieces;
  std::vector<int64_t> at(last, 0);
  while (true) {
    Piece piece;
    for (size_t d = 0; d < mine.size(); ++d) {
      const int64_t index = d < last ? at[d] : 0;
      piece.whole = piece.whole * layout_.whole[d] + begins[d] + index;
      piece.part = piece.part * memory[d] + index;
    }
    piece.count = 1;
    for (size_t d = last; d < mine.size(); ++d) piece.count *= mine[d];
    pieces.push_back(piece);
    size_t d = last;
    while (d > 0 && ++at[d - 1] == mine[d - 1]) at[--d] = 0;
    if (d == 0) return pieces;
  }
}

int64_t Parts::FirstBlock(int64_t part) const { return (part - layout_.first % of_ + of_) % of_; }

// Copies a part out of the whole; pad is zero.
void Parts::Take(int64_t part, size_t bytes, const std::byte* whole, std::byte* to,
                 bool pad) const {
  const std::vector<int64_t> memory = pad ? room_dims() : dims(part);
  int64_t count = 1;
  for (const int64_t extent : memory) count *= extent;
  if ((inner_ || memory != dims(part)) && count > 0)
    std::memset(to, 0, static_cast<size_t>(count) * bytes);
  ForPieces(part, bytes, pad, [&](size_t from_whole, size_t at, size_t count) {
    std::memcpy(to + at, whole + from_whole, count);
  });
}

// Copies it back; pad is dropped.
void Parts::Put(int64_t part, size_t bytes, const std::byte* from, std::byte* whole,
                bool pad) const {
  ForPieces(part, bytes, pad, [&](size_t to_whole, size_t at, size_t count) {
    std::memcpy(whole + to_whole, from + at, count);
  });
}

}  // namespace dtranspile::exec
