// The rendezvous store of a job: a few keys and values that ranks on several hosts use to find each
// other, and to leave word why a group has failed. One process serves it over TCP: the launcher, or
// rank 0 of a group when nobody does (communicator.cc). The port is open to anybody, so the server
// believes nobody who has not proven to know the job's token (handshake.h), and not everything
// then: sizes, number of keys, of clients and their time are limited, and whoever sends something
// else is disconnected.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace dtranspile::comm {

class StoreServer {
 public:
  // Serves at "host:port" until destroyed; port 0 takes a free one. AlreadyExists if the address is
  // in use, NotFound if it is none of this host. `token`: of the job (runtime/comm/token.h).
  static absl::StatusOr<std::unique_ptr<StoreServer>> Start(const std::string& address,
                                                            const std::string& token);

  virtual ~StoreServer() = default;

  // "host:port" with the real port.
  virtual std::string address() const = 0;
};

// Every call connects, proves itself, asks and disconnects, within `seconds`. Keys have at most 1
// KiB, values 1 MiB.
class StoreClient {
 public:
  StoreClient(std::string address, std::string token)
      : address_(std::move(address)), token_(std::move(token)) {}

  absl::Status Set(const std::string& key, const std::string& value, double seconds) const;

  // AlreadyExists if the key has a value.
  absl::Status Claim(const std::string& key, const std::string& value, double seconds) const;

  // Waits for the key; DeadlineExceeded if nobody sets it in time.
  absl::StatusOr<std::string> Get(const std::string& key, double seconds) const;

 private:
  absl::StatusOr<std::string> Ask(uint32_t operation, const std::string& key,
                                  const std::string& value, double seconds) const;

  const std::string address_, token_;
};

}  // namespace dtranspile::comm
