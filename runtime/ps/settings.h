// What both ends of a connection set alike: gRPC's arguments, names of methods, names in the store.
#pragma once

#include <grpc/impl/codegen/grpc_types.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "runtime/ps/frame.h"
#include "runtime/ps/table.h"

namespace dtranspile::ps {

// Counts up with every change of messages.proto or of what the messages mean.
inline constexpr uint32_t kProtocolVersion = 5;

inline constexpr char kSessionMethod[] = "/dtranspile.ps/Session";
inline constexpr char kRequestMethod[] = "/dtranspile.ps/Request";

// Where trainers find a server: in the job's store, under a key of the job and the role. The value
// is its address, after kAt, or why there will be none, after kFailed.
inline std::string AddressKey(const std::string& key, int server) {
  return absl::StrCat(key, ".", server);
}
inline constexpr char kAt[] = "at ", kFailed[] = "failed ";

// The largest message: a chunk, or a single row that is larger than one, and its control message.
inline int MostMessageBytes(int64_t row_bytes) {
  constexpr int64_t kNumberBytes = sizeof(int64_t);
  const int64_t bytes = std::max(kChunkBytes, kNumberBytes + row_bytes) + kMostControlBytes;
  return static_cast<int>(std::min<int64_t>(bytes, std::numeric_limits<int>::max()));
}

// Calls set(name, value) for every argument of a channel. A peer that gives no sign of life to
// gRPC's own pings for the deadline of the job has lost its connection; there is one every half
// deadline. Frames and windows are as large as chunks: what arrives is read in few pieces.
template <typename Set>
void SetArguments(double timeout_seconds, Set&& set) {
  constexpr int kMostRequests = 32;  // of one trainer at once
  constexpr double kMs = 1000, kLongestMs = 1e9;
  const int whole_ms = static_cast<int>(std::clamp(timeout_seconds * kMs, 2.0, kLongestMs));
  const std::pair<const char*, int> arguments[] = {
      {GRPC_ARG_KEEPALIVE_TIME_MS, whole_ms / 2},
      {GRPC_ARG_KEEPALIVE_TIMEOUT_MS, whole_ms},
      {GRPC_ARG_KEEPALIVE_PERMIT_WITHOUT_CALLS, 1},
      {GRPC_ARG_HTTP2_MAX_PINGS_WITHOUT_DATA, 0},
      {GRPC_ARG_HTTP2_MIN_RECV_PING_INTERVAL_WITHOUT_DATA_MS, 1},
      {GRPC_ARG_HTTP2_MAX_PING_STRIKES, 0},
      {GRPC_ARG_MAX_CONCURRENT_STREAMS, kMostRequests},
      {GRPC_ARG_HTTP2_MAX_FRAME_SIZE, static_cast<int>(kChunkBytes)},
      {GRPC_ARG_HTTP2_STREAM_LOOKAHEAD_BYTES, static_cast<int>(kChunkBytes)},
      {GRPC_ARG_ENABLE_CHANNELZ, 0},
      {GRPC_ARG_ENABLE_HTTP_PROXY, 0},
      // No message is compressed, and none that is will be unpacked.
      {GRPC_COMPRESSION_CHANNEL_ENABLED_ALGORITHMS_BITSET, 1 << GRPC_COMPRESS_NONE},
  };
  for (const auto& [name, value] : arguments) set(name, value);
}

}  // namespace dtranspile::ps
