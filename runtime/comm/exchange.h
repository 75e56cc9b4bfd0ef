// What the algorithms of collectives.cc and all_reduce.cc are made of: one member's side of one
// operation, as messages over a Fabric.
#pragma once

#include <algorithm>
#include <optional>

#include "runtime/comm/collectives.h"
#include "runtime/comm/view.h"

namespace dtranspile::comm {

class Exchange {
 public:
  // All three outlive the exchange. What it moves is added to `traffic`.
  Exchange(Fabric& fabric, const Request& request, Traffic& traffic)
      : fabric_(fabric),
        request_(request),
        traffic_(traffic),
        n_(fabric.size()),
        me_(fabric.index()),
        element_bytes_(SizeOf(request.dtype)) {}

 protected:
  View Inputs() const { return View::Whole(request_.inputs, element_bytes_); }
  View Outputs() const { return View::Whole(request_.outputs, element_bytes_); }
  View InputPart(int member) const {
    return View::Part(request_.inputs, element_bytes_, member, n_);
  }
  View OutputPart(int member) const {
    return View::Part(request_.outputs, element_bytes_, member, n_);
  }

  // `total` bytes in rounds of at most `per_round`, one message per round: `describe(bytes)` gives
  // the message, `fill(area, offset, bytes)` writes this member's slots, `take(posted, offset,
  // bytes)` reads the others'. Round k + 1 is written and posted before round k is read, so that
  // nobody waits for a reader between two rounds; the two areas of a fabric are what that needs.
  template <typename Describe, typename Fill, typename Take>
  absl::Status Rounds(size_t total, size_t per_round, Describe describe, Fill fill, Take take);

  // Combines [offset, offset + bytes) of this member's view with what the others posted, in rank
  // order, into the same range of `out`, whose pieces are those of `own`; and into flat memory at
  // `copy` where that is given.
  absl::Status Combine(const Posted& posted, const View& own, const View& out, size_t offset,
                       size_t bytes, std::byte* copy = nullptr);

  // Fabric::Await and Fabric::Post, counted.
  absl::StatusOr<const std::byte*> Await(const Posted& posted, int member);
  absl::StatusOr<Posted> Post(const Message& message);

  Fabric& fabric_;
  const Request& request_;
  Traffic& traffic_;
  const int n_, me_;  // members, and which of them this one is
  const size_t element_bytes_;
};

template <typename Describe, typename Fill, typename Take>
absl::Status Exchange::Rounds(size_t total, size_t per_round, Describe describe, Fill fill,
                              Take take) {
  struct Open {
    Posted posted;
    size_t offset, bytes;
  };
  std::optional<Open> open;
  const auto close = [&]() -> absl::Status {
    if (!open) return absl::OkStatus();
    if (absl::Status status = take(open->posted, open->offset, open->bytes); !status.ok())
      return status;
    fabric_.Finish(open->posted);
    return absl::OkStatus();
  };
  for (size_t offset = 0; offset < total; offset += per_round) {
    const size_t bytes = std::min(per_round, total - offset);
    absl::StatusOr<std::byte*> area = fabric_.NextArea();
    if (!area.ok()) return area.status();
    fill(*area, offset, bytes);
    absl::StatusOr<Posted> posted = Post(describe(bytes));
    if (!posted.ok()) return posted.status();
    if (absl::Status status = close(); !status.ok()) return status;
    open = Open{*posted, offset, bytes};
  }
  return close();
}

}  // namespace dtranspile::comm
