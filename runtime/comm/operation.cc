#include "runtime/comm/operation.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <optional>

#include "absl/strings/str_cat.h"
#include "runtime/comm/reduce.h"

namespace dtranspile::comm {
namespace {

// Which ranks give which lists.
enum class Lists { kBoth, kInputs, kOutputs, kNone, kRootInputs, kRootOutputs };

// What an operation is like, by table: whoever checks, describes or compares operations asks the
// row.
struct KindRow {
  Kind kind;
  Lists lists;
  bool inputs_times_size;   // inputs[i].count == size * outputs[i].count
  bool outputs_times_size;  // outputs[i].count == size * inputs[i].count
  bool reduces;
  bool has_peer;
};

constexpr KindRow kKinds[] = {
    {Kind::kAllReduce, Lists::kBoth, false, false, true, false},
    {Kind::kReduce, Lists::kRootOutputs, false, false, true, true},
    {Kind::kBroadcast, Lists::kRootInputs, false, false, false, true},
    {Kind::kAllGather, Lists::kBoth, false, true, false, false},
    {Kind::kReduceScatter, Lists::kBoth, true, false, true, false},
    {Kind::kAllToAll, Lists::kBoth, false, false, false, false},
    {Kind::kSend, Lists::kInputs, false, false, false, true},
    {Kind::kRecv, Lists::kOutputs, false, false, false, true},
    {Kind::kBarrier, Lists::kNone, false, false, false, false},
};

// By number: kinds also come from headers that other processes have sent.
const KindRow* FindKind(int32_t kind) {
  for (const KindRow& row : kKinds) {
    if (static_cast<int32_t>(row.kind) == kind) return &row;
  }
  return nullptr;
}

template <typename... Parts>
absl::Status Invalid(const Request& request, const Parts&... parts) {
  return absl::InvalidArgumentError(
      absl::StrCat(NameOf(request.kind), " '", request.label, "': ", parts...));
}

// Total elements may not exceed this, so that bytes of all ranks fit into 63 bits.
constexpr int64_t kMaxElements = std::numeric_limits<int64_t>::max() / (64 * 1024);

// Counts are summed with a bound, so that no later product of them overflows.
absl::Status CheckList(const Request& request, const char* which,
                       const std::vector<Segment>& list) {
  int64_t total = 0;
  for (size_t i = 0; i < list.size(); ++i) {
    const Segment& segment = list[i];
    if (segment.count < 0 || segment.count > kMaxElements - total) {
      return Invalid(request, which, " ", i, " has ", segment.count,
                     " elements, which is out of range");
    }
    if (segment.count > 0 && segment.data == nullptr)
      return Invalid(request, which, " ", i, " has no memory");
    total += segment.count;
  }
  return absl::OkStatus();
}

// Input i belongs to output i; an all_gather makes `size` times as many elements of it, a
// reduce_scatter takes as many.
absl::Status CheckPair(const Request& request, const KindRow& row, int size) {
  if (request.inputs.size() != request.outputs.size()) {
    return Invalid(request, request.inputs.size(), " inputs but ", request.outputs.size(),
                   " outputs");
  }
  for (size_t i = 0; i < request.inputs.size(); ++i) {
    const int64_t in = request.inputs[i].count, out = request.outputs[i].count;
    const int64_t expected_in = row.inputs_times_size ? out * size : in;
    const int64_t expected_out = row.outputs_times_size  ? in * size
                                 : row.inputs_times_size ? out
                                                         : in;
    if (in != expected_in || out != expected_out) {
      return Invalid(request, "input ", i, " has ", in, " elements, output ", i, " has ", out,
                     ", with ", size, " ranks");
    }
    if (request.kind == Kind::kAllToAll && in % size != 0) {
      return Invalid(request, "input ", i, " has ", in, " elements, which do not divide by ", size,
                     " ranks");
    }
  }
  return absl::OkStatus();
}

// Which lists this rank has to give depends on whether it is the root.
absl::Status CheckLists(const Request& request, const KindRow& row, int rank, int size) {
  const bool root = rank == request.peer;
  const bool wants_inputs = row.lists == Lists::kBoth || row.lists == Lists::kInputs ||
                            row.lists == Lists::kRootOutputs ||
                            (row.lists == Lists::kRootInputs && root);
  const bool wants_outputs = row.lists == Lists::kBoth || row.lists == Lists::kOutputs ||
                             row.lists == Lists::kRootInputs ||
                             (row.lists == Lists::kRootOutputs && root);
  // Lists that a rank does not need (inputs of a broadcast off the root) may be given and are not
  // looked at.
  if (wants_inputs) {
    if (absl::Status status = CheckList(request, "input", request.inputs); !status.ok())
      return status;
  }
  if (wants_outputs) {
    if (absl::Status status = CheckList(request, "output", request.outputs); !status.ok())
      return status;
  }
  return wants_inputs && wants_outputs ? CheckPair(request, row, size) : absl::OkStatus();
}

}  // namespace

// What one rank can see of a request by itself. Whether the members agree is compared when they
// meet.
absl::Status CheckRequest(const Request& request, int rank, int size) {
  const KindRow* row = FindKind(static_cast<int32_t>(request.kind));
  if (row == nullptr)
    return Invalid(request, "kind ", static_cast<int32_t>(request.kind), " is unknown");
  if (!DTypeFromCode(static_cast<int32_t>(request.dtype))) {
    return Invalid(request, "element type ", static_cast<int32_t>(request.dtype), " is unknown");
  }
  if (row->has_peer && (request.peer < 0 || request.peer >= size)) {
    return Invalid(request, "rank ", request.peer, " is not one of ", size);
  }
  const bool transfer = request.kind == Kind::kSend || request.kind == Kind::kRecv;
  if (transfer && request.peer == rank)
    return Invalid(request, "rank ", rank, " cannot exchange with itself");
  if (row->reduces) {
    if (absl::Status status = CheckReduce(request.dtype, request.reduce); !status.ok())
      return Invalid(request, std::string(status.message()));
  }
  return CheckLists(request, *row, rank, size);
}

// The list whose counts all ranks must agree on.
const std::vector<Segment>& CommonList(const Request& request) {
  const bool outputs = request.kind == Kind::kBroadcast || request.kind == Kind::kRecv ||
                       request.kind == Kind::kReduceScatter;
  return outputs ? request.outputs : request.inputs;
}

// What ranks compare before they move bytes: kind, element type, reduction, root, counts and a hash
// of the list of counts. A receive has the kind of the send that it meets. The label is for
// messages only and is not compared.
Header MakeHeader(const Request& request, int size) {
  const KindRow* row = FindKind(static_cast<int32_t>(request.kind));
  Header header;
  header.kind = static_cast<int32_t>(request.kind == Kind::kRecv ? Kind::kSend : request.kind);
  header.dtype = request.kind == Kind::kBarrier ? 0 : static_cast<int32_t>(request.dtype);
  header.reduce = row->reduces ? static_cast<int32_t>(request.reduce) : 0;
  const bool rooted = request.kind == Kind::kBroadcast || request.kind == Kind::kReduce;
  header.root = rooted ? request.peer : 0;
  const std::vector<Segment>& list = CommonList(request);
  header.segments = static_cast<int32_t>(list.size());
  header.layout = 14695981039346656037u;  // FNV-1a over the counts
  for (const Segment& segment : list) {
    header.count += segment.count;
    header.layout = (header.layout ^ static_cast<uint64_t>(segment.count)) * 1099511628211u;
  }
  const size_t n = std::min(request.label.size(), sizeof(header.label) - 1);
  std::memcpy(header.label, request.label.data(), n);
  return header;
}

std::string Describe(const Header& header) {
  const KindRow* row = FindKind(header.kind);
  if (row == nullptr) return absl::StrCat("unknown operation ", header.kind);
  std::string text = NameOf(row->kind);
  if (row->reduces) absl::StrAppend(&text, " ", NameOf(static_cast<ReduceOp>(header.reduce)));
  if (row->lists != Lists::kNone) {
    const std::optional<DType> dtype = DTypeFromCode(header.dtype);
    absl::StrAppend(&text, " of ", dtype ? NameOf(*dtype) : "an unknown element type", " x ",
                    header.count);
    if (header.segments != 1) absl::StrAppend(&text, " in ", header.segments, " pieces");
  }
  if (row->lists == Lists::kRootInputs || row->lists == Lists::kRootOutputs)
    absl::StrAppend(&text, " with root ", header.root);
  const size_t length = strnlen(header.label, sizeof(header.label));
  if (length > 0) absl::StrAppend(&text, " '", std::string(header.label, length), "'");
  return text;
}

// The first thing in which two ranks differ, with what each of them has started.
absl::Status CheckSame(const Header& a, int rank_a, const Header& b, int rank_b) {
  if (a.magic != Header::kMagic || b.magic != Header::kMagic) {
    const int rank = a.magic != Header::kMagic ? rank_a : rank_b;
    return absl::FailedPreconditionError(
        absl::StrCat("rank ", rank, " sent no operation header; is it of another build?"));
  }
  const char* what = a.kind != b.kind                                   ? "the operation"
                     : a.dtype != b.dtype                               ? "the element type"
                     : a.reduce != b.reduce                             ? "the reduction"
                     : a.root != b.root                                 ? "the root"
                     : a.count != b.count                               ? "the number of elements"
                     : a.segments != b.segments || a.layout != b.layout ? "the list of pieces"
                                                                        : nullptr;
  if (what == nullptr) return absl::OkStatus();
  return absl::FailedPreconditionError(absl::StrCat("ranks differ in ", what, ": rank ", rank_a,
                                                    " started ", Describe(a), ", rank ", rank_b,
                                                    " started ", Describe(b)));
}

}  // namespace dtranspile::comm
