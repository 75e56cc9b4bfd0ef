#include "runtime/ps/single_push.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"
#include "runtime/base/status.h"
#include "runtime/comm/patience.h"

namespace dtranspile::ps {
namespace {

constexpr int64_t kLongestWaitNs = 3'600'000'000'000;

}  // namespace

// Servers without rounds: every push is applied by itself, in the order of its trainer, and
// trainers do not wait for one another. Pushes wait in a queue per trainer (at most
// `most_waiting_`, which the client keeps to); reads wait until the pushes that their sender made
// before have been applied.
SinglePushes::SinglePushes(Options options, std::vector<exec::Table> tables,
                           const std::vector<std::string>& served,
                           const std::vector<std::string>& pulled,
                           const std::vector<exec::Rounds::Handler>& handlers)
    : Protocol(std::move(options), std::move(tables), handlers),
      most_waiting_(kMostWaitingPushes * static_cast<int64_t>(served.size())),
      senders_(static_cast<size_t>(options_.trainers)),
      uses_(tables_.size()),
      pullings_(static_cast<size_t>(options_.trainers), std::vector<Pulling>(tables_.size())) {
  for (const std::string& name : served)
    if (const exec::Table* table = Find(name)) uses_[IndexOf(*table)].served = true;
  asked_.on_pull = [this](int trainer, size_t table, const auto& copy) {
    auto& last = uses_[table].pulled;
    if (!last.empty()) last[static_cast<size_t>(trainer)] = copy;
  };
  // What a trainer that pulls nothing at start-up has: the first values.
  std::unique_lock<std::mutex> lock(mutex_);
  for (const std::string& name : pulled)
    if (const exec::Table* table = Find(name))
      uses_[IndexOf(*table)].pulled.assign(senders_.size(), CopyOf(*table, lock));
}

std::string SinglePushes::PushText(int trainer, int64_t number, const std::string& table) const {
  return absl::StrCat(Who(trainer), "'s push ", number, ", of table '", table, "',");
}

// What is wrong with a push, apart from its bytes.
absl::Status SinglePushes::CheckSingle(int trainer, int64_t number, const std::string& name,
                                       const PushChunk& chunk) const {
  const auto wrong = [&](const auto&... parts) {
    return absl::InvalidArgumentError(absl::StrCat(PushText(trainer, number, name), " ", parts...));
  };
  const exec::Table* table = Find(name);
  if (table == nullptr) return wrong("is for none of the tables of ", options_.server);
  if (!uses_[IndexOf(*table)].served)
    return wrong("is for a table that no program of ", options_.server, " takes pushes for");
  if (chunk.merge != exec::Merge::kEach)
    return wrong("is to be merged with those of others, and ", options_.server,
                 " applies every push by itself: push with merge each");
  if (const absl::Status status = CheckMerge(*table, exec::Merge::kSum); !status.ok())
    return wrong(status.message());
  const Sender& sender = senders_[static_cast<size_t>(trainer)];
  if (number < sender.applied) return wrong("comes late: it has been applied");
  if (number >= sender.applied + most_waiting_)
    return wrong("comes too early: ", options_.server, " has applied ", sender.applied,
                 ", and keeps ", most_waiting_);
  const auto begun = sender.pushes.find(number);
  if (begun != sender.pushes.end() && begun->second->table != IndexOf(*table))
    return wrong("was one of table '", tables_[begun->second->table].name, "' before");
  return absl::OkStatus();
}

// As in the protocol with rounds, except that pushes have numbers, by which messages of several
// that are under way at once are told apart.
absl::Status SinglePushes::Push(int trainer, int64_t number, const std::string& name,
                                PushChunk chunk, Payload& payload) {
  chunk.bytes = payload.left();
  Answers answers;
  const auto give = [&](absl::Status status) {
    for (const auto& one : answers) one();
    return status;
  };
  std::unique_lock<std::mutex> lock(mutex_);
  if (!failure_.ok()) return failure_;
  if (const absl::Status status = CheckSingle(trainer, number, name, chunk); !status.ok()) {
    const absl::Status failed = FailLocked(std::string(status.message()), answers);
    lock.unlock();
    return give(failed);
  }
  const exec::Table& table = *Find(name);
  Sender& sender = senders_[static_cast<size_t>(trainer)];
  std::unique_ptr<Arriving>& arriving = sender.pushes[number];
  if (arriving == nullptr)
    arriving = std::make_unique<Arriving>(Arriving{IndexOf(table), {}, false});
  arriving->tracked |= chunk.tracked;
  Contribution& to = arriving->what;
  const auto fail = [&](const absl::Status& status) {
    return FailLocked(absl::StrCat(PushText(trainer, number, name), " ", status.message()),
                      answers);
  };
  absl::StatusOr<std::byte*> memory = to.Begin(table, chunk);
  if (!memory.ok()) {
    const absl::Status failed = fail(memory.status());
    lock.unlock();
    return give(failed);
  }
  lock.unlock();
  // No other message has this place, and nobody takes the push before all of it is there.
  payload.Read(*memory, chunk.bytes);
  lock.lock();
  absl::Status status = to.Finish(table, chunk);
  if (!status.ok()) status = fail(status);
  else MakeReady(trainer);
  lock.unlock();
  return give(status);
}

// A trainer whose next push is complete takes its turn after those that are ready.
void SinglePushes::MakeReady(int trainer) {
  Sender& sender = senders_[static_cast<size_t>(trainer)];
  const auto next = sender.pushes.find(sender.applied);
  if (sender.ready || next == sender.pushes.end() || !next->second->what.complete()) return;
  sender.ready = true;
  ready_.push_back(trainer);
  changed_.notify_all();
}

// What of its pushes is not there, when a trainer leaves.
std::string SinglePushes::Unfinished(int trainer) const {
  int64_t next = senders_[static_cast<size_t>(trainer)].applied;
  for (const auto& [number, push] : senders_[static_cast<size_t>(trainer)].pushes) {
    if (number != next || !push->what.complete())
      return number != next
                 ? absl::StrCat("push ", next)
                 : absl::StrCat("push ", next, ", of table '", tables_[push->table].name, "'");
    ++next;
  }
  return "";
}

// What it has pushed is applied all the same.
void SinglePushes::Leave(int trainer) {
  Answers answers;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (const std::string missing = Unfinished(trainer); !missing.empty())
      (void)FailLocked(absl::StrCat(Who(trainer), " leaves in the middle of its ", missing),
                       answers);
    trainers_[static_cast<size_t>(trainer)].left = true;
    changed_.notify_all();
  }
  for (const auto& give : answers) give();
}

