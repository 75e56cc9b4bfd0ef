#include "runtime/comm/gloo/handshake.h"

#include <sys/random.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "absl/strings/str_cat.h"
#include "runtime/base/status.h"

namespace dtranspile::comm {
namespace {

constexpr uint32_t kMagic = 0x32535444;  // "DTS2"

using Nonce = std::array<uint64_t, 2>;  // drawn for one connection

struct Hello {
  uint32_t magic = kMagic;
  uint32_t reserved = 0;
  Nonce nonce = {};
};

struct Introduction {
  uint32_t magic = kMagic;
  uint32_t caller = 0;
  Nonce nonce = {};
  Proof proof = {};
};

bool Draw(Nonce& nonce) {
  return getrandom(nonce.data(), sizeof(nonce), 0) == static_cast<ssize_t>(sizeof(nonce));
}

template <typename T>
absl::string_view Bytes(const T& message) {
  return {reinterpret_cast<const char*>(&message), sizeof(message)};
}

enum class Side : char { kCaller = 'c', kCalled = 's' };

// Both nonces are in the hash, so that a recorded proof fits no other connection; the side is, so
// that an answer cannot be had by asking the same member back; the purpose is, so that a proof for
// one group is none for another.
Proof ProofOf(Side side, const Key& key, const std::string& purpose, uint32_t caller,
              const Nonce& called_nonce, const Nonce& caller_nonce) {
  return KeyedHash(key, absl::StrCat(std::string(1, static_cast<char>(side)), Bytes(caller),
                                     Bytes(called_nonce), Bytes(caller_nonce), purpose));
}

// A fresh connection has room for these few bytes, or is of nobody who means well.
bool SendAtOnce(const Socket& socket, absl::string_view bytes) {
  const ssize_t sent = send(socket.fd(), bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
  return sent == static_cast<ssize_t>(bytes.size());
}

}  // namespace

Welcome::Welcome(const Socket& socket, const Key& key, std::string purpose)
    : key_(key), purpose_(std::move(purpose)) {
  Hello hello;
  sent_ = Draw(hello.nonce) && SendAtOnce(socket, Bytes(hello));
  hello_ = std::string(Bytes(hello));
}

// Reads no more than an introduction has, and judges it when it is whole. Nothing of what it says
// is believed before the proof.
Welcome::State Welcome::Read(const Socket& socket) {
  if (!sent_) return State::kRefused;
  char buffer[sizeof(Introduction)];
  const ssize_t n = recv(socket.fd(), buffer, sizeof(Introduction) - in_.size(), MSG_DONTWAIT);
  if (n < 0) return errno == EAGAIN || errno == EINTR ? State::kWaits : State::kRefused;
  if (n == 0) return State::kRefused;
  in_.append(buffer, static_cast<size_t>(n));
  // Noise is known by its first bytes.
  if (std::memcmp(in_.data(), &kMagic, std::min(in_.size(), sizeof(kMagic))) != 0)
    return State::kRefused;
  if (in_.size() < sizeof(Introduction)) return State::kWaits;
  Introduction theirs;
  std::memcpy(&theirs, in_.data(), sizeof(theirs));
  Hello mine;
  std::memcpy(&mine, hello_.data(), sizeof(mine));
  const Proof wanted =
      ProofOf(Side::kCaller, key_, purpose_, theirs.caller, mine.nonce, theirs.nonce);
  if (!SameProof(theirs.proof, wanted)) return State::kRefused;
  caller_ = theirs.caller;
  const Proof answer = ProofOf(Side::kCalled, key_, purpose_, caller_, mine.nonce, theirs.nonce);
  return SendAtOnce(socket, Bytes(answer)) ? State::kProven : State::kRefused;
}

namespace {

// The caller's side. Each side proves that it knows the key by a keyed hash over both nonces, which
// neither can have from an earlier connection; the roles are part of the hash, so that a proof
// cannot be sent back. A side that fails is told nothing. A hang-up is reported as unavailable,
// since the other side may be going down.
absl::Status Introduce(const Socket& socket, const Key& key, const std::string& purpose,
                       uint32_t caller, int64_t deadline_ns) {
  const auto stranger = [] { return absl::FailedPreconditionError("not a member of this job"); };
  Hello theirs;
  DT_RETURN_IF_ERROR(
      ReadAll(socket, reinterpret_cast<char*>(&theirs), sizeof(theirs), deadline_ns));
  if (theirs.magic != kMagic) return stranger();
  Introduction mine;
  mine.caller = caller;
  if (!Draw(mine.nonce)) return absl::InternalError("no random numbers from the system");
  mine.proof = ProofOf(Side::kCaller, key, purpose, caller, theirs.nonce, mine.nonce);
  DT_RETURN_IF_ERROR(WriteAll(socket, Bytes(mine), deadline_ns));
  Proof answer;
  DT_RETURN_IF_ERROR(
      ReadAll(socket, reinterpret_cast<char*>(&answer), sizeof(answer), deadline_ns));
  const Proof wanted = ProofOf(Side::kCalled, key, purpose, caller, theirs.nonce, mine.nonce);
  return SameProof(answer, wanted) ? absl::OkStatus() : stranger();
}

}  // namespace

// Ranks start in any order, so that nobody may be listening yet: tries again every 20 ms until the
// deadline. A stranger at the address ends the tries.
absl::StatusOr<Socket> Call(const std::string& address, const Key& key, const std::string& purpose,
                            uint32_t caller, int64_t deadline_ns, bool& hung_up) {
  constexpr int kPauseMs = 20;
  constexpr const char* kHungUp = "it hangs up; it may be of another job, with another token";
  while (true) {
    absl::StatusOr<Socket> socket = ConnectTo(address, deadline_ns);
    absl::Status status = socket.status();
    if (socket.ok()) {
      status = Introduce(*socket, key, purpose, caller, deadline_ns);
      if (status.ok()) return socket;
      hung_up = hung_up || absl::IsUnavailable(status);
    }
    if (absl::IsFailedPrecondition(status) || absl::IsInvalidArgument(status)) return status;
    if (MillisecondsUntil(deadline_ns) == 0)
      return absl::DeadlineExceededError(hung_up ? kHungUp : std::string(status.message()));
    usleep(std::min(kPauseMs, MillisecondsUntil(deadline_ns) + 1) * 1000);
  }
}

}  // namespace dtranspile::comm
