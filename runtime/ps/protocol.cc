#include "runtime/ps/protocol.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "runtime/base/status.h"
#include "runtime/comm/patience.h"
#include "runtime/ps/awaited.h"

namespace dtranspile::ps {
namespace {

using comm::NowNs;

const char* NameOf(exec::Phase phase) { return phase == exec::Phase::kPush ? "pushes" : "pulls"; }

// The words of the strategy and of messages.
const char* NameOf(exec::Merge merge) {
  switch (merge) {
    case exec::Merge::kMean: return "mean";
    case exec::Merge::kSum: return "sum";
    case exec::Merge::kEach: return "each";
  }
  return "";
}

}  // namespace

const char* NameOf(Protocol::Reading how) {
  switch (how) {
    case Protocol::Reading::kPull: return "'s pull";
    case Protocol::Reading::kLookup: return "'s lookup";
    case Protocol::Reading::kChanged: return "'s question for changed rows";
  }
  return "";
}

std::string RoundName(int64_t round) {
  return round == kStartUp ? "the start-up" : absl::StrCat("round ", round);
}

// The state machine of a server with rounds: pulls of the start-up, then pushes, the round's
// program, pulls, and so on. Trainers move it: a phase ends when all that still take part have
// ended it. Requests out of turn end the job, since their sender believes in another round than the
// server does.
Protocol::Protocol(Options options, std::vector<exec::Table> tables,
                   const std::vector<exec::Rounds::Handler>& handlers)
    : options_(std::move(options)),
      tables_(std::move(tables)),
      timeout_ns_(static_cast<int64_t>(options_.timeout_seconds * 1e9)),
      patience_ns_(
          static_cast<int64_t>(PatienceOf(Awaited::kTrainers, options_.timeout_seconds) * 1e9)),
      opened_ns_(NowNs()),
      asked_(tables_, options_.trainers, handlers),
      trainers_(static_cast<size_t>(options_.trainers)) {
  for (Trainer& one : trainers_) one.from.resize(tables_.size());
}

std::string Protocol::Who(int trainer) const { return absl::StrCat(options_.role, " ", trainer); }

std::string Protocol::WhoOf(const std::vector<int>& trainers) const {
  return absl::StrCat(options_.role, trainers.size() == 1 ? " " : "s ",
                      absl::StrJoin(trainers, ", "));
}

std::string Protocol::StateName() const {
  switch (state_) {
    case State::kPulls: return absl::StrCat("is in the pulls of ", RoundName(round_));
    case State::kPushes: return absl::StrCat("is in the pushes of ", RoundName(round_));
    case State::kRuns: return absl::StrCat("runs ", RoundName(round_));
  }
  return "";
}

std::string Protocol::PushName(int trainer, int64_t round, const std::string& table) const {
  return absl::StrCat(Who(trainer), "'s push of table '", table, "' in ", RoundName(round));
}

// Every trainer that waits is told.
// Answers are collected under the lock and given after it: an answer calls into gRPC, which may
// call back.
absl::Status Protocol::FailLocked(const std::string& why, Answers& answers) {
  if (!failure_.ok()) return failure_;
  failure_ = absl::AbortedError(why);
  for (Trainer& trainer : trainers_)
    if (trainer.answer)
      answers.push_back([a = std::exchange(trainer.answer, nullptr), f = failure_] { a(f); });
  for (Answer& one : TakeParked()) answers.push_back([a = std::move(one), f = failure_] { a(f); });
  asked_.Fail(failure_, answers);
  if (options_.on_failure) answers.push_back([this, why] { options_.on_failure(why); });
  changed_.notify_all();
  return failure_;
}

// After all have left nothing can fail any more: a late word of a lost connection is no news.
void Protocol::Fail(const std::string& why) {
  Answers answers;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (!AllHaveLeft()) (void)FailLocked(why, answers);
  }
  for (const auto& give : answers) give();
}

bool Protocol::AllHaveLeft() const {
  return std::all_of(trainers_.begin(), trainers_.end(), [](const Trainer& t) { return t.left; });
}

absl::Status Protocol::failure() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return failure_;
}

