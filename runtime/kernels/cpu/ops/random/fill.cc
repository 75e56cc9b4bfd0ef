// uniform_random and gaussian_random where only the run knows the extents: those of a shape tensor,
// or with the batch of another tensor (…_batch_size_like). Where the plan knows them, the calls of
// runtime/kernels/cpu/random/calls.h fill what start-up programs fill. Rows:
// runtime/kernels/signatures/random.calls.
#include "runtime/kernels/cpu/ops/random/calls.h"
#include "runtime/kernels/cpu/random/distributions.h"

namespace dtranspile::kernels {
namespace {

// Extents `shape` with that of the input's dim (the number of sequences, where it has LoD) at the
// given place. Attributes: shape, from, to.
bool ShapeLike(OpCall& call, std::vector<int64_t>& dims) {
  using A = args::dt_gaussian_like;
  static_assert(A::Input == args::dt_uniform_like::Input &&
                A::input_dim_idx == args::dt_uniform_like::input_dim_idx &&
                A::output_dim_idx == args::dt_uniform_like::output_dim_idx &&
                A::shape == args::dt_uniform_like::shape);
  const DtBuffer& input = call.Arg(A::Input);
  const auto shape = call.Ints(A::shape);
  const int64_t from = call.Int(A::input_dim_idx), to = call.Int(A::output_dim_idx);
  dims.assign(shape.begin(), shape.end());
  if (from < 0 || from >= input.rank || to < 0 || to >= static_cast<int64_t>(dims.size()))
    return call.Fail("dim %lld of '%s', which has %d, as dim %lld of %zu",
                     static_cast<long long>(from), input.name, input.rank,
                     static_cast<long long>(to), dims.size()),
           false;
  const Lod& lod = OpCall::LodOf(input);
  dims[static_cast<size_t>(to)] = from == 0 && !lod.empty() && !lod.back().empty()
                                      ? static_cast<int64_t>(lod.back().size()) - 1
                                      : input.dims[from];
  return true;
}

// Attributes from `first` on: min, max, seed, diag_num, diag_step, diag_val, version.
int32_t FillUniform(OpCall& call, DtBuffer& out, const std::vector<int64_t>& dims, int first) {
  const random::Diagonal diagonal{call.Int(first + 3), call.Int(first + 4),
                                  static_cast<float>(call.Real(first + 5))};
  if (diagonal.num < 0 || diagonal.num > INT32_MAX || diagonal.step < 0 ||
      diagonal.step > INT32_MAX)
    return call.Fail("diag_num or diag_step out of range");
  if (!call.Resize(out, dims)) return 1;
  return VisitFloat(call.context(), out, [&](auto tag) {
    using T = typename decltype(tag)::type;
    random::FillUniform(EngineOf(call, first + 6, call.Int(first + 2)), Data<T>(out), Elements(out),
                        static_cast<float>(call.Real(first)),
                        static_cast<float>(call.Real(first + 1)), diagonal);
    return 0;
  });
}

// Attributes from `first` on: mean, std, seed, version.
int32_t FillGaussian(OpCall& call, DtBuffer& out, const std::vector<int64_t>& dims, int first) {
  if (!call.Resize(out, dims)) return 1;
  return VisitFloat(call.context(), out, [&](auto tag) {
    using T = typename decltype(tag)::type;
    random::FillGaussian(EngineOf(call, first + 3, call.Int(first + 2)), Data<T>(out),
                         Elements(out), call.Real(first), call.Real(first + 1));
    return 0;
  });
}

}  // namespace

bool ShapeOf(OpCall& call, int tensor, int list, int attribute, std::vector<int64_t>& dims) {
  const auto given = call.Ints(attribute);
  dims.assign(given.begin(), given.end());
  if (!call.Has(list)) return !call.Has(tensor) || IntegersOf(call, call.Arg(tensor), dims);
  dims.clear();
  for (int k = 0; k < call.Count(list); ++k) {
    std::vector<int64_t> one;
    if (!IntegersOf(call, call.Arg(list, k), one)) return false;
    dims.insert(dims.end(), one.begin(), one.end());
  }
  return true;
}

int32_t UniformOfShape(OpCall& call) {
  using A = args::dt_uniform_of_shape;
  std::vector<int64_t> dims;
  return ShapeOf(call, A::ShapeTensor, A::ShapeTensorList, A::shape, dims)
             ? FillUniform(call, call.Arg(A::Out), dims, 1)
             : 1;
}

int32_t GaussianOfShape(OpCall& call) {
  using A = args::dt_gaussian_of_shape;
  std::vector<int64_t> dims;
  return ShapeOf(call, A::ShapeTensor, A::ShapeTensorList, A::shape, dims)
             ? FillGaussian(call, call.Arg(A::Out), dims, 1)
             : 1;
}

int32_t UniformLike(OpCall& call) {
  using A = args::dt_uniform_like;
  std::vector<int64_t> dims;
  return ShapeLike(call, dims) ? FillUniform(call, call.Arg(A::Out), dims, 3) : 1;
}

int32_t GaussianLike(OpCall& call) {
  using A = args::dt_gaussian_like;
  std::vector<int64_t> dims;
  return ShapeLike(call, dims) ? FillGaussian(call, call.Arg(A::Out), dims, 3) : 1;
}

}  // namespace dtranspile::kernels
