// `dtranspile --version`: says of this very build what is so.
#include "tools/dtranspile/cli/version.h"

#include <catch2/catch.hpp>

namespace dtranspile::cli {

TEST_CASE("the version says how the binary was built") {
  using Catch::Contains;
  const std::string text = versionText();
  CHECK_THAT(text, Catch::StartsWith("dtranspile 0.1.0\nbuilt:      "));
  // Bazel gives tests and libraries the same mode and sanitizers. Assertions: -c opt only.
#ifdef NDEBUG
  CHECK_THAT(text, Contains("built:      opt, optimised, assertions off\n"));
#else
  CHECK_THAT(text, Contains("assertions on\n"));
#endif
  CHECK_THAT(text, Contains("\ncompiler:   " __VERSION__ "\n"));
#ifdef __x86_64__
  CHECK_THAT(text, Contains("\ntarget:     x86-64"));
#endif
#if __has_feature(address_sanitizer)
  CHECK_THAT(text, Contains("\nsanitizers: address"));
#elif __has_feature(thread_sanitizer)
  CHECK_THAT(text, Contains("\nsanitizers: thread\n"));
#else
  CHECK_THAT(text, Contains("\nsanitizers: none\n"));
#endif
  CHECK_THAT(text, Contains("\nLLVM:       22."));
  CHECK_THAT(text, Contains(", programs are compiled for "));
}

}  // namespace dtranspile::cli