// Each trainer has one connection for the whole run: one that has left does not come back.
absl::Status Protocol::Join(int trainer) {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (!failure_.ok()) return failure_;
  if (trainer < 0 || trainer >= options_.trainers)
    return absl::InvalidArgumentError(absl::StrCat(
        Who(trainer), " is none of the ", options_.trainers, " that ", options_.server, " has"));
  Trainer& one = trainers_[static_cast<size_t>(trainer)];
  if (one.joined)
    return absl::AlreadyExistsError(
        absl::StrCat(Who(trainer), " has a connection to ", options_.server, " already"));
  one.joined = true;
  changed_.notify_all();
  return absl::OkStatus();
}

// A trainer that has pushed in this round and leaves would be missed in the merge; at any other
// time the others go on without it.
void Protocol::Leave(int trainer) {
  Answers answers;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    Trainer& one = trainers_[static_cast<size_t>(trainer)];
    const bool begun = std::any_of(one.from.begin(), one.from.end(),
                                   [](const Contribution& c) { return c.begun(); });
    if (begun && state_ == State::kPushes)
      (void)FailLocked(
          absl::StrCat(Who(trainer), " leaves in the middle of the pushes of ", RoundName(round_)),
          answers);
    one.left = true;
    Advance(answers);
    changed_.notify_all();
  }
  for (const auto& give : answers) give();
}

// A connection that ends without a word is a trainer that died, and with it the job.
void Protocol::Lost(int trainer) {
  Answers answers;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    Trainer& one = trainers_[static_cast<size_t>(trainer)];
    if (one.left || one.lost) return;
    one.lost = true;
    (void)FailLocked(
        absl::StrCat(Who(trainer), " is dead, or gives no sign of life: its connection to ",
                     options_.server, " was lost, and it had not left"),
        answers);
  }
  for (const auto& give : answers) give();
}

const exec::Table* Protocol::Find(const std::string& table) const {
  const auto found = std::find_if(tables_.begin(), tables_.end(),
                                  [&](const exec::Table& t) { return t.name == table; });
  return found == tables_.end() ? nullptr : &*found;
}

// What is wrong with a push, apart from its bytes.
absl::Status Protocol::CheckPush(int trainer, int64_t round, const std::string& name,
                                 const PushChunk& chunk) const {
  const std::string push = PushName(trainer, round, name);
  const auto wrong = [&](const auto&... parts) {
    return absl::InvalidArgumentError(absl::StrCat(push, " ", parts...));
  };
  const exec::Table* table = Find(name);
  if (table == nullptr) return wrong("is for none of the tables of ", options_.server);
  if (round < round_) return wrong("comes late: ", options_.server, " ", StateName());
  if (round > round_ || state_ != State::kPushes)
    return wrong("comes too early: ", options_.server, " ", StateName());
  if (trainers_[static_cast<size_t>(trainer)].arrived)
    return wrong("comes late: it has ended its pushes of that round");
  if (const absl::Status status = CheckMerge(*table, chunk.merge); !status.ok())
    return wrong(status.message());
  const auto index = static_cast<size_t>(table - tables_.data());
  for (int other = 0; other < options_.trainers; ++other) {
    if (other == trainer || !trainers_[static_cast<size_t>(other)].joined) continue;
    const Contribution& theirs = trainers_[static_cast<size_t>(other)].from[index];
    if (!theirs.begun()) continue;
    if (theirs.merge() != chunk.merge)
      return wrong("is for the ", NameOf(chunk.merge), ", that of ", Who(other), " for the ",
                   NameOf(theirs.merge()));
    if (theirs.sparse() != chunk.sparse)
      return wrong("is ", chunk.sparse ? "SelectedRows" : "dense", ", that of ", Who(other), " ",
                   theirs.sparse() ? "SelectedRows" : "dense");
  }
  return absl::OkStatus();
}