// Answers when so many pushes of the trainer have been applied; or what is wrong.
void SinglePushes::Await(int trainer, int64_t pushes, Answer answer, const std::string& wrong) {
  Answers answers;
  absl::Status status;
  bool parked = false;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    status = failure_;
    if (status.ok() && !wrong.empty()) {
      status = FailLocked(absl::StrCat(Who(trainer), wrong), answers);
    } else if (status.ok() && senders_[static_cast<size_t>(trainer)].applied < pushes) {
      waiting_.push_back({trainer, pushes, std::move(answer)});
      parked = true;
    }
  }
  for (const auto& give : answers) give();
  if (!parked) answer(status);
}

// `pushes`: how many the trainer had made when it asked. It reads its own writes, therefore.
void SinglePushes::Read(int trainer, int64_t pushes, const std::string& table, Reading how,
                        Answer answer) {
  const std::string what = absl::StrCat(NameOf(how), " of table '", table, "' ");
  Await(trainer, pushes, std::move(answer),
        Find(table) ? "" : absl::StrCat(what, "is for none of the tables of ", options_.server));
}

// Only pushes have an end here: the trainer asks for it when its queue is full.
void SinglePushes::EndPhase(int trainer, int64_t pushes, exec::Phase phase, Answer answer) {
  Await(trainer, pushes, std::move(answer),
        phase == exec::Phase::kPush
            ? ""
            : absl::StrCat(" ends its pulls, and ", options_.server, " has no rounds"));
}

// Gives the answers of those requests that waited for pushes which have been applied by now.
void SinglePushes::AnswerApplied(int trainer, Answers& answers) {
  const int64_t applied = senders_[static_cast<size_t>(trainer)].applied;
  const auto rest = std::partition(waiting_.begin(), waiting_.end(), [&](const Waiting& one) {
    return one.trainer != trainer || one.pushes > applied;
  });
  for (auto one = rest; one != waiting_.end(); ++one)
    answers.push_back([a = std::move(one->answer)] { a(absl::OkStatus()); });
  waiting_.erase(rest, waiting_.end());
}

