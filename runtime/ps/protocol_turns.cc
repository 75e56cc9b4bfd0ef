// The server's side of its protocol: who is waited for and how long, and what a round is made of.
#include <algorithm>
#include <chrono>
#include <cstring>
#include <limits>
#include <utility>

#include "absl/strings/str_cat.h"
#include "runtime/base/status.h"
#include "runtime/comm/patience.h"
#include "runtime/ps/protocol.h"
#include "runtime/ps/table.h"

namespace dtranspile::ps {
namespace {

using comm::NowNs;

constexpr int64_t kLongestWaitNs = 3'600'000'000'000;

}  // namespace

// Whether the turn that ends was one that a trainer asked for (Asked). Its failure fails the
// server: a trainer's copy of the state would no longer be known.
bool Protocol::FinishAsked(const absl::Status& status, Answers& answers) {
  if (!asked_.running()) return false;
  if (status.ok()) asked_.Finish(answers);
  else
    (void)FailLocked(absl::StrCat(options_.server, " failed when it answered ",
                                  asked_.Text(options_.role), ": ", status.message()),
                     answers);
  return true;
}

// The end of a turn of the server. After a round, what was pushed is dropped, pulls begin, and
// those that came early are answered. Answers are given without the lock: they may come back into
// the protocol.
void Protocol::Finish(const absl::Status& status) {
  Answers asked;
  std::unique_lock<std::mutex> held(mutex_);
  const bool was_asked = FinishAsked(status, asked);
  held.unlock();
  for (const auto& give : asked) give();
  if (was_asked) return;
  if (!status.ok())
    return Fail(
        absl::StrCat(options_.server, " failed in ", RoundName(round_), ": ", status.message()));
  Answers answers;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (!failure_.ok()) return;
    for (Trainer& one : trainers_)
      for (Contribution& contribution : one.from) contribution.Clear();
    state_ = State::kPulls;
    for (Answer& one : std::exchange(parked_, {}))
      answers.push_back([a = std::move(one)] { a(absl::OkStatus()); });
    Advance(answers);
  }
  for (const auto& give : answers) give();
}

bool Protocol::AllHaveCome() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return std::all_of(trainers_.begin(), trainers_.end(), [](const Trainer& t) { return t.joined; });
}

// When somebody will have been waited for in vain; never while nobody is.
int64_t Protocol::Deadline() const {
  int64_t deadline_ns = std::numeric_limits<int64_t>::max();
  if (std::any_of(trainers_.begin(), trainers_.end(), [](const Trainer& t) { return !t.joined; }))
    deadline_ns = opened_ns_ + timeout_ns_;
  if (first_arrival_ns_ != 0) deadline_ns = std::min(deadline_ns, first_arrival_ns_ + patience_ns_);
  return deadline_ns;
}

// That somebody has been, and who.
std::string Protocol::Overdue() const {
  std::vector<int> absent, missing, waiting;
  for (int trainer = 0; trainer < options_.trainers; ++trainer) {
    const Trainer& one = trainers_[static_cast<size_t>(trainer)];
    if (!one.joined) absent.push_back(trainer);
    if (!one.left) (one.arrived ? waiting : missing).push_back(trainer);
  }
  const auto have = [](const std::vector<int>& list) {
    return list.size() == 1 ? " has" : " have";
  };
  if (!absent.empty())
    return absl::StrCat(WhoOf(absent), have(absent), " not come to ", options_.server, " within ",
                        options_.timeout_seconds, " s");
  return absl::StrCat(WhoOf(missing), have(missing), " not ended the ",
                      state_ == State::kPushes ? "pushes" : "pulls", " of ", RoundName(round_),
                      " within ", options_.timeout_seconds, " s, and ", WhoOf(waiting),
                      waiting.size() == 1 ? " waits" : " wait");
}

// What the server is to do next, waiting for it: a round that all have pushed for, something that
// was asked, or nothing (an empty turn) when all trainers have left. While anybody is waited for,
// there is a deadline, after which the job fails with the names of those missing.
absl::StatusOr<exec::Turn> Protocol::Next() {
  Answers answers;
  absl::StatusOr<exec::Turn> turn = exec::Turn();
  std::unique_lock<std::mutex> lock(mutex_);
  while (true) {
    if (!failure_.ok()) {
      turn = failure_;
      break;
    }
    if (state_ == State::kRuns) {
      turn->kind = exec::Turn::Kind::kProgram;
      turn->when = exec::When::kRound;
      turn->round = round_;
      turn->asked = written_after_ == round_;
      break;
    }
    if (asked_.Begin(*turn, answers)) break;
    if (!answers.empty()) {
      lock.unlock();
      for (const auto& give : std::exchange(answers, {})) give();
      lock.lock();
      continue;
    }
    if (AllHaveLeft()) break;
    const int64_t left_ns = Deadline() - NowNs();
    if (left_ns <= 0) (void)FailLocked(Overdue(), answers);
    // What changes the deadline wakes this thread.
    else changed_.wait_for(lock, std::chrono::nanoseconds(std::min(left_ns, kLongestWaitNs)));
  }
  lock.unlock();
  for (const auto& give : answers) give();
  return turn;
}

// A table, while its round runs: at other times contributions are being changed by pushes.
absl::StatusOr<const exec::Table*> Protocol::TableOfRound(const std::string& name) const {
  const exec::Table* table = Find(name);
  if (table == nullptr)
    return absl::NotFoundError(absl::StrCat(options_.server, " has no table '", name, "'"));
  if (state_ != State::kRuns)
    return absl::FailedPreconditionError(
        absl::StrCat("nothing is merged now: ", options_.server, " ", StateName()));
  return table;
}

