// What a server that applies every push by itself remembers of its trainers: which rows others have
// changed since one asked, and what it has pulled last.
#include <algorithm>
#include <cstring>

#include "absl/strings/str_cat.h"
#include "runtime/base/status.h"
#include "runtime/ps/single_push.h"

namespace dtranspile::ps {

// The rows of a push that others are to hear of. Told are those that will ask: whose pushes are
// tracked too, all of them or none.
void SinglePushes::NoteChanges(int trainer, const Arriving& push) {
  if (!push.tracked) return;
  Use& use = uses_[push.table];
  if (use.changed.empty())
    use.changed.resize(senders_.size(),
                       std::vector<bool>(static_cast<size_t>(RowsOf(tables_[push.table]))));
  for (size_t other = 0; other < senders_.size(); ++other) {
    if (static_cast<int>(other) == trainer || !takes_part(static_cast<int>(other))) continue;
    for (const auto& [unused, rows] : push.what.rows())
      for (int64_t i = 0; i < rows.count; ++i)
        use.changed[other][static_cast<size_t>(rows.numbers()[i])] = true;
  }
}

// Rows that others have changed since this trainer asked last, at most kMostChanged at a time;
// those that are told are forgotten.
absl::StatusOr<std::vector<int64_t>> SinglePushes::TakeChanged(int trainer,
                                                               const exec::Table& table) {
  const std::lock_guard<std::mutex> lock(mutex_);
  std::vector<int64_t> rows;
  Use& use = uses_[IndexOf(table)];
  if (use.changed.empty()) return rows;
  std::vector<bool>& mine = use.changed[static_cast<size_t>(trainer)];
  for (auto at = std::find(mine.begin(), mine.end(), true);
       at != mine.end() && static_cast<int64_t>(rows.size()) < kMostChanged;
       at = std::find(at, mine.end(), true)) {
    rows.push_back(at - mine.begin());
    *at = false;
  }
  return rows;
}

// What the trainer whose push is running has pulled last, of one block: delay compensation compares
// with it.
absl::Status SinglePushes::Pulled(const std::string& name, int64_t block,
                                  const exec::TensorRoom& to) {
  const std::lock_guard<std::mutex> lock(mutex_);
  DT_ASSIGN_OR_RETURN(const exec::Table* const table, TableOfRound(name));
  DT_ASSIGN_OR_RETURN(const Rows rows, RowsOfBlock(*table, block));
  const Use& use = uses_[IndexOf(*table)];
  std::vector<int64_t> dims = table->dims;
  if (!dims.empty()) dims[0] = rows.count;
  if (use.pulled.empty() || to.dtype != table->dtype || to.dims != dims)
    return absl::InvalidArgumentError(
        absl::StrCat("what was pulled of table '", name, "' is ", ShapeText(table->dtype, dims),
                     use.pulled.empty() ? ", and is not kept" : ", not ",
                     use.pulled.empty() ? "" : ShapeText(to.dtype, to.dims)));
  const int64_t row_bytes = RowBytesOf(*table);
  if (rows.count * row_bytes > 0)
    std::memcpy(to.data, use.pulled[static_cast<size_t>(running_)].get() + rows.begin * row_bytes,
                static_cast<size_t>(rows.count * row_bytes));
  return absl::OkStatus();
}

}  // namespace dtranspile::ps
