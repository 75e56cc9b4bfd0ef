// Initial values: uniform_random and gaussian_random, of the extents of a shape tensor too, or with
// the batch of another tensor (…_batch_size_like), truncated_gaussian_random. On one thread: the
// sequence of an engine is sequential. Rows: runtime/kernels/signatures/random.calls.
#include <optional>
#include <string>

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
int32_t FillUniform(OpCall& call, DtBuffer& out, const std::vector<int64_t>& dims, int first,
                    Pieces pieces = {}) {
  const random::Diagonal diagonal{call.Int(first + 3), call.Int(first + 4),
                                  static_cast<float>(call.Real(first + 5))};
  if (diagonal.num < 0 || diagonal.num > INT32_MAX || diagonal.step < 0 ||
      diagonal.step > INT32_MAX)
    return call.Fail("diag_num %lld and diag_step %lld must be from 0 to 2^31 - 1",
                     static_cast<long long>(diagonal.num), static_cast<long long>(diagonal.step));
  if (!call.Resize(out, dims)) return 1;
  return VisitFloat(call.context(), out, [&](auto tag) {
    using T = typename decltype(tag)::type;
    PieceEngine engine(call, first + 6, call.Int(first + 2), pieces);
    random::FillUniform(*engine, Data<T>(out), Elements(out), static_cast<float>(call.Real(first)),
                        static_cast<float>(call.Real(first + 1)), diagonal);
    return 0;
  });
}

// Attributes from `first` on: mean, std, seed, version.
int32_t FillGaussian(OpCall& call, DtBuffer& out, const std::vector<int64_t>& dims, int first,
                     Pieces pieces = {}) {
  if (!call.Resize(out, dims)) return 1;
  return VisitFloat(call.context(), out, [&](auto tag) {
    using T = typename decltype(tag)::type;
    PieceEngine engine(call, first + 3, call.Int(first + 2), pieces);
    random::FillGaussian(*engine, Data<T>(out), Elements(out), call.Real(first),
                         call.Real(first + 1));
    return 0;
  });
}

}  // namespace

// Extents from a list of tensors with one number each, else from one tensor, else from the
// attribute.
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

int32_t UniformRandom(OpCall& call) {
  using A = args::dt_uniform_random;
  std::vector<int64_t> dims;
  return ShapeOf(call, A::ShapeTensor, A::ShapeTensorList, A::shape, dims)
             ? FillUniform(call, call.Arg(A::Out), dims, 1, {A::continues, A::begins})
             : 1;
}

int32_t GaussianRandom(OpCall& call) {
  using A = args::dt_gaussian_random;
  std::vector<int64_t> dims;
  return ShapeOf(call, A::ShapeTensor, A::ShapeTensorList, A::shape, dims)
             ? FillGaussian(call, call.Arg(A::Out), dims, 1, {A::continues, A::begins})
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

int32_t TruncatedGaussianRandom(OpCall& call) {
  using A = args::dt_truncated_gaussian_random;
  constexpr int64_t kHasBounds = 3000000;  // the first version whose op has them
  DtBuffer& out = call.Arg(A::Out);
  std::optional<random::Bounds> bounds;
  if (call.Int(A::version) >= kHasBounds) bounds = random::Bounds{call.Real(A::a), call.Real(A::b)};
  if (bounds && !(bounds->low <= bounds->high))
    return call.Fail("bounds %g to %g", bounds->low, bounds->high);
  if (!call.Resize(out, call.Ints(A::shape))) return 1;
  return VisitFloat(call.context(), out, [&](auto tag) {
    using T = typename decltype(tag)::type;
    PieceEngine engine(call, A::version, call.Int(A::seed), {A::continues, A::begins});
    random::FillTruncatedGaussian(*engine, Data<T>(out), Elements(out), call.Real(A::mean),
                                  call.Real(A::std), bounds);
    return 0;
  });
}

// Where the engine stands that the op before this call has drawn from: what `begins` takes.
int32_t RandomState(OpCall& call) {
  using A = args::dt_random_state;
  DtBuffer& out = call.Arg(A::Out);
  const std::optional<uint64_t> state = random::Generator::Process().Latest().State();
  if (!state) return call.Fail("the engine has a state of more than a number");
  if (!call.Resize(out, {1})) return 1;
  *Data<int64_t>(out) = static_cast<int64_t>(*state);
  return 0;
}

// What the op after this call draws (Generator::SetOp); without anything: it is over.
int32_t RandomStream(OpCall& call) {
  using A = args::dt_random_stream;
  std::optional<random::Generator::Op> op;
  if (call.Given(A::lineage)) op = {call.Int(A::lineage), call.Int(A::number)};
  std::vector<std::string> axes;
  for (int i = 0; i < call.Strings(A::axes); ++i) axes.emplace_back(call.Text(A::axes, i));
  const absl::Status status = random::Generator::Process().SetOp(axes, op);
  return status.ok() ? 0 : call.Fail("%s", std::string(status.message()).c_str());
}

}  // namespace dtranspile::kernels
