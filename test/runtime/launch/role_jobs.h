// Jobs of several roles and classes for tests of the launcher: folders with plans, feeds, results.
#pragma once

#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <numeric>
#include <string>
#include <vector>

#include "runtime/io/npy.h"
#include "runtime/io/tensor_record.h"
#include "test/runtime/exec/role_plans.h"
#include "test/runtime/launch/launcher.h"

namespace dtranspile::launch {

using exec::PlanBuilder;

constexpr int64_t kForever = 100000000;

class Place : public Launcher {
 public:
  // A folder with a plan and the kernels of the tests.
  std::string Plan(const std::string& name, const PlanBuilder& plan) const {
    const std::filesystem::path own = std::filesystem::read_symlink("/proc/self/exe").parent_path();
    std::filesystem::create_directories(Path(name));
    std::filesystem::copy_file(own / "../exec/libtest_kernels.so",
                               Path(name) + "/libtest_kernels.so",
                               std::filesystem::copy_options::skip_existing);
    std::ofstream(Path(name) + "/plan.json") << plan.json.dump();
    return Path(name);
  }

  void Write(const std::string& name, std::vector<int64_t> dims,
             const std::vector<float>& values) const {
    const std::string path = Path(name);
    std::filesystem::create_directories(std::filesystem::path(path).parent_path());
    const TensorView view{DType::kFloat32, std::move(dims),
                          reinterpret_cast<const std::byte*>(values.data())};
    const bool array = path.ends_with(".npy");
    REQUIRE((array ? io::WriteNpy(path, view) : io::WriteTensorFile(path, view)).ok());
  }

  std::vector<float> Floats(const std::string& name) const {
    const auto read = io::ReadTensorFile(Path(name));
    INFO(read.status().ToString());
    REQUIRE(read.ok());
    return {read->as<float>(), read->as<float>() + read->bytes.size() / sizeof(float)};
  }

  void RunWell() {
    const int status = Run();
    INFO(report.dump() << ReadText(Path("log")));
    REQUIRE(status == 0);
  }
  // Of a job that is not started.
  std::string Refusal() {
    REQUIRE(Run() == 2);
    return report;
  }
  // A worker that begins with these lines of a shell, which see its CONFIG as /proc/self/fd/4.
  void Begin(const std::string& lines) {
    const std::string script = Path("begin");
    std::ofstream(script) << "#!/bin/sh\n" << lines << "\nexec " << spec.worker << " \"$@\"\n";
    std::filesystem::permissions(script, std::filesystem::perms::owner_all);
    spec.worker = script;
  }
  std::string Message() const { return report["error"]["message"]; }
};

inline std::vector<float> Counted(size_t count) {
  std::vector<float> values(count);
  std::iota(values.begin(), values.end(), 1.0F);
  return values;
}

constexpr int64_t kMicros = 4;

// Two stages, each a class with a variable of its own; the second one has the sum.
inline void AddPipeline(Place& place, bool interleaves = true) {
  std::vector<std::string> plans, classes;
  for (int stage = 0; stage < 2; ++stage) {
    PlanBuilder b =
        exec::StagePlan(stage, 2, kMicros, interleaves ? 2 - stage : kMicros,
                        interleaves ? exec::OneFOneB(stage, 2, kMicros) : exec::FThenB(kMicros));
    const int acc = static_cast<int>(b.json["buffers"].size()) - 1;
    const std::string name = "w" + std::to_string(stage);
    const int w = b.Variable(name, "float32", {1});
    b.json["role"] = "trainer";
    b.json["class"] = "trainer[pp=" + std::to_string(stage) + "]";
    b.body().push_back(exec::AddNodeJson(w, acc, 1));
    if (stage == 0) b.main()["feeds"] = Json::array({{{"name", "x"}, {"buffer", 0}}});
    if (stage == 1)
      b.main()["fetches"] = Json::array({{{"name", "acc"}, {"buffer", acc}, {"combine", "same"}}});
    plans.push_back(place.Plan("stage" + std::to_string(stage), b));
    classes.push_back(b.json["class"]);
  }
  place.spec.roles = {{"trainer", {{"pp", 2}}, plans, 0, classes}};
  place.Write("x.npy", {2, kMicros}, {0, 1, 2, 3, 0, 1, 2, 3});
  place.spec.feeds = {{"x", place.Path("x.npy")}};
  place.spec.fetch = {"acc"};
  place.spec.steps = 2;
}

inline void RunForever(Place& place) {
  for (const char* stage : {"stage0", "stage1"}) {
    const std::string file = place.Path(stage) + "/plan.json";
    Json plan = Json::parse(ReadText(file));
    plan["programs"]["main"]["feeds"] = Json::array();
    std::ofstream(file) << plan.dump();
  }
  place.spec.feeds.clear();
  place.spec.fetch.clear();
  place.spec.steps = kForever;
}

}  // namespace dtranspile::launch
