// Library calls: family `random`.
#include "runtime/kernels/cpu/ops/random/calls.h"
#include "runtime/kernels/cpu/ops/families.h"

namespace dtranspile::kernels {
namespace {

constexpr FunctionRow kRows[] = {
    {"dt_bernoulli", Entry<Bernoulli>},
    {"dt_dropout", Entry<Dropout>},
    {"dt_gaussian_like", Entry<GaussianLike>},
    {"dt_gaussian_of_shape", Entry<GaussianOfShape>},
    {"dt_multinomial", Entry<Multinomial>},
    {"dt_randint", Entry<Randint>},
    {"dt_random_crop", Entry<RandomCrop>},
    {"dt_randperm", Entry<Randperm>},
    {"dt_sampling_id", Entry<SamplingId>},
    {"dt_seed", Entry<Seed>},
    {"dt_uniform_like", Entry<UniformLike>},
    {"dt_uniform_of_shape", Entry<UniformOfShape>},
};

}  // namespace

FunctionTable RandomFunctions() { return kRows; }

}  // namespace dtranspile::kernels
