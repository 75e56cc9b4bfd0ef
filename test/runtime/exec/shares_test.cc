// Variables that ranks do not have alike: which share a rank has, and what is read of a folder that
// has shares.
#include "runtime/exec/shares.h"

#include <catch2/catch.hpp>
#include <cstring>
#include <fstream>

#include "runtime/exec/inputs.h"
#include "runtime/io/output.h"
#include "test/runtime/io/temp_folder.h"

namespace dtranspile::exec {
namespace {

using Catch::Contains;

constexpr char kSum[] = "P(sum)", kOwn[] = "X(dgc)";

Plan Sharing(const std::map<std::string, std::string>& relation) {
  Plan plan;
  Buffer& buffer = plan.buffers.emplace_back();
  buffer.name = "g";
  buffer.space = Space::kPersistent;
  buffer.bytes = 8;
  buffer.dims = {2};
  Persistable& variable = plan.persistables.emplace_back();
  variable.name = "g";
  variable.parameter = true;
  variable.relation = relation;
  return plan;
}

Tensor Of(std::vector<float> values) {
  Tensor tensor = *Tensor::Zeros(DType::kFloat32, {static_cast<int64_t>(values.size())});
  std::memcpy(tensor.bytes.data(), values.data(), values.size() * sizeof(float));
  return tensor;
}

void Write(const test::TempFolder& folder, const std::string& name, std::vector<float> values) {
  const auto path = io::PrepareInside(folder.path(), name);
  REQUIRE(path.ok());
  REQUIRE(io::WriteTensorFile(*path, Of(std::move(values))).ok());
}

// A folder with two shares of g.
void WriteShares(const test::TempFolder& folder, const std::string& state) {
  Write(folder, ShareName(0, "g"), {1, 2});
  Write(folder, ShareName(1, "g"), {10, 20});
  if (state != kSum) Write(folder, "g", {1, 2});
  const auto path = io::PrepareInside(folder.path(), SharesName("g"));
  REQUIRE(path.ok());
  std::ofstream(*path) << TextOf({{{"dp", 2, state}}});
}

// What a rank begins with.
std::vector<float> Begins(const std::string& folder, const Plan& plan, int64_t ranks,
                          int64_t rank) {
  WorkerConfig config;
  config.init = InitConfig{folder, "", {}};
  config.mesh = {{"dp", ranks}};
  config.coordinates = {{"dp", rank}};
  const Variables variables = AllVariables(plan);
  const auto missing = FindMissing(*config.init, plan, variables);
  INFO(missing.status().ToString());
  REQUIRE(missing.ok());
  std::vector<float> found;
  const absl::Status read =
      ForEachInitial(config, *missing, plan, variables, io::Elements::kRead,
                     [&](const Persistable&, Tensor tensor) {
                       const auto* values = reinterpret_cast<const float*>(tensor.bytes.data());
                       found.assign(values, values + tensor.bytes.size() / sizeof(float));
                       return absl::OkStatus();
                     });
  INFO(read.ToString());
  REQUIRE(read.ok());
  return found;
}

absl::Status Checked(const std::string& folder, const Plan& plan, int64_t ranks) {
  WorkerConfig config;
  config.init = InitConfig{folder, "", {}};
  config.mesh = {{"dp", ranks}};
  return CheckShares(config, plan);
}

using Values = std::vector<float>;

}  // namespace

TEST_CASE("shares are counted along axes on which ranks do not have a variable alike") {
  Persistable variable;
  variable.relation = {
      {"dp", kSum}, {"mp", "S(0)"}, {"pp", "R"}, {"sharding", kOwn}, {"one", kOwn}};
  const Shares shares =
      SharesOf(variable, {{"dp", 2}, {"mp", 3}, {"pp", 4}, {"sharding", 5}, {"one", 1}});
  REQUIRE(shares.axes.size() == 2);
  CHECK(shares.count() == 10);
  CHECK(shares.at({{"dp", 1}, {"mp", 2}, {"pp", 3}, {"sharding", 4}}) == 9);
  CHECK(shares.at({{"dp", 1}, {"sharding", 0}}) == 5);
  CHECK(!shares.sums());
  CHECK(!shares.alike());
  variable.relation.erase("sharding");
  CHECK(SharesOf(variable, {{"dp", 2}}).sums());
  CHECK(SharesOf(variable, {{"dp", 1}}).alike());
}

TEST_CASE("terms of a sum: each rank its own again, other ranks the sum at one of them") {
  const test::TempFolder folder;
  WriteShares(folder, kSum);
  const Plan plan = Sharing({{"dp", kSum}});
  CHECK(Begins(folder.path(), plan, 2, 0) == Values{1, 2});
  CHECK(Begins(folder.path(), plan, 2, 1) == Values{10, 20});
  CHECK(Begins(folder.path(), plan, 4, 0) == Values{11, 22});
  CHECK(Begins(folder.path(), plan, 4, 3) == Values{0, 0});
  CHECK(Begins(folder.path(), plan, 1, 0) == Values{11, 22});
  CHECK(Begins(folder.path(), Sharing({}), 2, 1) == Values{11, 22});
  for (const int64_t ranks : {1, 2, 4}) CHECK(Checked(folder.path(), plan, ranks).ok());
}

TEST_CASE("one value of a sum is all of it at one rank") {
  const test::TempFolder folder;
  Write(folder, "g", {3, 4});
  const Plan plan = Sharing({{"dp", kSum}});
  CHECK(Begins(folder.path(), plan, 2, 0) == Values{3, 4});
  CHECK(Begins(folder.path(), plan, 2, 1) == Values{0, 0});
  CHECK(Begins(folder.path(), Sharing({{"dp", kOwn}}), 2, 1) == Values{3, 4});
}

TEST_CASE("what each rank has of its own belongs to no other") {
  const test::TempFolder folder;
  WriteShares(folder, kOwn);
  const Plan plan = Sharing({{"dp", kOwn}});
  CHECK(Begins(folder.path(), plan, 2, 1) == Values{10, 20});
  CHECK(Checked(folder.path(), plan, 2).ok());
  CHECK(Begins(folder.path(), plan, 4, 3) == Values{1, 2});
  CHECK_THAT(std::string(Checked(folder.path(), plan, 4).message()),
             Contains("has 'g' of each of 2 ranks (X(dgc)), this job has 4 of them") &&
                 Contains("--init " + folder.path()));
  CHECK(!Checked(folder.path(), plan, 1).ok());
  CHECK(!Checked(folder.path(), Sharing({{"dp", kSum}}), 2).ok());
}

TEST_CASE("terms that do not fit each other, and descriptions that are none") {
  const test::TempFolder folder;
  WriteShares(folder, kSum);
  Write(folder, ShareName(1, "g"), {1, 2, 3});
  CHECK_THAT(std::string(ReadWhole(folder.path(), "g").status().message()),
             Contains("a term is float32[3], another float32[2]"));
  const std::string file = folder / SharesName("g");
  for (const char* wrong :
       {"", "{}", "{\"axes\": 3}", "{\"axes\": [{\"axis\": \"dp\"}]}",
        "{\"axes\": [{\"axis\": \"dp\", \"size\": 1, \"state\": \"P(sum)\"}]}"}) {
    std::ofstream(file) << wrong;
    INFO(wrong);
    CHECK_THAT(std::string(ReadShares(folder.path(), "g").status().message()), Contains(file));
  }
}

}  // namespace dtranspile::exec
