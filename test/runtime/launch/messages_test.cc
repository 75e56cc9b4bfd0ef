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
#include "runtime/launch/saving.h"
#include "runtime/launch/signals.h"
#include "runtime/launch/step_log.h"
#include "test/runtime/exec/plan_builder.h"
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

// Jobs of small plans, which differ in one thing that does not fit.
namespace {

class Unfit {
 public:
  std::string Plan(const char* name, const exec::PlanBuilder& plan) const {
    std::filesystem::create_directory(folder_ / name);
    std::ofstream(folder_ / name + "/plan.json") << plan.json.dump();
    return folder_ / name;
  }
  // With a variable `w`, whole, or the part of a rank of axis dp.
  static exec::PlanBuilder Holding(bool cut) {
    exec::PlanBuilder plan;
    plan.Variable("w", "float32", {cut ? 2 : 4});
    if (cut) plan.variable()["layout"] = exec::LayoutNodeJson("even", "dp", {4});
    return plan;
  }
  static exec::PlanBuilder Meeting(const char* kind) {
    exec::PlanBuilder plan;
    plan.json["comms"] = Json::array({{{"name", "all"}, {"axes", {"dp"}}, {"kind", kind}}});
    if (kind == std::string("rpc")) plan.json["comms"][0]["server"] = "server";
    return plan;
  }
  static Role Of(const char* name, std::vector<std::string> plans, int64_t ranks = 2) {
    Role role;
    role.name = name;
    role.mesh = {{"dp", ranks}};
    role.plans = std::move(plans);
    return role;
  }
  // What is said when the variables of the ranks are shared out for saving.
  std::string Saving(const std::vector<std::string>& plans) const {
    JobSpec spec;
    spec.roles = {Of("trainer", plans)};
    auto ranks = MakeRanks(spec);
    INFO(ranks.status().ToString());
    REQUIRE(ranks.ok());
    return Said(ShareSaving(folder_ / "saved", ranks->ranks).status());
  }
  std::string folder() const { return folder_.path(); }

 private:
  TempFolder folder_;
};

}  // namespace

TEST_CASE("variables that no rank, or every rank otherwise, can save") {
  const Unfit unfit;
  const std::string whole = unfit.Plan("whole", Unfit::Holding(false)),
                    part = unfit.Plan("part", Unfit::Holding(true));
  exec::PlanBuilder first = Unfit::Holding(true);
  first.variable()["at"] = {{"dp", {0, 1}}};
  CHECK_THAT(unfit.Saving({whole, part}),
             Catch::Contains(": has 'w' cut in another way than the ranks before"));
  CHECK(unfit.Saving({unfit.Plan("first", first)}) == "part 1 of 'w' is on no rank");
}

TEST_CASE("roles that do not fit each other") {
  const Unfit unfit;
  JobSpec spec;
  spec.roles = {Unfit::Of("trainer", {unfit.Plan("group", Unfit::Meeting("group"))})};
  spec.part = Part{"trainer", 0, 1};
  CHECK_THAT(Said(MakeRanks(spec).status()),
             Catch::Contains("with 1 other ranks, of which 0 are started here: ranks of a "
                             "communicator are started together; run the whole role"));
  spec.part.reset();
  const std::string asking = unfit.Plan("asking", Unfit::Meeting("rpc")),
                    plain = unfit.Plan("plain", Unfit::Holding(false));
  spec.roles = {Unfit::Of("trainer", {asking}), Unfit::Of("server", {plain}, 1)};
  CHECK(Said(MakeRanks(spec).status()) ==
        "role 'trainer' asks role 'server', but " + plain + " is no plan of a server");
  spec.roles = {Unfit::Of("trainer", {asking}), Unfit::Of("reader", {asking}),
                Unfit::Of("server", {plain}, 1)};
  CHECK(Said(MakeRanks(spec).status()) ==
        "role 'server' is asked by roles 'trainer' and 'reader'; servers serve one role");
}

TEST_CASE("a fetch that no rank holds") {
  const Unfit unfit;
  exec::PlanBuilder plan;
  const int loss = plan.Arena("loss", "float32", {1});
  plan.main()["fetches"] = Json::array(
      {{{"name", "loss"}, {"buffer", loss}, {"combine", "same"}, {"at", {{"dp", {2, 3}}}}}});
  JobSpec spec;
  spec.roles = {Unfit::Of("trainer", {unfit.Plan("a", plan)})};
  spec.fetch = {"loss"};
  CHECK(Said(MakeRanks(spec).status()) == "fetch 'loss' is on no rank");
}

TEST_CASE("what a launcher cannot do") {
  SignalWatch one, two;
  REQUIRE(one.Begin().ok());
  CHECK(Said(two.Begin()) == "another job runs in this process");
}

TEST_CASE("paths that CONFIG does not hold") {
  const Unfit unfit;
  JobSpec spec;
  spec.roles = {Unfit::Of("trainer", {unfit.Plan("plain", Unfit::Holding(false))}, 1)};
  spec.worker = "/bin/true";
  spec.save_fetches = unfit.folder() + "/\xff";
  CHECK_THAT(Said(RunJob(spec).status()),
             Catch::Contains("a path or name is not UTF-8; rename it: "));
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
