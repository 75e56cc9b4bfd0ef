// Rows of the op table: family `random`. Notation: op_table.h; read by op_table.cc.

#include "dialects/pd/ops/families.h"
#include "dialects/pd/ops/infer_common.h"
#include "dialects/pd/ops/infer_creation.h"
#include "dialects/pd/ops/infer_normalization.h"
#include "dialects/pd/ops/infer_optimizer.h"

namespace dtranspile::pd {
namespace {

constexpr const char* kDropoutAttributes =
    "dropout_prob:f=0.5, is_test:b=false, fix_seed:b=false, seed:i=0, "
    "dropout_implementation:s=downgrade_in_infer";

constexpr const char* kAttentionAttributes =
    "dropout:f=0, causal:b=false, return_softmax:b=false, is_test:b=false, rng_name:s=''";

const OpRow kRows[] = {
    {"uniform_random", "ShapeTensor?, ShapeTensorList* -> Out",
     "shape:ls={}, min:f=-1, max:f=1, seed:i=0, diag_num:i=0, diag_step:i=0, diag_val:f=1, "
     "dtype:i=5",
     kRandom, inferCreate, kCreateConstraints},
    {"uniform_random_batch_size_like", "Input -> Out",
     "shape:is, input_dim_idx:i=0, output_dim_idx:i=0, min:f=-1, max:f=1, seed:i=0, diag_num:i=0, "
     "diag_step:i=0, diag_val:f=1, dtype:i=5",
     kRandom, inferCreateLike},
    {"gaussian_random", "ShapeTensor?, ShapeTensorList* -> Out",
     "shape:ls={}, mean:f|d=0, std:f|d=1, seed:i=0, dtype:i=5", kRandom, inferCreate,
     kCreateConstraints},
    {"gaussian_random_batch_size_like", "Input -> Out",
     "shape:is, input_dim_idx:i=0, output_dim_idx:i=0, mean:f=0, std:f=1, seed:i=0, dtype:i=5",
     kRandom, inferCreateLike},
    {"truncated_gaussian_random", "-> Out",
     "shape:is, mean:f|d=0, std:f|d=1, seed:i=0, dtype:i=5, a:f|d=-2@1, b:f|d=2@1", kRandom,
     inferCreate, kCreateConstraints},
    {"randint", "ShapeTensor?, ShapeTensorList* -> Out",
     "shape:ls={}, low:i, high:i, dtype:i=3, seed:i=0", kRandom, inferCreate, kCreateConstraints},
    {"randperm", "-> Out", "n:i, dtype:i=3, seed:i=0", kRandom, inferRandperm},
    {"bernoulli", "X -> Out", "", kRandom, inferSame<"X", "Out">},
    {"multinomial", "X -> Out", "num_samples:i=1, replacement:b=false", kRandom, inferMultinomial},
    {"sampling_id", "X -> Out", "min:f=0, max:f=1, seed:i=0", kRandom, inferSamplingId},
    {"random_crop", "X, Seed -> Out, SeedOut", "shape:is, startup_seed:i=0", kRandom,
     inferRandomCrop},
    {"seed", "-> Out", "seed:i=0, rng_name:s='', force_cpu:b=false, deterministic:b=false", kRandom,
     inferSeed},
    {"exponential", "X -> Out", "lambda:f=1", kRandom, inferSame<"X", "Out">},
    {"poisson", "X -> Out", "", kRandom, inferSame<"X", "Out">},
    {"poisson_grad", "Out@GRAD -> X@GRAD?", "", kPure, inferSame<"Out@GRAD", "X@GRAD">},
    {"dirichlet", "Alpha -> Out", "", kRandom, inferSame<"Alpha", "Out">},
    {"gumbel_softmax", "X -> Out", "temperature:f=1, hard:b=false, axis:i=-1", kRandom,
     inferSame<"X", "Out">},
    {"gumbel_softmax_grad", "Out, Out@GRAD -> X@GRAD?", "temperature:f=1, hard:b=false, axis:i=-1",
     kPure, inferSame<"Out@GRAD", "X@GRAD">},
    {"dropout", "X, Seed? -> Out, Mask", kDropoutAttributes, kRandom, inferDropout,
     kDropoutConstraints},
    {"dropout_grad", "Mask, Out@GRAD -> X@GRAD?", kDropoutAttributes, kPure,
     inferSame<"Out@GRAD", "X@GRAD">},
    {"flash_attn",
     "q, k, v, fixed_seed_offset?, attn_mask? -> out, softmax, softmax_lse, seed_offset",
     kAttentionAttributes, kRandom, inferAttention},
    {"flash_attn_grad",
     "q, k, v, out?, softmax_lse?, seed_offset, attn_mask?, out@GRAD -> q@GRAD?, k@GRAD?, v@GRAD?",
     kAttentionAttributes, kPure, inferGradients},
    {"shuffle_batch", "X, Seed -> Out, ShuffleIdx, SeedOut", "startup_seed:i=0", kRandom,
     inferShuffleBatch},
    {"shuffle_batch_grad", "ShuffleIdx, Out@GRAD -> X@GRAD?", "startup_seed:i=0", kPure,
     inferSame<"Out@GRAD", "X@GRAD">},
    {"dpsgd", "Param, Grad, LearningRate -> ParamOut",
     "clip:f=10, batch_size:f=16, sigma:f=1, seed:i=0", kRandom, inferStateUpdate,
     kOptimizerConstraints},
};

}  // namespace

Family randomFamily() { return {"random", kRows}; }

}  // namespace dtranspile::pd
