// print: a tensor to the standard error stream, and on to the output (phi print_kernel; fluid
// print_op). Standard output belongs to reports.
#include <algorithm>
#include <cstdio>
#include <cstring>
#include <string>

#include "runtime/kernels/cpu/ops/host/calls.h"

namespace dtranspile::kernels {
namespace {

std::string TextOf(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%g", value);
  return text;
}

std::string ExtentsOf(const DtBuffer& x) {
  std::string text;
  for (int64_t d : OpCall::Dims(x)) text += (text.empty() ? "" : ", ") + std::to_string(d);
  return "[" + text + "]";
}

std::string LodText(const Lod& lod) {
  std::string text;
  for (const auto& level : lod) {
    text += text.empty() ? "[" : ", [";
    for (size_t i = 0; i < level.size(); ++i)
      text += (i > 0 ? ", " : "") + std::to_string(level[i]);
    text += "]";
  }
  return "[" + text + "]";
}

// The first `most` elements; all where it is negative.
bool DataText(OpCall& call, const DtBuffer& x, int64_t most, std::string& text) {
  const int64_t count = most < 0 ? Elements(x) : std::min(most, Elements(x));
  text = "[";
  return VisitPlain(call.context(), x, [&](auto tag) {
           using T = typename decltype(tag)::type;
           for (int64_t i = 0; i < count; ++i) {
             if constexpr (std::is_floating_point_v<T>)
               text += (i > 0 ? " " : "") + TextOf(static_cast<double>(Data<T>(x)[i]));
             else text += (i > 0 ? " " : "") + std::to_string(static_cast<int64_t>(Data<T>(x)[i]));
           }
           text += count < Elements(x) ? " ...]" : "]";
           return 0;
         }) == 0;
}

// Counts the calls of this place; true while there were fewer than `most` (0 and less: always).
bool Counted(OpCall& call, int64_t most) {
  if (most <= 0) return true;
  void** state = call.raw()->state;
  if (*state == nullptr) {
    *state = new int64_t(0);
    dt_keep(call.context(), *state, [](void* count) { delete static_cast<int64_t*>(count); });
  }
  return (*static_cast<int64_t*>(*state))++ < most;
}

}  // namespace

// In; first_n, message, summarize, print_tensor_name, print_tensor_type, print_tensor_shape,
// print_tensor_lod, print_phase, is_forward -> Out
int32_t Print(OpCall& call) {
  using A = args::dt_print;
  const DtBuffer& x = call.Arg(A::In);
  if (call.Has(A::Out)) {
    DtBuffer& out = call.Arg(A::Out);
    const Lod& lod = OpCall::LodOf(x);
    if (!SameType(call, x, out) || !call.Resize(out, x)) return 1;
    OpCall::SetLod(out, lod);
    std::memcpy(out.data, x.data, static_cast<size_t>(Elements(x) * ElementSize(x)));
  }
  const std::string_view phase = call.Text(A::print_phase);
  const bool asked = phase == "BOTH" ||
                     phase == (call.Bool(A::is_forward) ? "FORWARD" : "BACKWARD") ||
                     phase == (call.Bool(A::is_forward) ? "forward" : "backward");
  if (!asked || !Counted(call, call.Int(A::first_n))) return 0;
  std::string data, text(call.Text(A::message));
  if (!DataText(call, x, call.Int(A::summarize), data)) return 1;
  const std::string name = call.Bool(A::is_forward) ? x.name : std::string(x.name) + " (backward)";
  if (call.Bool(A::print_tensor_name)) text += (text.empty() ? "" : "\t") + ("Variable: " + name);
  if (call.Bool(A::print_tensor_lod)) text += "\n  lod: " + LodText(OpCall::LodOf(x));
  if (call.Bool(A::print_tensor_shape)) text += "\n  shape: " + ExtentsOf(x);
  if (call.Bool(A::print_tensor_type)) text += std::string("\n  dtype: ") + TypeName(x);
  text += "\n  data: " + data + "\n";
  std::fputs(text.c_str(), stderr);
  return 0;
}

}  // namespace dtranspile::kernels
