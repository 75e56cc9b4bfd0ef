// LLD writes a file through a mapping of it, which ends the process with a bus error where the disk
// is full, and reads its inputs by name. Here the inputs lie in memory and the output goes to a
// pipe, so that there are no temporary files, and the library is written by our own code, which
// says what fails.
#include "compiler/lower/codegen/linker.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <thread>
#include <utility>

#include "lld/Common/Driver.h"
#include "llvm/Object/ArchiveWriter.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"
#include "runtime/io/errno_status.h"
#include "runtime/io/output.h"

LLD_HAS_DRIVER(elf)

namespace dtranspile::lower {
namespace {

// A file without a name in any folder.
class MemoryFile {
 public:
  explicit MemoryFile(const char* name) : descriptor_(memfd_create(name, MFD_CLOEXEC)) {}
  MemoryFile(const MemoryFile&) = delete;
  MemoryFile& operator=(const MemoryFile&) = delete;
  ~MemoryFile() {
    if (descriptor_ >= 0) close(descriptor_);
  }

  bool ok() const { return descriptor_ >= 0; }
  std::string path() const { return "/proc/self/fd/" + std::to_string(descriptor_); }

  bool write(llvm::StringRef bytes) {
    while (!bytes.empty()) {
      const ssize_t done = ::write(descriptor_, bytes.data(), bytes.size());
      if (done < 0 && errno == EINTR) continue;
      if (done <= 0) return false;
      bytes = bytes.drop_front(static_cast<size_t>(done));
    }
    return true;
  }

 private:
  int descriptor_;
};

// Takes what is written to `path()` until finish. LLD keeps what is to go to a pipe in memory and
// writes it at the end.
class Collector {
 public:
  // A pipe holds little, so that somebody must read while LLD writes.
  Collector() {
    if (pipe2(ends_, O_CLOEXEC) != 0) return;
    reader_ = std::thread([this] {
      char part[1 << 16];
      for (ssize_t size; (size = read(ends_[0], part, sizeof part)) != 0;)
        if (size > 0) bytes_.append(part, static_cast<size_t>(size));
        else if (errno != EINTR) break;
    });
  }
  Collector(const Collector&) = delete;
  Collector& operator=(const Collector&) = delete;
  ~Collector() {
    finish();
    if (ends_[0] >= 0) close(ends_[0]);
  }

  bool ok() const { return ends_[1] >= 0; }
  std::string path() const { return "/proc/self/fd/" + std::to_string(ends_[1]); }

  const std::string& finish() {
    if (ends_[1] >= 0) close(std::exchange(ends_[1], -1));
    if (reader_.joinable()) reader_.join();
    return bytes_;
  }

 private:
  int ends_[2] = {-1, -1};
  std::thread reader_;
  std::string bytes_;
};

// All objects in one archive without a table of symbols: --whole-archive takes every one.
llvm::Expected<std::unique_ptr<llvm::MemoryBuffer>> archiveOf(
    const std::vector<NamedObject>& objects) {
  std::vector<llvm::NewArchiveMember> members;
  for (const NamedObject& object : objects)
    members.emplace_back(llvm::MemoryBufferRef(object.bytes, object.name));
  return llvm::writeArchiveToBuffer(members, llvm::SymtabWritingMode::NoSymtab,
                                    llvm::object::Archive::K_GNU, /*Deterministic=*/true,
                                    /*Thin=*/false);
}

}  // namespace

// Packs the objects into an archive in memory, lets LLD read that by the path of its descriptor and
// write into a pipe, and writes the library that comes out to `output`. The same objects give the
// same bytes.
llvm::LogicalResult linkShared(const std::vector<NamedObject>& objects, const std::string& output,
                               std::string& error) {
  auto archive = archiveOf(objects);
  if (!archive) {
    error = llvm::toString(archive.takeError());
    return llvm::failure();
  }
  MemoryFile input("dtranspile-objects");
  Collector library;
  if (!input.ok() || !library.ok() || !input.write((*archive)->getBuffer())) {
    error = std::string(io::ErrnoStatus(errno, "no memory for the objects of kernels").message());
    return llvm::failure();
  }
  const std::string from = input.path(), to = library.path();
  // One thread: a few kilobytes to link. No build id, so that equal kernels give equal bytes.
  const char* const arguments[] = {
      "ld.lld",      "-shared", "--threads=1", "--build-id=none", "--hash-style=gnu", "-z",
      "noexecstack", "-o",      to.c_str(),    "--whole-archive", from.c_str()};
  llvm::raw_string_ostream messages(error);
  const lld::Result result =
      lld::lldMain(arguments, llvm::nulls(), messages, {{lld::Gnu, &lld::elf::link}});
  if (result.retCode != 0) return llvm::failure();
  const std::string& bytes = library.finish();
  const absl::Status written =
      io::WriteFile(output, bytes.data(), static_cast<int64_t>(bytes.size()));
  error = std::string(written.message());
  return llvm::success(written.ok());
}

}  // namespace dtranspile::lower
