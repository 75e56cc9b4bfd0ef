// Where every buffer of a plan lies on one rank. Persistent memory is laid out when the plan is
// loaded: ranges of variables that this rank does not have (Persistable::at), or has less of
// (Persistable::layout), are taken out, so that a rank takes memory for what it has. Buffers that
// are views of a variable keep their place in its range. Used by the executor.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "runtime/exec/layout.h"
#include "runtime/exec/memory.h"
#include "runtime/exec/plan.h"
#include "runtime/exec/value.h"

namespace dtranspile::exec {

class Storage {
 public:
  Storage() = default;

  // `shared`: step memory that ranks of this host reach. kInvalidArgument where a variable's
  // extents are not those of its parts, kResourceExhausted when memory does not suffice.
  static absl::StatusOr<Storage> Make(const Plan& plan, const Position& position, bool shared);

  // The first byte of a buffer, of an instance of it; null where this rank has nothing of it, and
  // for values.
  std::byte* data(int buffer, int64_t instance = 0) const;
  // How many of its bytes this rank has, from the first one on.
  int64_t bytes(int buffer, int64_t instance = 0) const;
  // Whether it has all of them.
  bool whole(int buffer, int64_t instance = 0) const;
  // The object of a buffer in space kValue; null for others.
  Value* value(int buffer) const { return values_[static_cast<size_t>(buffer)].get(); }

  // Forgets what step memory holds and hands its pages back; they come again when they are written.
  // Step memory that others reach stays.
  void DropStepMemory() {
    arena_.Drop();
    pinned_.Drop();
  }

  // Bytes of persistent memory that this rank has.
  int64_t persistent_bytes() const { return persistent_.size(); }

 private:
  // A run of persistent memory that variables and their views share.
  struct Range {
    int64_t begin = 0, end = 0;  // by the plan
    int64_t kept = 0;            // bytes from its beginning that this rank has
    int64_t at = 0;              // where they are here
  };
  struct Span {
    std::byte* data = nullptr;
    int64_t stride = 0, bytes = 0;
    int64_t kept = 0;  // from `data` on
  };

  static std::vector<Range> RangesOf(const Plan& plan);
  static absl::Status Keep(const Plan& plan, const Position& position, std::vector<Range>& ranges);
  absl::Status Place(const Plan& plan, const std::vector<Range>& ranges);

  Block arena_, pinned_, persistent_, constants_;
  std::vector<Span> spans_;  // by buffer
  std::vector<std::unique_ptr<Value>> values_;
};

}  // namespace dtranspile::exec
