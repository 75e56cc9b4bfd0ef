#include "runtime/comm/token.h"

#include <sys/random.h>

#include <bit>
#include <cerrno>
#include <cstring>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"

namespace dtranspile::comm {
namespace {

constexpr size_t kDigits = 32;
constexpr int kHexBase = 16;

// SipHash-2-4 (Aumasson and Bernstein 2012), with 128 bits of result.
struct SipState {
  uint64_t v0, v1, v2, v3;

  void Round() {
    v0 += v1, v1 = std::rotl(v1, 13) ^ v0, v0 = std::rotl(v0, 32);
    v2 += v3, v3 = std::rotl(v3, 16) ^ v2;
    v0 += v3, v3 = std::rotl(v3, 21) ^ v0;
    v2 += v1, v1 = std::rotl(v1, 17) ^ v2, v2 = std::rotl(v2, 32);
  }
  void Take(uint64_t word) {
    v3 ^= word;
    Round(), Round();
    v0 ^= word;
  }
  uint64_t Finish() {
    for (int i = 0; i < 4; ++i) Round();
    return v0 ^ v1 ^ v2 ^ v3;
  }
};

}  // namespace

absl::StatusOr<std::string> NewToken() {
  Key key;
  if (getrandom(key.data(), sizeof(key), 0) != static_cast<ssize_t>(sizeof(key)))
    return absl::InternalError(
        absl::StrCat("no random numbers from the system: ", std::strerror(errno)));
  return absl::StrCat(absl::Hex(key[0], absl::kZeroPad16), absl::Hex(key[1], absl::kZeroPad16));
}

absl::StatusOr<Key> KeyOfToken(const std::string& token) {
  Key key = {};
  bool valid = token.size() == kDigits;
  for (size_t i = 0; valid && i < kDigits; ++i) {
    const auto digit = static_cast<unsigned char>(token[i]);
    valid = absl::ascii_isxdigit(digit);
    const int value = absl::ascii_isdigit(digit) ? digit - '0' : (digit | 0x20) - 'a' + 10;
    key[i / kHexBase] = key[i / kHexBase] * kHexBase + static_cast<uint64_t>(value);
  }
  if (valid) return key;
  return absl::InvalidArgumentError(
      "the job's token is not of 32 hexadecimal digits; ranks that meet over a network need the "
      "one of their job");
}

// As in the reference implementation: whole words, then the rest with the length in the top byte.
Proof KeyedHash(const Key& key, absl::string_view text) {
  // The constants are "somepseudorandomlygeneratedbytes"; 0xee, 0xdd: of the variant of 128 bits.
  SipState s{key[0] ^ 0x736f6d6570736575, key[1] ^ 0x646f72616e646f6d ^ 0xee,
             key[0] ^ 0x6c7967656e657261, key[1] ^ 0x7465646279746573};
  size_t at = 0;
  for (; text.size() - at >= sizeof(uint64_t); at += sizeof(uint64_t)) {
    uint64_t word;
    std::memcpy(&word, text.data() + at, sizeof(word));
    s.Take(word);
  }
  uint64_t last = static_cast<uint64_t>(text.size()) << 56;
  std::memcpy(&last, text.data() + at, text.size() - at);
  s.Take(last);
  s.v2 ^= 0xee;
  const uint64_t first = s.Finish();
  s.v1 ^= 0xdd;
  return {first, s.Finish()};
}

bool SameProof(const Proof& a, const Proof& b) {
  volatile uint64_t differences = (a[0] ^ b[0]) | (a[1] ^ b[1]);
  return differences == 0;
}

}  // namespace dtranspile::comm
