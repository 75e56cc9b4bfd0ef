// The job's token: what members of a job prove to each other before they are believed
// (gloo/handshake.h). Made by the launcher, handed to every rank in its CONFIG, never sent.
#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace dtranspile::comm {

using Key = std::array<uint64_t, 2>;    // 128 bits
using Proof = std::array<uint64_t, 2>;  // of knowing a key

// 32 hexadecimal digits of the kernel's random numbers.
absl::StatusOr<std::string> NewToken();

// kInvalidArgument for what is no token; the message does not repeat it.
absl::StatusOr<Key> KeyOfToken(const std::string& token);

// SipHash-2-4 with 128 bits of output (Aumasson, Bernstein 2012): who does not have the key cannot
// find the hash of a text that it has not seen one of.
Proof KeyedHash(const Key& key, absl::string_view text);

// In a time that does not depend on where they differ.
bool SameProof(const Proof& a, const Proof& b);

}  // namespace dtranspile::comm
