// Feeds per step: dense ones by part, ragged ones by sequence.
#include "runtime/io/feed.h"

#include <catch2/catch.hpp>
#include <filesystem>
#include <numeric>

#include "test/corpus_path.h"
#include "test/runtime/io/temp_folder.h"

namespace dtranspile::io {
namespace {

using test::Spill;
using test::TempFolder;

std::vector<int64_t> Values(const Tensor& tensor) {
  return {tensor.as<int64_t>(), tensor.as<int64_t>() + tensor.bytes.size() / 8};
}

Tensor Counting(std::vector<int64_t> dims) {
  Tensor tensor = *Tensor::Zeros(DType::kInt64, std::move(dims));
  std::iota(tensor.as<int64_t>(), tensor.as<int64_t>() + tensor.bytes.size() / 8, 0);
  return tensor;
}

TEST_CASE("offset lists") {
  CHECK(*ParseLodJson("x", "[[0, 2], [0,1, 5]]\n") == Lod{{0, 2}, {0, 1, 5}});
  CHECK(ParseLodJson("x", "[]")->empty());
  for (const std::string bad :
       {"", "[", "[[0, 2]", "[[0, -2]]", "[[0, 2]] x", "[[1.5]]", "[[99999999999999999999]]", "{}",
        "[[0,]]", "[[00, 1]]", "[[0, 01]]"}) {
    CAPTURE(bad);
    CHECK_FALSE(ParseLodJson("x", bad).ok());
  }
}

TEST_CASE("a dense feed and its parts") {
  const TempFolder folder;
  REQUIRE(WriteNpy(folder / "x.npy", Counting({2, 4, 3}).view()).ok());
  const absl::StatusOr<Feed> feed = Feed::Open(folder.path(), "x");
  REQUIRE(feed.ok());
  CHECK_FALSE(feed->ragged());
  CHECK(feed->steps() == 2);
  CHECK(feed->dims() == std::vector<int64_t>{4, 3});
  CHECK(Values(*feed->Read(1)).front() == 12);
  CHECK(Values(*feed->ReadPart(1, 0, 1, 2)) == std::vector<int64_t>{18, 19, 20, 21, 22, 23});
  CHECK(Values(*feed->ReadPart(0, 1, 2, 3)) == std::vector<int64_t>{2, 5, 8, 11});
  CHECK(feed->ReadPart(0, 0, 0, 3).status().code() == absl::StatusCode::kInvalidArgument);
  CHECK_FALSE(feed->ReadPart(0, 2, 0, 1).ok());
  CHECK_FALSE(feed->ReadPart(0, 0, 2, 2).ok());
  CHECK_FALSE(feed->ReadPart(0, 0, 0, 0).ok());
  CHECK(feed->Read(2).status().code() == absl::StatusCode::kOutOfRange);
}

TEST_CASE("one number per step") {
  const TempFolder folder;
  REQUIRE(WriteNpy(folder / "rate.npy", Counting({3}).view()).ok());
  const absl::StatusOr<Feed> feed = Feed::OpenNpy(folder / "rate.npy");
  REQUIRE(feed.ok());
  CHECK(feed->dims().empty());
  CHECK(Values(*feed->Read(2)) == std::vector<int64_t>{2});
  CHECK_FALSE(feed->ReadPart(0, 0, 0, 1).ok());
}

TEST_CASE("a ragged feed and its parts") {
  const TempFolder folder;
  std::filesystem::create_directory(folder / "a");
  REQUIRE(WriteNpy(folder / "a/w.step0.npy", Counting({5, 1}).view()).ok());
  REQUIRE(WriteNpy(folder / "a/w.step1.npy", Counting({3, 1}).view()).ok());
  Spill(folder / "a/w.step0.lod.json", "[[0, 2, 5]]");
  Spill(folder / "a/w.step1.lod.json", "[[0, 3, 4]]");
  const absl::StatusOr<Feed> feed = Feed::Open(folder.path(), "a/w");
  REQUIRE(feed.ok());
  CHECK(feed->ragged());
  CHECK(feed->steps() == 2);
  CHECK(feed->Read(0)->lod == Lod{{0, 2, 5}});
  const absl::StatusOr<Tensor> part = feed->ReadPart(0, 0, 1, 2);
  REQUIRE(part.ok());
  CHECK(Values(*part) == std::vector<int64_t>{2, 3, 4});
  CHECK(part->lod == Lod{{0, 3}});
  CHECK_FALSE(feed->ReadPart(0, 0, 0, 3).ok());
  CHECK_FALSE(feed->ReadPart(0, 1, 0, 1).ok());
  // Step 1 is wrong; found before it is reached, where it is to be run.
  CHECK(feed->CheckSteps(1).ok());
  CHECK(std::string(feed->CheckSteps(1, 1000).message())
            .find("sequences do not divide into 1000 equal parts") != std::string::npos);
  for (int64_t steps : {2, 3})
    CHECK(std::string(feed->CheckSteps(steps).message()).find("w.step1.lod.json") !=
          std::string::npos);
  CHECK(std::string(feed->Read(1).status().message())
            .find("w.step1.lod.json: LoD level 0 ends with 4") != std::string::npos);
  CHECK(feed->Read(2).status().code() == absl::StatusCode::kOutOfRange);
  REQUIRE(WriteNpy(folder / "a/w.step1.npy", Counting({3, 2}).view()).ok());
  CHECK_FALSE(feed->Read(1).ok());
}

TEST_CASE("steps that were written are read again, and nothing older") {
  const TempFolder folder;
  const std::string stem = folder / "w";
  const Lod lods[] = {{{0, 1, 2}, {0, 3, 4}}, {}};
  REQUIRE(WriteNpy(stem + ".npy", Counting({1}).view()).ok());
  REQUIRE(WriteNpy(stem + ".step2.npy", Counting({1}).view()).ok());
  ClearSteps(stem, 2);
  for (int64_t step = 0; step < 2; ++step)
    REQUIRE(WriteStep(stem, step, Counting({4 - step, 1}).view(), lods[step]).ok());
  for (const auto& feed : {Feed::Open(folder.path(), "w"), Feed::OpenFile(stem)}) {
    REQUIRE(feed.ok());
    CHECK(feed->steps() == 2);
    CHECK(feed->file() == stem);
    CHECK(feed->Read(0)->lod == lods[0]);
    CHECK(feed->Read(1)->lod.empty());
    CHECK(feed->Read(1)->dims == std::vector<int64_t>{3, 1});
  }
  CHECK_FALSE(Feed::OpenFile(folder / "none").ok());
}

TEST_CASE("feeds that are not there, or outside") {
  const TempFolder folder;
  CHECK(Feed::Open(folder.path(), "x").status().code() == absl::StatusCode::kNotFound);
  CHECK(Feed::Open(folder.path(), "../x").status().code() == absl::StatusCode::kInvalidArgument);
  REQUIRE(WriteNpy(folder / "x.npy", Counting({}).view()).ok());
  CHECK_FALSE(Feed::Open(folder.path(), "x").ok());
}

TEST_CASE("ragged feeds of the corpus") {
  const absl::StatusOr<Feed> feed =
      Feed::Open(test::CorpusPath("fluid18/text_lstm/feeds"), "words");
  REQUIRE(feed.ok());
  CHECK(feed->steps() == 8);
  for (int64_t step = 0; step < feed->steps(); ++step) {
    int64_t rows = 0;
    for (int64_t part = 0; part < 4; ++part) {
      const absl::StatusOr<Tensor> cut = feed->ReadPart(step, 0, part, 4);
      REQUIRE(cut.ok());
      CHECK(cut->lod[0].size() == 5);
      rows += cut->dims[0];
    }
    CHECK(rows == feed->Read(step)->dims[0]);
  }
}

}  // namespace
}  // namespace dtranspile::io
