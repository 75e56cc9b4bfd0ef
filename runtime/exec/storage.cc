#include "runtime/exec/storage.h"

#include <algorithm>
#include <cstring>

#include "absl/strings/str_cat.h"
#include "runtime/base/status.h"
#include "runtime/tensor/tensor.h"

namespace dtranspile::exec {
namespace {

constexpr int64_t kAlignment = 64;

int64_t EndOf(const Buffer& buffer) {
  return buffer.offset + (buffer.instances - 1) * buffer.stride + buffer.bytes;
}

// How many bytes of a variable's buffer this rank has.
absl::StatusOr<int64_t> BytesHere(const Persistable& variable, const Buffer& buffer,
                                  const Position& position) {
  if (!variable.at.contains(position.coordinates)) return 0;
  if (!variable.layout) return buffer.bytes;
  const auto place = PlaceOf(variable.layout->axes, position);
  if (!place.ok())
    return absl::InvalidArgumentError(
        absl::StrCat("variable '", variable.name, "': ", place.status().message()));
  const Parts parts(*variable.layout, place->of);
  if (buffer.dims != parts.room_dims())
    return absl::InvalidArgumentError(absl::StrCat(
        "variable '", variable.name, "' is ", ShapeText(buffer.dtype, buffer.dims),
        ", but its parts on ", place->of, " ranks have up to ",
        ShapeText(buffer.dtype, parts.room_dims()), "; was the plan compiled for another mesh?"));
  // Even parts have their pad; the others are rows, or elements, of dimension 0 (plan_check.h).
  if (variable.layout->kind == LayoutKind::kEven || parts.room() == 0) return buffer.bytes;
  return buffer.bytes / parts.room() * parts.extent(place->at);
}

// The last range that begins at or before an offset.
template <typename Ranges>
auto& RangeOf(Ranges& ranges, int64_t offset) {
  const auto after = std::upper_bound(ranges.begin(), ranges.end(), offset,
                                      [](int64_t at, const auto& r) { return at < r.begin; });
  return *std::prev(after);
}

}  // namespace

// Persistent buffers that overlap (views, parts of a flat variable) form one range, which is kept
// or left out as a whole. Sorted by offset, longer ones first.
std::vector<Storage::Range> Storage::RangesOf(const Plan& plan) {
  std::vector<Range> all, ranges;
  for (const Buffer& buffer : plan.buffers)
    if (buffer.space == Space::kPersistent) all.push_back({buffer.offset, EndOf(buffer), 0, 0});
  std::sort(all.begin(), all.end(), [](const Range& a, const Range& b) {
    return a.begin != b.begin ? a.begin < b.begin : a.end > b.end;
  });
  for (const Range& one : all) {
    const bool joins =
        !ranges.empty() && (one.begin < ranges.back().end || one.begin == ranges.back().begin);
    if (joins) ranges.back().end = std::max(ranges.back().end, one.end);
    else ranges.push_back(one);
  }
  return ranges;
}

// A range is kept up to the last byte that one of its variables has here; one without variables
// (what steps remember beside them) as a whole.
absl::Status Storage::Keep(const Plan& plan, const Position& position, std::vector<Range>& ranges) {
  for (Range& range : ranges) range.kept = -1;
  for (const Persistable& variable : plan.persistables) {
    const Buffer& buffer = plan.buffers[static_cast<size_t>(variable.buffer)];
    DT_ASSIGN_OR_RETURN(const int64_t here, BytesHere(variable, buffer, position));
    Range& range = RangeOf(ranges, buffer.offset);
    const int64_t end = here > 0 ? buffer.offset + here - range.begin : 0;
    range.kept = std::max(range.kept, end);
  }
  int64_t at = 0;
  for (Range& range : ranges) {
    if (range.kept < 0) range.kept = range.end - range.begin;
    range.at = at;
    at += (range.kept + kAlignment - 1) / kAlignment * kAlignment;
  }
  return absl::OkStatus();
}

// Gives every buffer its address. Of persistent ranges a rank may keep only the beginning, its own
// part: `kept` is how many bytes of a buffer are there, and a buffer of which there is nothing has
// no address. Constants are filled in, and their pages made read-only.
absl::Status Storage::Place(const Plan& plan, const std::vector<Range>& ranges) {
  const Block* blocks[] = {&arena_, &persistent_, &constants_};
  for (const Buffer& buffer : plan.buffers) {
    const bool is_value = buffer.space == Space::kValue;
    values_.push_back(is_value ? std::make_unique<Value>(buffer.kind, buffer.dtype) : nullptr);
    Span& span = spans_.emplace_back();
    if (is_value) continue;
    const Block& block =
        buffer.memory == Memory::kPinned ? pinned_ : *blocks[static_cast<int>(buffer.space)];
    span = {block.data() + buffer.offset, buffer.stride, buffer.bytes,
            EndOf(buffer) - buffer.offset};
    if (buffer.space == Space::kPersistent) {
      const Range& range = RangeOf(ranges, buffer.offset);
      const int64_t inside = buffer.offset - range.begin;
      span.kept = std::clamp<int64_t>(range.kept - inside, 0, span.kept);
      span.data = persistent_.data() + range.at + inside;
    }
    if (span.kept == 0 && span.bytes > 0) span.data = nullptr;
    if (!buffer.data.empty()) std::memcpy(span.data, buffer.data.data(), buffer.data.size());
  }
  return constants_.Seal();
}

// `shared`: the arena lies in memory that other ranks of the host can map, so that collectives read
// it in place.
absl::StatusOr<Storage> Storage::Make(const Plan& plan, const Position& position, bool shared) {
  std::vector<Range> ranges = RangesOf(plan);
  DT_RETURN_IF_ERROR(Keep(plan, position, ranges));
  const int64_t persistent = ranges.empty() ? 0 : ranges.back().at + ranges.back().kept;
  Storage storage;
  // Of tables that lie by row numbers (is_distributed) most rows may never be asked for.
  const bool table = std::ranges::any_of(plan.persistables, [](const Persistable& one) {
    return one.layout && one.layout->kind == LayoutKind::kCyclic;
  });
  DT_ASSIGN_OR_RETURN(storage.arena_, shared
                                          ? Block::AllocateShared(plan.arena_bytes, "step memory")
                                          : Block::Allocate(plan.arena_bytes, "step memory"));
  DT_ASSIGN_OR_RETURN(storage.pinned_, Block::Allocate(plan.pinned_bytes, "pinned memory"));
  DT_ASSIGN_OR_RETURN(storage.persistent_,
                      Block::Allocate(persistent, "persistable variables",
                                      table ? Pages::kWhenWritten : Pages::kNow));
  DT_ASSIGN_OR_RETURN(storage.constants_, Block::Allocate(plan.ConstantBytes(), "constants"));
  DT_RETURN_IF_ERROR(storage.Place(plan, ranges));
  return storage;
}

std::byte* Storage::data(int buffer, int64_t instance) const {
  const Span& span = spans_[static_cast<size_t>(buffer)];
  return span.data == nullptr ? nullptr : span.data + instance * span.stride;
}

int64_t Storage::bytes(int buffer, int64_t instance) const {
  const Span& span = spans_[static_cast<size_t>(buffer)];
  return std::clamp<int64_t>(span.kept - instance * span.stride, 0, span.bytes);
}

bool Storage::whole(int buffer, int64_t instance) const {
  return bytes(buffer, instance) == spans_[static_cast<size_t>(buffer)].bytes;
}

}  // namespace dtranspile::exec
