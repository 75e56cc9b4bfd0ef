// From the values of a pickle to named tensors.
#include <cstring>
#include <set>
#include <utility>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "runtime/base/status.h"
#include "runtime/io/pickle.h"
#include "runtime/io/pickle_heap.h"
#include "runtime/io/pickle_machine.h"
#include "runtime/io/strided.h"

namespace dtranspile::io {
namespace {

// Keys of the framework's own bookkeeping.
constexpr char kSlices[] = "UnpackBigParamInfor@@";
constexpr char kStructured[] = "StructuredToParameterName@@";

using Names = std::map<std::string, std::string>;
using Entries = std::map<std::string, PickleRef>;

// A state is a dict from names to arrays. Two entries of it are the framework's own: one lists
// arrays that were cut into slices, since pickles of protocol 2 have no values above 4 GiB; the
// other translates the names of a layer's structure to those of its parameters.
class StateBuilder {
 public:
  StateBuilder(std::string file, PickleHeap& heap) : file_(std::move(file)), heap_(heap) {}

  absl::StatusOr<PickleState> Build(PickleRef root);

 private:
  absl::Status Error(const std::string& key, const std::string& what) const {
    return absl::InvalidArgumentError(
        absl::StrCat(file_, ": '", absl::CHexEscape(key), "' ", what));
  }

  // The entries of a dict whose keys are texts; the last of equal keys counts, as in Python. Costs
  // budget: one dict, or one long key, may be referred to many times.
  absl::StatusOr<Entries> EntriesOf(const std::string& what, PickleRef dict);

  absl::Status Charge(int64_t bytes) {
    const absl::Status charged = heap_.Charge(bytes);
    return charged.ok()
               ? charged
               : absl::Status(charged.code(), absl::StrCat(file_, ": ", charged.message()));
  }

  // The array that a value stands for: itself, or (name, array). Null when it is something else.
  const PickleNode* ArrayOf(PickleRef value) const;

  absl::StatusOr<std::vector<int64_t>> Extents(const std::string& key, PickleRef tuple) const;
  absl::StatusOr<Tensor> ToTensor(const std::string& key, const PickleNode& array);

  // Puts the slices of large arrays together.
  absl::Status JoinSlices(PickleRef info, PickleState* state);
  absl::StatusOr<Tensor> Join(const std::string& key, const Entries& info, PickleState* state,
                              std::set<std::string>* used);
  absl::Status Rename(PickleRef names, PickleState* state);

