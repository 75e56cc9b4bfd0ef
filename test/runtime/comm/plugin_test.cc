// The CUDA plug-ins link, open and refuse by name where there is no GPU. The build defines their
// paths.
#include <dlfcn.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <cstdarg>
#include <cstdio>
#include <string>

#include "runtime/comm/nccl/loader.h"
#include "runtime/exec/abi.h"

namespace {
std::string message;
}  // namespace

// What the library calls want from the program that opens them.
extern "C" __attribute__((visibility("default"))) int32_t dt_fail(DtContext*, const char* format,
                                                                  ...) {
  char text[512];
  va_list args;
  va_start(args, format);
  vsnprintf(text, sizeof(text), format, args);
  va_end(args);
  message = text;
  return 1;
}
extern "C" __attribute__((visibility("default"))) void dt_keep(DtContext*, void*, void (*)(void*)) {
}

namespace dtranspile::comm::test {
namespace {

void* Open(const char* path) {
  void* library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  INFO((library == nullptr ? dlerror() : ""));
  REQUIRE(library != nullptr);
  return library;
}

TEST_CASE("the NCCL plug-in opens, checks its version and names a missing GPU") {
  auto entry = reinterpret_cast<NcclEntry>(dlsym(Open(NCCL_PLUGIN), kNcclEntry));
  REQUIRE(entry != nullptr);
  Rendezvous rendezvous;
  CHECK_THAT(std::string(entry(kNcclVersion + 1, rendezvous, "g", 0, 1).status().message()),
             Catch::Contains("the program wants"));
  if (access("/dev/nvidia0", F_OK) == 0) return;
  const absl::Status status = entry(kNcclVersion, rendezvous, "g", 0, 1).status();
  CHECK(absl::IsFailedPrecondition(status));
  CHECK_THAT(std::string(status.message()), Catch::Contains("no CUDA GPU: "));
}

TEST_CASE("the matrix product on the GPU checks its arguments") {
  auto matmul = reinterpret_cast<DtFunction>(dlsym(Open(CUDA_PLUGIN), "dt_cuda_matmul"));
  REQUIRE(matmul != nullptr);
  const int64_t a[] = {2, 3}, b[] = {3, 4}, c[] = {2, 4}, wrong[] = {2, 5};
  DtBuffer args[] = {{nullptr, a, 2, 5, DT_DEVICE, "a", nullptr},
                     {nullptr, b, 2, 5, DT_DEVICE, "b", nullptr},
                     {nullptr, wrong, 2, 5, DT_DEVICE, "c", nullptr}};
  const int64_t ints[] = {0, 0};
  const double reals[] = {1, 0};
  void* state = nullptr;
  DtCall call = {};
  call.name = "matmul";
  call.op = "0:1 mul";
  call.args = args;
  call.num_args = 3;
  const DtAttr attrs[] = {{&ints[0], nullptr, nullptr, 1},
                          {&ints[1], nullptr, nullptr, 1},
                          {nullptr, &reals[0], nullptr, 1},
                          {nullptr, &reals[1], nullptr, 1}};
  const int32_t slots[] = {0, 1, 2, 3};
  call.attrs = attrs;
  call.num_attrs = 4;
  call.slots = slots;
  call.num_slots = 3;
  call.state = &state;
  CHECK(matmul(nullptr, &call) != 0);
  CHECK_THAT(message, Catch::Contains("do not fit"));
  args[2].dims = c;
  args[1].space = DT_HOST;
  CHECK(matmul(nullptr, &call) != 0);
  CHECK_THAT(message, Catch::Contains("argument 1 is not in device memory"));
  args[1].space = DT_DEVICE;
  for (DtBuffer& buffer : args) buffer.dtype = 6;
  CHECK(matmul(nullptr, &call) != 0);
  CHECK_THAT(message, Catch::Contains("element type 6"));
  if (access("/dev/nvidia0", F_OK) == 0) return;
  for (DtBuffer& buffer : args) buffer.dtype = 5;
  CHECK(matmul(nullptr, &call) != 0);
  CHECK_THAT(message, Catch::Contains("matmul: "));
}

}  // namespace
}  // namespace dtranspile::comm::test
