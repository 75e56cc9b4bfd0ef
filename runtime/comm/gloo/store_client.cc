#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "absl/strings/str_cat.h"
#include "runtime/comm/gloo/store.h"
#include "runtime/comm/gloo/wire.h"
#include "runtime/comm/patience.h"

namespace dtranspile::comm {
namespace {

int MillisecondsUntil(int64_t deadline_ns) {
  return static_cast<int>(std::clamp<int64_t>((deadline_ns - NowNs()) / 1'000'000, 0, 3'600'000));
}

bool AwaitEvent(int fd, short events, int64_t deadline_ns) {
  pollfd entry = {fd, events, 0};
  int n;
  do {
    n = poll(&entry, 1, MillisecondsUntil(deadline_ns));
  } while (n < 0 && errno == EINTR);
  return n > 0;
}

absl::StatusOr<Socket> TryConnect(const addrinfo& to, int64_t deadline_ns) {
  Socket socket(
      ::socket(to.ai_family, to.ai_socktype | SOCK_CLOEXEC | SOCK_NONBLOCK, to.ai_protocol));
  if (socket.fd() < 0) return absl::InternalError(strerror(errno));
  int error = 0;
  if (connect(socket.fd(), to.ai_addr, to.ai_addrlen) != 0) {
    error = errno;
    if (error == EINPROGRESS) {
      if (!AwaitEvent(socket.fd(), POLLOUT, deadline_ns))
        return absl::DeadlineExceededError("no answer");
      socklen_t length = sizeof(error);
      getsockopt(socket.fd(), SOL_SOCKET, SO_ERROR, &error, &length);
    }
  }
  if (error != 0) return absl::UnavailableError(strerror(error));
  return socket;
}

// Nobody may be listening yet: tries until the deadline.
absl::StatusOr<Socket> Connect(const std::string& address, int64_t deadline_ns) {
  absl::StatusOr<AddressList> list = ResolveAddress(address, false);
  if (!list.ok()) return list.status();
  while (true) {
    absl::Status status;
    for (const addrinfo* to = list->get(); to != nullptr; to = to->ai_next) {
      absl::StatusOr<Socket> socket = TryConnect(*to, deadline_ns);
      if (socket.ok()) return socket;
      status = socket.status();
    }
    if (MillisecondsUntil(deadline_ns) == 0) {
      return absl::DeadlineExceededError(
          absl::StrCat("cannot reach the store at ", address, ": ", std::string(status.message())));
    }
    usleep(std::min(20, MillisecondsUntil(deadline_ns) + 1) * 1000);
  }
}

absl::Status Lost(const std::string& address) {
  return absl::UnavailableError(absl::StrCat("the store at ", address, " closed the connection"));
}

absl::Status Write(const Socket& socket, const std::string& bytes, const std::string& address,
                   int64_t deadline_ns) {
  size_t done = 0;
  while (done < bytes.size()) {
    const ssize_t n = send(socket.fd(), bytes.data() + done, bytes.size() - done, MSG_NOSIGNAL);
    if (n > 0) {
      done += n;
    } else if (n < 0 && errno == EAGAIN) {
      if (!AwaitEvent(socket.fd(), POLLOUT, deadline_ns)) {
        return absl::DeadlineExceededError(
            absl::StrCat("the store at ", address, " does not take the request"));
      }
    } else if (n == 0 || errno != EINTR) {
      return Lost(address);
    }
  }
  return absl::OkStatus();
}

absl::Status Read(const Socket& socket, char* to, size_t bytes, const std::string& address,
                  int64_t deadline_ns) {
  size_t done = 0;
  while (done < bytes) {
    const ssize_t n = recv(socket.fd(), to + done, bytes - done, 0);
    if (n > 0) {
      done += n;
    } else if (n < 0 && errno == EAGAIN) {
      if (!AwaitEvent(socket.fd(), POLLIN, deadline_ns)) {
        return absl::DeadlineExceededError(
            absl::StrCat("the store at ", address, " does not answer"));
      }
    } else if (n == 0 || errno != EINTR) {
      return Lost(address);
    }
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::string> StoreClient::Ask(uint32_t operation, const std::string& key,
                                             const std::string& value, double seconds) const {
  if (key.size() > kMaxKey || value.size() > kMaxValue)
    return absl::InvalidArgumentError(absl::StrCat("store key '", key, "' is too large"));
  const int64_t deadline_ns = NowNs() + static_cast<int64_t>(seconds * 1e9);
  absl::StatusOr<Socket> socket = Connect(address_, deadline_ns);
  if (!socket.ok()) return socket.status();
  StoreRequest request;
  request.operation = operation;
  request.key_bytes = static_cast<uint32_t>(key.size());
  request.value_bytes = static_cast<uint32_t>(value.size());
  request.wait_ms = MillisecondsUntil(deadline_ns);
  const std::string bytes =
      std::string(reinterpret_cast<const char*>(&request), sizeof(request)) + key + value;
  if (absl::Status status = Write(*socket, bytes, address_, deadline_ns); !status.ok())
    return status;

  // The server says when time is up; its word is worth a moment more.
  constexpr int64_t kGraceNs = 500'000'000;
  StoreReply reply;
  absl::Status status = Read(*socket, reinterpret_cast<char*>(&reply), sizeof(reply), address_,
                             deadline_ns + kGraceNs);
  if (!status.ok()) return status;
  if (reply.magic != kStoreMagic || reply.value_bytes > kMaxValue) {
    return absl::FailedPreconditionError(
        absl::StrCat("whatever listens at ", address_, " is not the store of a job"));
  }
  std::string answer(reply.value_bytes, 0);
  status = Read(*socket, answer.data(), answer.size(), address_, deadline_ns + kGraceNs);
  if (!status.ok()) return status;
  switch (reply.answer) {
    case kStoreOk: return answer;
    case kStoreTimeout:
      return absl::DeadlineExceededError(
          absl::StrCat("nobody has set '", key, "' in the store at ", address_));
    case kStoreExists:
      return absl::AlreadyExistsError(
          absl::StrCat("'", key, "' is taken in the store at ", address_));
    default:
      return absl::ResourceExhaustedError(absl::StrCat("the store at ", address_, " is full"));
  }
}

absl::Status StoreClient::Set(const std::string& key, const std::string& value,
                              double seconds) const {
  return Ask(kStoreSet, key, value, seconds).status();
}

absl::Status StoreClient::Claim(const std::string& key, const std::string& value,
                                double seconds) const {
  return Ask(kStoreClaim, key, value, seconds).status();
}

absl::StatusOr<std::string> StoreClient::Get(const std::string& key, double seconds) const {
  return Ask(kStoreGet, key, "", seconds);
}

}  // namespace dtranspile::comm
