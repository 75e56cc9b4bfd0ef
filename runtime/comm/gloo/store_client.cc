#include "absl/strings/str_cat.h"
#include "runtime/base/status.h"
#include "runtime/comm/gloo/handshake.h"
#include "runtime/comm/gloo/store.h"
#include "runtime/comm/gloo/wire.h"
#include "runtime/comm/patience.h"

namespace dtranspile::comm {
namespace {

// What went wrong, said of the store.
absl::Status OfStore(const std::string& address, const absl::Status& status) {
  if (status.ok()) return status;
  const std::string why(status.message());
  if (absl::IsFailedPrecondition(status))
    return absl::FailedPreconditionError(
        absl::StrCat("whatever listens at ", address, " is not the store of this job"));
  if (absl::IsInvalidArgument(status))
    return absl::InvalidArgumentError(absl::StrCat("the store: ", why));
  return absl::Status(status.code(), absl::StrCat("the store at ", address, ": ", why));
}

}  // namespace

// One connection per request: the handshake, a header with lengths and the time the server may
// wait, key and value, and a reply of the same form (store.h has the layout). Replies are checked
// before their length is believed.
absl::StatusOr<std::string> StoreClient::Ask(uint32_t operation, const std::string& key,
                                             const std::string& value, double seconds) const {
  if (key.size() > kMaxKey || value.size() > kMaxValue)
    return absl::InvalidArgumentError(absl::StrCat(
        "store key '", key.substr(0, 80), "' of ", key.size(), " bytes with a value of ",
        value.size(), ": the store takes ", kMaxKey, " and ", kMaxValue));
  const int64_t deadline_ns = NowNs() + static_cast<int64_t>(seconds * 1e9);
  DT_ASSIGN_OR_RETURN(const Key secret, KeyOfToken(token_));
  const absl::StatusOr<Socket> socket = Call(address_, secret, kStorePurpose, 0, deadline_ns);
  if (!socket.ok()) return OfStore(address_, socket.status());
  StoreRequest request;
  request.operation = operation;
  request.key_bytes = static_cast<uint32_t>(key.size());
  request.value_bytes = static_cast<uint32_t>(value.size());
  request.wait_ms = MillisecondsUntil(deadline_ns);
  const std::string bytes =
      std::string(reinterpret_cast<const char*>(&request), sizeof(request)) + key + value;
  DT_RETURN_IF_ERROR(OfStore(address_, WriteAll(*socket, bytes, deadline_ns)));

  // The server says when time is up; its word is worth a moment more.
  constexpr int64_t kGraceNs = 500'000'000;
  StoreReply reply;
  DT_RETURN_IF_ERROR(OfStore(address_, ReadAll(*socket, reinterpret_cast<char*>(&reply),
                                               sizeof(reply), deadline_ns + kGraceNs)));
  if (reply.magic != kStoreMagic || reply.value_bytes > kMaxValue)
    return absl::InternalError(absl::StrCat("the store at ", address_, " gives no sense"));
  std::string answer(reply.value_bytes, 0);
  DT_RETURN_IF_ERROR(
      OfStore(address_, ReadAll(*socket, answer.data(), answer.size(), deadline_ns + kGraceNs)));
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
