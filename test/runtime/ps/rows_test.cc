// The ids of a lookup, each once (runtime/ps/rows.h).
#include "runtime/ps/rows.h"

#include <catch2/catch.hpp>
#include <cstring>
#include <map>

namespace dtranspile::ps {
namespace {

// The answer as a client makes it: row of id k is {k, -k}.
std::vector<int64_t> Answer(const std::vector<int64_t>& ids, std::optional<int64_t> padding,
                            size_t& asked) {
  const DistinctIds distinct(ids.data(), static_cast<int64_t>(ids.size()), padding);
  std::vector<int64_t> rows(2 * ids.size(), 77);
  for (const DistinctIds::Wanted& one : distinct.wanted()) {
    rows[static_cast<size_t>(2 * one.row)] = one.id;
    rows[static_cast<size_t>(2 * one.row + 1)] = -one.id;
  }
  distinct.Fill(reinterpret_cast<std::byte*>(rows.data()), 2 * sizeof(int64_t));
  asked = distinct.wanted().size();
  return rows;
}

TEST_CASE("every id is asked for once, and answered in its place") {
  size_t asked = 0;
  CHECK(Answer({}, std::nullopt, asked).empty());
  CHECK(asked == 0);
  CHECK(Answer({5}, std::nullopt, asked) == std::vector<int64_t>{5, -5});
  CHECK(Answer({3, 9, 3, 3, 0}, std::nullopt, asked) ==
        std::vector<int64_t>{3, -3, 9, -9, 3, -3, 3, -3, 0, 0});
  CHECK(asked == 3);
}

TEST_CASE("padding is zero and not asked for") {
  size_t asked = 0;
  CHECK(Answer({4, 2, 4, 7}, 4, asked) == std::vector<int64_t>{0, 0, 2, -2, 0, 0, 7, -7});
  CHECK(asked == 2);
  CHECK(Answer({4, 4}, 4, asked) == std::vector<int64_t>(4));
  CHECK(asked == 0);
}

TEST_CASE("many ids, near each other and far apart") {
  std::vector<int64_t> ids;
  std::map<int64_t, int> known;
  for (int64_t i = 0; i < 20000; ++i) {
    ids.push_back(i % 3 == 0 ? i % 257 : (i * 2654435761) % (int64_t{1} << 40));
    ++known[ids.back()];
  }
  size_t asked = 0;
  const std::vector<int64_t> rows = Answer(ids, std::nullopt, asked);
  CHECK(asked == known.size());
  bool right = true;
  for (size_t i = 0; i < ids.size(); ++i)
    right = right && rows[2 * i] == ids[i] && rows[2 * i + 1] == -ids[i];
  CHECK(right);
}

}  // namespace
}  // namespace dtranspile::ps
