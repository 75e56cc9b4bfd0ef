#include "runtime/comm/gloo/wire.h"

#include <sys/socket.h>
#include <unistd.h>

#include "absl/strings/str_cat.h"

namespace dtranspile::comm {

Socket::~Socket() {
  if (fd_ >= 0) close(fd_);
}

absl::StatusOr<AddressList> ResolveAddress(const std::string& address, bool passive) {
  const size_t colon = address.rfind(':');
  if (colon == std::string::npos || colon == 0 || colon + 1 == address.size()) {
    return absl::InvalidArgumentError(
        absl::StrCat("the store's address '", address, "' is not of the form host:port"));
  }
  std::string host = address.substr(0, colon);
  if (host.size() > 2 && host.front() == '[' && host.back() == ']')
    host = host.substr(1, host.size() - 2);
  addrinfo hints = {};
  hints.ai_family = AF_UNSPEC;
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_NUMERICSERV | (passive ? AI_PASSIVE : 0);
  addrinfo* list = nullptr;
  if (const int error = getaddrinfo(host.c_str(), address.substr(colon + 1).c_str(), &hints, &list);
      error != 0) {
    return absl::InvalidArgumentError(
        absl::StrCat("the store's address '", address, "': ", gai_strerror(error)));
  }
  return AddressList(list, freeaddrinfo);
}

}  // namespace dtranspile::comm
