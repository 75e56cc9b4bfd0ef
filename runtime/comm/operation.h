// What a back end checks before and while it runs a request: the request itself, and that all
// members of the group ask for the same operation. Used by queue.cc and collectives.cc.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "runtime/comm/communicator.h"
#include "runtime/comm/shared_memory.h"

namespace dtranspile::comm {

// Checks everything that one rank can see: ranks, counts (no overflow), null pointers, list
// lengths, element type and reduction.
absl::Status CheckRequest(const Request& request, int rank, int size);

// What ranks exchange before an operation. Plain bytes: it travels through shared memory and
// sockets between programs of one build, which `magic` makes sure of.
struct Header {
  static constexpr uint32_t kMagic = 0x31435444;  // "DTC1"
  uint32_t magic = kMagic;
  int32_t kind = 0;
  int32_t dtype = 0;
  int32_t reduce = 0;
  int32_t root = 0;
  int32_t segments = 0;
  int64_t count = 0;     // elements of the list that all members have alike
  uint64_t layout = 0;   // hash of the counts of that list
  ShareId share;         // the block that all pieces lie in, where there is one (shared_memory.h)
  uint64_t places = 0;   // hash of their offsets in it
  char label[104] = {};  // zero-terminated, cut where it is longer
};

// The header of a valid request. Send and receive of one transfer give equal headers, but for the
// label.
Header MakeHeader(const Request& request, int size);

// "all_reduce sum of float32 x 10 'fc_0.w_0@GRAD'". Safe for any bytes.
std::string Describe(const Header& header);

// OK if both ask for the same operation; else says what differs. Messages name ranks `rank_a` and
// `rank_b`.
absl::Status CheckSame(const Header& a, int rank_a, const Header& b, int rank_b);

// The list that all members have alike, by kind: inputs for reductions, all_gather, all_to_all,
// send; outputs for the others.
const std::vector<Segment>& CommonList(const Request& request);

}  // namespace dtranspile::comm
