#include "runtime/io/pickle_objects.h"

#include <optional>
#include <utility>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "runtime/base/status.h"
#include "runtime/io/npy_type.h"

namespace dtranspile::io {
namespace {

using Items = std::vector<PickleRef>;
using Function = absl::StatusOr<PickleRef> (*)(PickleHeap& heap, const Items& arguments);

absl::Status Refused(const std::string& what) { return absl::PermissionDeniedError(what); }

// The row of numpy.ndarray.
constexpr int64_t kNdarray = 0;

absl::StatusOr<PickleRef> NotCallable(PickleHeap&, const Items&) {
  return Refused("is a class that is named, never called, in a state");
}

// numpy.dtype('f4', align, copy)
absl::StatusOr<PickleRef> MakeDType(PickleHeap& heap, const Items& arguments) {
  if (arguments.empty() || arguments.size() > 3 || !heap[arguments[0]].IsText()) {
    return Refused("wants the name of an element type");
  }
  DT_ASSIGN_OR_RETURN(const DType dtype, DTypeFromNumpy(std::string(heap[arguments[0]].bytes)));
  DT_ASSIGN_OR_RETURN(const PickleRef ref, heap.Add(PickleKind::kDType));
  heap[ref].dtype = dtype;
  return ref;
}

// _reconstruct(ndarray, (0,), b'b'): an array that BUILD fills.
absl::StatusOr<PickleRef> MakeArray(PickleHeap& heap, const Items& arguments) {
  const bool expected = arguments.size() == 3 && heap[arguments[0]].kind == PickleKind::kGlobal &&
                        heap[arguments[0]].integer == kNdarray;
  if (!expected) return Refused("wants (ndarray, (0,), b'b')");
  return heap.Add(PickleKind::kArray);
}

// An array with its contents: `shape` must be a tuple of integers, `data` bytes.
absl::Status Fill(PickleHeap& heap, PickleRef array, PickleRef dtype, PickleRef shape,
                  PickleRef data, bool fortran) {
  if (heap[dtype].kind != PickleKind::kDType || heap[shape].kind != PickleKind::kTuple) {
    return Refused("has no dtype or no shape");
  }
  for (PickleRef extent : heap[shape].items) {
    if (heap[extent].kind != PickleKind::kInt)
      return Refused("has a shape of other things than integers");
  }
  if (!heap[data].IsData())
    return Refused(absl::StrCat("has its data as ", NameOf(heap[data].kind), ", not as bytes"));
  PickleNode& node = heap[array];
  node.dtype = heap[dtype].dtype;
  node.fortran = fortran;
  node.items = {shape, data};
  return absl::OkStatus();
}

// scalar(dtype, data)
absl::StatusOr<PickleRef> MakeScalar(PickleHeap& heap, const Items& arguments) {
  if (arguments.size() != 2) return Refused("wants (dtype, data)");
  DT_ASSIGN_OR_RETURN(const PickleRef array, heap.Add(PickleKind::kArray));
  DT_RETURN_IF_ERROR(Fill(heap, array, arguments[0], heap.empty_tuple(), arguments[1], false));
  return array;
}

// _frombuffer(data, dtype, shape, order), which protocol 5 uses
absl::StatusOr<PickleRef> MakeFromBuffer(PickleHeap& heap, const Items& arguments) {
  if (arguments.size() != 4 || !heap[arguments[3]].IsText())
    return Refused("wants (data, dtype, shape, order)");
  const std::string_view order = heap[arguments[3]].bytes;
  if (order != "C" && order != "F") return Refused("knows the orders C and F");
  DT_ASSIGN_OR_RETURN(const PickleRef array, heap.Add(PickleKind::kArray));
  DT_RETURN_IF_ERROR(Fill(heap, array, arguments[1], arguments[2], arguments[0], order == "F"));
  return array;
}

// OrderedDict() and, from Python 2, OrderedDict([[key, value], ...])
absl::StatusOr<PickleRef> MakeOrderedDict(PickleHeap& heap, const Items& arguments) {
  DT_ASSIGN_OR_RETURN(const PickleRef dict, heap.Add(PickleKind::kDict));
  if (arguments.empty()) return dict;
  if (arguments.size() > 1 || heap[arguments[0]].kind != PickleKind::kList)
    return Refused("wants a list of pairs");
  // One long list could be asked for again and again.
  DT_RETURN_IF_ERROR(
      heap.Charge(static_cast<int64_t>(2 * heap[arguments[0]].items.size() * sizeof(PickleRef))));
  Items items;
  for (PickleRef pair : heap[arguments[0]].items) {
    const PickleKind kind = heap[pair].kind;
    if ((kind != PickleKind::kList && kind != PickleKind::kTuple) || heap[pair].items.size() != 2)
      return Refused("wants a list of pairs");
    items.insert(items.end(), heap[pair].items.begin(), heap[pair].items.end());
  }
  heap[dict].items = std::move(items);
  return dict;
}

// The bytes of a text whose characters are all below 256; nothing for other texts.
std::optional<std::string> Latin1(std::string_view utf8) {
  std::string bytes;
  bytes.reserve(utf8.size());
  for (size_t i = 0; i < utf8.size(); ++i) {
    const auto lead = static_cast<uint8_t>(utf8[i]);
    if (lead < 0x80) {
      bytes.push_back(utf8[i]);
      continue;
    }
    const uint8_t next = i + 1 < utf8.size() ? static_cast<uint8_t>(utf8[i + 1]) : 0;
    if ((lead != 0xc2 && lead != 0xc3) || (next & 0xc0) != 0x80) return std::nullopt;
    bytes.push_back(static_cast<char>(lead << 6 | (next & 0x3f)));
    ++i;
  }
  return bytes;
}

// _codecs.encode(text, 'latin1'): how protocol 2 spells bytes
absl::StatusOr<PickleRef> EncodeText(PickleHeap& heap, const Items& arguments) {
  if (arguments.size() != 2 || !heap[arguments[0]].IsText() ||
      heap[arguments[1]].bytes != "latin1") {
    return Refused("is permitted as encode(text, 'latin1') only");
  }
  const std::string_view text = heap[arguments[0]].bytes;
  DT_RETURN_IF_ERROR(heap.Charge(static_cast<int64_t>(text.size())));
  std::optional<std::string> bytes = Latin1(text);
  if (!bytes) return Refused("wants a text of Latin-1 characters");
  return heap.AddBytes(PickleKind::kBytes, heap.Own(*std::move(bytes)));
}

// tuple(items): (name, array) of a tensor that paddle.save met
absl::StatusOr<PickleRef> MakeTuple(PickleHeap& heap, const Items& arguments) {
  if (arguments.empty()) return heap.empty_tuple();
  const PickleKind kind = heap[arguments[0]].kind;
  if (arguments.size() > 1 || (kind != PickleKind::kTuple && kind != PickleKind::kList))
    return Refused("wants one tuple or list");
  DT_RETURN_IF_ERROR(
      heap.Charge(static_cast<int64_t>(heap[arguments[0]].items.size() * sizeof(PickleRef))));
  Items items = heap[arguments[0]].items;
  DT_ASSIGN_OR_RETURN(const PickleRef tuple, heap.Add(PickleKind::kTuple));
  heap[tuple].items = std::move(items);
  return tuple;
}

// eval('data', {'data': value}): how paddle.save spells a tensor of a static program. It is
// `value`; nothing is evaluated.
absl::StatusOr<PickleRef> EvalData(PickleHeap& heap, const Items& arguments) {
  const auto is_data = [&](PickleRef ref) {
    return heap[ref].IsText() && heap[ref].bytes == "data";
  };
  const bool expected = arguments.size() == 2 && is_data(arguments[0]) &&
                        heap[arguments[1]].kind == PickleKind::kDict &&
                        heap[arguments[1]].items.size() == 2 &&
                        is_data(heap[arguments[1]].items[0]);
  if (!expected) return Refused("is permitted as eval('data', {'data': array}) only");
  return heap[arguments[1]].items[1];
}

// bytes(): how protocol 2 spells b''
absl::StatusOr<PickleRef> NoBytes(PickleHeap& heap, const Items& arguments) {
  if (!arguments.empty()) return Refused("is permitted without arguments only");
  return heap.AddBytes(PickleKind::kBytes, {});
}

struct Row {
  const char* module;
  const char* name;
  Function call;
};

constexpr Row kRows[] = {
    {"numpy", "ndarray", NotCallable},
    {"numpy", "dtype", MakeDType},
    {"numpy.core.multiarray", "_reconstruct", MakeArray},
    {"numpy._core.multiarray", "_reconstruct", MakeArray},
    {"numpy.core.multiarray", "scalar", MakeScalar},
    {"numpy._core.multiarray", "scalar", MakeScalar},
    {"numpy.core.numeric", "_frombuffer", MakeFromBuffer},
    {"numpy._core.numeric", "_frombuffer", MakeFromBuffer},
    {"collections", "OrderedDict", MakeOrderedDict},
    {"_codecs", "encode", EncodeText},
    {"builtins", "tuple", MakeTuple},
    {"__builtin__", "tuple", MakeTuple},
    {"builtins", "eval", EvalData},
    {"__builtin__", "eval", EvalData},
    {"builtins", "bytes", NoBytes},
    {"__builtin__", "bytes", NoBytes},
};

std::string NameOf(const Row& row) { return absl::StrCat(row.module, ".", row.name); }

// (3, '<', subdtype, names, fields, ...): only plain little-endian numbers.
absl::Status SetDTypeState(PickleHeap& heap, const Items& state) {
  if (state.size() < 5 || !heap[state[1]].IsText())
    return Refused("numpy.dtype with a state of an unknown form");
  const std::string_view order = heap[state[1]].bytes;
  if (order != "<" && order != "|" && order != "=")
    return Refused("numpy.dtype of elements that are not little-endian");
  for (size_t i = 2; i < 5; ++i) {
    if (heap[state[i]].kind != PickleKind::kNone)
      return Refused("numpy.dtype of a structured type");
  }
  return absl::OkStatus();
}

}  // namespace

// A pickle may name any function of Python. Here the names are rows of a closed table, and all
// others are refused: nothing is ever imported or called but the rows' own functions.
absl::StatusOr<PickleRef> FindGlobal(PickleHeap& heap, const std::string& module,
                                     const std::string& name) {
  for (const Row& row : kRows) {
    if (module != row.module || name != row.name) continue;
    DT_ASSIGN_OR_RETURN(const PickleRef ref, heap.Add(PickleKind::kGlobal));
    heap[ref].integer = &row - kRows;
    return ref;
  }
  return Refused(
      absl::StrCat(absl::CHexEscape(module), ".", absl::CHexEscape(name),
                   " is not permitted: only NumPy arrays, dict, list, tuple, str, bytes, int, ",
                   "float, bool and None are read"));
}

absl::StatusOr<PickleRef> CallGlobal(PickleHeap& heap, PickleRef function, PickleRef arguments) {
  if (heap[function].kind != PickleKind::kGlobal || heap[arguments].kind != PickleKind::kTuple) {
    return Refused(absl::StrCat("a call of ", NameOf(heap[function].kind), " with ",
                                NameOf(heap[arguments].kind)));
  }
  const Row& row = kRows[heap[function].integer];
  constexpr size_t kMostArguments = 4;
  if (heap[arguments].items.size() > kMostArguments)
    return Refused(absl::StrCat(NameOf(row), ": too many arguments"));
  // A copy: the heap may move while the call adds to it.
  const Items items = heap[arguments].items;
  absl::StatusOr<PickleRef> result = row.call(heap, items);
  if (result.ok()) return result;
  return absl::Status(result.status().code(),
                      absl::StrCat(NameOf(row), ": ", result.status().message()));
}

// Opcode BUILD: what __setstate__ of a dtype or an array would do, and of nothing else.
absl::Status SetState(PickleHeap& heap, PickleRef object, PickleRef state) {
  const PickleKind kind = heap[object].kind;
  if ((kind != PickleKind::kArray && kind != PickleKind::kDType) ||
      heap[state].kind != PickleKind::kTuple) {
    return Refused(absl::StrCat("a state for ", NameOf(kind)));
  }
  constexpr size_t kLongestState = 9;  // of a dtype with metadata
  if (heap[state].items.size() > kLongestState) return Refused("a state of an unknown form");
  const Items items = heap[state].items;
  if (kind == PickleKind::kDType) return SetDTypeState(heap, items);
  if (!heap[object].items.empty()) return Refused("numpy.ndarray that is filled twice");
  // (version, shape, dtype, is_fortran, data), the oldest ones without version
  if (items.size() != 5 && items.size() != 4)
    return Refused("numpy.ndarray with a state of an unknown form");
  const size_t first = items.size() - 4;
  const PickleNode& fortran = heap[items[first + 2]];
  if (fortran.kind != PickleKind::kBool && fortran.kind != PickleKind::kInt)
    return Refused("numpy.ndarray without an order");
  const absl::Status filled =
      Fill(heap, object, items[first + 1], items[first], items[first + 3], fortran.integer != 0);
  return filled.ok() ? filled : Refused(absl::StrCat("numpy.ndarray ", filled.message()));
}

}  // namespace dtranspile::io
