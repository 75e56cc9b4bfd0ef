#include "runtime/exec/first_touch.h"

#include <algorithm>
#include <cstring>

#include "absl/strings/str_cat.h"
#include "runtime/base/status.h"

namespace dtranspile::exec {
namespace {

// A chunk of the whole has the rows of one page, with more than 8 servers of some pages, so that
// states are a 64th of a part at most. An even number of rows: normal numbers are drawn in pairs.
constexpr int64_t kPage = 4096, kServersPerPage = 8;

int64_t ChunkRows(int64_t row_bytes, int64_t servers) {
  const int64_t bytes = kPage * ((servers + kServersPerPage - 1) / kServersPerPage);
  return std::max<int64_t>(bytes / std::max<int64_t>(row_bytes, 1) / 2 * 2, 2);
}

void Fill(DType dtype, double value, std::vector<std::byte>& to) {
  if (dtype == DType::kFloat64)
    return void(
        std::fill_n(reinterpret_cast<double*>(to.data()), to.size() / sizeof(double), value));
  std::fill_n(reinterpret_cast<float*>(to.data()), to.size() / sizeof(float),
              static_cast<float>(value));
}

}  // namespace

FirstTouch::FirstTouch(const DrawNode& node, DType dtype, Place place, std::byte* data, Calls calls,
                       ThreadPool& pool)
    : node_(node), dtype_(dtype), place_(place), data_(data), calls_(calls), context_(&pool) {
  const Layout& layout = node.layout;
  rows_ = Parts(layout, place.of).extent(place.at);
  row_bytes_ = static_cast<int64_t>(SizeOf(dtype));
  for (size_t d = 1; d < layout.whole.size(); ++d) row_bytes_ *= layout.whole[d];
  chunk_rows_ = ChunkRows(row_bytes_, place.of);
}

// The numbers of the whole pass by, chunk after chunk.
absl::Status FirstTouch::Begin() {
  const std::lock_guard lock(mutex_);
  const NumericScope numerics;
  const int64_t all = node_.layout.extent;
  chunk_.resize(static_cast<size_t>(chunk_rows_ * row_bytes_));
  if (calls_.draw == nullptr) {
    Fill(dtype_, node_.reals[0], chunk_);
  } else {
    states_.clear();
    states_.reserve(static_cast<size_t>((all + chunk_rows_ - 1) / chunk_rows_));
    DT_RETURN_IF_ERROR(Draw(0, /*continues=*/false, nullptr));  // makes the engine
    for (int64_t row = 0; row < all; row += chunk_rows_) {
      DT_ASSIGN_OR_RETURN(states_.emplace_back(), State());
      DT_RETURN_IF_ERROR(Draw(std::min(chunk_rows_, all - row), /*continues=*/true, nullptr));
    }
  }
  drawn_ = -1;
  made_.assign(static_cast<size_t>(rows_), false);
  left_.store(rows_, std::memory_order_release);
  return absl::OkStatus();
}

// Into chunk_. The attributes are those of the node, but for the first one, the extents, and the
// last two.
absl::Status FirstTouch::Draw(int64_t rows, bool continues, const int64_t* begins) {
  std::vector<int64_t> dims = node_.layout.whole;
  dims[0] = rows;
  const int64_t one = 1;
  std::vector<DtAttr> attributes;
  const int64_t* ints = node_.ints.data();
  const double* reals = node_.reals.data();
  for (const CallNode::Attribute& a : CallNode::AttributesOf(node_.attrs)) {
    attributes.push_back(
        {a.kind == 'i' ? ints : nullptr, a.kind == 'r' ? reals : nullptr, nullptr, a.count});
    ints += a.kind == 'i' ? a.count : 0;
    reals += a.kind == 'r' ? a.count : 0;
  }
  attributes.front().ints = dims.data();
  if (continues) attributes[attributes.size() - 2] = {&one, nullptr, nullptr, 1};
  if (begins != nullptr) attributes.back() = {begins, nullptr, nullptr, 1};
  DtBuffer out = {chunk_.data(),
                  dims.data(),
                  static_cast<int32_t>(dims.size()),
                  static_cast<int32_t>(dtype_),
                  DT_HOST,
                  "rows",
                  nullptr};
  void* state = nullptr;
  const DtCall call = {node_.callee.c_str(),
                       "",
                       &out,
                       1,
                       &state,
                       node_.slots.data(),
                       static_cast<int32_t>(node_.slots.size()) - 1,
                       attributes.data(),
                       static_cast<int32_t>(attributes.size())};
  return context_.Call(calls_.draw, call);
}

// Of the engine that Draw has made last.
absl::StatusOr<int64_t> FirstTouch::State() {
  int64_t number = 0;
  const int64_t dims[] = {1};
  DtBuffer out = {&number, dims, 1, static_cast<int32_t>(DType::kInt64), DT_HOST, "state", nullptr};
  const int32_t slots[] = {0, 1};
  void* state = nullptr;
  const DtCall call = {"dt_random_state", "", &out, 1, &state, slots, 1, nullptr, 0};
  DT_RETURN_IF_ERROR(context_.Call(calls_.state, call));
  return number;
}

// What a row of the part begins with; valid until the next chunk is drawn.
absl::StatusOr<const std::byte*> FirstTouch::Initial(int64_t row) {
  if (calls_.draw == nullptr) return chunk_.data();
  const int64_t whole = row * place_.of + place_.at, chunk = whole / chunk_rows_;
  if (chunk != drawn_) {
    const NumericScope numerics;
    drawn_ = -1;
    const int64_t rows = std::min(chunk_rows_, node_.layout.extent - chunk * chunk_rows_);
    DT_RETURN_IF_ERROR(Draw(rows, /*continues=*/false, &states_[static_cast<size_t>(chunk)]));
    drawn_ = chunk;
  }
  return chunk_.data() + whole % chunk_rows_ * row_bytes_;
}

absl::Status FirstTouch::Make(int64_t row) {
  DT_ASSIGN_OR_RETURN(const std::byte* const from, Initial(row));
  std::memcpy(data_ + row * row_bytes_, from, static_cast<size_t>(row_bytes_));
  made_[static_cast<size_t>(row)] = true;
  left_.fetch_sub(1, std::memory_order_release);
  return absl::OkStatus();
}

absl::Status FirstTouch::Touch(const int64_t* rows, int64_t count) {
  if (left() == 0) return absl::OkStatus();
  const std::lock_guard lock(mutex_);
  for (int64_t i = 0; i < count; ++i)
    if (rows[i] >= 0 && rows[i] < rows_ && !made(rows[i])) DT_RETURN_IF_ERROR(Make(rows[i]));
  return absl::OkStatus();
}

absl::Status FirstTouch::TouchAll() {
  if (left() == 0) return absl::OkStatus();
  const std::lock_guard lock(mutex_);
  for (int64_t row = 0; row < rows_; ++row)
    if (!made(row)) DT_RETURN_IF_ERROR(Make(row));
  return absl::OkStatus();
}

void FirstTouch::Overwritten() {
  const std::lock_guard lock(mutex_);
  made_.clear();
  left_.store(0, std::memory_order_release);
}

// Rows that nobody has touched yet are read as what they begin as, without being made: a save does
// not make a table grow.
absl::Status FirstTouch::Read(int64_t begin, int64_t count, std::byte* to) {
  const std::lock_guard lock(mutex_);
  const auto bytes = static_cast<size_t>(row_bytes_);
  for (int64_t row = begin; row < begin + count; ++row, to += row_bytes_) {
    const std::byte* from = data_ + row * row_bytes_;
    if (!made(row)) {
      DT_ASSIGN_OR_RETURN(from, Initial(row));
    }
    std::memcpy(to, from, bytes);
  }
  return absl::OkStatus();
}

// One per draw node at the top of start-up. The layout must cut the variable as its buffer is cut.
absl::StatusOr<FirstTouches> FirstTouches::Make(
    const Plan& plan, const Position& position,
    const std::function<DtFunction(const std::string&)>& find, const Storage& storage,
    ThreadPool& pool) {
  FirstTouches result;
  const Program* startup = plan.startup();
  if (startup == nullptr) return result;
  for (const Node& node : startup->body) {
    const auto* draw = node.as<DrawNode>();
    if (draw == nullptr) continue;
    const Buffer& buffer = plan.buffers[static_cast<size_t>(draw->to)];
    DT_ASSIGN_OR_RETURN(const Place place, PlaceOf(draw->layout.axes, position));
    const Parts parts(draw->layout, place.of);
    if (buffer.dims != parts.room_dims() ||
        (parts.extent(place.at) > 0 &&
         storage.bytes(draw->to) < buffer.bytes / parts.room() * parts.extent(place.at)))
      return absl::InvalidArgumentError(
          absl::StrCat("op ", node.op, ": '", buffer.name, "' is not cut like its rows are made"));
    FirstTouch::Calls calls;
    if (draw->callee != kConstantRows) {
      if (find) calls = {find(draw->callee), find("dt_random_state")};
      if (calls.draw == nullptr || calls.state == nullptr)
        return absl::NotFoundError(
            absl::StrCat("op ", node.op, ": this runtime has no call '", draw->callee, "'"));
    }
    result.all_.push_back(
        {draw, std::make_unique<FirstTouch>(*draw, buffer.dtype, place, storage.data(draw->to),
                                            calls, pool)});
  }
  return result;
}

FirstTouch* FirstTouches::Of(const std::byte* byte) const {
  for (const Entry& entry : all_) {
    const std::byte* const begin = entry.rows->data();
    if (byte != nullptr && byte >= begin &&
        byte < begin + entry.rows->rows() * entry.rows->row_bytes())
      return entry.rows.get();
  }
  return nullptr;
}

FirstTouch* FirstTouches::Of(const DrawNode& node) const {
  const auto found = std::find_if(all_.begin(), all_.end(),
                                  [&](const Entry& entry) { return entry.node == &node; });
  return found == all_.end() ? nullptr : found->rows.get();
}

}  // namespace dtranspile::exec
