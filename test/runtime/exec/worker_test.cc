#include "runtime/exec/worker.h"

#include <fcntl.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "runtime/exec/config.h"
#include "runtime/io/feed.h"
#include "runtime/io/npy.h"
#include "runtime/io/tensor_record.h"
#include "test/runtime/exec/plan_text.h"
#include "test/runtime/exec/test_calls.h"

namespace dtranspile::exec {
namespace {

// A folder with a plan, feeds and a CONFIG; removed at the end.
class Trial {
 public:
  Trial() {
    char name[] = "/tmp/dtranspile-worker-XXXXXX";
    folder_ = mkdtemp(name);
    const std::string own = std::filesystem::read_symlink("/proc/self/exe").parent_path();
    std::filesystem::copy_file(own + "/libtest_kernels.so", folder_ + "/libtest_kernels.so");
    config.plan = folder_;
    config.role = "trainer";
    config.coordinates = {{"dp", 1}};
    config.mesh = {{"dp", 2}};
    config.feeds = {{"x", folder_ + "/x.npy"}};
    config.steps = 2;
    config.fetch = {"loss", "w_after"};
    std::vector<float> x(16);
    for (size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i);
    REQUIRE(io::WriteNpy(config.feeds[0].file,
                         {DType::kFloat32, {2, 8}, reinterpret_cast<const std::byte*>(x.data())})
                .ok());
  }
  ~Trial() { std::filesystem::remove_all(folder_); }

  std::string Path(const std::string& name) const { return folder_ + "/" + name; }

  // Exit status; lines of the control channel in `lines`.
  int Run() {
    std::ofstream(Path("plan.json")) << plan.dump();
    const std::string control = Path("control");
    config.control_fd = open(control.c_str(), O_CREAT | O_TRUNC | O_WRONLY | O_CLOEXEC, 0600);
    std::ofstream(Path("config.json")) << ToJson(config).dump();
    const int status = RunWorker(Path("config.json"), {FindTestFunction, {}, {}});
    close(config.control_fd);
    lines.clear();
    std::ifstream in(control);
    for (std::string line; std::getline(in, line);) lines.push_back(Json::parse(line));
    return status;
  }

  std::string Error() {
    REQUIRE(Run() == kWorkerFailed);
    return lines.back()["message"];
  }

  Json plan = PlanJson();
  WorkerConfig config;
  std::vector<Json> lines;