// One message of a push. The place for its bytes is reserved under the lock and filled without it,
// so that messages of many trainers are copied at the same time; Finish counts it under the lock
// again.
absl::Status Protocol::Push(int trainer, int64_t round, const std::string& name, PushChunk chunk,
                            Payload& payload) {
  chunk.bytes = payload.left();
  Answers answers;
  const auto give = [&](absl::Status status) {
    for (const auto& one : answers) one();
    return status;
  };
  Contribution* to = nullptr;
  const exec::Table* table = nullptr;
  const auto fail = [&](const absl::Status& status) {
    return FailLocked(absl::StrCat(PushName(trainer, round, name), " ", status.message()), answers);
  };
  std::byte* memory = nullptr;
  std::unique_lock<std::mutex> lock(mutex_);
  absl::Status status = failure_;
  if (status.ok()) {
    status = CheckPush(trainer, round, name, chunk);
    if (!status.ok()) status = FailLocked(std::string(status.message()), answers);
  }
  if (status.ok()) {
    table = Find(name);
    to = &trainers_[static_cast<size_t>(trainer)].from[static_cast<size_t>(table - tables_.data())];
    const absl::StatusOr<std::byte*> begun = to->Begin(*table, chunk);
    status = begun.ok() ? absl::OkStatus() : fail(begun.status());
    if (begun.ok()) memory = *begun;
  }
  lock.unlock();
  if (!status.ok()) return give(status);
  // No other message has this place, and no round runs before the trainer has said that its pushes
  // have ended, which it does when this one has been answered.
  payload.Read(memory, chunk.bytes);
  lock.lock();
  status = to->Finish(*table, chunk);
  if (!status.ok()) status = fail(status);
  lock.unlock();
  return give(status);
}

// Decides whether a read may be answered now, must wait until the round has run (`parked_`), or is
// out of turn. While trainers push, rows may be looked up, whole tables may not be pulled: a pull
// ends a phase, a lookup is part of a step.
void Protocol::Read(int trainer, int64_t round, const std::string& table, Reading how,
                    Answer answer) {
  Answers answers;
  absl::Status status;
  bool parked = false;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    const auto fail = [&](const auto&... parts) {
      return FailLocked(absl::StrCat(Who(trainer), NameOf(how), " of table '", table, "' in ",
                                     RoundName(round), " ", parts...),
                        answers);
    };
    // Values change in rounds only, so that rows may be looked up while others push.
    const bool pulls = state_ != State::kPushes;
    status = failure_;
    if (!status.ok()) {
    } else if (Find(table) == nullptr) {
      status = fail("is for none of the tables of ", options_.server);
    } else if (round != round_ || (how == Reading::kPull && !pulls)) {
      status = fail("comes too ", round < round_ ? "late" : "early", ": ", options_.server, " ",
                    StateName());
    } else if (pulls && trainers_[static_cast<size_t>(trainer)].arrived) {
      status = fail("comes late: it has ended its pulls");
    } else if (state_ == State::kRuns) {
      parked_.push_back(std::move(answer));
      parked = true;
    }
  }
  for (const auto& give : answers) give();
  if (!parked) answer(status);
}

// A request that may be answered waits for its program. The trainer waits for the answer, so that
// no phase ends meanwhile.
void Protocol::Ask(int trainer, int64_t round, const exec::Table& table, Reading how, int64_t chunk,
                   std::vector<int64_t> rows, Reply reply) {
  Read(trainer, round, table.name, how,
       [this, trainer, &table, how, chunk, rows = std::move(rows),
        reply = std::move(reply)](const absl::Status& admitted) mutable {
         Answers answers;
         absl::Status status = admitted;
         if (status.ok()) {
           const std::lock_guard<std::mutex> lock(mutex_);
           status = failure_;
           if (status.ok()) {
             asked_.Add(trainer, IndexOf(table),
                        how == Reading::kPull ? exec::When::kPull : exec::When::kLookup, chunk,
                        std::move(rows), std::move(reply), answers);
             changed_.notify_all();
           }
         }
         for (const auto& give : answers) give();
         if (!status.ok()) reply(status);
       });
}

std::shared_ptr<const std::byte> Protocol::Memory(int, const exec::Table& table, Reading, int64_t) {
  return {std::shared_ptr<void>(), table.data};
}

