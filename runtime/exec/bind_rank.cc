// Nodes that read data of the rank, or of the micro-batch that runs: coordinates and parts.
#include <cstring>

#include "absl/strings/str_cat.h"
#include "runtime/base/status.h"
#include "runtime/exec/bind.h"
#include "runtime/tensor/tensor.h"

namespace dtranspile::exec {
namespace {

class BoundCoord : public BoundNode {
 public:
  BoundCoord(const Node& node, RunningPlace place, std::byte* to)
      : BoundNode(node), place_(place), to_(reinterpret_cast<int64_t*>(to)) {}

  absl::Status Run(Walk&) override {
    *to_ = place_.at();
    return absl::OkStatus();
  }

 private:
  const RunningPlace place_;
  int64_t* const to_;
};

class BoundNumber : public BoundNode {
 public:
  BoundNumber(const Node& node, int64_t number, std::byte* to)
      : BoundNode(node), number_(number), to_(reinterpret_cast<int64_t*>(to)) {}

  absl::Status Run(Walk&) override {
    *to_ = number_;
    return absl::OkStatus();
  }

 private:
  const int64_t number_;
  int64_t* const to_;
};

class BoundSlice : public BoundNode {
 public:
  BoundSlice(const Node& node, const SliceNode& slice, RunningPlace place, size_t element,
             const std::byte* from, std::byte* to, bool pad, bool sparse)
      : BoundNode(node),
        parts_(slice.layout, place.of),
        place_(place),
        element_(element),
        from_(from),
        to_(to),
        pad_(pad),
        sparse_(sparse) {}

  absl::Status Run(Walk&) override {
    if (sparse_) PutWhereNotZero();
    else parts_.Take(place_.at(), element_, from_, to_, pad_);
    return absl::OkStatus();
  }

 private:
  static bool IsZero(const std::byte* data, size_t bytes) {
    return bytes == 0 || (*data == std::byte{0} && std::memcmp(data, data + 1, bytes - 1) == 0);
  }

  // Pages of a table's state that nobody has written are zero, and take no memory: zeros leave
  // them so (storage.cc).
  void PutWhereNotZero() {
    parts_.ForPieces(place_.at(), element_, /*pad=*/false,
                     [&](size_t from, size_t at, size_t bytes) {
                       if (IsZero(from_ + from, bytes) && IsZero(to_ + at, bytes)) return;
                       std::memcpy(to_ + at, from_ + from, bytes);
                     });
  }

  const Parts parts_;
  const RunningPlace place_;
  const size_t element_;
  const std::byte* const from_;
  std::byte* const to_;
  const bool pad_, sparse_;
};

}  // namespace

// A body is bound for each block that the rank owns, so that the number of its block is known.
BindResult Bind(const CoordNode& coord, const Node& node, Binder& binder) {
  if (coord.axis.empty()) {
    DT_ASSIGN_OR_RETURN(std::byte* const to, binder.Address(coord.to));
    if (binder.scope.block < 0)
      return absl::InvalidArgumentError("the number of a block is asked for where there is none");
    return std::make_unique<BoundNumber>(node, binder.scope.block, to);
  }
  DT_ASSIGN_OR_RETURN(const RunningPlace place, binder.PlaceAlong({coord.axis}));
  DT_ASSIGN_OR_RETURN(std::byte* const to, binder.Address(coord.to));
  return std::make_unique<BoundCoord>(node, place, to);
}

// Takes this rank's part of a whole. The part's extents must be those of the plan's buffer, or the
// plan was compiled for another mesh. Where a variable has memory for its own part only, that part
// must fit.
BindResult Bind(const SliceNode& slice, const Node& node, Binder& binder) {
  DT_ASSIGN_OR_RETURN(const RunningPlace place, binder.PlaceAlong(slice.layout.axes));
  DT_ASSIGN_OR_RETURN(std::byte* const from, binder.Address(slice.from));
  const Buffer& part = binder.buffer(slice.to);
  const std::vector<int64_t> room = Parts(slice.layout, place.of).room_dims();
  if (part.dims != room)
    return absl::InvalidArgumentError(
        absl::StrCat("'", part.name, "' is ", ShapeText(part.dtype, part.dims), ", a part of '",
                     binder.buffer(slice.from).name, "' on ", place.of, " coordinates is ",
                     ShapeText(part.dtype, room), "; was the plan compiled for another mesh?"));
  // A variable may have memory for its own part only (storage.h).
  const int64_t instance = part.stride > 0 ? binder.scope.instance : 0;
  const bool whole = binder.storage.whole(slice.to, instance);
  const Parts parts(slice.layout, place.of);
  const int64_t own = parts.room() == 0 ? 0 : part.bytes / parts.room() * parts.extent(place.fixed);
  const bool fits = whole || (place.weight == 0 && own <= binder.storage.bytes(slice.to, instance));
  if (!fits) DT_RETURN_IF_ERROR(binder.Address(slice.to).status());
  std::byte* const to = binder.storage.data(slice.to, instance);
  binder.Touches(to);
  // Pad is there where parts are even. Of other variables what lies behind a part is no pad: with
  // a piece of a variable (compiler/lower/pieces.h) another one.
  const bool rows = slice.layout.kind != LayoutKind::kEven && part.space == Space::kPersistent;
  return std::make_unique<BoundSlice>(node, slice, place, SizeOf(part.dtype), from, to,
                                      whole && !rows, rows);
}

}  // namespace dtranspile::exec
