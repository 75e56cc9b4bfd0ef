// Bytes to be read at any position: a file, or memory. Everything in runtime/io reads through this,
// so that every reader can be fuzzed without files and refuses by file name and offset.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace dtranspile::io {

class ByteSource {
 public:
  virtual ~ByteSource() = default;

  // What messages call it: a path.
  const std::string& name() const { return name_; }
  int64_t size() const { return size_; }

  // Copies bytes [offset, offset + count) to `to`. kDataLoss when they are not all there.
  absl::Status ReadAt(int64_t offset, int64_t count, void* to) const;

 protected:
  ByteSource(std::string name, int64_t size) : name_(std::move(name)), size_(size) {}

 private:
  // The range has been checked.
  virtual absl::Status Fetch(int64_t offset, int64_t count, void* to) const = 0;

  std::string name_;
  int64_t size_ = 0;
};

// A regular file; kNotFound, or kInvalidArgument for anything that is not one (a folder, a pipe:
// opening never blocks).
absl::StatusOr<std::unique_ptr<ByteSource>> OpenFile(const std::string& path);

// Memory of the caller, which must outlive the source.
std::unique_ptr<ByteSource> OpenMemory(std::string name, const void* data, size_t size);

// Reads a source from the front; what is missing is named in the message ("x.bin: offset 12: level
// 0 of the LoD wants 80 bytes, 3 are left").
class Cursor {
 public:
  explicit Cursor(const ByteSource& source) : source_(source) {}

  int64_t offset() const { return offset_; }
  int64_t remaining() const { return source_.size() - offset_; }
  const ByteSource& source() const { return source_; }

  // Moves on by `count` bytes, copied to `to`. `what` ends up in the message of kDataLoss.
  absl::Status Read(const std::string& what, int64_t count, void* to);
  // The same without a copy.
  absl::Status Skip(const std::string& what, int64_t count);

  // Little-endian numbers.
  absl::StatusOr<uint32_t> ReadU32(const std::string& what);
  absl::StatusOr<uint64_t> ReadU64(const std::string& what);

  // kInvalidArgument at the current position.
  absl::Status Error(const std::string& message) const;

 private:
  absl::Status CheckRoom(const std::string& what, int64_t count) const;

  const ByteSource& source_;
  int64_t offset_ = 0;
};

}  // namespace dtranspile::io
