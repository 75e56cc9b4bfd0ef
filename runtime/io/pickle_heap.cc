#include "runtime/io/pickle_heap.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "absl/strings/str_cat.h"
#include "runtime/base/status.h"

namespace dtranspile::io {
namespace {

// The densest states that NumPy writes (one number per array) make a value from every five bytes.
constexpr int64_t kBytesPerNode = 3;
constexpr int64_t kFreeNodes = 1 << 16;
// A state holds every array once, and arrays that share memory (tied weights) a few times.
constexpr int64_t kExpansion = 4;
constexpr int64_t kFreeBytes = 1 << 20;

}  // namespace

const char* NameOf(PickleKind kind) {
  switch (kind) {
    case PickleKind::kNone: return "None";
    case PickleKind::kBool: return "bool";
    case PickleKind::kInt: return "int";
    case PickleKind::kFloat: return "float";
    case PickleKind::kText:
    case PickleKind::kString: return "str";
    case PickleKind::kBytes: return "bytes";
    case PickleKind::kTuple: return "tuple";
    case PickleKind::kList: return "list";
    case PickleKind::kDict: return "dict";
    case PickleKind::kGlobal: return "a function or class";
    case PickleKind::kDType: return "numpy.dtype";
    case PickleKind::kArray: return "numpy.ndarray";
  }
  return "?";
}

PickleHeap::PickleHeap(int64_t file_size)
    : nodes_(4),
      max_nodes_(static_cast<size_t>(std::min<int64_t>(kFreeNodes + file_size / kBytesPerNode,
                                                       std::numeric_limits<PickleRef>::max()))),
      budget_(kFreeBytes +
              kExpansion * std::min(file_size, std::numeric_limits<int64_t>::max() / 8)) {
  nodes_[boolean(false)].kind = PickleKind::kBool;
  nodes_[boolean(true)].kind = PickleKind::kBool;
  nodes_[boolean(true)].integer = 1;
  nodes_[empty_tuple()].kind = PickleKind::kTuple;
}

absl::StatusOr<PickleRef> PickleHeap::Add(PickleKind kind) {
  if (nodes_.size() >= max_nodes_) {
    return absl::ResourceExhaustedError(
        absl::StrCat("more than ", max_nodes_, " values, too many for a file of this size"));
  }
  nodes_.emplace_back();
  nodes_.back().kind = kind;
  return static_cast<PickleRef>(nodes_.size() - 1);
}

absl::StatusOr<PickleRef> PickleHeap::AddInt(int64_t value) {
  DT_ASSIGN_OR_RETURN(const PickleRef ref, Add(PickleKind::kInt));
  nodes_[ref].integer = value;
  return ref;
}

absl::StatusOr<PickleRef> PickleHeap::AddBytes(PickleKind kind, std::string_view bytes) {
  DT_ASSIGN_OR_RETURN(const PickleRef ref, Add(kind));
  nodes_[ref].bytes = bytes;
  return ref;
}

std::string_view PickleHeap::Own(std::string bytes) {
  return owned_.emplace_back(std::move(bytes));
}

absl::Status PickleHeap::Charge(int64_t bytes) {
  if (bytes > budget_) {
    return absl::ResourceExhaustedError(
        "the values take far more memory than the file has bytes: refused as a bomb");
  }
  budget_ -= bytes;
  return absl::OkStatus();
}

}  // namespace dtranspile::io
