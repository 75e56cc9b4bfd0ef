// The cache (corruption, bounds, concurrent writers), what is refused, and that equal inputs give
// equal bytes.
#include "compiler/lower/codegen/kernel_library.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <thread>

#include "compiler/lower/codegen/cache.h"

namespace dtranspile::lower {
namespace {

namespace fs = std::filesystem;

struct Folder {
  Folder() {
    std::string pattern = (fs::temp_directory_path() / "dtranspile-cache-test-XXXXXX").string();
    path = mkdtemp(pattern.data());
  }
  ~Folder() { fs::remove_all(path); }
  std::string path;
};

KernelSource fill(double value) {
  return {
      "func.func @kernel(%a: memref<1xf32> {llvm.noalias}, %lo: index, %n: index) {\n"
      "  %c1 = arith.constant 1 : index\n  %v = arith.constant " +
          std::to_string(value) +
          " : f32\n"
          "  %m = memref.reinterpret_cast %a to offset: [0], sizes: [%n], strides: [1] : "
          "memref<1xf32> to memref<?xf32, strided<[1]>>\n"
          "  scf.for %i = %lo to %n step %c1 {\n    memref.store %v, %m[%i] : memref<?xf32, "
          "strided<[1]>>\n  }\n  return\n}\n",
      "fill"};
}

std::string contents(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

LibraryStatistics build(const std::vector<KernelSource>& kernels, const std::string& cache,
                        const std::string& output) {
  LibraryStatistics statistics;
  std::string error;
  REQUIRE(llvm::succeeded(buildLibrary(kernels, {hostTarget(), cache}, output, statistics, error)));
  REQUIRE(error == "");
  return statistics;
}

float run(const std::string& library, const KernelSource& kernel) {
  void* handle = dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);
  REQUIRE(handle);
  auto entry = reinterpret_cast<void (*)(void* const*, int64_t, int64_t)>(
      dlsym(handle, symbolOf(kernel, hostTarget()).c_str()));
  REQUIRE(entry);
  alignas(64) float buffer[16] = {};
  void* arguments[] = {buffer};
  entry(arguments, 3, 5);
  dlclose(handle);
  CHECK(buffer[2] == 0);
  CHECK(buffer[5] == 0);
  return buffer[3];
}

}  // namespace

TEST_CASE("equal kernels compile once, a second build compiles nothing and gives the same bytes") {
  Folder folder;
  const std::string one = folder.path + "/one.so", two = folder.path + "/two.so";
  LibraryStatistics first = build({fill(2), fill(3), fill(2)}, folder.path, one);
  CHECK(first.kernels == 2);
  CHECK(first.compiled == 2);
  CHECK(build({fill(3), fill(2)}, folder.path, two).compiled == 0);
  CHECK(contents(one) == contents(two));
  CHECK(run(one, fill(2)) == 2);
  CHECK(run(two, fill(3)) == 3);
}

TEST_CASE("a damaged object is compiled again") {
  Folder folder;
  const std::string library = folder.path + "/k.so";
  build({fill(2)}, folder.path, library);
  fs::path object = fs::directory_iterator(folder.path + "/kernels")->path();
  SECTION("one byte changed") {
    std::string bytes = contents(object);
    bytes[bytes.size() / 2] ^= 1;
    std::ofstream(object, std::ios::binary) << bytes;
  }
  SECTION("truncated") { fs::resize_file(object, fs::file_size(object) / 2); }
  SECTION("empty") { fs::resize_file(object, 0); }
  CHECK(build({fill(2)}, folder.path, library).compiled == 1);
  CHECK(build({fill(2)}, folder.path, library).compiled == 0);
}

TEST_CASE("the cache stays within its bound, the objects unused for longest go") {
  Folder folder;
  ObjectCache cache(folder.path, 100 * 1000);
  for (int i = 0; i < 20; ++i) {
    cache.insert(ObjectCache::key(std::to_string(i)), std::string(9000, 'x'));
    fs::last_write_time(folder.path + "/kernels/" + ObjectCache::key(std::to_string(i)) + ".o",
                        fs::file_time_type::clock::now() - std::chrono::hours(20 - i));
  }
  CHECK(cache.find(ObjectCache::key("0")));  // a use makes it young
  cache.trim();
  int64_t total = 0;
  for (const auto& entry : fs::directory_iterator(folder.path + "/kernels"))
    total += static_cast<int64_t>(entry.file_size());
  CHECK(total <= 100 * 1000);
  CHECK(cache.find(ObjectCache::key("0")));
  CHECK(cache.find(ObjectCache::key("19")));
  CHECK_FALSE(cache.find(ObjectCache::key("1")));
}

TEST_CASE("many writers of one cache") {
  Folder folder;
  std::vector<std::thread> threads;
  std::vector<int> good(4);
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      LibraryStatistics statistics;
      std::string error;
      good[t] = llvm::succeeded(buildLibrary({fill(2), fill(3)}, {hostTarget(), folder.path},
                                             folder.path + "/" + std::to_string(t) + ".so",
                                             statistics, error));
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (int t = 0; t < 4; ++t) {
    REQUIRE(good[t]);
    CHECK(run(folder.path + "/" + std::to_string(t) + ".so", fill(3)) == 3);
  }
  for (const auto& entry : fs::directory_iterator(folder.path + "/kernels"))
    CHECK(entry.path().extension() == ".o");
}

TEST_CASE("code of a folder that others may write is not used, and nothing is waited for") {
  Folder folder;
  const std::string cache = folder.path + "/cache", library = folder.path + "/k.so";
  CHECK(build({fill(2)}, cache, library).cacheRefusal == "");
  const std::string object = fs::directory_iterator(cache + "/kernels")->path();
  SECTION("others may write") {
    for (const std::string& path : {cache, cache + "/kernels", folder.path}) {
      fs::permissions(path, fs::perms::others_write, fs::perm_options::add);
      const LibraryStatistics statistics = build({fill(2)}, cache, library);
      CHECK(statistics.compiled == 1);
      CHECK_THAT(statistics.cacheRefusal, Catch::Contains(path + " may be written by others"));
      fs::permissions(path, fs::perms::others_write, fs::perm_options::remove);
    }
    CHECK(build({fill(2)}, cache, library).compiled == 0);
  }
  SECTION("another user's file") {
    if (geteuid() == 0) {
      REQUIRE(chown(object.c_str(), 65534, 65534) == 0);
      CHECK(build({fill(2)}, cache, library).compiled == 1);
    }
  }
  SECTION("a pipe, a device, a link") {
    const std::string bytes = contents(object);
    fs::remove(object);
    REQUIRE(mkfifo(object.c_str(), 0600) == 0);
    CHECK(build({fill(2)}, cache, library).compiled == 1);
    fs::remove(object);
    fs::create_symlink("/dev/zero", object);
    CHECK(build({fill(2)}, cache, library).compiled == 1);
    std::ofstream(folder.path + "/elsewhere", std::ios::binary) << bytes;
    fs::remove(object);
    fs::create_symlink(folder.path + "/elsewhere", object);
    CHECK(build({fill(2)}, cache, library).compiled == 1);
  }
  CHECK(run(library, fill(2)) == 2);
}

TEST_CASE("a library that finds no room is an error, no signal") {
  Folder folder;
  LibraryStatistics statistics;
  std::string error;
  rlimit before;
  REQUIRE(getrlimit(RLIMIT_FSIZE, &before) == 0);
  const rlimit small = {512, before.rlim_max};
  const auto handler = signal(SIGXFSZ, SIG_IGN);
  REQUIRE(setrlimit(RLIMIT_FSIZE, &small) == 0);
  const bool failed = llvm::failed(
      buildLibrary({fill(2)}, {hostTarget(), ""}, folder.path + "/k.so", statistics, error));
  setrlimit(RLIMIT_FSIZE, &before);
  signal(SIGXFSZ, handler);
  CHECK(failed);
  CHECK_THAT(error, Catch::Contains("File too large"));
  CHECK_FALSE(fs::exists(folder.path + "/k.so"));
}

TEST_CASE("refused by name") {
  Folder folder;
  LibraryStatistics statistics;
  std::string error;
  auto refuse = [&](const std::string& text) {
    CHECK(llvm::failed(buildLibrary({{text, "bad_kernel"}}, {hostTarget(), ""},
                                    folder.path + "/k.so", statistics, error)));
    CHECK_FALSE(fs::exists(folder.path + "/k.so"));
    CHECK_THAT(error, Catch::Contains("bad_kernel"));
  };
  SECTION("a hidden allocation") {
    refuse(
        "func.func @kernel(%a: memref<1xf32>, %lo: index, %n: index) { %m = memref.alloc(%n) : "
        "memref<?xf32>\n return }");
    CHECK_THAT(error, Catch::Contains("1 allocations"));
  }
  SECTION("a hidden copy") {
    refuse(
        "func.func @kernel(%a: memref<1xf32>, %b: memref<1xf32>, %lo: index, %n: index) { "
        "memref.copy %a, %b : memref<1xf32> to memref<1xf32>\n return }");
    CHECK_THAT(error, Catch::Contains("1 copies"));
  }
  SECTION("no kernel") {
    refuse("func.func @other() { return }");
    CHECK_THAT(error, Catch::Contains("@kernel"));
  }
  SECTION("text that does not parse") { refuse("func.func @kernel( {"); }
}

TEST_CASE("a cache folder that cannot be written is no error") {
  Folder folder;
  std::ofstream(folder.path + "/file") << "x";
  CHECK(build({fill(2)}, folder.path + "/file/cache", folder.path + "/k.so").compiled == 1);
}

}  // namespace dtranspile::lower
