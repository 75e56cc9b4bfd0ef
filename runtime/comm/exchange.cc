#include "runtime/comm/exchange.h"

#include <vector>

#include "runtime/comm/reduce.h"

namespace dtranspile::comm {

absl::StatusOr<const std::byte*> Exchange::Await(const Posted& posted, int member) {
  absl::StatusOr<const std::byte*> data = fabric_.Await(posted, member);
  if (data.ok())
    traffic_.received += posted.message.SlotBytes(SlotFor(posted.message, member, me_));
  return data;
}

absl::StatusOr<Posted> Exchange::Post(const Message& message) {
  absl::StatusOr<Posted> posted = fabric_.Post(message);
  for (int member = 0; posted.ok() && member < n_; ++member) {
    if (Reaches(message, me_, member))
      traffic_.sent += message.SlotBytes(SlotFor(message, me_, member));
  }
  return posted;
}

// Reduces the same bytes of all members' contributions into `out`, in the order of the members'
// ranks: a floating-point sum is then the same on every member and in every run. `copy` (or null)
// gets the result as well, for the members that are to read it from here.
absl::Status Exchange::Combine(const Posted& posted, const View& own, const View& out,
                               size_t offset, size_t bytes, std::byte* copy) {
  std::vector<const std::byte*> data(n_), sources(n_);
  for (int member = 0; member < n_; ++member) {
    if (member == me_) continue;
    absl::StatusOr<const std::byte*> theirs = Await(posted, member);
    if (!theirs.ok()) return theirs.status();
    data[member] = *theirs;
  }
  own.ForRuns(offset, bytes, [&](const std::byte* mine, size_t from, size_t length) {
    const size_t skip = from - offset;
    for (int member = 0; member < n_; ++member)
      sources[member] = member == me_ ? mine : data[member] + skip;
    const int64_t count = length / element_bytes_;
    comm::Reduce(request_.dtype, request_.reduce, sources.data(), n_, out.At(from), count,
                 copy != nullptr ? copy + skip : nullptr);
  });
  return absl::OkStatus();
}

}  // namespace dtranspile::comm
