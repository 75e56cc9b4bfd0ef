// Philox4x32-10 (Salmon, Moraes, Dror, Shaw, "Parallel random numbers: as easy as 1, 2, 3", SC
// 2011): number i of a stream is a function of the key, the stream and i. Used by generator.h.
#pragma once

#include <array>
#include <cstdint>

namespace dtranspile::random {

class Philox {
 public:
  using result_type = uint64_t;

  Philox(uint64_t key, uint64_t stream) : key_(key), stream_(stream) {}

  static constexpr uint64_t min() { return 0; }
  static constexpr uint64_t max() { return UINT64_MAX; }

  uint64_t operator()() {
    const uint64_t index = next_++;
    if (index % 2 == 0 || index / 2 != block_) {
      block_ = index / 2;
      words_ =
          Block({Low(block_), High(block_), Low(stream_), High(stream_)}, {Low(key_), High(key_)});
    }
    const size_t at = index % 2 * 2;
    return uint64_t{words_[at + 1]} << 32 | words_[at];
  }

  void discard(uint64_t count) { next_ += count; }

  // Ten rounds over a counter.
  static std::array<uint32_t, 4> Block(std::array<uint32_t, 4> counter,
                                       std::array<uint32_t, 2> key) {
    for (int round = 0; round < 10; ++round) {
      const uint64_t a = uint64_t{0xd2511f53u} * counter[0], b = uint64_t{0xcd9e8d57u} * counter[2];
      counter = {High(b) ^ counter[1] ^ key[0], Low(b), High(a) ^ counter[3] ^ key[1], Low(a)};
      key[0] += 0x9e3779b9u;
      key[1] += 0xbb67ae85u;
    }
    return counter;
  }

 private:
  static uint32_t Low(uint64_t value) { return static_cast<uint32_t>(value); }
  static uint32_t High(uint64_t value) { return static_cast<uint32_t>(value >> 32); }

  uint64_t key_, stream_, next_ = 0, block_ = UINT64_MAX;
  std::array<uint32_t, 4> words_ = {};
};

}  // namespace dtranspile::random
