#include "runtime/kernels/cpu/ops/embedding/sampler.h"

#include "runtime/kernels/cpu/random/generator.h"

namespace dtranspile::kernels {

std::mt19937_64 SamplerEngine(int64_t seed, int64_t version) {
  if (seed != 0) return std::mt19937_64(static_cast<uint64_t>(seed));
  const auto release =
      version > 0 && version < 2000000 ? random::Release::kFluid1 : random::Release::kPaddle2;
  return std::mt19937_64(static_cast<uint64_t>(
      random::Generator::Process().ForOp(release, 0).Canonical<double>() * 9007199254740992.0));
}

bool ClassesInRange(OpCall& call, const char* name, const std::vector<int64_t>& values,
                    int64_t classes) {
  for (size_t i = 0; i < values.size(); ++i) {
    if (values[i] >= 0 && values[i] < classes) continue;
    return call.Fail("element %zu of '%s' is %lld, expected at least 0 and below %lld", i, name,
                     static_cast<long long>(values[i]), static_cast<long long>(classes)),
           false;
  }
  return true;
}

}  // namespace dtranspile::kernels
