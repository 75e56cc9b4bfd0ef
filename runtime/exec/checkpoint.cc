#include "runtime/exec/checkpoint.h"

#include <signal.h>

#include <atomic>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "absl/strings/str_cat.h"
#include "runtime/base/status.h"
#include "runtime/exec/checkpoint_folder.h"
#include "runtime/exec/inputs.h"
#include "runtime/exec/layout.h"
#include "runtime/exec/shares.h"
#include "runtime/exec/values.h"
#include "runtime/io/filesystem.h"
#include "runtime/io/output.h"
#include "runtime/io/shared_folder.h"
#include "runtime/io/tensor_record.h"
#include "runtime/tensor/tensor.h"

namespace dtranspile::exec {
namespace {

// The file of a variable, or of a share of it, of which others may write their parts at the same
// time.
absl::Status WriteVariable(const std::string& folder, const std::string& name,
                           const Persistable& variable, const Executor& executor, bool part) {
  FirstTouch* const rows = part ? executor.untouched(variable.buffer) : nullptr;
  const Buffer& buffer = executor.plan().buffers[static_cast<size_t>(variable.buffer)];
  TensorView view = {buffer.dtype, buffer.dims, executor.data(variable.buffer)};
  if (rows == nullptr) {
    DT_ASSIGN_OR_RETURN(view, ViewOf(executor, variable.buffer));
  }
  const std::vector<int64_t>& dims = part ? variable.layout->whole : view.dims;
  const std::string header = io::RecordHeader(view.dtype, dims, {});
  const auto front = static_cast<int64_t>(header.size());
  DT_ASSIGN_OR_RETURN(const int64_t bytes, ByteCount(view.dtype, dims));
  DT_ASSIGN_OR_RETURN(const std::string path, io::PrepareInside(folder, name));
  DT_ASSIGN_OR_RETURN(const io::SharedFile file, io::SharedFile::Open(path, front + bytes));
  DT_RETURN_IF_ERROR(file.WriteAt(header.data(), front, 0));
  absl::Status status;
  if (part) {
    DT_ASSIGN_OR_RETURN(const Place place, PlaceOf(variable.layout->axes, executor.position()));
    const bool pad = variable.layout->kind == LayoutKind::kEven;
    std::vector<std::byte> made;
    // Rows that nobody has touched are made to be written, and are not kept.
    const auto piece = [&](size_t at, size_t count) -> absl::StatusOr<const std::byte*> {
      if (rows == nullptr || rows->left() == 0) return view.data + at;
      made.resize(count);
      DT_RETURN_IF_ERROR(rows->Read(static_cast<int64_t>(at) / rows->row_bytes(),
                                    static_cast<int64_t>(count) / rows->row_bytes(), made.data()));
      return made.data();
    };
    Parts(*variable.layout, place.of)
        .ForPieces(place.at, SizeOf(view.dtype), pad, [&](size_t whole, size_t at, size_t count) {
          if (!status.ok()) return;
          const auto from = piece(at, count);
          status = from.ok() ? file.WriteAt(*from, static_cast<int64_t>(count),
                                            front + static_cast<int64_t>(whole))
                             : from.status();
        });
  } else {
    status = file.WriteAt(view.data, bytes, front);
  }
  DT_RETURN_IF_ERROR(status);
  return file.Sync();
}

// What shares there are of a variable, where ranks do not have it alike. All who write the first
// one say the same.
absl::Status WriteShares(const std::string& folder, const std::string& variable,
                         const Shares& shares) {
  const std::string text = TextOf(shares);
  const auto bytes = static_cast<int64_t>(text.size());
  DT_ASSIGN_OR_RETURN(const std::string path, io::PrepareInside(folder, SharesName(variable)));
  DT_ASSIGN_OR_RETURN(const io::SharedFile file, io::SharedFile::Open(path, bytes));
  DT_RETURN_IF_ERROR(file.WriteAt(text.data(), bytes, 0));
  return file.Sync();
}

// What this rank has of a variable: as the variable where ranks have it alike, else as its share.
// Of what is no sum the first share is the variable too, for readers that know one value of each.
absl::Status WriteShare(const std::string& folder, const Persistable& variable,
                        const WorkerConfig& config, const Executor& executor, bool part) {
  const Shares shares = SharesOf(variable, config.mesh);
  if (shares.alike()) {
    // An earlier job that never finished this checkpoint may have had it otherwise.
    DT_ASSIGN_OR_RETURN(const std::string stale, io::PathInside(folder, SharesName(variable.name)));
    DT_RETURN_IF_ERROR(io::RemoveAll(stale));
    return WriteVariable(folder, variable.name, variable, executor, part);
  }
  const int64_t share = shares.at(config.coordinates);
  DT_RETURN_IF_ERROR(
      WriteVariable(folder, ShareName(share, variable.name), variable, executor, part));
  if (share > 0) return absl::OkStatus();
  if (!shares.sums())
    DT_RETURN_IF_ERROR(WriteVariable(folder, variable.name, variable, executor, part));
  return WriteShares(folder, variable.name, shares);
}

std::atomic<bool> requested{false};
static_assert(std::atomic<bool>::is_always_lock_free);

}  // namespace

void HearRequests() {
  struct sigaction action = {};
  action.sa_handler = [](int) { requested = true; };
  action.sa_flags = SA_RESTART;
  sigemptyset(&action.sa_mask);
  sigaction(SIGUSR1, &action, nullptr);
}

Checkpoints::Checkpoints(const WorkerConfig& config) : config_(config) {
  if (config.checkpoint && !config.checkpoint->member.empty())
    io::SharedFolder::Forget(config.checkpoint->folder, config.checkpoint->member, kCheckpointSeal);
}

bool Checkpoints::Due(int64_t rounds) const {
  if (!config_.checkpoint || rounds == last_) return false;
  const int64_t every = config_.checkpoint->every;
  return asked_ || (every > 0 && (config_.skip + rounds) % every == 0);
}

bool Checkpoints::Asked() {
  if (DecidesOnRequests(config_) && requested.exchange(false)) asked_ = true;
  return asked_;
}

// Called at the end of every step (of a server: round): writes where a checkpoint is due or has
// been asked for.
absl::Status Checkpoints::After(int64_t rounds, const Executor& executor, bool asked) {
  asked_ |= asked;
  const bool due = Due(rounds);
  // A step may end no round.
  last_ = rounds;
  if (due) asked_ = false;
  if (!due || config_.checkpoint->member.empty()) return absl::OkStatus();
  const int64_t fed = config_.skip + rounds, step = config_.first_step + rounds;
  const absl::Status status = Write(step, fed, executor);
  if (status.ok()) return status;
  return absl::Status(status.code(), absl::StrCat("the checkpoint of step ", step,
                                                  " is not written: ", status.message()));
}

// Members write their shares into one unfinished folder; the last one to finish seals it with a
// file that says step and feeds, and puts it in place by a rename (io::SharedFolder). So a folder
// of a checkpoint's name is complete.
absl::Status Checkpoints::Write(int64_t step, int64_t fed, const Executor& executor) const {
  const CheckpointConfig& c = *config_.checkpoint;
  std::map<std::string_view, const Persistable*> variables;
  for (const Persistable* p : VariablesOf(executor.plan(), config_.coordinates))
    variables.emplace(p->name, p);
  DT_ASSIGN_OR_RETURN(const io::SharedFolder folder,
                      io::SharedFolder::Open(c.folder, CheckpointName(step)));
  for (const bool part : {false, true})
    for (const std::string& name : part ? c.part_names : c.names) {
      const auto found = variables.find(name);
      if (found == variables.end())
        return absl::InvalidArgumentError(
            absl::StrCat("'", name, "' is no persistable of this rank"));
      DT_RETURN_IF_ERROR(WriteShare(folder.path(), *found->second, config_, executor, part));
    }
  const Json seal = {{"step", step}, {"fed", fed}, {"digest", executor.plan().digest}};
  DT_ASSIGN_OR_RETURN(const bool complete,
                      folder.Finish(c.member, c.members, kCheckpointSeal, seal.dump() + "\n"));
  if (complete) RemoveOldCheckpoints(c.folder, step, c.keep);
  return absl::OkStatus();
}

}  // namespace dtranspile::exec
