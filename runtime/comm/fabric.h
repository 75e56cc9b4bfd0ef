// What the collective algorithms (collectives.cc) ask of a back end: a few small primitives over
// the members of one lane (all ranks of a group, or the two ends of an ordered pair). Implemented
// by shm/ and gloo/.
//
//  * Meet: every member shows every other one a header and a few bytes.
//  * Reach: where the members' blocks of shared memory lie, for back ends that can map them.
//  * Post / Await / Finish: messages out of a buffer of this member (`area`), in rounds that
//  alternate between two areas, so
//    that writing round k + 1 overlaps with the others reading round k.
//
// All members make the same calls in the same order with equal arguments; each fabric is used by
// one thread at a time. Every call that waits ends with an error when the deadline passes, a peer
// dies, or the group is aborted.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "runtime/comm/operation.h"

namespace dtranspile::comm {

// Who sends what in a message: the area is seen as slots.
enum class Pattern {
  kScatter,   // slot j of every member goes to member j
  kGather,    // slot i of member i goes to every other member
  kFromRoot,  // slot `root` of member `root` goes to every other member
  kToRoot,    // slot `root` of every other member goes to member `root`
};

// Slot i lies at i * stride of the area and has clamp(length - i * each, 0, each) bytes.
struct Message {
  Pattern pattern = Pattern::kGather;
  int root = 0;
  size_t stride = 0;
  size_t each = 0;
  size_t length = 0;

  size_t SlotBytes(int slot) const {
    const size_t begin = each * slot;
    return begin >= length ? 0 : std::min(each, length - begin);
  }
};

// A posted message, as Await and Finish want it back.
struct Posted {
  Message message;
  uint64_t number = 0;
  uint64_t round = 0;
};

class Fabric {
 public:
  virtual ~Fabric() = default;

  virtual int size() const = 0;              // members
  virtual int index() const = 0;             // of this member
  virtual int RankOf(int member) const = 0;  // in the group, for messages
  virtual size_t inline_bytes() const = 0;   // payload that Meet carries at most
  virtual size_t area_bytes() const = 0;     // multiple of 64 · size()

  // Shows `header` and `payload` to all and waits for theirs. What the others gave can be read
  // until the next Meet.
  virtual absl::Status Meet(const Header& header, const std::byte* payload, size_t bytes) = 0;
  virtual const Header& HeaderOf(int member) const = 0;
  virtual const std::byte* PayloadOf(int member) const = 0;

  // Where the blocks of the members, in their order, lie in this process; null where they cannot be
  // reached. The same answer on all members.
  virtual absl::StatusOr<const std::vector<std::byte*>*> Reach(const std::vector<ShareId>&,
                                                               std::byte*) {
    return nullptr;
  }

  // Begins the next round: waits until nobody reads the area of the round before last, which is the
  // one that comes back.
  virtual absl::StatusOr<std::byte*> NextArea() = 0;

  // Lets the others have their slots of the current area.
  virtual absl::StatusOr<Posted> Post(const Message& message) = 0;

  // The bytes that `member` has for this one in that message; readable until Finish. At most two
  // messages may be unfinished.
  virtual absl::StatusOr<const std::byte*> Await(const Posted& posted, int member) = 0;

  // This member has read all it wants of that message. In the order of posting.
  virtual void Finish(const Posted& posted) = 0;
};

// The slot of `from` that reaches `to`, and whether any does.
inline bool Reaches(const Message& message, int from, int to) {
  if (from == to) return false;
  switch (message.pattern) {
    case Pattern::kScatter:
    case Pattern::kGather: return true;
    case Pattern::kFromRoot: return from == message.root;
    case Pattern::kToRoot: return to == message.root;
  }
  return false;
}
inline int SlotFor(const Message& message, int from, int to) {
  switch (message.pattern) {
    case Pattern::kScatter: return to;
    case Pattern::kGather: return from;
    default: return message.root;
  }
}

}  // namespace dtranspile::comm
