#include "tools/dtranspile/cli/version.h"

#include "compiler/artifact/producer.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Config/llvm-config.h"
#include "llvm/TargetParser/Host.h"

namespace dtranspile::cli {
namespace {

// Compilers differ in how they are asked.
#ifndef __has_feature
#define __has_feature(feature) 0
#endif

struct Fact {
  bool holds;
  const char* name;
};

constexpr Fact kSanitizers[] = {
    {__has_feature(address_sanitizer), "address"},
    {__has_feature(memory_sanitizer), "memory"},
    {__has_feature(thread_sanitizer), "thread"},
    {__has_feature(undefined_behavior_sanitizer), "undefined behaviour"},
};

// Vector extensions that the compiler may have used in our own code, the widest one last.
constexpr Fact kTargets[] = {
#ifdef __x86_64__
    {true, "x86-64"},
#endif
#ifdef __AVX2__
    {true, "AVX2"},
#endif
#ifdef __AVX512F__
    {true, "AVX-512"},
#endif
#ifdef __aarch64__
    {true, "AArch64"},
#endif
};

#ifdef NDEBUG
constexpr char kAssertions[] = "off";
#else
constexpr char kAssertions[] = "on";
#endif
#ifdef __OPTIMIZE__
constexpr char kOptimised[] = "optimised";
#else
constexpr char kOptimised[] = "not optimised";
#endif

template <size_t N>
std::string join(const Fact (&facts)[N]) {
  llvm::SmallVector<llvm::StringRef> names;
  for (const Fact& fact : facts)
    if (fact.holds) names.push_back(fact.name);
  return names.empty() ? "none" : llvm::join(names, " + ");
}

}  // namespace

std::string versionText() {
  std::string text = kProducer;
  text += "\nbuilt:      " DT_COMPILATION_MODE ", ";
  text += kOptimised;
  text += ", assertions ";
  text += kAssertions;
  text += "\ncompiler:   " __VERSION__;
  text += "\ntarget:     " + join(kTargets);
  text += "\nsanitizers: " + join(kSanitizers);
  text += "\nLLVM:       " LLVM_VERSION_STRING ", programs are compiled for ";
  text += llvm::sys::getHostCPUName().str();
  return text;
}

}  // namespace dtranspile::cli
