#include "runtime/exec/memory.h"

#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

namespace dtranspile::exec {
namespace {

constexpr size_t kHugePage = size_t{2} << 20;
constexpr size_t kPage = 4096;

int64_t PhysicalMemory() {
  return static_cast<int64_t>(sysconf(_SC_PHYS_PAGES)) *
         static_cast<int64_t>(sysconf(_SC_PAGESIZE));
}

void Prefault(std::byte* data, size_t bytes) {
  for (size_t i = 0; i < bytes; i += kPage) *reinterpret_cast<volatile char*>(data + i) = 0;
}

}  // namespace

// Anonymous memory, aligned to huge pages where it is that large. kNow touches all pages, so that
// no step pays for page faults; kWhenWritten leaves that to the first write, in small pages, for
// tables of which most rows are never used.
absl::StatusOr<Block> Block::Allocate(int64_t bytes, const char* what, Pages pages) {
  Block block;
  if (bytes == 0) return block;
  if (bytes < 0 || bytes > PhysicalMemory())
    return absl::ResourceExhaustedError(absl::StrCat("the plan asks for ", bytes, " bytes of ",
                                                     what, ", this machine has ", PhysicalMemory(),
                                                     "; use a smaller batch or more ranks"));
  const bool huge = static_cast<size_t>(bytes) >= kHugePage;
  const size_t mapped = static_cast<size_t>(bytes) + (huge ? kHugePage : kPage);
  void* mapping = mmap(nullptr, mapped, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (mapping == MAP_FAILED)
    return absl::ResourceExhaustedError(
        absl::StrCat("no ", bytes, " bytes for ", what, ": ", strerror(errno)));
  const size_t alignment = huge ? kHugePage : kPage;
  const auto start = (reinterpret_cast<uintptr_t>(mapping) + alignment - 1) / alignment * alignment;
  block.data_ = reinterpret_cast<std::byte*>(start);
  block.size_ = bytes;
  block.mapping_ = mapping;
  block.mapped_ = mapped;
  // A huge page would come with the first of its rows.
  const bool now = pages == Pages::kNow;
  if (huge) madvise(block.data_, static_cast<size_t>(bytes), now ? MADV_HUGEPAGE : MADV_NOHUGEPAGE);
  if (now) Prefault(block.data_, static_cast<size_t>(bytes));
  return block;
}

absl::StatusOr<Block> Block::AllocateShared(int64_t bytes, const char* what) {
  if (bytes <= 0 || bytes > PhysicalMemory()) return Allocate(bytes, what);
  absl::StatusOr<comm::SharedMemory> shared =
      comm::SharedMemory::Allocate(static_cast<size_t>(bytes));
  if (!shared.ok()) return Allocate(bytes, what);
  Block block;
  block.shared_ = *std::move(shared);
  block.data_ = block.shared_.data();
  block.size_ = bytes;
  return block;
}

absl::Status Block::Seal() {
  if (data_ != nullptr && mprotect(data_, static_cast<size_t>(size_), PROT_READ) != 0)
    return absl::InternalError(absl::StrCat("cannot make constants read-only: ", strerror(errno)));
  return absl::OkStatus();
}

void Block::Drop() {
  if (mapping_ != nullptr) madvise(data_, static_cast<size_t>(size_), MADV_DONTNEED);
}

Block::~Block() {
  if (mapping_ != nullptr) munmap(mapping_, mapped_);
}

Block::Block(Block&& other) noexcept { *this = std::move(other); }

Block& Block::operator=(Block&& other) noexcept {
  std::swap(data_, other.data_);
  std::swap(size_, other.size_);
  std::swap(mapping_, other.mapping_);
  std::swap(mapped_, other.mapped_);
  std::swap(shared_, other.shared_);
  return *this;
}

}  // namespace dtranspile::exec