  std::string file_;
  PickleHeap& heap_;
};

absl::StatusOr<Entries> StateBuilder::EntriesOf(const std::string& what, PickleRef dict) {
  const PickleNode& node = heap_[dict];
  if (node.kind != PickleKind::kDict) {
    return absl::InvalidArgumentError(
        absl::StrCat(file_, ": ", what, " is ", NameOf(node.kind), ", not a dict"));
  }
  Entries entries;
  for (size_t i = 0; i < node.items.size(); i += 2) {
    const PickleNode& key = heap_[node.items[i]];
    if (!key.IsText())
      return absl::InvalidArgumentError(
          absl::StrCat(file_, ": ", what, " has a key that is ", NameOf(key.kind)));
    DT_RETURN_IF_ERROR(Charge(static_cast<int64_t>(key.bytes.size() + 2 * sizeof(PickleRef))));
    entries[std::string(key.bytes)] = node.items[i + 1];
  }
  return entries;
}

// paddle.save writes a tensor as the tuple (name, array).
const PickleNode* StateBuilder::ArrayOf(PickleRef value) const {
  const PickleNode* node = &heap_[value];
  if (node->kind == PickleKind::kTuple && node->items.size() == 2 &&
      heap_[node->items[0]].IsText()) {
    node = &heap_[node->items[1]];
  }
  return node->kind == PickleKind::kArray ? node : nullptr;
}

absl::StatusOr<std::vector<int64_t>> StateBuilder::Extents(const std::string& key,
                                                           PickleRef tuple) const {
  constexpr size_t kMaxRank = 64;
  const PickleNode& node = heap_[tuple];
  const bool sequence = node.kind == PickleKind::kTuple || node.kind == PickleKind::kList;
  if (!sequence || node.items.size() > kMaxRank)
    return Error(key, "has no shape of at most 64 dimensions");
  std::vector<int64_t> dims;
  for (PickleRef item : node.items) {
    if (heap_[item].kind != PickleKind::kInt)
      return Error(key, "has a shape of other things than integers");
    dims.push_back(heap_[item].integer);
  }
  return dims;
}

// Bytes must be those of type and extents exactly. Arrays in Fortran's order are transposed here,
// so that nobody after this knows of it.
absl::StatusOr<Tensor> StateBuilder::ToTensor(const std::string& key, const PickleNode& array) {
  if (array.items.empty()) return Error(key, "is an array without contents");
  DT_ASSIGN_OR_RETURN(std::vector<int64_t> dims, Extents(key, array.items[0]));
  const std::string_view data = heap_[array.items[1]].bytes;
  const absl::StatusOr<int64_t> bytes = ByteCount(array.dtype, dims);
  if (!bytes.ok()) return Error(key, absl::StrCat("is impossible: ", bytes.status().message()));
  if (static_cast<uint64_t>(*bytes) != data.size()) {
    return Error(key, absl::StrCat("is ", ShapeText(array.dtype, dims), " with ", data.size(),
                                   " bytes instead of ", *bytes));
  }
  DT_RETURN_IF_ERROR(Charge(*bytes));
  DT_ASSIGN_OR_RETURN(Tensor tensor, Tensor::Zeros(array.dtype, std::move(dims)));
  if (data.empty()) return tensor;
  auto* const to = reinterpret_cast<char*>(tensor.bytes.data());
  const auto element = static_cast<int64_t>(SizeOf(tensor.dtype));
  if (array.fortran) {
    Gather({tensor.dims, FortranStrides(tensor.dims, element)}, element, data.data(), to);
  } else {
    std::memcpy(to, data.data(), data.size());
  }
  return tensor;
}

// Slices are flat pieces in order; every slice belongs to one array only.
absl::StatusOr<Tensor> StateBuilder::Join(const std::string& key, const Entries& info,
                                          PickleState* state, std::set<std::string>* used) {
  const auto shape = info.find("OriginShape");
  const auto names = info.find("slices");
  if (shape == info.end() || names == info.end()) return Error(key, "lacks OriginShape or slices");
  DT_ASSIGN_OR_RETURN(std::vector<int64_t> dims, Extents(key, shape->second));
  const PickleNode& list = heap_[names->second];
  if (list.kind != PickleKind::kList && list.kind != PickleKind::kTuple)
    return Error(key, "has slices that are no list");

  std::vector<const Tensor*> parts;
  int64_t bytes = 0;
  for (PickleRef item : list.items) {
    const std::string part(heap_[item].bytes);
    const auto found = state->tensors.find(part);
    if (found == state->tensors.end() || !used->insert(part).second) {
      return Error(key, absl::StrCat("wants slice '", absl::CHexEscape(part),
                                     "', which is not there or used twice"));
    }
    parts.push_back(&found->second);
    bytes += found->second.bytes.size();
    if (found->second.dtype != parts[0]->dtype) return Error(key, "has slices of several types");
  }
  if (parts.empty()) return Error(key, "has no slices");
  const absl::StatusOr<int64_t> wanted = ByteCount(parts[0]->dtype, dims);
  if (!wanted.ok() || *wanted != bytes) {
    return Error(key, absl::StrCat("is ", ShapeText(parts[0]->dtype, dims),
                                   ", but its slices have ", bytes, " bytes"));
  }
  DT_ASSIGN_OR_RETURN(Tensor whole, Tensor::Zeros(parts[0]->dtype, std::move(dims)));
  std::byte* to = whole.bytes.data();
  for (const Tensor* part : parts) {
    if (part->bytes.size() == 0) continue;
    std::memcpy(to, part->bytes.data(), static_cast<size_t>(part->bytes.size()));
    to += part->bytes.size();
  }
  return whole;
}

// Each entry says of one array the names of its slices and its shape. The slices are no values of
// the state, and are removed from it.
absl::Status StateBuilder::JoinSlices(PickleRef info, PickleState* state) {
  DT_ASSIGN_OR_RETURN(const Entries arrays, EntriesOf(kSlices, info));
  std::set<std::string> used;
  std::map<std::string, Tensor> joined;
  for (const auto& [key, value] : arrays) {
    DT_ASSIGN_OR_RETURN(const Entries entry, EntriesOf(absl::CHexEscape(key), value));
    DT_ASSIGN_OR_RETURN(Tensor whole, Join(key, entry, state, &used));
    joined.emplace(key, std::move(whole));
  }
  for (const std::string& part : used) state->tensors.erase(part);
  for (auto& [key, whole] : joined) {
    if (!state->tensors.emplace(key, std::move(whole)).second)
      return Error(key, "is there whole and in slices");
  }
  return absl::OkStatus();
}

// Names that are not translated stay; two tensors may not end with one name.
absl::Status StateBuilder::Rename(PickleRef names, PickleState* state) {
  DT_ASSIGN_OR_RETURN(const Entries entries, EntriesOf(kStructured, names));
  std::map<std::string, Tensor> renamed;
  for (auto& [key, tensor] : state->tensors) {
    const auto found = entries.find(key);
    if (found != entries.end() && !heap_[found->second].IsText())
      return Error(key, "is translated to something that is no text");
    const std::string name = found == entries.end() ? key : std::string(heap_[found->second].bytes);
    if (!renamed.emplace(name, std::move(tensor)).second)
      return Error(name, "is the name of two tensors");
  }
  state->tensors = std::move(renamed);
  return absl::OkStatus();
}

// What is no array (a learning-rate scheduler's numbers, say) is named and left out: it is for the
// caller to decide whether that matters.
absl::StatusOr<PickleState> StateBuilder::Build(PickleRef root) {
  DT_ASSIGN_OR_RETURN(const Entries entries, EntriesOf("the state", root));
  PickleState state;
  for (const auto& [key, value] : entries) {
    if (key == kSlices || key == kStructured) continue;
    if (const PickleNode* array = ArrayOf(value)) {
      DT_ASSIGN_OR_RETURN(Tensor tensor, ToTensor(key, *array));
      state.tensors.emplace(key, std::move(tensor));
    } else {
      state.others.push_back(key);
    }
  }
  if (const auto info = entries.find(kSlices); info != entries.end()) {
    DT_RETURN_IF_ERROR(JoinSlices(info->second, &state));
  }
  if (const auto names = entries.find(kStructured); names != entries.end()) {
    DT_RETURN_IF_ERROR(Rename(names->second, &state));
  }
  return state;
}

}  // namespace

absl::StatusOr<PickleState> ReadPickleState(const ByteSource& source) {
  DT_ASSIGN_OR_RETURN(AlignedBytes file, AlignedBytes::Zeros(source.size()));
  DT_RETURN_IF_ERROR(source.ReadAt(0, source.size(), file.data()));
  PickleHeap heap(source.size());
  const std::string_view bytes(reinterpret_cast<const char*>(file.data()),
                               static_cast<size_t>(file.size()));
  DT_ASSIGN_OR_RETURN(const PickleRef root, RunPickle(source.name(), bytes, heap));
  return StateBuilder(source.name(), heap).Build(root);
}

absl::StatusOr<PickleState> ReadPickleState(const std::string& path) {
  DT_ASSIGN_OR_RETURN(const std::unique_ptr<ByteSource> source, OpenFile(path));
  return ReadPickleState(*source);
}

}  // namespace dtranspile::io
