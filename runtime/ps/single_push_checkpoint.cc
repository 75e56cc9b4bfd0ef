// Checkpoints of a server that applies every push by itself: a turn of their own between two
// programs, so that nothing changes while the worker writes.
#include <utility>

#include "absl/strings/str_cat.h"
#include "runtime/ps/single_push.h"

namespace dtranspile::ps {

// Queued when the trainer's pushes before it are applied; answered when it is written.
void SinglePushes::Checkpoint(int trainer, int64_t pushes, int64_t step, Answer answer) {
  Await(
      trainer, pushes,
      [this, step, answer = std::move(answer)](const absl::Status& applied) {
        absl::Status status = applied;
        {
          const std::lock_guard<std::mutex> lock(mutex_);
          if (status.ok()) status = failure_;
          if (status.ok()) checkpoints_.push_back({step, answer});
          changed_.notify_all();
        }
        if (!status.ok()) answer(status);
      },
      "");
}

void SinglePushes::FinishCheckpoint(const absl::Status& status, Answers& answers) {
  // After a failure nobody waits for it any more.
  if (checkpoints_.empty()) return;
  Writing done = std::move(checkpoints_.front());
  checkpoints_.pop_front();
  absl::Status told = status;
  if (!status.ok())
    told = FailLocked(absl::StrCat(options_.server, " failed: ", status.message()), answers);
  answers.push_back([a = std::move(done.answer), told] { a(told); });
}

}  // namespace dtranspile::ps
