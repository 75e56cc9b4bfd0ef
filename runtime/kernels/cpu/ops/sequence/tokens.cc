// Ops on sequences of tokens, none with a gradient: sequence_erase, sequence_enumerate, ctc_align,
// edit_distance. Slots and attributes: runtime/kernels/signatures/sequence.calls.
#include <algorithm>

#include "runtime/kernels/cpu/ops/sequence/calls.h"
#include "runtime/kernels/cpu/sequences.h"

namespace dtranspile::kernels {
namespace {

// One token per row.
bool TokensOf(OpCall& call, const DtBuffer& x, Offsets& offsets) {
  if (!SequencesOf(call, x, offsets)) return false;
  return RowSize(x) == 1 || (call.Fail("'%s' has %lld elements in a row, expected one", x.name,
                                       static_cast<long long>(RowSize(x))),
                             false);
}

// Appends the CTC labelling of tokens [lo, end): without repetitions (if asked for) and blanks.
template <typename T>
T* Align(const T* tokens, int64_t count, int64_t blank, bool merge, T* to) {
  for (int64_t i = 0; i < count; ++i) {
    // What stands before the first token is -1.
    const bool repeated = merge && tokens[i] == (i > 0 ? tokens[i - 1] : static_cast<T>(-1));
    if (static_cast<int64_t>(tokens[i]) != blank && !repeated) *to++ = tokens[i];
  }
  return to;
}

// Padded: Input [sequences, extent], InputLength; Output with padding_value after, OutputLength.
int32_t AlignPadded(OpCall& call) {
  using A = args::dt_ctc_align;
  const DtBuffer& x = call.Arg(A::Input);
  const bool read = call.Has(A::Output);
  if (x.rank != 2)
    return call.Fail("'%s' has no LoD and %d dims, expected sequences or [sequences, tokens]",
                     x.name, x.rank);
  const int64_t count = x.dims[0], extent = x.dims[1];
  std::vector<int64_t> lengths;
  if (!LengthsOf(call, call.Arg(A::InputLength), count, extent, lengths) ||
      !CheckTypes(call, x, {A::Output}) || (read && !call.Resize(call.Arg(A::Output), x)))
    return 1;
  std::vector<int64_t> found(lengths.size());
  const int32_t result = VisitIndex(call.context(), x, [&](auto tag) {
    using T = typename decltype(tag)::type;
    T* const out = read ? Data<T>(call.Arg(A::Output)) : ScratchOf<T>(call, count * extent);
    if (out == nullptr) return 1;
    for (int64_t i = 0; i < count; ++i) {
      T* row = out + i * extent;
      T* end = Align(Data<T>(x) + i * extent, lengths[static_cast<size_t>(i)], call.Int(A::blank),
                     call.Bool(A::merge_repeated), row);
      found[static_cast<size_t>(i)] = end - row;
      std::fill(end, row + extent, static_cast<T>(call.Int(A::padding_value)));
    }
    return 0;
  });
  if (result != 0 || !call.Has(A::OutputLength)) return result;
  DtBuffer& length = call.Arg(A::OutputLength);
  if (!call.Resize(length, {count, 1})) return 1;
  return VisitIndex(call.context(), length, [&](auto tag) {
    std::copy(found.begin(), found.end(), Data<typename decltype(tag)::type>(length));
    return 0;
  });
}

// Levenshtein distance of a and b with a row of m + 1 numbers.
int64_t Distance(const int64_t* a, int64_t n, const int64_t* b, int64_t m, int64_t* row) {
  for (int64_t j = 0; j <= m; ++j) row[j] = j;
  for (int64_t i = 1; i <= n; ++i) {
    int64_t diagonal = row[0];
    row[0] = i;
    for (int64_t j = 1; j <= m; ++j) {
      const int64_t substituted = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({row[j] + 1, row[j - 1] + 1, substituted});
    }
  }
  return row[m];
}

// First token and length of every string of an argument: by LoD, or by rows of a padded tensor and
// its lengths.
struct Strings {
  std::vector<int64_t> tokens;
  std::vector<int64_t> first, length;
};

// Lengths are looked up by slot, since Hyps and Refs each have theirs.
bool StringsOf(OpCall& call, int slot, int lengths_slot, Strings& s) {
  const DtBuffer& x = call.Arg(slot);
  if (call.Has(lengths_slot)) {
    if (x.rank < 2)
      return call.Fail("'%s' has %d dims, expected [strings, tokens]", x.name, x.rank), false;
    if (!LengthsOf(call, call.Arg(lengths_slot), x.dims[0], RowSize(x), s.length)) return false;
    for (int64_t i = 0; i < x.dims[0]; ++i) s.first.push_back(i * RowSize(x));
  } else {
    Offsets offsets;
    if (!TokensOf(call, x, offsets)) return false;
    for (int64_t i = 0; i < CountOf(offsets); ++i)
      s.first.push_back(offsets[static_cast<size_t>(i)]), s.length.push_back(LengthAt(offsets, i));
  }
  return IntegersOf(call, x, s.tokens);
}

}  // namespace

// Two walks: the first counts what stays, for the extents, the second copies it.
int32_t SequenceErase(OpCall& call) {
  using A = args::dt_sequence_erase;
  const DtBuffer& x = call.Arg(A::X);
  DtBuffer& out = call.Arg(A::Out);
  Offsets offsets, kept = {0};
  if (!TokensOf(call, x, offsets) || !CheckTypes(call, x, {A::Out})) return 1;
  const auto erased = call.Ints(A::tokens);
  return VisitIndex(call.context(), x, [&](auto tag) {
    using T = typename decltype(tag)::type;
    const auto stays = [&](T token) {
      return std::find(erased.begin(), erased.end(), static_cast<int64_t>(token)) == erased.end();
    };
    const T* from = Data<T>(x);
    for (int64_t i = 0; i < CountOf(offsets); ++i)
      kept.push_back(kept.back() + std::count_if(from + offsets[static_cast<size_t>(i)],
                                                 from + offsets[static_cast<size_t>(i) + 1],
                                                 stays));
    if (!call.Resize(out, {kept.back(), 1})) return 1;
    OpCall::SetLod(out, WithLastLevel(OpCall::LodOf(x), kept));
    std::copy_if(from, from + offsets.back(), Data<T>(out), stays);
    return 0;
  });
}

// Row t of the result is the win_size tokens from t on, pad_value past the end of the sequence.
int32_t SequenceEnumerate(OpCall& call) {
  using A = args::dt_sequence_enumerate;
  const DtBuffer& x = call.Arg(A::X);
  DtBuffer& out = call.Arg(A::Out);
  const int64_t window = call.Int(A::win_size), padding = call.Int(A::pad_value);
  Offsets offsets;
  if (!TokensOf(call, x, offsets) || !CheckTypes(call, x, {A::Out})) return 1;
  if (window < 2)
    return call.Fail("win_size is %lld, expected at least 2", static_cast<long long>(window));
  if (!call.Resize(out, {x.dims[0], window})) return 1;
  OpCall::SetLod(out, OpCall::LodOf(x));
  return VisitIndex(call.context(), x, [&](auto tag) {
    using T = typename decltype(tag)::type;
    T* to = Data<T>(out);
    for (int64_t i = 0; i < CountOf(offsets); ++i)
      for (int64_t at = offsets[static_cast<size_t>(i)], end = at + LengthAt(offsets, i); at < end;
           ++at)
        for (int64_t k = at; k < at + window; ++k)
          *to++ = k < end ? Data<T>(x)[k] : static_cast<T>(padding);
    return 0;
  });
}

int32_t CtcAlign(OpCall& call) {
  using A = args::dt_ctc_align;
  const DtBuffer& x = call.Arg(A::Input);
  if (OpCall::LodOf(x).empty()) return AlignPadded(call);
  DtBuffer& out = call.Arg(A::Output);
  Offsets offsets, found = {0};
  if (!TokensOf(call, x, offsets) || !CheckTypes(call, x, {A::Output})) return 1;
  return VisitIndex(call.context(), x, [&](auto tag) {
    using T = typename decltype(tag)::type;
    auto* const labels = static_cast<T*>(dt_scratch(
        call.context(), std::max<int64_t>(Elements(x), 1) * static_cast<int64_t>(sizeof(T))));
    T* end = labels;
    for (int64_t i = 0; i < CountOf(offsets); ++i) {
      end = Align(Data<T>(x) + offsets[static_cast<size_t>(i)], LengthAt(offsets, i),
                  call.Int(A::blank), call.Bool(A::merge_repeated), end);
      found.push_back(end - labels);
    }
    // Nothing at all is one row with -1, whatever the LoD says.
    if (!call.Resize(out, {std::max<int64_t>(found.back(), 1), 1})) return 1;
    if (end == labels) *end++ = static_cast<T>(-1);
    std::copy(labels, end, Data<T>(out));
    OpCall::SetLod(out, LodFrom(found));
    return 0;
  });
}

// Insertions, deletions and substitutions that turn string i of Hyps into string i of Refs, divided
// by the length of the latter if `normalized`. O(n · m) each, in one row of scratch for all.
int32_t EditDistance(OpCall& call) {
  using A = args::dt_edit_distance;
  const DtBuffer& hyps = call.Arg(A::Hyps);
  Strings a, b;
  if (!CheckTypes(call, DType::kInt64, {A::SequenceNum}) ||
      !CheckTypes(call, DType::kFloat32, {A::Out}) || !StringsOf(call, A::Hyps, A::HypsLength, a) ||
      !StringsOf(call, A::Refs, A::RefsLength, b))
    return 1;
  if (a.first.size() != b.first.size())
    return call.Fail("'%s' has %zu strings, '%s' %zu", hyps.name, a.first.size(),
                     call.Arg(A::Refs).name, b.first.size());
  const auto count = static_cast<int64_t>(a.first.size());
  if (call.Has(A::SequenceNum)) {
    if (!call.Resize(call.Arg(A::SequenceNum), {1})) return 1;
    *Data<int64_t>(call.Arg(A::SequenceNum)) = count;
  }
  if (!call.Has(A::Out)) return 0;
  DtBuffer& out = call.Arg(A::Out);
  if (!call.Resize(out, {count, 1})) return 1;
  const int64_t longest =
      b.length.empty() ? 0 : *std::max_element(b.length.begin(), b.length.end());
  auto* row = static_cast<int64_t*>(
      dt_scratch(call.context(), (longest + 1) * static_cast<int64_t>(sizeof(int64_t))));
  for (size_t i = 0; i < a.first.size(); ++i) {
    const int64_t n = a.length[i], m = b.length[i];
    if (call.Bool(A::normalized) && m == 0)
      return call.Fail("string %zu of '%s' is empty, the distance cannot be divided by its length",
                       i, call.Arg(A::Refs).name);
    const auto distance = static_cast<float>(
        Distance(a.tokens.data() + a.first[i], n, b.tokens.data() + b.first[i], m, row));
    Data<float>(out)[i] = call.Bool(A::normalized) ? distance / static_cast<float>(m) : distance;
  }
  return 0;
}

}  // namespace dtranspile::kernels
