#include "runtime/comm/view.h"

#include <cstring>

namespace dtranspile::comm {

void View::Add(void* data, size_t bytes) {
  if (bytes == 0) return;
  pieces_.push_back({static_cast<std::byte*>(data), bytes});
  bytes_ += bytes;
}

View View::Whole(const std::vector<Segment>& segments, size_t element_bytes) {
  return Part(segments, element_bytes, 0, 1);
}

View View::Part(const std::vector<Segment>& segments, size_t element_bytes, int index, int parts) {
  View view;
  view.pieces_.reserve(segments.size());
  for (const Segment& segment : segments) {
    const size_t bytes = static_cast<size_t>(segment.count) / parts * element_bytes;
    view.Add(static_cast<std::byte*>(segment.data) + bytes * index, bytes);
  }
  return view;
}

std::byte* View::At(size_t offset) const {
  std::byte* found = nullptr;
  ForRuns(offset, 1, [&](std::byte* data, size_t, size_t) { found = data; });
  return found;
}

void View::CopyTo(std::byte* flat, size_t offset, size_t length) const {
  ForRuns(offset, length, [&](const std::byte* data, size_t from, size_t n) {
    std::byte* to = flat + (from - offset);
    if (to != data) std::memcpy(to, data, n);
  });
}

void View::CopyFrom(const std::byte* flat, size_t offset, size_t length) const {
  ForRuns(offset, length, [&](std::byte* data, size_t from, size_t n) {
    const std::byte* source = flat + (from - offset);
    if (source != data) std::memcpy(data, source, n);
  });
}

}  // namespace dtranspile::comm
