// The store's messages on the wire, and sockets to carry them. Used by store_server.cc and
// store_client.cc. Numbers are in the byte order of the hosts (x86-64).
#pragma once

#include <netdb.h>

#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/statusor.h"

namespace dtranspile::comm {

inline constexpr uint32_t kStoreMagic = 0x31535444;  // "DTS1"
inline constexpr uint32_t kMaxKey = 1 << 10;
inline constexpr uint32_t kMaxValue = 1 << 20;

enum StoreOperation : uint32_t { kStoreSet = 1, kStoreGet = 2, kStoreClaim = 3 };
enum StoreAnswer : uint32_t { kStoreOk = 0, kStoreTimeout = 1, kStoreExists = 2, kStoreFull = 3 };

// Followed by the key and the value.
struct StoreRequest {
  uint32_t magic = kStoreMagic;
  uint32_t operation = 0;
  uint32_t key_bytes = 0;
  uint32_t value_bytes = 0;
  uint32_t wait_ms = 0;  // of kStoreGet
};

// Followed by the value.
struct StoreReply {
  uint32_t magic = kStoreMagic;
  uint32_t answer = kStoreOk;
  uint32_t value_bytes = 0;
};

// Closes the descriptor.
class Socket {
 public:
  explicit Socket(int fd = -1) : fd_(fd) {}
  Socket(Socket&& other) noexcept : fd_(other.fd_) { other.fd_ = -1; }
  Socket& operator=(Socket&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }
  ~Socket();
  int fd() const { return fd_; }

 private:
  int fd_;
};

using AddressList = std::unique_ptr<addrinfo, void (*)(addrinfo*)>;

// Resolves "host:port" or "[host]:port".
absl::StatusOr<AddressList> ResolveAddress(const std::string& address, bool passive);

}  // namespace dtranspile::comm
