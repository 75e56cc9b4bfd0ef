// Who calls a listening socket, until they have proven to know the job's token (handshake.h). Used
// by the connections between ranks (mesh.h) and by parameter servers (runtime/ps/door.h).
#pragma once

#include <cstdint>
#include <list>
#include <string>

#include "runtime/comm/gloo/handshake.h"
#include "runtime/comm/gloo/wire.h"
#include "runtime/comm/token.h"

namespace dtranspile::comm {

class Callers {
 public:
  // `listener` outlives this.
  Callers(const Socket& listener, Key key, std::string purpose)
      : listener_(listener), key_(key), purpose_(std::move(purpose)) {}

  // The next one who has; nobody when the deadline has passed first, or the listener was shut down.
  struct Caller {
    Socket socket;
    uint32_t rank = 0;
  };
  Caller Next(int64_t deadline_ns);

 private:
  struct Unproven {
    Socket socket;
    Welcome welcome;
    int64_t deadline_ns;
  };

  void Accept();

  const Socket& listener_;
  const Key key_;
  const std::string purpose_;
  std::list<Unproven> unproven_;  // the oldest first
};

}  // namespace dtranspile::comm