std::vector<Protocol::Answer> SinglePushes::TakeParked() {
  std::vector<Answer> answers;
  for (Waiting& one : std::exchange(waiting_, {})) answers.push_back(std::move(one.answer));
  for (Writing& one : std::exchange(checkpoints_, {})) answers.push_back(std::move(one.answer));
  return answers;
}

// A table that pushes are taken for is changed by its own program only (D35), others by any.
void SinglePushes::BeginReading(const exec::Table& table, std::unique_lock<std::mutex>& lock) {
  Use& use = uses_[IndexOf(table)];
  ++(use.served ? use.readers : wide_readers_);
  changed_.wait(lock, [&] { return !use.changes && (use.served || !runs()); });
}

// The program that waits for the readers to end is woken.
void SinglePushes::EndReading(const exec::Table& table) {
  Use& use = uses_[IndexOf(table)];
  --(use.served ? use.readers : wide_readers_);
  changed_.notify_all();
}

// A copy of what the table holds between two programs; the lock is free while it is made.
std::shared_ptr<const std::byte> SinglePushes::CopyOf(const exec::Table& table,
                                                      std::unique_lock<std::mutex>& lock) {
  Use& use = uses_[IndexOf(table)];
  BeginReading(table, lock);
  if (use.copy == nullptr) {
    lock.unlock();
    const auto bytes = static_cast<size_t>(BytesOf(table));
    auto copy = std::make_shared<std::vector<std::byte>>(bytes);
    if (bytes > 0) std::memcpy(copy->data(), table.data, bytes);
    lock.lock();
    use.copy = {copy, copy->data()};
  }
  std::shared_ptr<const std::byte> result = use.copy;
  EndReading(table);
  return result;
}

// Rows of a lookup are read in place, under a count of readers that keeps programs away. A pull
// comes in several messages, all of which must see one state of the table: they share a copy, which
// lives until each of its chunks has been taken once.
std::shared_ptr<const std::byte> SinglePushes::Memory(int trainer, const exec::Table& table,
                                                      Reading how, int64_t chunk) {
  std::unique_lock<std::mutex> lock(mutex_);
  if (how == Reading::kLookup) {
    BeginReading(table, lock);
    return {table.data, [this, &table](const std::byte*) {
              const std::lock_guard<std::mutex> again(mutex_);
              EndReading(table);
            }};
  }
  Pulling& pulling = pullings_[static_cast<size_t>(trainer)][IndexOf(table)];
  const auto at = static_cast<size_t>(chunk);
  if (pulling.copy == nullptr || pulling.taken[at]) {
    const std::shared_ptr<const std::byte> copy = CopyOf(table, lock);
    // Another message of the same pull may have been here in between.
    if (pulling.copy == nullptr || pulling.taken[at])
      pulling = {copy, std::vector<bool>(static_cast<size_t>(ChunksOf(BytesOf(table))))};
    Use& use = uses_[IndexOf(table)];
    if (!use.pulled.empty()) use.pulled[static_cast<size_t>(trainer)] = pulling.copy;
  }
  pulling.taken[at] = true;
  const bool last =
      std::find(pulling.taken.begin(), pulling.taken.end(), false) == pulling.taken.end();
  return last ? std::exchange(pulling.copy, nullptr) : pulling.copy;
}

// The next push of a trainer whose table nobody reads.
bool SinglePushes::BeginPush(exec::Turn& turn) {
  const auto free = std::find_if(ready_.begin(), ready_.end(), [&](int trainer) {
    const Sender& sender = senders_[static_cast<size_t>(trainer)];
    return wide_readers_ == 0 && uses_[sender.pushes.at(sender.applied)->table].readers == 0;
  });
  if (free == ready_.end()) return false;
  running_ = *free;
  ready_.erase(free);
  const Sender& sender = senders_[static_cast<size_t>(running_)];
  const size_t table = sender.pushes.at(sender.applied)->table;
  uses_[table].changes = true;
  from_ = running_;
  turn.kind = exec::Turn::Kind::kProgram;
  turn.when = exec::When::kPush;
  turn.table = tables_[table].name;
  turn.arguments = {{DType::kInt64, {1}, reinterpret_cast<const std::byte*>(&from_)}};
  return true;
}

