#include "runtime/exec/exchange.h"

#include <cstring>

#include "absl/strings/str_cat.h"
#include "runtime/base/status.h"
#include "runtime/exec/values.h"

namespace dtranspile::exec {

// A step exchanges when the counter, which it increments, is a multiple of `every`: the counter is
// set to the number before the next one, so that the steps between two exchanges begin anew.
absl::Status ExchangeNext(const Executor& executor) {
  const Plan& plan = executor.plan();
  for (const PlanComm& comm : plan.comms) {
    if (!comm.exchange) continue;
    for (const Persistable& p : plan.persistables) {
      if (p.name != comm.exchange->counter) continue;
      DT_ASSIGN_OR_RETURN(const TensorView now, ViewOf(executor, p.buffer));
      int64_t counted = 0;
      if (now.dtype != DType::kInt64 || now.bytes() != sizeof(counted))
        return absl::InvalidArgumentError(
            absl::StrCat("'", p.name, "', which counts the steps to an exchange, is no number"));
      std::memcpy(&counted, now.data, sizeof(counted));
      counted += comm.exchange->every - 1 - counted % comm.exchange->every;
      const auto* bytes = reinterpret_cast<const std::byte*>(&counted);
      DT_RETURN_IF_ERROR(SetBuffer(executor, p.buffer, {DType::kInt64, {1}, bytes}));
    }
  }
  return absl::OkStatus();
}

}  // namespace dtranspile::exec
