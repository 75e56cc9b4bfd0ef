// Rows of a variable that are made when they are first touched (DrawNode, plan.h): a table of which
// few rows are asked for takes memory for these. Until then a row has no page, and its values
// follow from where the random numbers of its chunk begin:
//
//   whole       | chunk 0   | chunk 1   | …        rows of the whole, a page or a few
//   states_     | x         | x'        | …        of the engine in front of each: 8 bytes
//   part        | · | # | · | · | # | …            made (memory is the value) or not (zero pages)
//
// Start-up runs through the numbers of the whole once, so that a chunk has the bits that it has
// when all is drawn, and ops behind it find the random numbers where they would be. For engines
// whose state is a number: those of 1.x. Who reads or writes memory of the variable touches its
// rows before: the executor in front of each node (bind.cc), a server in front of what it answers,
// and what reads a variable as a whole (values.h). Rows may be touched by several threads.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "runtime/exec/abi.h"
#include "runtime/exec/context.h"
#include "runtime/exec/layout.h"
#include "runtime/exec/plan.h"
#include "runtime/exec/storage.h"
#include "runtime/exec/thread_pool.h"

namespace dtranspile::exec {

class FirstTouch {
 public:
  struct Calls {
    DtFunction draw = nullptr, state = nullptr;  // null: the rows are constant
  };
  // A part of `rows` rows at `data`. Everything pointed to outlives this.
  FirstTouch(const DrawNode& node, DType dtype, Place place, std::byte* data, Calls calls,
             ThreadPool& pool);

  // In start-up: no row is there from now on. Before, all are.
  absl::Status Begin();

  // Makes those of these rows of the part that are not there; numbers that it lacks are passed.
  absl::Status Touch(const int64_t* rows, int64_t count);
  absl::Status TouchAll();
  // Whoever says so writes all of them.
  void Overwritten();

  // Rows [begin, begin + count) as they would be, without making any.
  absl::Status Read(int64_t begin, int64_t count, std::byte* to);

  std::byte* data() const { return data_; }
  int64_t rows() const { return rows_; }
  int64_t row_bytes() const { return row_bytes_; }
  // How many are not there.
  int64_t left() const { return left_.load(std::memory_order_acquire); }

 private:
  absl::Status Draw(int64_t rows, bool continues, const int64_t* begins);
  absl::StatusOr<int64_t> State();
  absl::StatusOr<const std::byte*> Initial(int64_t row);
  absl::Status Make(int64_t row);
  bool made(int64_t row) const { return made_.empty() || made_[static_cast<size_t>(row)]; }

  const DrawNode& node_;
  const DType dtype_;
  const Place place_;
  std::byte* const data_;
  const Calls calls_;
  int64_t rows_ = 0, row_bytes_ = 0;
  int64_t chunk_rows_ = 1;  // of the whole

  std::mutex mutex_;
  std::atomic<int64_t> left_{0};
  std::vector<bool> made_;
  std::vector<int64_t> states_;
  DtContext context_;
  std::vector<std::byte> chunk_;  // the one that was drawn last
  int64_t drawn_ = -1;
};

// Those of a plan.
class FirstTouches {
 public:
  // kInvalidArgument where a node and its variable do not fit, kNotFound for calls that are not
  // there.
  static absl::StatusOr<FirstTouches> Make(
      const Plan& plan, const Position& position,
      const std::function<DtFunction(const std::string&)>& find, const Storage& storage,
      ThreadPool& pool);

  // The one that has the byte; null for none.
  FirstTouch* Of(const std::byte* byte) const;
  // That of a node of the plan; null for one that does not stand at the top of start-up.
  FirstTouch* Of(const DrawNode& node) const;

 private:
  struct Entry {
    const DrawNode* node;
    std::unique_ptr<FirstTouch> rows;
  };
  std::vector<Entry> all_;
};

}  // namespace dtranspile::exec
