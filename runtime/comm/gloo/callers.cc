#include "runtime/comm/gloo/callers.h"

#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <utility>
#include <vector>

#include "runtime/comm/patience.h"

namespace dtranspile::comm {

// Takes one connection, without waiting for what it says. A flood of strangers must not keep a
// member out: beyond kMostUnproven, or when descriptors run out, the one that has had most time to
// prove itself goes.
void Callers::Accept() {
  Socket socket(accept4(listener_.fd(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
  const bool full =
      socket.fd() < 0 ? errno == EMFILE || errno == ENFILE : unproven_.size() >= kMostUnproven;
  if (full && !unproven_.empty()) unproven_.pop_front();
  if (socket.fd() < 0) return;
  Welcome welcome(socket, key_, purpose_);
  unproven_.push_back({std::move(socket), std::move(welcome), NowNs() + kHandshakeNs});
}

// The next caller that proves itself; no socket at the deadline, or when the listener is shut. All
// unproven connections are read side by side, so that one that says nothing delays nobody.
Callers::Caller Callers::Next(int64_t deadline_ns) {
  while (MillisecondsUntil(deadline_ns) > 0) {
    std::vector<pollfd> entries = {{listener_.fd(), POLLIN, 0}};
    int64_t next_ns = deadline_ns;
    for (const Unproven& one : unproven_) {
      entries.push_back({one.socket.fd(), POLLIN, 0});
      next_ns = std::min(next_ns, one.deadline_ns);
    }
    if (poll(entries.data(), entries.size(), MillisecondsUntil(next_ns) + 1) < 0 && errno != EINTR)
      break;
    if ((entries[0].revents & POLLHUP) != 0) break;
    size_t i = 1;
    for (auto one = unproven_.begin(); one != unproven_.end(); ++i) {
      Welcome::State state =
          one->deadline_ns > NowNs() ? Welcome::State::kWaits : Welcome::State::kRefused;
      if (entries[i].revents != 0) state = one->welcome.Read(one->socket);
      if (state == Welcome::State::kProven) {
        Caller caller{std::move(one->socket), one->welcome.caller()};
        unproven_.erase(one);
        return caller;
      }
      one = state == Welcome::State::kWaits ? std::next(one) : unproven_.erase(one);
    }
    if (entries[0].revents != 0) Accept();
  }
  return {Socket(), 0};
}

}  // namespace dtranspile::comm
