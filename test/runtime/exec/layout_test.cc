// Parts of every layout, against the definition: each index is on one coordinate, in rising order.
#include "runtime/exec/layout.h"

#include <catch2/catch.hpp>
#include <numeric>

namespace dtranspile::exec {
namespace {

Layout Of(LayoutKind kind, std::vector<int64_t> whole, int dim, int64_t per = 0,
          int64_t first = 0) {
  Layout layout;
  layout.kind = kind;
  layout.axes = {"ps"};
  layout.dim = dim;
  layout.extent = dim >= 0 ? whole[static_cast<size_t>(dim)] : 1;
  for (size_t i = 0; dim < 0 && i < whole.size(); ++i) layout.extent *= whole[i];
  layout.per = per;
  layout.first = first;
  layout.name = "w";
  layout.whole = std::move(whole);
  return layout;
}

std::vector<Layout> Layouts(const std::vector<int64_t>& whole) {
  std::vector<Layout> list;
  for (int dim : {-1, 0}) {
    list.push_back(Of(LayoutKind::kEven, whole, dim));
    list.push_back(Of(LayoutKind::kCyclic, whole, dim));
    for (int64_t per : {1, 3, 100}) {
      list.push_back(Of(LayoutKind::kHashed, whole, dim, per));
      for (int64_t first : {0, 1, 5})
        list.push_back(Of(LayoutKind::kBlocks, whole, dim, per, first));
    }
  }
  list.push_back(Of(LayoutKind::kEven, whole, 1));
  return list;
}

// By the definition in layout.h.
int64_t OwnerOf(const Layout& layout, const Parts& parts, int64_t index, int64_t of) {
  switch (layout.kind) {
    case LayoutKind::kEven: return index / ((layout.extent + of - 1) / of);
    case LayoutKind::kBlocks: return (layout.first + index / layout.per) % of;
    case LayoutKind::kCyclic: return index % of;
    case LayoutKind::kHashed: break;
  }
  return parts.block(index / layout.per).part;
}

}  // namespace

TEST_CASE("parts of every layout hold each index once, and put the whole together again") {
  for (const std::vector<int64_t>& whole : {std::vector<int64_t>{7, 2}, std::vector<int64_t>{8, 3},
                                            std::vector<int64_t>{1, 1}, std::vector<int64_t>{0, 4}})
    for (const Layout& layout : Layouts(whole))
      for (int64_t of : {1, 2, 3, 10}) {
        const Parts parts(layout, of);
        INFO("layout " << static_cast<int>(layout.kind) << " dim " << layout.dim << " per "
                       << layout.per << " first " << layout.first << " of " << of << " extent "
                       << layout.extent);
        std::vector<int64_t> next(static_cast<size_t>(of), 0);
        for (int64_t i = 0; i < layout.extent; ++i) {
          const Parts::Found found = parts.find(i);
          REQUIRE(found.part == OwnerOf(layout, parts, i, of));
          REQUIRE(found.local == next[static_cast<size_t>(found.part)]++);
        }
        int64_t most = 0;
        std::vector<int32_t> all(static_cast<size_t>(whole[0] * whole[1]));
        std::iota(all.begin(), all.end(), 1);
        std::vector<int32_t> again(all.size(), 0), padded(all.size(), 0);
        for (int64_t p = 0; p < of; ++p) {
          REQUIRE(parts.extent(p) == next[static_cast<size_t>(p)]);
          most = std::max(most, parts.extent(p));
          const auto elements = [](const std::vector<int64_t>& dims) {
            return static_cast<size_t>(
                std::accumulate(dims.begin(), dims.end(), int64_t{1}, std::multiplies<>()));
          };
          std::vector<int32_t> part(elements(parts.dims(p)), -1);
          std::vector<int32_t> room(elements(parts.room_dims()), -1);
          const auto bytes = [](auto& list) { return reinterpret_cast<std::byte*>(list.data()); };
          parts.Take(p, 4, bytes(all), bytes(part), false);
          parts.Take(p, 4, bytes(all), bytes(room), true);
          // The pad is zero: what is in the room is the part and nothing else.
          CHECK(std::accumulate(room.begin(), room.end(), 0) ==
                std::accumulate(part.begin(), part.end(), 0));
          parts.Put(p, 4, bytes(part), bytes(again), false);
          parts.Put(p, 4, bytes(room), bytes(padded), true);
          int64_t blocks = 0;
          for (const Parts::Block& block : parts.owned(p)) {
            CHECK(block.local == blocks);
            CHECK(parts.find(block.begin).part == p);
            blocks += block.extent;
          }
          if (parts.blocks() > 0) CHECK(blocks == parts.extent(p));
        }
        CHECK(again == all);
        CHECK(padded == all);
        if (layout.kind == LayoutKind::kEven) CHECK(parts.room() == (layout.extent + of - 1) / of);
        else CHECK(parts.room() == most);
      }
}

TEST_CASE("hashed blocks stay where they are, in every build and release") {
  const Layout layout = Of(LayoutKind::kHashed, {10, 2}, 0, 2);
  const Parts parts(layout, 4);
  std::vector<int64_t> owners;
  for (int64_t k = 0; k < parts.blocks(); ++k) owners.push_back(parts.block(k).part);
  CHECK(owners == std::vector<int64_t>{0, 3, 0, 3, 1});
}

TEST_CASE("a place counts the coordinates of several axes as one number, the first one major") {
  const Position position{{{"dp", 1}, {"pp", 2}}, {{"dp", 2}, {"pp", 3}}};
  const auto place = PlaceOf({"dp", "pp"}, position);
  REQUIRE(place.ok());
  CHECK(place->at == 5);
  CHECK(place->of == 6);
  CHECK(PlaceOf({"pp", "dp"}, position)->at == 5);
  CHECK(PlaceOf({}, position)->of == 1);
  CHECK(PlaceOf({"mp"}, position).status().message() == "axis 'mp' is none of this rank's mesh");
}

// Index [i, j, k] of 5 x 3 x 7 lies on the part of its coordinates along dims 0 and 2, each cut
// evenly into parts of ⌈n/N⌉.
TEST_CASE("parts of a tensor that is cut along two dims") {
  Layout layout = Of(LayoutKind::kEven, {5, 3, 7}, 0);
  layout.also = {2};
  layout.also_parts = {2};
  const Parts parts(layout, 4);
  CHECK(parts.room_dims() == std::vector<int64_t>{3, 3, 4});
  CHECK(parts.dims(0) == std::vector<int64_t>{3, 3, 4});
  CHECK(parts.dims(1) == std::vector<int64_t>{3, 3, 3});
  CHECK(parts.dims(3) == std::vector<int64_t>{2, 3, 3});
  std::vector<float> whole(5 * 3 * 7), back(whole.size(), -1);
  std::iota(whole.begin(), whole.end(), 1.0F);
  const auto bytes = [](std::vector<float>& of) { return reinterpret_cast<std::byte*>(of.data()); };
  for (bool pad : {true, false})
    for (int64_t part = 0; part < 4; ++part) {
      const std::vector<int64_t> dims = pad ? parts.room_dims() : parts.dims(part);
      std::vector<float> mine(static_cast<size_t>(dims[0] * dims[1] * dims[2]), -1);
      parts.Take(part, sizeof(float), bytes(whole), bytes(mine), pad);
      for (int64_t i = 0; i < dims[0]; ++i)
        for (int64_t j = 0; j < dims[1]; ++j)
          for (int64_t k = 0; k < dims[2]; ++k) {
            const int64_t row = part / 2 * 3 + i, column = part % 2 * 4 + k;
            const bool there = row < 5 && column < 7;
            const float wanted =
                there ? whole[static_cast<size_t>((row * 3 + j) * 7 + column)] : 0.0F;
            CHECK(mine[static_cast<size_t>((i * dims[1] + j) * dims[2] + k)] == wanted);
          }
      parts.Put(part, sizeof(float), bytes(mine), bytes(back), pad);
      if (part == 3) CHECK(back == whole);
    }
}

// Columns of 3 x 5 in two parts of 3 x 3, the second one padded; the nine elements of each in four
// flat parts of three.
TEST_CASE("flat parts of what the cut of a dim leaves") {
  Layout layout = Of(LayoutKind::kEven, {3, 5}, 1);
  layout.flat_parts = 4;
  const Parts parts(layout, 8);
  CHECK(parts.room_dims() == std::vector<int64_t>{3});
  CHECK(parts.dims(2) == std::vector<int64_t>{3});
  CHECK(parts.dims(3) == std::vector<int64_t>{0});
  std::vector<float> whole(15), back(whole.size(), -1);
  std::iota(whole.begin(), whole.end(), 1.0F);
  const auto bytes = [](std::vector<float>& of) { return reinterpret_cast<std::byte*>(of.data()); };
  for (int64_t part = 0; part < 8; ++part) {
    std::vector<float> mine(3, -1);
    parts.Take(part, sizeof(float), bytes(whole), bytes(mine), true);
    for (int64_t i = 0; i < 3; ++i) {
      const int64_t at = part % 4 * 3 + i, row = at / 3, column = part / 4 * 3 + at % 3;
      const bool there = row < 3 && column < 5;
      CHECK(mine[static_cast<size_t>(i)] ==
            (there ? whole[static_cast<size_t>(row * 5 + column)] : 0.0F));
    }
    parts.Put(part, sizeof(float), bytes(mine), bytes(back), true);
  }
  CHECK(back == whole);
}

TEST_CASE("more parts than there are indices along one of two dims") {
  Layout layout = Of(LayoutKind::kEven, {2, 3}, 0);
  layout.also = {1};
  layout.also_parts = {5};
  const Parts parts(layout, 10);
  CHECK(parts.room_dims() == std::vector<int64_t>{1, 1});
  CHECK(parts.dims(4) == std::vector<int64_t>{1, 0});
  std::vector<float> whole = {1, 2, 3, 4, 5, 6};
  float mine = -1;
  parts.Take(4, sizeof(float), reinterpret_cast<std::byte*>(whole.data()),
             reinterpret_cast<std::byte*>(&mine), true);
  CHECK(mine == 0);
  parts.Take(7, sizeof(float), reinterpret_cast<std::byte*>(whole.data()),
             reinterpret_cast<std::byte*>(&mine), true);
  CHECK(mine == 6);
}

}  // namespace dtranspile::exec
