// A launcher of jobs whose plans are put together in tests (test/runtime/exec/role_plans.h), in a
// folder of its own.
#pragma once

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "runtime/io/npy.h"
#include "runtime/io/tensor_record.h"
#include "test/runtime/exec/plan_builder.h"
#include "test/runtime/launch/launcher.h"

namespace dtranspile::launch {

class Place : public Launcher {
 public:
  // A folder with a plan and the kernels of the tests.
  std::string Plan(const std::string& name, const exec::PlanBuilder& plan) const {
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
  std::string Message() const { return report["error"]["message"]; }
};

}  // namespace dtranspile::launch
