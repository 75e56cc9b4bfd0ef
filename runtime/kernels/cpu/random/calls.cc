#include "runtime/kernels/cpu/random/calls.h"

#include <cstdint>
#include <optional>

#include "runtime/kernels/cpu/random/distributions.h"
#include "runtime/kernels/cpu/random/generator.h"
#include "runtime/kernels/cpu/support.h"

namespace dtranspile::kernels {
namespace {

using random::Bounds;
using random::Diagonal;
using random::Engine;
using random::FillGaussian;
using random::FillTruncatedGaussian;
using random::FillUniform;
using random::Generator;

// fill(engine, data, count) for the element type of the call's buffer.
template <typename Fill>
int32_t FillArgument(DtContext* context, const DtCall* call, Fill&& fill) {
  const DtBuffer& out = call->args[0];
  const absl::StatusOr<random::Release> release = random::ReleaseFromCode(call->ints[0]);
  if (!release.ok()) return dt_fail(context, "%s", std::string(release.status().message()).c_str());
  return VisitFloat(context, out, [&](auto tag) {
    using T = typename decltype(tag)::type;
    fill(Generator::Process().ForOp(*release, call->ints[1]), Data<T>(out), Elements(out));
    return 0;
  });
}

}  // namespace
}  // namespace dtranspile::kernels

using namespace dtranspile::kernels;

extern "C" int32_t dt_uniform_random(DtContext* context, const DtCall* call) {
  if (!CheckCall(context, call, {.args = 1, .ints = 4, .reals = 3})) return 1;
  const int64_t num = call->ints[2];
  const int64_t step = call->ints[3];
  if (num < 0 || num > INT32_MAX || step < 0 || step > INT32_MAX) {
    return dt_fail(context, "diag_num %lld and diag_step %lld must be from 0 to 2^31 - 1",
                   static_cast<long long>(num), static_cast<long long>(step));
  }
  const Diagonal diagonal{num, step, static_cast<float>(call->reals[2])};
  return FillArgument(context, call, [&](Engine& engine, auto* out, int64_t count) {
    FillUniform(engine, out, count, static_cast<float>(call->reals[0]),
                static_cast<float>(call->reals[1]), diagonal);
  });
}

extern "C" int32_t dt_gaussian_random(DtContext* context, const DtCall* call) {
  if (!CheckCall(context, call, {.args = 1, .ints = 2, .reals = 2})) return 1;
  return FillArgument(context, call, [&](Engine& engine, auto* out, int64_t count) {
    FillGaussian(engine, out, count, call->reals[0], call->reals[1]);
  });
}

extern "C" int32_t dt_truncated_gaussian_random(DtContext* context, const DtCall* call) {
  if (!CheckCall(context, call, {.args = 1, .ints = 2, .reals = kAny})) return 1;
  if (call->num_reals != 2 && call->num_reals != 4)
    return dt_fail(context, "%d reals, expected 2 or 4", call->num_reals);
  std::optional<Bounds> bounds;
  if (call->num_reals == 4) {
    bounds = Bounds{call->reals[2], call->reals[3]};
    if (!(bounds->low <= bounds->high))
      return dt_fail(context, "bounds %g to %g", bounds->low, bounds->high);
  }
  return FillArgument(context, call, [&](Engine& engine, auto* out, int64_t count) {
    FillTruncatedGaussian(engine, out, count, call->reals[0], call->reals[1], bounds);
  });
}

extern "C" int32_t dt_random_stream(DtContext* context, const DtCall* call) {
  if (!CheckCall(context, call, {.args = 0, .ints = kAny, .strings = kAny})) return 1;
  if (call->num_ints != 0 && call->num_ints != 2)
    return dt_fail(context, "%d ints, expected none or 2", call->num_ints);
  std::optional<Generator::Op> op;
  if (call->num_ints == 2) op = {call->ints[0], call->ints[1]};
  const absl::Status status =
      Generator::Process().SetOp({call->strings, call->strings + call->num_strings}, op);
  return status.ok() ? 0 : dt_fail(context, "%s", std::string(status.message()).c_str());
}
