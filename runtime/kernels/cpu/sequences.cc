#include "runtime/kernels/cpu/sequences.h"

#include <algorithm>
#include <cstring>

namespace dtranspile::kernels {
namespace {

using Level = std::vector<uint64_t>;

// A level is offsets from 0 to the number of items below it, which do not fall. Kernels index by
// them, and they may come from a feed.
bool CheckLevel(OpCall& call, const DtBuffer& buffer, size_t number, const Level& level,
                uint64_t items) {
  if (level.empty() || level[0] != 0)
    return call.Fail("level %zu of the LoD of '%s' does not begin with 0", number, buffer.name),
           false;
  for (size_t i = 1; i < level.size(); ++i) {
    if (level[i] >= level[i - 1]) continue;
    call.Fail("level %zu of the LoD of '%s' decreases at %zu: %llu after %llu", number, buffer.name,
              i, static_cast<unsigned long long>(level[i]),
              static_cast<unsigned long long>(level[i - 1]));
    return false;
  }
  if (level.back() == items) return true;
  call.Fail("level %zu of the LoD of '%s' ends with %llu, but there are %llu items", number,
            buffer.name, static_cast<unsigned long long>(level.back()),
            static_cast<unsigned long long>(items));
  return false;
}

}  // namespace

// Rows of the longest sequence, 0 where there is none.
int64_t LongestOf(const Offsets& offsets) {
  int64_t longest = 0;
  for (int64_t i = 0; i < CountOf(offsets); ++i) longest = std::max(longest, LengthAt(offsets, i));
  return longest;
}

// Items of the last level are rows, of another one the sequences of the level below.
bool CheckLod(OpCall& call, const DtBuffer& buffer) {
  const Lod& lod = OpCall::LodOf(buffer);
  if (lod.empty() || buffer.rank == 0)
    return call.Fail("'%s' has no LoD: sequences are expected", buffer.name), false;
  for (size_t k = 0; k < lod.size(); ++k) {
    const uint64_t items = k + 1 < lod.size() ? lod[k + 1].size() - (lod[k + 1].empty() ? 0 : 1)
                                              : static_cast<uint64_t>(buffer.dims[0]);
    if (!CheckLevel(call, buffer, k, lod[k], items)) return false;
  }
  return true;
}

// All levels are checked, whichever is asked for; -1 is the last one.
bool LevelOf(OpCall& call, const DtBuffer& buffer, int64_t level, Offsets& offsets) {
  if (!CheckLod(call, buffer)) return false;
  const Lod& lod = OpCall::LodOf(buffer);
  const auto levels = static_cast<int64_t>(lod.size());
  if (level < -1 || level >= levels)
    return call.Fail("level %lld of the LoD of '%s', which has %lld", static_cast<long long>(level),
                     buffer.name, static_cast<long long>(levels)),
           false;
  const Level& chosen = level < 0 ? lod.back() : lod[static_cast<size_t>(level)];
  offsets.assign(chosen.begin(), chosen.end());
  return true;
}

// Lengths that a tensor gives, each from 0 to `extent`, one per sequence.
bool LengthsOf(OpCall& call, const DtBuffer& lengths, int64_t count, int64_t extent,
               std::vector<int64_t>& values) {
  if (!IntegersOf(call, lengths, values)) return false;
  if (static_cast<int64_t>(values.size()) != count)
    return call.Fail("'%s' has %zu elements, expected one for each of %lld sequences", lengths.name,
                     values.size(), static_cast<long long>(count)),
           false;
  for (int64_t value : values) {
    if (value < 0 || value > extent)
      return call.Fail("'%s' has the length %lld, expected 0 to %lld", lengths.name,
                       static_cast<long long>(value), static_cast<long long>(extent)),
             false;
  }
  return true;
}

Lod LodFrom(const Offsets& offsets) { return {Level(offsets.begin(), offsets.end())}; }

// The upper levels stay: they count sequences, whose number has not changed.
Lod WithLastLevel(const Lod& like, const Offsets& offsets) {
  Lod lod(like.begin(), like.end() - (like.empty() ? 0 : 1));
  lod.emplace_back(offsets.begin(), offsets.end());
  return lod;
}

// The extents of `like` with another number of rows.
std::vector<int64_t> WithRows(const DtBuffer& like, int64_t rows) {
  std::vector<int64_t> dims(like.dims, like.dims + like.rank);
  if (!dims.empty()) dims[0] = rows;
  return dims;
}

bool CheckRows(OpCall& call, const DtBuffer& buffer, int64_t rows) {
  if (buffer.rank > 0 && buffer.dims[0] == rows) return true;
  call.Fail("'%s' has %lld rows, expected %lld", buffer.name,
            static_cast<long long>(buffer.rank > 0 ? buffer.dims[0] : 0),
            static_cast<long long>(rows));
  return false;
}

// The element type of all arguments of the slots, absent ones passed over.
bool CheckTypes(OpCall& call, DType type, std::initializer_list<int> slots) {
  for (int slot : slots)
    for (int i = 0; i < call.Count(slot); ++i) {
      if (!call.Has(slot, i) || TypeOf(call.Arg(slot, i)) == type) continue;
      call.Fail("'%s' has the element type %s, expected %s", call.Arg(slot, i).name,
                TypeName(call.Arg(slot, i)), NameOf(type));
      return false;
    }
  return true;
}

void CopyRows(DtBuffer& to, int64_t to_row, const DtBuffer& from, int64_t from_row, int64_t rows,
              int64_t bytes) {
  if (rows > 0 && bytes > 0)
    std::memcpy(Data<char>(to) + to_row * bytes, Data<char>(from) + from_row * bytes,
                static_cast<size_t>(rows * bytes));
}

}  // namespace dtranspile::kernels
