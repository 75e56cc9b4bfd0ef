// The store's messages on the wire, and sockets to carry them and those between ranks. Used by
// store_server.cc, store_client.cc, handshake.cc, callers.cc, mesh.cc and runtime/ps. Numbers are
// in the byte order of the hosts (x86-64).
#pragma once

#include <netdb.h>

#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace dtranspile::comm {

inline constexpr char kStorePurpose[] = "store";     // of the handshake
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
  int Release() { return std::exchange(fd_, -1); }

 private:
  int fd_;
};

using AddressList = std::unique_ptr<addrinfo, void (*)(addrinfo*)>;

// The address of a network interface, or of a host that is named by address or name; "" is the
// loopback interface.
absl::StatusOr<std::string> HostOf(const std::string& interface);

// "host:0" or "[host]:0", to listen at.
std::string AnyPortOf(const std::string& host);

// Resolves "host:port" or "[host]:port".
absl::StatusOr<AddressList> ResolveAddress(const std::string& address, bool passive);

// A non-blocking socket that listens at "host:port"; port 0 takes a free one. AlreadyExists if the
// address is in use, NotFound if it is none of this host.
absl::StatusOr<Socket> Listen(const std::string& address);

// "host:port" as `address`, with the port that the socket has.
std::string WithPortOf(const Socket& socket, const std::string& address);

// A connected non-blocking socket; one try. kUnavailable, kDeadlineExceeded.
absl::StatusOr<Socket> ConnectTo(const std::string& address, int64_t deadline_ns);

// All of the bytes over a non-blocking socket. kUnavailable: the other end hung up.
absl::Status WriteAll(const Socket& socket, absl::string_view bytes, int64_t deadline_ns);
absl::Status ReadAll(const Socket& socket, char* to, size_t bytes, int64_t deadline_ns);

// For poll: at least 0, at most an hour.
int MillisecondsUntil(int64_t deadline_ns);

}  // namespace dtranspile::comm
