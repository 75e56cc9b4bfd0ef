// Collectives of values whose extents only the step knows go in two rounds. First every rank
// gathers everybody's header: kind, extents, and of SelectedRows the number of rows and the height
// they count in. Headers decide on all ranks alike, so that a disagreement is an error everywhere
// and nobody is left waiting. Then the elements: a reduction is an ordinary all_reduce, since
// extents agree; what is gathered is padded to the longest part, gathered, and put together without
// the pads, because the communicators below know equal parts only.
#include "runtime/exec/value_collective.h"

#include <algorithm>
#include <cstring>

#include "absl/strings/str_cat.h"
#include "runtime/base/status.h"
#include "runtime/tensor/tensor.h"

namespace dtranspile::exec {
namespace {

// Places of a header.
enum { kRank = 0, kDims = 1, kRows = 1, kWidth = 2, kHeight = 3 };
constexpr size_t kMostDims = 9;

// Elements of one row.
int64_t WidthOf(const Value& value) {
  int64_t width = 1;
  for (size_t i = 1; i < value.dims.size(); ++i) width *= value.dims[i];
  return width;
}

}  // namespace

ValueCollective::ValueCollective(comm::Communicator& comm, comm::Kind kind, comm::ReduceOp reduce,
                                 std::string name, std::string label, Value& input, Value& output)
    : comm_(comm),
      kind_(kind),
      reduce_(reduce),
      name_(std::move(name)),
      label_(std::move(label)),
      input_(input),
      output_(output),
      own_(kHeader),
      headers_(kHeader * comm.size()) {}

// The first round: this rank's header, of kHeader integers. Of SelectedRows the rank is -1.
absl::StatusOr<comm::Ticket> ValueCollective::Start() {
  std::fill(own_.begin(), own_.end(), 0);
  if (input_.kind == Value::Kind::kRows) {
    own_[kRank] = -1;
    own_[kRows] = static_cast<int64_t>(input_.rows.size());
    own_[kWidth] = WidthOf(input_);
    own_[kHeight] = input_.height;
  } else {
    if (input_.dims.size() > kMostDims)
      return absl::InvalidArgumentError(
          absl::StrCat("'", name_, "' has more than ", kMostDims, " dims"));
    own_[kRank] = static_cast<int64_t>(input_.dims.size());
    std::copy(input_.dims.begin(), input_.dims.end(), own_.begin() + kDims);
  }
  return comm_.Start({.kind = comm::Kind::kAllGather,
                      .dtype = DType::kInt64,
                      .inputs = {{own_.data(), kHeader}},
                      .outputs = {{headers_.data(), kHeader * comm_.size()}},
                      .label = label_});
}

absl::Status ValueCollective::Finish(comm::Ticket ticket) {
  DT_RETURN_IF_ERROR(comm_.Wait(ticket));
  for (int rank = 0; rank < comm_.size(); ++rank)
    if (!Agrees(header(rank))) return Disagree(rank);
  if (input_.kind == Value::Kind::kRows) return GatherRows();
  return kind_ == comm::Kind::kAllGather ? GatherTensor() : ReduceTensor();
}

// What is gathered may differ in its number of rows.
bool ValueCollective::Agrees(const int64_t* other) const {
  if (input_.kind == Value::Kind::kRows)
    return other[kRank] == own_[kRank] && other[kWidth] == own_[kWidth] &&
           other[kHeight] == own_[kHeight];
  if (kind_ != comm::Kind::kAllGather) return std::equal(own_.begin(), own_.end(), other);
  return other[kRank] == own_[kRank] && own_[kRank] > 0 &&
         std::equal(own_.begin() + kDims + 1, own_.end(), other + kDims + 1);
}

absl::Status ValueCollective::Disagree(int rank) const {
  const auto text = [&](const int64_t* h) {
    if (h[kRank] < 0)
      return absl::StrCat("rows of ", h[kWidth], " elements in a height of ", h[kHeight]);
    return ShapeText(input_.dtype, {h + kDims, h + kDims + h[kRank]});
  };
  return absl::InvalidArgumentError(
      absl::StrCat("'", name_, "' is ", text(own_.data()), " here (rank ", comm_.rank(),
                   " of the group) and ", text(header(rank)), " on rank ", rank));
}

absl::Status ValueCollective::ReduceTensor() {
  if (&output_ != &input_) {
    DT_RETURN_IF_ERROR(output_.Resize(input_.dims));
    output_.lod = input_.lod;
  }
  const int64_t count = input_.count();
  return comm_.Run({.kind = comm::Kind::kAllReduce,
                    .dtype = input_.dtype,
                    .reduce = reduce_,
                    .inputs = {{input_.data(), count}},
                    .outputs = {{output_.data(), count}},
                    .label = label_});
}

absl::Status ValueCollective::GatherTensor() {
  std::vector<int64_t> dims = input_.dims;
  dims[0] = 0;
  for (int rank = 0; rank < comm_.size(); ++rank) dims[0] += header(rank)[kRows];
  // The output may be the input: its part is taken out of it before it is sized anew.
  Value all(Value::Kind::kTensor, input_.dtype);
  DT_RETURN_IF_ERROR(all.Resize(dims));
  DT_RETURN_IF_ERROR(GatherParts(input_.dtype, input_.data(), WidthOf(input_), all.data()));
  output_.Swap(all);
  return absl::OkStatus();
}

// all_gather takes equal parts, so that each is padded to the largest, and the padding is left out
// again. `unit` elements make up a row.
absl::Status ValueCollective::GatherParts(DType dtype, const std::byte* part, int64_t unit,
                                          std::byte* all) {
  int64_t most = 0;
  for (int rank = 0; rank < comm_.size(); ++rank) most = std::max(most, header(rank)[kRows]);
  const int64_t size = static_cast<int64_t>(SizeOf(dtype)) * unit;
  padded_.resize(static_cast<size_t>(most * size));
  gathered_.resize(padded_.size() * static_cast<size_t>(comm_.size()));
  if (most == 0) return absl::OkStatus();
  const int64_t own = own_[kRows] * size;
  if (own > 0) std::memcpy(padded_.data(), part, static_cast<size_t>(own));
  std::memset(padded_.data() + own, 0, padded_.size() - static_cast<size_t>(own));
  DT_RETURN_IF_ERROR(comm_.Run({.kind = comm::Kind::kAllGather,
                                .dtype = dtype,
                                .inputs = {{padded_.data(), most * unit}},
                                .outputs = {{gathered_.data(), most * unit * comm_.size()}},
                                .label = label_}));
  for (int rank = 0; rank < comm_.size(); ++rank) {
    const size_t bytes = static_cast<size_t>(header(rank)[kRows] * size);
    std::memcpy(all, gathered_.data() + static_cast<size_t>(rank) * padded_.size(), bytes);
    all += bytes;
  }
  return absl::OkStatus();
}

// The sum of SelectedRows is the list of all rows of all ranks, in the order of ranks: a row may
// occur several times, and whoever uses it adds them up.
absl::Status ValueCollective::GatherRows() {
  int64_t total = 0;
  for (int rank = 0; rank < comm_.size(); ++rank) total += header(rank)[kRows];
  // The output may be the input: both parts are taken out of it before it is sized anew.
  std::vector<int64_t> rows(static_cast<size_t>(total)), dims = input_.dims;
  DT_RETURN_IF_ERROR(GatherParts(DType::kInt64,
                                 reinterpret_cast<const std::byte*>(input_.rows.data()), 1,
                                 reinterpret_cast<std::byte*>(rows.data())));
  for (int64_t row : rows)
    if (row < 0 || row >= input_.height)
      return absl::InvalidArgumentError(
          absl::StrCat("'", name_, "' names row ", row, " of ", input_.height));
  if (dims.empty()) dims = {0};
  dims[0] = total;
  Value all(Value::Kind::kRows, input_.dtype);
  DT_RETURN_IF_ERROR(all.Resize(dims));
  DT_RETURN_IF_ERROR(GatherParts(input_.dtype, input_.data(), own_[kWidth], all.data()));
  all.rows = std::move(rows);
  all.height = input_.height;
  output_.Swap(all);
  return absl::OkStatus();
}

}  // namespace dtranspile::exec
