#include "compiler/lower/codegen/linker.h"

#include <unistd.h>

#include <cstdio>

#include "lld/Common/Driver.h"
#include "llvm/Support/raw_ostream.h"

LLD_HAS_DRIVER(elf)

namespace dtranspile::lower {

llvm::LogicalResult linkShared(const std::vector<std::string>& objects, const std::string& output,
                               std::string& error) {
  const std::string part = output + ".part" + std::to_string(getpid());
  // One thread: a few kilobytes to link. No build id, so that equal kernels give equal bytes.
  std::vector<const char*> args = {"ld.lld",           "-shared", "--threads=1", "--build-id=none",
                                   "--hash-style=gnu", "-z",      "noexecstack", "-o",
                                   part.c_str()};
  for (const std::string& object : objects) args.push_back(object.c_str());
  llvm::raw_string_ostream messages(error);
  lld::Result result = lld::lldMain(args, llvm::nulls(), messages, {{lld::Gnu, &lld::elf::link}});
  if (result.retCode == 0 && std::rename(part.c_str(), output.c_str()) == 0) return llvm::success();
  if (result.retCode == 0) error = "cannot rename " + part + " to " + output;
  std::remove(part.c_str());
  return llvm::failure();
}

}  // namespace dtranspile::lower
