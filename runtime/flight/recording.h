// What a rank's flight recorder holds: its last operations with other ranks, in their order.
// Written by the recorder (recorder.h) while the rank runs, read by the launcher after it has
// ended, however it has ended; `dtranspile trace merge` compares those of many ranks
// (divergence.h).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace dtranspile::flight {

// A communicator as one rank is a member of it. Of a parameter server's: `role` is the other side.
struct Comm {
  std::string name;
  std::string group;  // equal on all members, and on no others
  int member = 0, size = 1;
  std::string role;
};

// Operations that are matched by their number of start: the k-th of a channel with the k-th of the
// same channel of the other members.
struct Channel {
  enum class Kind {
    kGroup,    // collectives of all members
    kTo,       // sends to member `peer`
    kFrom,     // receives from it
    kServers,  // requests to the servers of the communicator's role
    kClients,  // a server's wait for requests of those of the communicator's role
  };
  std::string comm;
  Kind kind = Kind::kGroup;
  int peer = 0;
  uint64_t started = 0;  // operations so far, older ones than the ring holds included
};

struct Event {
  uint64_t number = 0;    // of the rank, from 0
  uint64_t sequence = 0;  // of the channel, from 0
  int64_t step = 0;
  int64_t begin_ns = 0, wait_ns = 0, end_ns = 0;  // steady clock; 0: has not come to that
  uint32_t op = 0, channel = 0;

  bool waits() const { return wait_ns != 0 && end_ns == 0; }
};

struct Recording {
  std::string role, class_name, digest;
  int rank = 0;
  std::vector<Comm> comms;
  std::vector<Channel> channels;
  std::vector<std::string> ops;
  std::vector<Event> events;  // the last ones, oldest first

  std::string name() const { return role + " " + std::to_string(rank); }
  const Comm* comm(const Channel& channel) const;
};

// From the memory that a recorder writes. kNotFound where the rank had not begun to record,
// kInvalidArgument for what no recorder writes. Events that were being written are left out.
absl::StatusOr<Recording> ReadRecording(const void* memory, size_t size);

// A recording as a file: JSON, docs/file-formats.md. `name` is what messages call it.
std::string TextOf(const Recording& recording);
absl::StatusOr<Recording> ParseRecording(const std::string& name, const std::string& text);

}  // namespace dtranspile::flight
