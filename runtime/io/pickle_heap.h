// The values that a pickle builds, as nodes in one flat array that refer to each other by index:
// shared and even circular values need no care, and nothing is ever walked recursively. Used by the
// reader of this folder only (pickle_machine, pickle_objects, pickle_state).
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "runtime/base/dtype.h"

namespace dtranspile::io {

enum class PickleKind : uint8_t {
  kNone,
  kBool,
  kInt,
  kFloat,
  kText,    // str of Python 3
  kString,  // str of Python 2: text or bytes
  kBytes,
  kTuple,
  kList,
  kDict,    // items: key, value, key, value ...; also OrderedDict
  kGlobal,  // a name that is permitted; `integer` is its GlobalName
  kDType,   // a NumPy dtype
  kArray,   // a NumPy array or scalar; items: shape (a tuple), data, once it is filled
};

const char* NameOf(PickleKind kind);

using PickleRef = uint32_t;

struct PickleNode {
  PickleKind kind = PickleKind::kNone;
  bool fortran = false;  // kArray
  DType dtype = DType::kFloat32;
  union {
    int64_t integer = 0;  // kInt, kBool, kGlobal
    double real;          // kFloat
  };
  std::string_view bytes;  // kText, kString, kBytes
  std::vector<PickleRef> items;

  bool IsText() const { return kind == PickleKind::kText || kind == PickleKind::kString; }
  bool IsData() const { return kind == PickleKind::kBytes || kind == PickleKind::kString; }
};

class PickleHeap {
 public:
  // Budgets follow from the size of the file: nodes, and bytes made beyond those in it (decoded
  // text, tensors).
  explicit PickleHeap(int64_t file_size);

  PickleNode& operator[](PickleRef ref) { return nodes_[ref]; }
  const PickleNode& operator[](PickleRef ref) const { return nodes_[ref]; }

  // kResourceExhausted when the file makes more values than a state of its size could have.
  absl::StatusOr<PickleRef> Add(PickleKind kind);
  absl::StatusOr<PickleRef> AddInt(int64_t value);
  absl::StatusOr<PickleRef> AddBytes(PickleKind kind, std::string_view bytes);

  // None, True, False and the empty tuple, which exist once.
  PickleRef none() const { return 0; }
  PickleRef boolean(bool value) const { return value ? 2 : 1; }
  PickleRef empty_tuple() const { return 3; }

  // Bytes that the heap keeps.
  std::string_view Own(std::string bytes);

  // Takes `bytes` from the budget; kResourceExhausted when it is used up: a small file that stands
  // for a huge state.
  absl::Status Charge(int64_t bytes);

 private:
  std::vector<PickleNode> nodes_;
  std::deque<std::string> owned_;
  size_t max_nodes_;
  int64_t budget_;
};

}  // namespace dtranspile::io