// What the server's thread does next: a request that a program answers, before a push that is
// ready, since its trainer waits; the end when nothing is left and all have gone. Without either it
// waits, until the deadline of the trainers that should be there.
absl::StatusOr<exec::Turn> SinglePushes::Next() {
  Answers answers;
  absl::StatusOr<exec::Turn> turn = exec::Turn();
  std::unique_lock<std::mutex> lock(mutex_);
  while (failure_.ok()) {
    // Who asks waits; who pushes does not.
    if (wide_readers_ == 0 && asked_.Begin(*turn, answers)) break;
    if (!answers.empty()) {
      lock.unlock();
      for (const auto& give : std::exchange(answers, {})) give();
      lock.lock();
      continue;
    }
    if (!checkpoints_.empty()) {
      writing_ = true;
      turn->kind = exec::Turn::Kind::kCheckpoint;
      turn->round = checkpoints_.front().step;
      break;
    }
    if (BeginPush(*turn)) break;
    if (ready_.empty() && AllHaveLeft()) break;
    const int64_t left_ns = Deadline() - comm::NowNs();
    if (left_ns <= 0) (void)FailLocked(Overdue(), answers);
    // What changes the deadline wakes this thread.
    else changed_.wait_for(lock, std::chrono::nanoseconds(std::min(left_ns, kLongestWaitNs)));
  }
  if (!failure_.ok()) turn = failure_;
  lock.unlock();
  for (const auto& give : answers) give();
  return turn;
}

// A table that has changed loses its copy; so do those that any program may change.
void SinglePushes::FinishPush(const absl::Status& status, Answers& answers) {
  const int trainer = std::exchange(running_, -1);
  Sender& sender = senders_[static_cast<size_t>(trainer)];
  const size_t table = sender.pushes.at(sender.applied)->table;
  Use& use = uses_[table];
  use.changes = false;
  for (Use& one : uses_)
    if (&one == &use || !one.served) one.copy = nullptr;
  if (!status.ok()) {
    (void)FailLocked(
        absl::StrCat(options_.server, " failed when it applied ",
                     PushText(trainer, sender.applied, tables_[table].name), " ", status.message()),
        answers);
    return;
  }
  NoteChanges(trainer, *sender.pushes.at(sender.applied));
  sender.pushes.erase(sender.applied++);
  sender.ready = false;
  MakeReady(trainer);
  AnswerApplied(trainer, answers);
}

// The end of a turn, whichever it was: a checkpoint, what a pull asked for, or a push. Answers are
// given without the lock, since sending may call back.
void SinglePushes::Finish(const absl::Status& status) {
  Answers answers;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (std::exchange(writing_, false)) {
      FinishCheckpoint(status, answers);
    } else if (asked_.running()) {
      FinishAsked(status, answers);
      for (Use& one : uses_)
        if (!one.served) one.copy = nullptr;
    } else {
      FinishPush(status, answers);
    }
    changed_.notify_all();
  }
  for (const auto& give : answers) give();
}

// A program sees the pushes of the one table that it runs for.
absl::StatusOr<const exec::Table*> SinglePushes::TableOfRound(const std::string& name) const {
  const exec::Table* table = Find(name);
  if (table == nullptr)
    return absl::NotFoundError(absl::StrCat(options_.server, " has no table '", name, "'"));
  if (running_ >= 0) {
    const Sender& sender = senders_[static_cast<size_t>(running_)];
    if (sender.pushes.at(sender.applied)->table == IndexOf(*table)) return table;
  }
  return absl::FailedPreconditionError(absl::StrCat("nothing that has been pushed for table '",
                                                    name, "' is applied now on ", options_.server));
}

absl::StatusOr<Contributions> SinglePushes::PushedFor(const exec::Table&) const {
  const Sender& sender = senders_[static_cast<size_t>(running_)];
  return Contributions{&sender.pushes.at(sender.applied)->what};
}

}  // namespace dtranspile::ps
