// How two ends of a connection prove to each other that they know the job's token, without sending
// it: the one that was called sends a number that it has just drawn, the caller answers with a
// number of its own and the keyed hash of both, then the first one proves itself likewise. Texts
// that are hashed name the side, what the connection is for and who calls, so that no answer is
// good for anything else. Bytes that follow are neither hidden nor proven. Used by the store, by
// the connections between ranks (mesh.h) and by parameter servers (runtime/ps/door.h).
#pragma once

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "runtime/comm/gloo/wire.h"
#include "runtime/comm/token.h"

namespace dtranspile::comm {

// Of a connection from its begin to its proof. A caller that is slower has to call again.
inline constexpr int64_t kHandshakeNs = 10'000'000'000;
// Connections that have proven nothing yet; the oldest goes when there is another one.
inline constexpr size_t kMostUnproven = 256;

// The side that was called: what it has to say and has been told so far. Never waits.
class Welcome {
 public:
  // Draws its number and sends it. `purpose`: what the connection is for, equal on both sides.
  Welcome(const Socket& socket, const Key& key, std::string purpose);

  enum class State { kWaits, kProven, kRefused };

  // Reads what is there, and no byte beyond the proof. kRefused: to be disconnected without a word.
  State Read(const Socket& socket);

  // Who calls, by its own proven word.
  uint32_t caller() const { return caller_; }

 private:
  const Key key_;
  const std::string purpose_;
  std::string hello_, in_;
  uint32_t caller_ = 0;
  bool sent_ = false;
};

// The side that calls: connects to "host:port" and proves itself, again until it succeeds (nobody
// may listen yet, or have too many callers). kFailedPrecondition: who listens there is not of this
// job; kDeadlineExceeded, with what was wrong last, that somebody there has hung up above all.
// `hung_up` keeps the latter for who calls the same address again: that one call may end before
// anybody there could say anything.
absl::StatusOr<Socket> Call(const std::string& address, const Key& key, const std::string& purpose,
                            uint32_t caller, int64_t deadline_ns, bool& hung_up);
inline absl::StatusOr<Socket> Call(const std::string& address, const Key& key,
                                   const std::string& purpose, uint32_t caller,
                                   int64_t deadline_ns) {
  bool hung_up = false;
  return Call(address, key, purpose, caller, deadline_ns, hung_up);
}

}  // namespace dtranspile::comm
