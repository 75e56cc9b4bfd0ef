#include "runtime/launch/supervisor.h"

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstring>

#include "absl/strings/str_cat.h"
#include "runtime/base/printable.h"
#include "runtime/base/status.h"
#include "runtime/exec/trace.h"

namespace dtranspile::launch {
namespace {

using exec::JsonErrors;
using exec::JsonObject;
using exec::NowNs;

constexpr int64_t kMs = 1'000'000;
// After the first sign of a failure the other ranks' words are heard for this long: the rank that
// was killed may be noticed after the one that waited for it.
constexpr int64_t kGraceNs = 300 * kMs;
// Then all are asked to end, and killed when they have not; five seconds in all.
constexpr int64_t kTermNs = kGraceNs;
// Longer where a rank has died or been stopped and none has said yet where it waited for that one.
constexpr int64_t kSpeechlessNs = 1500 * kMs;
constexpr int64_t kKillNs = 3000 * kMs;
constexpr int64_t kProgressNs = 100 * kMs;
constexpr int64_t kOwnPauseNs = 100 * kMs;
constexpr int kIdlePollMs = 500;
constexpr int kBusyPollMs = 20;

// JSON holds UTF-8 only; paths may be anything.
absl::StatusOr<std::string> ConfigText(const exec::WorkerConfig& config) {
  try {
    return exec::ToJson(config).dump();
  } catch (const Json::exception& error) {
    return absl::InvalidArgumentError(
        absl::StrCat("a path or name is not UTF-8; rename it: ", error.what()));
  }
}

}  // namespace

Supervisor::Supervisor(const std::vector<Rank>& ranks, double timeout_seconds, int64_t steps,
                       const Flights* flights)
    : ranks_(ranks),
      timeout_ns_(static_cast<int64_t>(timeout_seconds * 1e9)),
      steps_(steps),
      flights_(flights),
      records_(ranks.size()),
      terminal_(isatty(STDERR_FILENO) == 1) {
  for (RankRecord& record : records_) record.times = log_.AddStream();
}

// Signals are watched before the first process exists, so that none is left behind.
absl::Status Supervisor::Start(const std::string& binary) {
  DT_RETURN_IF_ERROR(signals_.Begin());
  for (size_t i = 0; i < ranks_.size(); ++i) {
    exec::WorkerConfig config = ranks_[i].config;
    config.control_fd = kControlFd;
    const int flight = flights_ ? flights_->memory(i) : -1;
    if (flight >= 0) config.flight_fd = kFlightFd;
    DT_ASSIGN_OR_RETURN(const std::string text, ConfigText(config));
    DT_ASSIGN_OR_RETURN(Process process, Process::Start(binary, text, "", flight));
    Child& child = children_.emplace_back();
    child.process = std::move(process);
    child.heard_ns = NowNs();
  }
  return absl::OkStatus();
}

// One thread and one poll for everything, so that words, ends and silence are judged in the order
// in which they were noticed. Words in a pipe outlive their process: they are read before its end
// counts.
void Supervisor::Watch() {
  looked_ns_ = NowNs();
  while (!AllEnded()) {
    Poll();
    ExcuseOwnPause();
    CheckSilence();
    Advance();
    ShowProgress(false);
  }
  // What was still in the pipes.
  for (size_t i = 0; i < children_.size(); ++i) {
    ReadControl(i);
    ReadLog(i);
  }
  if (failure_) AttributeFailure();
  if (failure_) SayWhere();
  ShowProgress(true);
}

bool Supervisor::AllEnded() const {
  return std::none_of(children_.begin(), children_.end(),
                      [](const Child& child) { return child.process.running(); });
}

int Supervisor::PollMs() const {
  if (failure_) return kBusyPollMs;
  return static_cast<int>(std::clamp<int64_t>(timeout_ns_ / kMs / 10, 1, kIdlePollMs));
}

// One round of events, waiting for at most PollMs. Output before ends: what a process has said is
// read before its end is judged.
void Supervisor::Poll() {
  std::vector<pollfd> fds{{signals_.fd(), POLLIN, 0}};
  for (const Child& child : children_) {
    // Negative descriptors, of ended processes, are skipped by poll.
    fds.push_back({child.process.running() ? child.process.exit_event() : -1, POLLIN, 0});
    fds.push_back({child.process.control(), POLLIN, 0});
    fds.push_back({child.process.log(), POLLIN, 0});
  }
  if (poll(fds.data(), fds.size(), PollMs()) <= 0) return;
  if (fds[0].revents != 0) {
    if (const int signal = signals_.Take(); signal != 0 && interrupted_by_ == 0) {
      interrupted_by_ = signal;
      Fail({Failure::kInterrupted,
            -1,
            {},
            {},
            absl::StrCat("interrupted by signal ", signal, " (", strsignal(signal), ")")});
    }
  }
  if (signals_.TakeRequest()) RequestCheckpoint();
  for (size_t i = 0; i < children_.size(); ++i) {
    const pollfd* of = &fds[1 + 3 * i];
    if (of[1].revents != 0) ReadControl(i);
    if (of[2].revents != 0) ReadLog(i);
    if (of[0].revents != 0) OnEnd(i);
  }
}

void Supervisor::ReadLog(size_t index) {
  Child& child = children_[index];
  if (child.process.log() < 0) return;
  std::vector<std::string> lines;
  if (!child.log.Read(child.process.log(), lines)) child.process.CloseLog();
  for (const std::string& line : lines) {
    if (line_open_) std::fputc('\n', stderr);
    line_open_ = false;
    std::fprintf(stderr, "[%s] %s\n", ranks_[index].name().c_str(), Printable(line).c_str());
  }
}

// Anything that is read counts as a sign of life.
void Supervisor::ReadControl(size_t index) {
  Child& child = children_[index];
  if (child.process.control() < 0) return;
  std::vector<std::string> lines;
  const bool open = child.control.Read(child.process.control(), lines);
  if (!open) child.process.CloseControl();
  if (!lines.empty()) child.heard_ns = NowNs();
  // A rank that is killed while it writes leaves a part of a line: how it ended says more.
  if (!open && !lines.empty() && !io::ParseJson<Json>("control channel", lines.back()).ok())
    lines.pop_back();
  for (const std::string& line : lines) OnLine(index, line);
}

// Lines of docs/jobs.md; `alive` says nothing but that the rank is there.
// The rank that decides is told once it is ready: it hears signals then.
void Supervisor::RequestCheckpoint() {
  requested_ = false;
  bool decides = false;
  for (size_t i = 0; i < children_.size(); ++i) {
    if (!exec::DecidesOnRequests(ranks_[i].config)) continue;
    decides = true;
    if (records_[i].ready) children_[i].process.Tell(SIGUSR1);
    else requested_ = true;
  }
  if (decides) return;
  std::fprintf(stderr,
               "SIGUSR1: no process that is started here decides when a checkpoint is written: it "
               "takes --checkpoint-dir, and is the first trainer of a job with servers, or the "
               "only rank that writes\n");
}

// Events of a rank (docs/runtime.md): ready, step, done, error, alive. A rank is another program as
// far as the launcher is concerned, so that what it writes is checked like any input. An error of a
// rank that was waiting for others weighs less than one of its own, which is likelier the cause.
void Supervisor::OnLine(size_t index, const std::string& line) {
  RankRecord& record = records_[index];
  const auto json = io::ParseJson<Json>("control channel", line);
  if (!json.ok() || !json->is_object())
    return Fail({Failure::kOwn,
                 static_cast<int>(index),
                 {},
                 {},
                 "wrote something to its control channel that is no JSON object"});
  JsonErrors errors("control channel");
  JsonObject object(*json, "", errors);
  const std::string event = object.String("event");
  if (event == "ready") {
    record.load_ms = object.Real("load_ms");
    record.digest = object.String("digest");
    record.ready = true;
    CheckDigest(index);
    if (requested_) RequestCheckpoint();
  } else if (event == "step") {
    OnStep(index, *json);
  } else if (event == "done") {
    record.peak_rss_bytes = object.Int("peak_rss_bytes");
    record.bytes_sent = object.Int("bytes_sent");
    record.bytes_received = object.Int("bytes_received");
    record.done = true;
  } else if (event == "error") {
    const auto weight = object.Bool("waiting") ? Failure::kWaiting : Failure::kOwn;
    Fail({weight, static_cast<int>(index), json->value("op", Json()), json->value("step", Json()),
          object.String("message")});
  } else if (event != "alive") {
    Fail({Failure::kOwn,
          static_cast<int>(index),
          {},
          {},
          absl::StrCat("sent an unknown event '", event.substr(0, 40), "'")});
  }
  if (!errors.ok())
    Fail({Failure::kOwn, static_cast<int>(index), {}, {}, std::string(errors.status().message())});
}

// Values go to the log, which keeps them on disk, as text: a long run does not grow in memory.
void Supervisor::OnStep(size_t index, const Json& line) {
  RankRecord& record = records_[index];
  JsonErrors errors("control channel");
  JsonObject object(line, "", errors);
  const double ms = object.Real("ms");
  ++record.steps;
  log_.Append(record.times, Json(ms).dump());
  char timing[32];
  std::snprintf(timing, sizeof(timing), ", %.2f ms", ms);
  record.last = timing;
  for (const auto& [name, value] : object.Object("fetch").items()) {
    const auto [found, added] = record.fetch.emplace(name, 0);
    if (added) found->second = log_.AddStream();
    const std::string shown = Shown(value).dump();
    log_.Append(found->second, shown);
    if (found == record.fetch.begin())
      absl::StrAppend(&record.last, ", ", name, " = ", shown.substr(0, 40));
  }
  if (!errors.ok())
    Fail({Failure::kOwn, static_cast<int>(index), {}, {}, std::string(errors.status().message())});
}

// Ranks say the digest of the job that they have loaded; one that differs was started from another
// job and would wait for messages that nobody sends.
void Supervisor::CheckDigest(size_t index) {
  for (size_t other = 0; other < index; ++other)
    if (records_[other].ready && records_[other].digest != records_[index].digest)
      Fail({Failure::kOwn,
            static_cast<int>(index),
            {},
            {},
            absl::StrCat("runs another job than ", ranks_[other].name(), " (",
                         records_[index].digest, ", not ", records_[other].digest, ")")});
}

// A rank that ended is a failure unless it had said that it was done, or was ended by this
// launcher, or had said why.
void Supervisor::OnEnd(size_t index) {
  std::string how;
  if (!children_[index].process.Reap(how)) return;
  // Its last words come before the verdict.
  ReadControl(index);
  const bool said_why = failure_ && failure_->process == static_cast<int>(index);
  if (signalled_ != 0 || said_why) return;
  if (records_[index].done && how.empty()) return;
  // A worker that has reported an error before exits with a status of its own, which says nothing
  // new.
  const bool died = how.find("signal") != std::string::npos || !failure_;
  if (died)
    Fail({Failure::kDied,
          static_cast<int>(index),
          {},
          StepOf(index),
          how.empty() ? "ended without a report" : how});
}

// Between two looks passes what poll may wait, and little more. What is beyond that this process
// itself was stopped, or its machine, or whoever reads its standard error: no time that a rank was
// silent in.
void Supervisor::ExcuseOwnPause() {
  const int64_t now = NowNs();
  const int64_t pause = now - looked_ns_ - PollMs() * kMs;
  looked_ns_ = now;
  if (pause < kOwnPauseNs) return;
  for (Child& child : children_) child.heard_ns = std::min(child.heard_ns + pause, now);
  if (failure_) failed_ns_ = std::min(failed_ns_ + pause, now);
}

// A rank that sends nothing, not even its sign of life, is stopped or hangs in the kernel.
void Supervisor::CheckSilence() {
  if (failure_) return;
  const int64_t now = NowNs();
  for (size_t i = 0; i < children_.size(); ++i) {
    if (!children_[i].process.running() || now - children_[i].heard_ns < timeout_ns_) continue;
    Fail({Failure::kSilent,
          static_cast<int>(i),
          {},
          StepOf(i),
          absl::StrCat(children_[i].process.Stopped() ? "is stopped and" : "hangs and",
                       " has sent no sign of life for ",
                       (now - children_[i].heard_ns) / 1'000'000'000, " s")});
  }
}

// Several ranks fail for one cause, and the first word need not be that of the cause: a rank that
// waits in vain says so before the death of the one that it waited for is seen. Weights order the
// kinds of failure; until the ranks are told to end the heaviest one is kept, and of equal ones the
// first. What comes after is a consequence of the ending.
void Supervisor::Fail(Failure failure) {
  if (!failure_) failed_ns_ = NowNs();
  if (!waited_ && failure.weight == Failure::kWaiting && failure.op.is_string()) waited_ = failure;
  if (!failure_) {
    failure_ = std::move(failure);
    return;
  }
  if (signalled_ != 0 || failure.weight <= failure_->weight) return;
  failure_ = std::move(failure);
}

// Ranks that wait in vain may wait for one that has been stopped; that one is to be named.
void Supervisor::AttributeFailure() {
  if (failure_->weight != Failure::kWaiting) return;
  for (size_t i = 0; i < children_.size(); ++i) {
    if (!children_[i].process.running() || !children_[i].process.Stopped()) continue;
    failure_ = Failure{Failure::kSilent, static_cast<int>(i), {}, StepOf(i), "is stopped"};
    return;
  }
}

bool Supervisor::IsSpeechless() const {
  return failure_->weight == Failure::kDied || failure_->weight == Failure::kSilent;
}

// A rank that was killed or stopped cannot say where it was. The ranks that waited for it can,
// whether they spoke before its end was noticed or after it.
void Supervisor::SayWhere() {
  if (!IsSpeechless()) return;
  if (waited_ && failure_->step.is_null()) failure_->step = waited_->step;
  if (waited_) failure_->op = waited_->op;
  if (!failure_->step.is_null())
    absl::StrAppend(&failure_->message, "; in step ", failure_->step.dump());
  if (waited_)
    absl::StrAppend(&failure_->message, failure_->step.is_null() ? ";" : "",
                    " others waited for it in op ", waited_->op.get<std::string>());
}

// The step that a rank is in; null before the first and after the last one.
Json Supervisor::StepOf(size_t index) const {
  const RankRecord& record = records_[index];
  return record.ready && !record.done ? Json(record.steps) : Json();
}

// Takes a failing job to its end: listen, ask, kill.
void Supervisor::Advance() {
  if (!failure_) return;
  const int64_t since = NowNs() - failed_ns_;
  const int64_t term = IsSpeechless() && !waited_ ? kSpeechlessNs : kTermNs;
  const int wanted = since >= kKillNs                        ? SIGKILL
                     : since >= term || interrupted_by_ != 0 ? SIGTERM
                                                             : 0;
  if (wanted == 0 || wanted == signalled_) return;
  if (signalled_ == 0) AttributeFailure();
  for (Child& child : children_) child.process.Signal(wanted);
  signalled_ = wanted;
}

// One line that is written over, on a terminal only; the step is that of the slowest rank.
void Supervisor::ShowProgress(bool last) {
  if (!terminal_ || steps_ == 0) return;
  const int64_t now = NowNs();
  if (!last && now - shown_ns_ < kProgressNs) return;
  shown_ns_ = now;
  // Servers have rounds, which may be none.
  int64_t least = steps_;
  for (size_t i = 0; i < records_.size(); ++i)
    if (!ranks_[i].config.serves) least = std::min(least, records_[i].steps);
  const std::string text = absl::StrCat("step ", least, "/", steps_, records_.front().last);
  std::fprintf(stderr, "\r\033[K%s%s", text.c_str(), last ? "\n" : "");
  line_open_ = !last;
}

}  // namespace dtranspile::launch
