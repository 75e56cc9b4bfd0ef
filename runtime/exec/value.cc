#include "runtime/exec/value.h"

#include <cstdlib>
#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"
#include "runtime/base/status.h"
#include "runtime/exec/left_memory.h"

namespace dtranspile::exec {
namespace {

constexpr int64_t kAlignment = 64;

}  // namespace

Value& Value::operator=(Value&& other) noexcept {
  Swap(other);
  return *this;
}

Value::~Value() {
  std::free(data_);
  (void)CountValueBytes(-capacity_);
}

void Value::Swap(Value& other) noexcept {
  std::swap(kind, other.kind);
  std::swap(dtype, other.dtype);
  dims.swap(other.dims);
  lod.swap(other.lod);
  rows.swap(other.rows);
  std::swap(height, other.height);
  items.swap(other.items);
  std::swap(data_, other.data_);
  std::swap(capacity_, other.capacity_);
}

// Memory only grows, so that a step allocates nothing once the largest extents have been seen. The
// contents are lost when it grows.
absl::Status Value::Resize(absl::Span<const int64_t> extents) {
  // Equal extents stay where they are: `extents` may be (a part of) them.
  if (absl::MakeConstSpan(dims) != extents)
    dims = std::vector<int64_t>(extents.begin(), extents.end());
  lod.clear();
  DT_ASSIGN_OR_RETURN(const int64_t needed, ByteCount(dtype, dims));
  if (needed <= capacity_ && data_ != nullptr) return absl::OkStatus();
  // A little more than asked for, so that slowly growing batches do not move at every step.
  const int64_t size = (needed + needed / 8 + kAlignment) / kAlignment * kAlignment;
  absl::Status status = CountValueBytes(size - capacity_);
  std::byte* data = nullptr;
  if (status.ok()) {
    data = static_cast<std::byte*>(std::aligned_alloc(kAlignment, static_cast<size_t>(size)));
    if (data == nullptr) status = absl::ResourceExhaustedError("the system has none");
    if (data == nullptr) (void)CountValueBytes(capacity_ - size);
  }
  if (data == nullptr)
    return absl::ResourceExhaustedError(
        absl::StrCat("no memory for ", ShapeText(dtype, dims), ": ", status.message()));
  std::free(data_);
  data_ = data;
  capacity_ = size;
  return absl::OkStatus();
}

absl::Status Value::Assign(const TensorView& view) {
  dtype = view.dtype;
  DT_RETURN_IF_ERROR(Resize(view.dims));
  const int64_t size = bytes();
  if (size > 0) std::memcpy(data_, view.data, static_cast<size_t>(size));
  return absl::OkStatus();
}

// A deep copy, into memory that is there already where it is large enough.
absl::Status Value::Assign(const Value& other) {
  if (this == &other) return absl::OkStatus();
  kind = other.kind;
  rows = other.rows;
  height = other.height;
  if (kind == Kind::kList) {
    items.resize(other.items.size());
    for (size_t i = 0; i < items.size(); ++i) DT_RETURN_IF_ERROR(items[i].Assign(other.items[i]));
    dtype = other.dtype;
    return absl::OkStatus();
  }
  DT_RETURN_IF_ERROR(Assign(other.view()));
  lod = other.lod;
  return absl::OkStatus();
}

int64_t Value::count() const {
  int64_t n = 1;
  for (int64_t extent : dims) n *= extent;
  return n;
}

}  // namespace dtranspile::exec
