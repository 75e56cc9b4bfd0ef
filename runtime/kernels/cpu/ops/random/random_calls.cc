// Library calls: family `random`.
#include "runtime/kernels/cpu/ops/families.h"
#include "runtime/kernels/cpu/ops/random/calls.h"

namespace dtranspile::kernels {
namespace {

constexpr FunctionRow kRows[] = {
    {"dt_attention", Entry<Attention>, kFloats},
    {"dt_attention_grad", Entry<AttentionGrad>, kFloats},
    {"dt_bernoulli", Entry<Bernoulli>, kFloats},
    {"dt_dirichlet", Entry<Dirichlet>, kFloats},
    {"dt_dropout", Entry<Dropout>, kAnyFloats},
    {"dt_exponential", Entry<Exponential>, kFloats},
    {"dt_gaussian_like", Entry<GaussianLike>, kFloats},
    {"dt_gaussian_random", Entry<GaussianRandom>, kFloats},
    {"dt_gumbel_softmax", Entry<GumbelSoftmax>, kFloats},
    {"dt_multinomial", Entry<Multinomial>, kFloats},
    {"dt_poisson", Entry<Poisson>, kFloats},
    {"dt_randint", Entry<Randint>, kNumbers},
    {"dt_random_crop", Entry<RandomCrop>, kAnyType},
    {"dt_random_state", Entry<RandomState>, kAnyType},
    {"dt_random_stream", Entry<RandomStream>, kAnyType},
    {"dt_randperm", Entry<Randperm>, kNumbers},
    {"dt_rrelu", Entry<Rrelu>, kFloats},
    {"dt_sampling_id", Entry<SamplingId>, kFloats},
    {"dt_seed", Entry<Seed>, kAnyType},
    {"dt_shuffle_batch", Entry<ShuffleBatch>, kAnyType},
    {"dt_shuffle_batch_grad", Entry<ShuffleBatchGrad>, kAnyType},
    {"dt_truncated_gaussian_random", Entry<TruncatedGaussianRandom>, kFloats},
    {"dt_uniform_like", Entry<UniformLike>, kFloats},
    {"dt_uniform_random", Entry<UniformRandom>, kFloats},
};

}  // namespace

FunctionTable RandomFunctions() { return kRows; }

}  // namespace dtranspile::kernels