 private:
  std::string folder_;
};

void WriteFloats(const std::string& path, std::vector<int64_t> dims, std::vector<float> values) {
  REQUIRE(io::WriteTensorFile(path, TensorView{DType::kFloat32, std::move(dims),
                                               reinterpret_cast<const std::byte*>(values.data())})
              .ok());
}

}  // namespace

TEST_CASE("a worker runs from the start-up program to files of values") {
  Trial place;
  place.config.save = place.Path("after");
  place.config.save_names = {"w"};
  place.config.save_fetches = place.Path("fetched");
  place.config.trace = place.Path("trace.json");
  REQUIRE(place.Run() == kWorkerDone);
  REQUIRE(place.lines.size() == 4);
  CHECK(place.lines[0]["event"] == "ready");
  CHECK(place.lines[0]["digest"] == "sha256:0");
  // Coordinate 1 of 2: elements 4 to 7 of each step; w starts at 2, the rate is 2.
  CHECK(place.lines[1]["fetch"]["loss"] == Json{8.0});
  CHECK(place.lines[1]["fetch"]["w_after"] == Json{-6.0, -8.0, -10.0, -12.0});
  CHECK(place.lines[2]["step"] == 1);
  CHECK(place.lines[2]["fetch"]["loss"] == Json{-36.0});
  CHECK(place.lines[3]["event"] == "done");
  CHECK(place.lines[3]["peak_rss_bytes"] > 1000000);
  const auto saved = io::ReadTensorFile(place.Path("after/w"));
  REQUIRE(saved.ok());
  CHECK(saved->as<float>()[0] == -6 - 2 * 12);
  const auto losses = io::ReadNpy(place.Path("fetched/0/loss.npy"));
  REQUIRE(losses.ok());
  CHECK(losses->dims == std::vector<int64_t>{2, 1});
  CHECK(losses->as<float>()[1] == -36);
  CHECK(std::filesystem::exists(place.Path("trace.json")));
}

TEST_CASE("values come from files, then from the start-up program; rates per step") {
  Trial place;
  std::filesystem::create_directory(place.Path("init"));
  place.config.init = InitConfig{place.Path("init"), "", {}};
  place.config.per_step = {{"rate", {1, 0.5}}};
  CHECK(place.Error().find("has no value for w") != std::string::npos);
  WriteFloats(place.Path("init/w"), {4}, {1, 1, 1, 1});
  REQUIRE(place.Run() == kWorkerDone);
  CHECK(place.lines[1]["fetch"]["w_after"][0] == 1 - 4);
  CHECK(place.lines[2]["fetch"]["w_after"][0] == 1 - 4 - 0.5 * 12);
  place.config.per_step = {{"rate", {1}}};
  CHECK(place.Error() == "per-step values: 1 values of 'rate' for 2 steps");
  place.config.per_step = {{"speed", {1, 1}}};
  CHECK(place.Error().find("'speed' is no persistable") != std::string::npos);
  for (double wrong : {1.5, 1e300, -3e9}) {
    place.config.per_step = {{"counter", {wrong, 1}}};
    CHECK(place.Error().find("'counter' is int32, which has no value") != std::string::npos);
  }
  for (double wrong : {1e39, -4e38}) {
    place.config.per_step = {{"rate", {1, wrong}}};
    CHECK(place.Error().find("'rate' is float32, which has no value") != std::string::npos);
  }
  place.config.per_step.clear();
  WriteFloats(place.Path("init/w"), {2}, {1, 1});
  CHECK(place.Error().find("'w' is float32[2], the program declares float32[4]") !=
        std::string::npos);
  std::filesystem::resize_file(place.Path("init/w"), 20);
  CHECK(place.Error().find("init/w") != std::string::npos);
  WriteFloats(place.Path("init/w"), {4}, {1, 1, 1, 1});
  place.plan["programs"].erase("startup");
  CHECK(place.Error().find("has no value for rate, counter, and there is no start-up program") !=
        std::string::npos);
  place.config.init.reset();
  CHECK(place.Error().find("--init") != std::string::npos);
}

TEST_CASE("a variable without a value begins as the one that it is declared to be") {
  Trial place;
  place.plan["persistent_bytes"] = 256;
  place.plan["buffers"].push_back(BufferJson("kept", "persistent", 192, "float32", {4}, 16));
  place.plan["persistables"].push_back(
      {{"name", "kept"}, {"buffer", 7}, {"parameter", false}, {"begins_as", "w"}});
  place.config.save = place.Path("after");
  place.config.save_names = {"kept"};
  const auto saved = [&] {
    REQUIRE(place.Run() == kWorkerDone);
    const auto read = io::ReadTensorFile(place.Path("after/kept"));
    REQUIRE(read.ok());
    return read->as<float>()[3];
  };
  CHECK(saved() == 0);  // the start-up program does not set it
  std::filesystem::create_directory(place.Path("init"));
  place.config.init = InitConfig{place.Path("init"), "", {}};
  WriteFloats(place.Path("init/w"), {4}, {1, 2, 3, 4});
  CHECK(saved() == 4);
  WriteFloats(place.Path("init/kept"), {4}, {5, 6, 7, 8});
  CHECK(saved() == 8);
}

TEST_CASE("values come from a combined file") {
  Trial place;
  const std::vector<float> w{3, 3, 3, 3}, rate{1};
  REQUIRE(io::WriteCombined(
              place.Path("all"),
              {{"rate", {DType::kFloat32, {1}, reinterpret_cast<const std::byte*>(rate.data())}},
               {"w", {DType::kFloat32, {4}, reinterpret_cast<const std::byte*>(w.data())}}})
              .ok());
  place.config.init = InitConfig{"", place.Path("all"), {"w", "rate"}};
  REQUIRE(place.Run() == kWorkerDone);
  CHECK(place.lines[1]["fetch"]["w_after"][0] == 3 - 4);
  // What the file has of other roles is read over, in its place by name.
  REQUIRE(io::WriteCombined(
              place.Path("all"),
              {{"a of servers",
                {DType::kFloat32, {1}, reinterpret_cast<const std::byte*>(rate.data())}},
               {"rate", {DType::kFloat32, {1}, reinterpret_cast<const std::byte*>(rate.data())}},
               {"w", {DType::kFloat32, {4}, reinterpret_cast<const std::byte*>(w.data())}}})
              .ok());
  place.config.init->names = {"w", "rate", "a of servers"};
  REQUIRE(place.Run() == kWorkerDone);
  CHECK(place.lines[1]["fetch"]["w_after"][0] == 3 - 4);
}

TEST_CASE("feeds that do not fit are refused by name") {
  Trial place;
  place.config.steps = 3;
  CHECK(place.Error().find("has 2 steps of feed 'x', 3 are to be run; use --steps 2") !=
        std::string::npos);
  place.config.steps = 2;
  place.config.mesh = {{"dp", 4}};
  CHECK(place.Error().find(
            "a step of feed 'x' is float32[8], the job was compiled for float32[16]") !=
        std::string::npos);
  place.config.mesh = {{"mp", 2}};
  place.config.coordinates = {{"mp", 1}};
  CHECK(place.Error().find("axis 'dp', which this rank's mesh lacks") != std::string::npos);
  place.config.feeds.clear();
  CHECK(place.Error().find("feed 'x' is not given") != std::string::npos);
  place.config.feeds = {{"x", place.Path("none.npy")}};
  CHECK(place.Error().find("feed 'x' is split") != std::string::npos);
  place.config.fetch = {"gain"};
  place.config.mesh = {{"dp", 2}};
  place.config.coordinates = {{"dp", 0}};
  CHECK(place.Error().find("none.npy") != std::string::npos);
  place.config.feeds = {{"x", place.Path("x.npy")}};
  CHECK(place.Error().find("'gain' is not among the fetches") != std::string::npos);
  place.config.feeds.push_back({"y", place.Path("x.npy")});
  CHECK(place.Error().find("'gain' is not among the fetches") !=
        std::string::npos);  // what the plan does not feed is left alone
}

TEST_CASE("ragged batches are cut by sequences, reported and saved step by step") {
  Trial place;
  const auto ragged = [](const char* name) {
    return Json{{"name", name},     {"space", "value"}, {"kind", "tensor"},
                {"dtype", "int64"}, {"dims", {-1, 1}},  {"lod_level", 1}};
  };
  place.plan["buffers"].push_back(ragged("words"));
  place.plan["buffers"].push_back(ragged("same"));
  Json& main = place.plan["programs"]["main"];
  main["feeds"].push_back(
      {{"name", "words"}, {"buffer", 7}, {"split", {{"dim", 0}, {"axes", {"dp"}}}}});
  main["fetches"].push_back({{"name", "same"}, {"buffer", 8}, {"combine", "concat"}});
  main["body"].push_back({{"copy", {7, 8}}, {"op", "0:3 assign"}});
  const std::vector<int64_t> words = {1, 2, 3, 4, 5};
  const auto write = [&](int64_t step, int64_t rows, const Lod& lod) {
    REQUIRE(io::WriteStep(
                place.Path("words"), step,
                {DType::kInt64, {rows, 1}, reinterpret_cast<const std::byte*>(words.data())}, lod)
                .ok());
  };
  write(0, 5, {{0, 2, 5}});
  write(1, 3, {{0, 2, 3}});
  place.config.feeds.push_back({"words", place.Path("words")});
  place.config.fetch.push_back("same");
  place.config.save_fetches = place.Path("fetched");
  REQUIRE(place.Run() == kWorkerDone);
  CHECK(place.lines[1]["fetch"]["same"] == Json{3, 4, 5});
  CHECK(place.lines[2]["fetch"]["same"] == Json{3});
  const auto fetched = io::Feed::Open(place.Path("fetched/0"), "same");
  REQUIRE(fetched.ok());
  CHECK(fetched->steps() == 2);
  CHECK(fetched->Read(0)->lod == Lod{{0, 3}});
  CHECK(fetched->Read(0)->dims == std::vector<int64_t>{3, 1});
  // Three sequences for two ranks.
  write(1, 3, {{0, 1, 2, 3}});
  CHECK(place.Error().find("3 sequences do not divide into 2 equal parts") != std::string::npos);
  place.plan["buffers"][7]["lod_level"] = 0;
  CHECK(place.Error().find(
            "feed 'words' is ragged (LoD), the program declares it without levels of sequences") !=
        std::string::npos);
  place.plan["buffers"][7] = ragged("words");
  place.plan["buffers"][7]["dims"] = {-1, 2};
  CHECK(place.Error().find(
            "a step of feed 'words' is int64[5, 1], the job was compiled for int64[-1, 2]") !=
        std::string::npos);
}

TEST_CASE("an error in a step names step and op; numbers that JSON lacks are text") {
  Trial place;
  place.plan["programs"]["main"]["body"][0]["strings"] = {"median"};
  REQUIRE(place.Run() == kWorkerFailed);
  CHECK(place.lines.back()["step"] == 0);
  CHECK(place.lines.back()["op"] == "0:1 reduce_sum");
  place.plan = PlanJson();
  place.config.per_step = {{"rate", {3e38, 0}}};
  REQUIRE(place.Run() == kWorkerDone);
  CHECK(place.lines[1]["fetch"]["w_after"][0] == "-inf");
  CHECK(place.lines[2]["fetch"]["loss"][0] == "-inf");
}

TEST_CASE("CONFIG survives writing and reading; a wrong one is refused with its place") {
  WorkerConfig config;
  config.plan = "p";
  config.comms = {{"grad", "grad.0", 1, 2}};
  config.servers = {{"server", "trainer", "", "1.server", {"127.0.0.1:1"}, {{"ps", 3}}, 3, 2, 1}};
  config.serves = config.servers[0];
  config.mesh = {{"dp", 2}};
  config.coordinates = {{"dp", 1}};
  config.init = InitConfig{"", "all", {"w"}};
  config.per_step = {{"rate", {0.5}}};
  config.trace = "t.json";
  config.control_fd = 3;
  const Json json = ToJson(config);
  const auto again = ParseConfig("c", json.dump());
  INFO(again.status().ToString());
  REQUIRE(again.ok());
  CHECK(ToJson(*again) == json);
  const auto message = [&](const char* pointer, Json value) {
    Json changed = json;
    changed[Json::json_pointer(pointer)] = std::move(value);
    return std::string(ParseConfig("c", changed.dump()).status().message());
  };
  CHECK(message("/threads", 0) ==
        "c: threads: expected an integer of at least 1 and at most 1024, got 0");
  CHECK(message("/coordinates/dp", 2) == "c: coordinates: 'dp' is 2, outside of the mesh");
  CHECK(message("/comms/0/rank", 2).find("c: comms[0].rank") == 0);
  CHECK(message("/servers/0/senders", 0).find("c: servers[0].senders") == 0);
  CHECK(message("/serves/number", -1).find("c: serves.number") == 0);
  CHECK(message("/colour", 2) == "c: unknown key 'colour'; was this written by a newer version?");
}

TEST_CASE("what CONFIG asks for has to be in the plan") {
  Trial place;
  place.config.save = place.Path("after");
  place.config.save_names = {"speed"};
  CHECK_THAT(place.Error(), Catch::EndsWith("'speed' is to be saved, but is no persistable of this "
                                            "rank"));
  place.config.save_names.clear();
  place.config.fetch = {"gain"};
  CHECK_THAT(place.Error(), Catch::EndsWith("'gain' is not among the fetches that the job was "
                                            "compiled for"));
  place.config.fetch = {"loss"};
  place.config.comms = {{.name = "grad", .group = "grad:0", .rank = 0, .size = 1}};
  CHECK_THAT(place.Error(), Catch::EndsWith("CONFIG has a communicator 'grad', which the plan "
                                            "lacks"));
  place.config.comms.clear();
  place.plan["comms"] = Json::array({{{"name", "other"}, {"axes", {"dp"}}}});
  CHECK_THAT(place.Error(), Catch::EndsWith("CONFIG has no group for communicator 'other', which "
                                            "this rank is a member of"));
}

}  // namespace dtranspile::exec