// What the trainers have pushed for a table, in the order of their ranks.
absl::StatusOr<Contributions> Protocol::PushedFor(const exec::Table& table) const {
  Contributions from;
  std::vector<int> without;
  for (int trainer = 0; trainer < options_.trainers; ++trainer) {
    if (!takes_part(trainer)) continue;
    const Contribution& one =
        trainers_[static_cast<size_t>(trainer)].from[static_cast<size_t>(&table - tables_.data())];
    if (one.complete()) from.push_back(&one);
    else without.push_back(trainer);
  }
  if (without.empty() && !from.empty()) return from;
  return absl::FailedPreconditionError(
      absl::StrCat(WhoOf(without), without.size() == 1 ? " has" : " have",
                   " pushed nothing for table '", table.name, "' in ", RoundName(round_)));
}

// The rows of a block in the part; blocks are of rows, or of elements of a flattened tensor, which
// is one column.
absl::StatusOr<Protocol::Rows> Protocol::RowsOfBlock(const exec::Table& table,
                                                     int64_t block) const {
  if (block < 0) return Rows{0, RowsOf(table)};
  if (table.layout) {
    const exec::Parts parts(*table.layout, table.place.of);
    if (block < parts.blocks() && parts.block(block).part == table.place.at)
      return Rows{parts.block(block).local, parts.block(block).extent};
  }
  return absl::InvalidArgumentError(
      absl::StrCat("block ", block, " of table '", table.name, "' is not on ", options_.server));
}

// The dense gradient of a block (< 0: of the server's whole part) of a table: sum or mean of what
// was pushed, of rows or dense.
absl::Status Protocol::Merged(const std::string& name, int64_t block, const exec::TensorRoom& to) {
  const std::lock_guard<std::mutex> lock(mutex_);
  DT_ASSIGN_OR_RETURN(const exec::Table* const table, TableOfRound(name));
  DT_ASSIGN_OR_RETURN(const Rows rows, RowsOfBlock(*table, block));
  std::vector<int64_t> dims = table->dims;
  if (!dims.empty()) dims[0] = rows.count;
  // The last of even parts may have fewer rows than the room that all have: the pad is zero.
  int64_t pad = 0;
  if (block < 0 && !dims.empty() && to.dims.size() == dims.size() && to.dims[0] > dims[0]) {
    pad = to.dims[0] - dims[0];
    dims[0] = to.dims[0];
  }
  if (to.dtype != table->dtype || to.dims != dims)
    return absl::InvalidArgumentError(absl::StrCat("what is merged of table '", name, "' is ",
                                                   ShapeText(table->dtype, dims), ", not ",
                                                   ShapeText(to.dtype, to.dims)));
  const int64_t row_bytes = RowBytesOf(*table), width = WidthOf(*table);
  if (pad > 0)
    std::memset(to.data + rows.count * row_bytes, 0, static_cast<size_t>(pad * row_bytes));
  // Nothing is pushed to a server that has nothing of the table.
  if (rows.count * row_bytes == 0) return absl::OkStatus();
  DT_ASSIGN_OR_RETURN(const Contributions from, PushedFor(*table));
  if (from.front()->sparse()) MergeScattered(*table, from, rows.begin, rows.count, to.data);
  else MergeDense(*table, from, rows.begin * width, (rows.begin + rows.count) * width, to.data);
  return absl::OkStatus();
}

// The same as SelectedRows, of a table that was pushed in rows. A server without rows of the table
// gets none.
absl::Status Protocol::MergedRows(const std::string& name, int64_t block, exec::Value& to) {
  const std::lock_guard<std::mutex> lock(mutex_);
  DT_ASSIGN_OR_RETURN(const exec::Table* const table, TableOfRound(name));
  DT_ASSIGN_OR_RETURN(const Rows rows, RowsOfBlock(*table, block));
  if (to.dtype != table->dtype || to.kind != exec::Value::Kind::kRows)
    return absl::InvalidArgumentError(absl::StrCat("what is merged of table '", name,
                                                   "' is SelectedRows of ", NameOf(table->dtype)));
  if (RowsOf(*table) == 0) return MergeRows(*table, {}, 0, 0, to);
  DT_ASSIGN_OR_RETURN(const Contributions from, PushedFor(*table));
  if (!from.front()->sparse())
    return absl::InvalidArgumentError(
        absl::StrCat("table '", name, "' is pushed dense, and its rows are asked for"));
  return MergeRows(*table, from, rows.begin, rows.count, to);
}

void Protocol::Checkpoint(int trainer, int64_t, int64_t, Answer answer) {
  const std::string why =
      absl::StrCat(Who(trainer), " asks for a checkpoint, and ", options_.server,
                   " has rounds, after which it writes by "
                   "itself");
  Fail(why);
  answer(absl::InvalidArgumentError(why));
}

absl::StatusOr<std::vector<int64_t>> Protocol::TakeChanged(int trainer, const exec::Table& table) {
  return absl::InvalidArgumentError(absl::StrCat(Who(trainer), " asks which rows of table '",
                                                 table.name, "' have changed, and ",
                                                 options_.server, " has rounds, in which all may"));
}

absl::Status Protocol::Pulled(const std::string& table, int64_t, const exec::TensorRoom&) {
  return absl::FailedPreconditionError(absl::StrCat(
      options_.server, " has rounds, and does not keep what was pulled of table '", table, "'"));
}

}  // namespace dtranspile::ps
