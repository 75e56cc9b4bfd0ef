// Library calls: family `random`.
#include "runtime/kernels/cpu/ops/random/calls.h"
#include "runtime/kernels/cpu/ops/families.h"

namespace dtranspile::kernels {
namespace {

constexpr FunctionRow kRows[] = {
    {"dt_bernoulli", Entry<Bernoulli>},
    {"dt_dropout", Entry<Dropout>},
    {"dt_multinomial", Entry<Multinomial>},
    {"dt_randint", Entry<Randint>},
    {"dt_random_crop", Entry<RandomCrop>},
    {"dt_randperm", Entry<Randperm>},
    {"dt_sampling_id", Entry<SamplingId>},
    {"dt_seed", Entry<Seed>},
};

}  // namespace

FunctionTable RandomFunctions() { return kRows; }

}  // namespace dtranspile::kernels
