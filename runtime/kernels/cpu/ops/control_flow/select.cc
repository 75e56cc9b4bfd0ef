// select_input, select_output (framework: select_input_op.cc, select_output_op.cc), which join and
// part the branches of `cond`, and assert.
#include <algorithm>
#include <string>

#include "absl/strings/str_cat.h"
#include "runtime/kernels/cpu/ops/control_flow/calls.h"

namespace dtranspile::kernels {
namespace {

bool BranchOf(OpCall& call, const DtBuffer& mask, int branches, int& branch) {
  std::vector<int64_t> values;
  if (!IntegersOf(call, mask, values)) return false;
  if (values.size() != 1)
    return call.Fail("'%s' has %zu elements, expected one", mask.name, values.size()), false;
  branch = static_cast<int>(std::clamp<int64_t>(values[0], -1, branches));
  if (branch >= 0 && branch < branches) return true;
  return call.Fail("'%s' chooses %lld of %d branches", mask.name, static_cast<long long>(values[0]),
                   branches),
         false;
}

// The first `most` elements; all of them where that is negative.
std::string Listed(OpCall& call, const DtBuffer& buffer, int64_t most) {
  const int64_t n = most < 0 ? Elements(buffer) : std::min(most, Elements(buffer));
  std::string text = absl::StrCat(" '", buffer.name, "' = [");
  const auto list = [&](auto* data) {
    constexpr size_t kLongest = 800;  // of a message
    for (int64_t i = 0; i < n && text.size() < kLongest; ++i)
      absl::StrAppend(&text, i > 0 ? ", " : "", data[i]);
  };
  if (TypeOf(buffer) == DType::kBool) list(Data<bool>(buffer));
  else
    VisitNumber(call.context(), buffer, [&](auto tag) {
      list(Data<typename decltype(tag)::type>(buffer));
      return 0;
    });
  return text + (n < Elements(buffer) ? ", …]" : "]");
}

}  // namespace

// X, Mask -> Out
int32_t SelectInput(OpCall& call) {
  using A = args::dt_select_input;
  int branch = 0;
  if (!BranchOf(call, call.Arg(A::Mask), call.Count(A::X), branch)) return 1;
  if (!call.Has(A::X, branch))
    return call.Fail("branch %d, which has no value, is chosen for '%s'", branch,
                     call.Arg(A::Out).name);
  return Copy(call, call.Arg(A::Out), call.Arg(A::X, branch)) ? 0 : 1;
}

// X, Mask -> Out: the outputs that are not chosen keep what they have.
int32_t SelectOutput(OpCall& call) {
  using A = args::dt_select_output;
  int branch = 0;
  if (!BranchOf(call, call.Arg(A::Mask), call.Count(A::Out), branch)) return 1;
  return !call.Has(A::Out, branch) || Copy(call, call.Arg(A::Out, branch), call.Arg(A::X)) ? 0 : 1;
}

// Cond, Data; summarize
int32_t Assert(OpCall& call) {
  using A = args::dt_assert;
  const DtBuffer& condition = call.Arg(A::Cond);
  if (TypeOf(condition) != DType::kBool || Elements(condition) != 1)
    return call.Fail("condition '%s' is %s of %lld elements, expected one bool", condition.name,
                     TypeName(condition), static_cast<long long>(Elements(condition)));
  if (*Data<bool>(condition)) return 0;
  std::string text = absl::StrCat("condition '", condition.name, "' is false;");
  for (int i = 0; i < call.Count(A::Data); ++i)
    text += Listed(call, call.Arg(A::Data, i), call.Int(A::summarize));
  return call.Fail("%s", text.c_str());
}

}  // namespace dtranspile::kernels
