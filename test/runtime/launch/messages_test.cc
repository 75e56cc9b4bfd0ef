// What the launcher says of jobs that cannot be started and of ranks' values that do not fit each
// other: the whole sentence.
#include <stdlib.h>

#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>

#include "runtime/io/feed.h"
#include "runtime/io/npy.h"
#include "runtime/io/output.h"
#include "runtime/launch/job.h"
#include "runtime/launch/ranks.h"
#include "runtime/launch/report.h"
#include "runtime/launch/step_log.h"
#include "test/runtime/exec/plan_text.h"
#include "test/runtime/io/temp_folder.h"

namespace dtranspile::launch {
namespace {

using test::TempFolder;

std::string Said(const absl::Status& status) { return std::string(status.message()); }

// Two ranks' values of fetch `f`, and what is said when they are combined.
std::string SaidOf(const char* how, const Tensor& first, const Tensor& second) {
  const TempFolder folder;
  const Tensor* values[] = {&first, &second};
  for (int rank = 0; rank < 2; ++rank) {
    const std::string stem = folder / std::to_string(rank) + "/f";
    std::filesystem::create_directory(folder / std::to_string(rank));
    const Tensor& value = *values[rank];
    REQUIRE((value.lod.empty() ? io::WriteNpy(stem + ".npy", value.view())
                               : io::WriteStep(stem, 0, value.view(), value.lod))
                .ok());
  }
  const HeldFetch held{how, {0, 1}};
  return Said(CombineFiles(folder.path(), {{"f", held}}));
}

Tensor Zeros(DType dtype, std::vector<int64_t> dims, Lod lod = {}) {
  Tensor tensor = *Tensor::Zeros(dtype, std::move(dims));
  tensor.lod = std::move(lod);
  return tensor;
}

}  // namespace

TEST_CASE("values of ranks that do not fit each other") {
  CHECK(Said(Combine("same", {Json{1.0}, Json{2.0}}, {0, 1}).status()) ==
        "ranks 0 and 1 should have the same value, but have [1.0] and [2.0]");
  CHECK(Said(Combine("sum", {Json{1.0}, Json{1.0, 2.0}}, {0, 1}).status()) ==
        "ranks have values of different sizes");
  const Tensor scalars = Zeros(DType::kFloat32, {2}), whole = Zeros(DType::kInt64, {2, 3}),
               one = Zeros(DType::kFloat32, {3, 1}, {{0, 1, 3}}),
               two = Zeros(DType::kFloat32, {3, 1}, {{0, 2}, {0, 1, 3}});
  CHECK(SaidOf("concat", scalars, scalars) == "fetch 'f': scalars cannot be concatenated");
  CHECK(SaidOf("mean", whole, whole) == "fetch 'f': no sum over ranks of int64");
  CHECK(SaidOf("sum", whole, scalars) == "fetch 'f': ranks have values of different extents");
  CHECK(SaidOf("concat", one, two) == "fetch 'f': ranks have different levels of sequences");
}

TEST_CASE("jobs that no machine runs") {
  const TempFolder folder;
  Json plan = exec::PlanJson();
  const auto write = [&](const char* name) {
    std::filesystem::create_directory(folder / name);
    std::ofstream(folder / name + "/plan.json") << plan.dump();
    return folder / name;
  };
  JobSpec spec;
  CHECK(Said(MakeRanks(spec).status()) == "the job has no ranks");
  spec.roles = {{.name = "trainer", .mesh = {{"dp", 4097}}, .plans = {write("a")}}};
  CHECK(Said(MakeRanks(spec).status()) == "axis 'dp' of 4097: a machine runs 1 to 4096 ranks");
  spec.roles[0].mesh = {{"dp", 2}};
  spec.roles[0].plans.assign(3, spec.roles[0].plans[0]);
  CHECK(Said(MakeRanks(spec).status()) == "role 'trainer' has 2 ranks and 3 plans");
  plan["programs"]["main"]["fetches"][0]["combine"] = "sum";
  spec.roles[0].plans = {folder / "a", write("b")};
  spec.fetch = {"loss"};
  CHECK(Said(MakeRanks(spec).status()) == "fetch 'loss' is combined by mean and by sum");
  spec.fetch = {"gain"};
  CHECK(Said(MakeRanks(spec).status()) == folder / "a" + ": was not compiled to fetch 'gain'");
  spec.timeout_seconds = -1;
  CHECK(Said(RunJob(spec).status()) == "a deadline of -1 s is not between 0 and 1e+06");
  spec.timeout_seconds = 1;
  CHECK_THAT(Said(RunJob(spec).status()),
             Catch::Contains("a deadline of 1 s is too short: a rank gives a sign of life every "));
}

TEST_CASE("a log ends") {
  StepLog log;
  const size_t stream = log.AddStream();
  log.Append(stream, "only");
  StepLog::Reader reader(log, stream);
  CHECK(*reader.Next() == "only");
  CHECK(Said(reader.Next().status()) == "no more steps");
}

}  // namespace dtranspile::launch