// The end of a phase belongs to the phase that the server is in, comes once, and not before all
// messages.
absl::Status Protocol::CheckEnd(int trainer, int64_t round, exec::Phase phase) const {
  const bool pushes = phase == exec::Phase::kPush;
  const std::string who =
      absl::StrCat(Who(trainer), " ends its ", NameOf(phase), " of ", RoundName(round), " ");
  if (round != round_ || pushes != (state_ == State::kPushes))
    return absl::InvalidArgumentError(
        absl::StrCat(who, "out of turn: ", options_.server, " ", StateName()));
  if (trainers_[static_cast<size_t>(trainer)].arrived)
    return absl::InvalidArgumentError(absl::StrCat(who, "twice"));
  return pushes ? CheckWhole(trainer) : absl::OkStatus();
}

// That what a trainer has begun to push is there.
absl::Status Protocol::CheckWhole(int trainer) const {
  const std::vector<Contribution>& from = trainers_[static_cast<size_t>(trainer)].from;
  for (size_t t = 0; t < from.size(); ++t)
    if (from[t].begun() && !from[t].complete())
      return absl::InvalidArgumentError(
          absl::StrCat(PushName(trainer, round_, tables_[t].name),
                       " lacks some of its messages, and it has ended its pushes"));
  return absl::OkStatus();
}

// That what one has pushed, all have.
absl::Status Protocol::CheckAll() const {
  for (size_t t = 0; t < tables_.size(); ++t) {
    int with = -1, without = -1;
    for (int trainer = 0; trainer < options_.trainers; ++trainer)
      if (takes_part(trainer))
        (trainers_[static_cast<size_t>(trainer)].from[t].begun() ? with : without) = trainer;
    if (with >= 0 && without >= 0)
      return absl::InvalidArgumentError(
          absl::StrCat(Who(without), " has pushed nothing for table '", tables_[t].name, "' in ",
                       RoundName(round_), ", and ", Who(with), " has"));
  }
  return absl::OkStatus();
}

// Who asks ends its pushes of the round next, so that every server hears of it before the round
// runs.
void Protocol::CheckpointAfter(int64_t round) {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (round == round_ && state_ == State::kPushes) written_after_ = round;
}

// The answer is given when the last trainer has ended the phase. The first one to arrive starts the
// clock by which the others are awaited.
void Protocol::EndPhase(int trainer, int64_t round, exec::Phase phase, Answer answer) {
  Answers answers;
  absl::Status status;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    status = failure_;
    if (status.ok())
      if (const absl::Status wrong = CheckEnd(trainer, round, phase); !wrong.ok())
        status = FailLocked(std::string(wrong.message()), answers);
    if (status.ok()) {
      Trainer& one = trainers_[static_cast<size_t>(trainer)];
      one.arrived = true;
      one.answer = std::move(answer);
      if (first_arrival_ns_ == 0) first_arrival_ns_ = NowNs();
      Advance(answers);
      changed_.notify_all();
    }
  }
  for (const auto& give : answers) give();
  if (!status.ok()) answer(status);
}

// Goes on to the next state where all trainers that still take part have ended this one.
void Protocol::Advance(Answers& answers) {
  if (!failure_.ok() || (state_ != State::kPulls && state_ != State::kPushes)) return;
  bool someone = false;
  for (const Trainer& one : trainers_) {
    if (one.left) continue;
    if (!one.joined || !one.arrived) return;
    someone = true;
  }
  if (!someone) return;
  state_ == State::kPulls ? EndPulls(answers) : EndPushes(answers);
}

// The number of the round counts up here: what trainers push from now on belongs to the next one.
void Protocol::EndPulls(Answers& answers) {
  state_ = State::kPushes;
  ++round_;
  AnswerPhase(answers);
}

// Next() is waiting for this state, and runs the round's program.
void Protocol::EndPushes(Answers& answers) {
  if (const absl::Status status = CheckAll(); !status.ok()) {
    (void)FailLocked(std::string(status.message()), answers);
    return;
  }
  state_ = State::kRuns;
  AnswerPhase(answers);
}

// Nobody has arrived in the phase that begins now.
void Protocol::AnswerPhase(Answers& answers) {
  first_arrival_ns_ = 0;
  for (Trainer& one : trainers_) {
    one.arrived = false;
    if (one.answer)
      answers.push_back([a = std::exchange(one.answer, nullptr)] { a(absl::OkStatus()); });
  }
  changed_.notify_all();
}

}  // namespace dtranspile::ps
