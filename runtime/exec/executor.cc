#include "runtime/exec/executor.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "runtime/base/status.h"

namespace dtranspile::exec {
namespace {

// Gradients lie in step memory: ranks of this host sum them where they lie.
bool SharesMemory(const std::vector<comm::Communicator*>& comms) {
  return std::any_of(comms.begin(), comms.end(), [](const comm::Communicator* one) {
    return one != nullptr && one->size() > 1 && std::string_view(one->backend()) == "shm";
  });
}

}  // namespace

Executor::Executor(Plan plan, ExecutorOptions options)
    : plan_(std::move(plan)), options_(std::move(options)), pool_(options_.pool), context_(&pool_) {
  walk_.trace = options_.trace;
  walk_.flight = options_.flight;
}

// Memory first (a plan that is too large fails before anything is opened), then the library of
// kernels, after checking that this processor has the instructions that they were compiled for,
// then binding.
absl::StatusOr<std::unique_ptr<Executor>> Executor::Load(Plan plan, ExecutorOptions options) {
  if (options.comms.size() != plan.comms.size())
    return absl::InvalidArgumentError(absl::StrCat(
        "the plan has ", plan.comms.size(), " communicators, ", options.comms.size(), " given"));
  std::unique_ptr<Executor> executor(new Executor(std::move(plan), std::move(options)));
  DT_RETURN_IF_ERROR(executor->pool_.status());
  const Plan& p = executor->plan_;
  const RankLinks& links = executor->options_;
  DT_ASSIGN_OR_RETURN(executor->storage_,
                      Storage::Make(p, links.position, SharesMemory(links.comms)));
  if (!p.library.empty()) {
    DT_RETURN_IF_ERROR(CheckTarget(p.target.cpu, p.target.features));
    const std::string folder = p.folder.empty() ? "." : p.folder;
    DT_ASSIGN_OR_RETURN(executor->library_,
                        KernelLibrary::Open(absl::StrCat(folder, "/", p.library)));
  }
  DT_RETURN_IF_ERROR(executor->Bind());
  return executor;
}

absl::Status Executor::Bind() {
  DT_ASSIGN_OR_RETURN(untouched_, FirstTouches::Make(plan_, options_.position,
                                                     options_.find_function, storage_, pool_));
  Binder binder(plan_, options_, storage_, untouched_, library_, context_, fault_);
  for (const Program& program : plan_.programs) {
    DT_ASSIGN_OR_RETURN(BoundBody body, binder.Body(program.body));
    programs_.push_back(std::move(body));
  }
  if (binder.missing().empty()) return absl::OkStatus();
  return absl::NotFoundError(absl::StrJoin(binder.missing(), "; "));
}

absl::Status Executor::Run(When when, const std::string& table) {
  const Program* program = plan_.find(when, table);
  if (program == nullptr) return absl::OkStatus();
  NumericScope numerics;
  walk_.failed_op.clear();
  walk_.failed_waiting = false;
  return programs_[static_cast<size_t>(program - plan_.programs.data())].Run(walk_);
}

absl::Status Executor::RunStartup() {
  DT_RETURN_IF_ERROR(Run(When::kStartup));
  if (plan_.serves()) storage_.DropStepMemory();
  return absl::OkStatus();
}

}  // namespace dtranspile::exec
