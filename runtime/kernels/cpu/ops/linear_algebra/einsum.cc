// einsum: sums of products by labels of dims, for any number of operands, and its gradients, which
// are sums of the same kind. A label that one operand has twice names its diagonal. Operands are
// joined from left to right; each join is one batch of matrix products over gathered copies. `...`
// stands for leading dims that broadcast. The gradient op has no operands in its program, only what
// the forward op left in InnerCache: copies of the operands.
#include <algorithm>
#include <cctype>
#include <cstring>
#include <map>
#include <string>

#include "runtime/kernels/cpu/gemm.h"
#include "runtime/kernels/cpu/ops/linear_algebra/calls.h"

namespace dtranspile::kernels {
namespace {

using Labels =
    std::string;  // one char per dim; those of `...` are '0', '1' …, counted from the right

// A tensor whose dims have names. Extents of one that the label has larger elsewhere are repeated.
template <typename T>
struct Named {
  Labels labels;
  std::vector<int64_t> dims;
  const T* data = nullptr;
  std::vector<T> own;
};

// The labels of each operand and of the result, and the extent of every label: that of any operand
// where it is not 1.
struct Equation {
  std::vector<Labels> operands;
  Labels out;
  std::map<char, int64_t> extents;
};

constexpr size_t kMostDims = 10;

// "ij...": the ellipsis becomes as many digits as the rank leaves; false where the text does not
// fit the rank.
bool Expand(std::string_view text, int32_t rank, Labels& labels) {
  const size_t dots = text.find("...");
  const size_t named = dots == std::string_view::npos ? text.size() : text.size() - 3;
  const bool fits = dots == std::string_view::npos ? named == static_cast<size_t>(rank)
                                                   : named <= static_cast<size_t>(rank);
  if (!fits || static_cast<size_t>(rank) - named > kMostDims) return false;
  labels = std::string(text.substr(0, std::min(dots, text.size())));
  for (size_t i = static_cast<size_t>(rank) - named; i-- > 0;) labels += static_cast<char>('0' + i);
  if (dots != std::string_view::npos) labels += text.substr(dots + 3);
  return true;
}

bool Repeats(const Labels& labels, char c) {
  return std::count(labels.begin(), labels.end(), c) > 1;
}

// Each label once, in the order of their first places.
Labels Once(const Labels& labels) {
  Labels once;
  for (char c : labels)
    if (once.find(c) == Labels::npos) once += c;
  return once;
}

// visit(place in the tensor, number of the element) for the elements whose positions along equal
// labels are equal, in the order of Once(labels).
template <typename Visit>
void AlongDiagonal(const Labels& labels, const DtBuffer& x, Visit&& visit) {
  const Labels once = Once(labels);
  std::vector<int64_t> extents(once.size(), 1), steps(once.size(), 0), place(once.size(), 0);
  int64_t step = 1, count = 1;
  for (size_t d = labels.size(); d-- > 0; step *= x.dims[d]) {
    const size_t at = once.find(labels[d]);
    extents[at] = x.dims[d];
    steps[at] += step;
  }
  for (int64_t extent : extents) count *= extent;
  for (int64_t i = 0, at = 0; i < count; ++i) {
    visit(at, i);
    for (size_t d = once.size(); d-- > 0;) {
      at += steps[d];
      if (++place[d] < extents[d]) break;
      at -= steps[d] * extents[d];
      place[d] = 0;
    }
  }
}

// Reads the text against the operands' extents.
// Fails where the number of operands or the rank of one does not fit the text, where extents of a
// label differ (but for 1, which broadcasts), and where the result has a label of no operand.
bool Parse(OpCall& call, std::string_view text, const std::vector<const DtBuffer*>& operands,
           Equation& e) {
  std::string plain;
  for (char c : text)
    if (c != ' ') plain += c;
  const size_t arrow = plain.find("->");
  std::string left = plain.substr(0, arrow);
  for (size_t i = 0; i < operands.size(); ++i) {
    const size_t comma = left.find(',');
    const bool last = i + 1 == operands.size();
    Labels labels;
    if (last != (comma == std::string::npos) ||
        !Expand(left.substr(0, comma), operands[i]->rank, labels))
      return call.Fail("equation '%s' does not fit operand '%s' of rank %d", plain.c_str(),
                       operands[i]->name, operands[i]->rank),
             false;
    for (size_t d = 0; d < labels.size(); ++d) {
      int64_t& extent = e.extents.emplace(labels[d], 1).first->second;
      const int64_t given = operands[i]->dims[d];
      // A diagonal has one extent.
      if (const size_t first = labels.find(labels[d]); operands[i]->dims[first] != given)
        return call.Fail("equation '%s': '%s' has extents %lld and %lld for one label",
                         plain.c_str(), operands[i]->name,
                         static_cast<long long>(operands[i]->dims[first]),
                         static_cast<long long>(given)),
               false;
      if (extent != 1 && given != 1 && extent != given)
        return call.Fail("equation '%s': '%s' has extent %lld where another operand has %lld",
                         plain.c_str(), operands[i]->name, static_cast<long long>(given),
                         static_cast<long long>(extent)),
               false;
      if (extent == 1) extent = given;
    }
    e.operands.push_back(labels);
    left = last ? "" : left.substr(comma + 1);
  }
  if (arrow == std::string::npos) {
    // Without an arrow: the dims of `...`, then every label that occurs once, in the order of the
    // alphabet.
    std::string all, once;
    for (const Labels& labels : e.operands) all += labels;
    for (const auto& [label, extent] : e.extents)
      if (!std::isdigit(static_cast<unsigned char>(label)) &&
          std::count(all.begin(), all.end(), label) == 1)
        once += label;
    plain += "->" + std::string(all.find('0') == std::string::npos ? "" : "...") + once;
  }
  const std::string right = plain.substr(plain.find("->") + 2);
  int32_t digits = 0;
  for (const auto& [label, extent] : e.extents)
    digits += std::isdigit(static_cast<unsigned char>(label)) != 0;
  const bool dots = right.find("...") != std::string::npos;
  if (!Expand(right,
              static_cast<int32_t>(dots ? right.size() - 3 : right.size()) + (dots ? digits : 0),
              e.out))
    return call.Fail("equation '%s'", plain.c_str()), false;
  for (char label : e.out)
    if (Repeats(e.out, label))
      return call.Fail("equation '%s': the result has the label %c twice", plain.c_str(), label),
             false;
  for (char label : e.out)
    if (e.extents.count(label) == 0)
      return call.Fail("equation '%s': no operand has the label %c", plain.c_str(), label), false;
  return true;
}

// More elements than this, and a join in between is refused.
constexpr int64_t kMostElements = int64_t{1} << 32;

// Saturates above kMostElements.
int64_t Volume(const Equation& e, const Labels& labels) {
  int64_t n = 1;
  for (char label : labels)
    if (e.extents.at(label) == 0) return 0;
  for (char label : labels)
    n = e.extents.at(label) >= kMostElements / n ? kMostElements : n * e.extents.at(label);
  return n;
}

// Elements of `t` in the order of `target`, summed over the labels it has besides.
// Counts through the labels of the target, then those to be summed, like an odometer: `at` follows
// by the step of each label (0 where the extent is 1 or the label is missing), so that broadcasting
// costs nothing but the copy. Time: the elements of the target and the summed labels together.
template <typename T>
std::vector<T> Arrange(const Equation& e, const Named<T>& t, const Labels& target) {
  Labels order = target;
  for (char label : t.labels)
    if (target.find(label) == Labels::npos) order += label;
  std::vector<int64_t> extents, steps;
  for (char label : order) {
    const size_t at = t.labels.find(label);
    int64_t step = at == Labels::npos || t.dims[at] == 1 ? 0 : 1;
    for (size_t d = at + 1; step != 0 && d < t.dims.size(); ++d) step *= t.dims[d];
    extents.push_back(target.find(label) == Labels::npos ? t.dims[at] : e.extents.at(label));
    steps.push_back(step);
  }
  const int64_t count = Volume(e, target);
  int64_t summed = 1;
  for (size_t d = target.size(); d < order.size(); ++d) summed *= extents[d];
  std::vector<T> out(static_cast<size_t>(count), T{0});
  std::vector<int64_t> place(order.size(), 0);
  int64_t at = 0;
  for (int64_t i = 0; i < count * summed; ++i) {
    out[static_cast<size_t>(i / summed)] += t.data[at];
    for (size_t d = order.size(); d-- > 0;) {
      at += steps[d];
      if (++place[d] < extents[d]) break;
      at -= steps[d] * extents[d];
      place[d] = 0;
    }
  }
  return out;
}

// The product of two, with the labels that are needed later.
// Labels fall into four groups: in both and needed later (a batch), in both and not needed (summed
// by the product), and in one of them and needed (rows, columns). Those in one and not needed are
// summed while the copies are made, before the product.
template <typename T>
int32_t Join(OpCall& call, const Equation& e, const Named<T>& a, const Named<T>& b,
             const Labels& needed, Named<T>& out) {
  Labels batch, rows, inner, columns;
  auto in = [](const Labels& labels, char c) { return labels.find(c) != Labels::npos; };
  for (char c : a.labels) {
    if (in(b.labels, c)) (in(needed, c) ? batch : inner) += c;
    else if (in(needed, c)) rows += c;
  }
  for (char c : b.labels)
    if (!in(a.labels, c) && in(needed, c)) columns += c;
  if (std::max({Volume(e, batch + rows + inner), Volume(e, batch + inner + columns),
                Volume(e, batch + rows + columns)}) >= kMostElements)
    return call.Fail("the product of two operands on the way has too many elements");
  const std::vector<T> left = Arrange(e, a, batch + rows + inner),
                       right = Arrange(e, b, batch + inner + columns);
  const int64_t m = Volume(e, rows), n = Volume(e, columns), k = Volume(e, inner),
                count = Volume(e, batch);
  out.labels = batch + rows + columns;
  out.dims.clear();
  for (char c : out.labels) out.dims.push_back(e.extents.at(c));
  out.own.assign(static_cast<size_t>(count * m * n), T{0});
  out.data = out.own.data();
  Product product = Contiguous(false, false, m, n, k);
  product.batch = count, product.stride_a = m * k, product.stride_b = k * n,
  product.stride_c = m * n;
  return Multiply(call.context(), product, left.data(), right.data(), out.own.data());
}

// The sum over all labels but those of `target`, to `out`.
template <typename T>
int32_t Contract(OpCall& call, const Equation& e, const std::vector<Named<T>>& operands,
                 const Labels& target, T* out) {
  Named<T> sofar = operands[0];
  for (size_t i = 1; i < operands.size(); ++i) {
    Labels needed = target;
    for (size_t j = i + 1; j < operands.size(); ++j) needed += operands[j].labels;
    Named<T> next;
    if (Join(call, e, sofar, operands[i], needed, next) != 0) return 1;
    sofar = std::move(next);
    sofar.data = sofar.own.data();
  }
  const std::vector<T> arranged = Arrange(e, sofar, target);
  std::copy(arranged.begin(), arranged.end(), out);
  return 0;
}

template <typename T>
Named<T> NamedOf(const DtBuffer& buffer, const Labels& labels) {
  Named<T> named{Once(labels), {}, Data<T>(buffer), {}};
  for (char label : named.labels) named.dims.push_back(buffer.dims[labels.find(label)]);
  if (named.labels.size() == labels.size()) return named;
  // Of a label that occurs twice the diagonal counts.
  AlongDiagonal(labels, buffer,
                [&](int64_t at, int64_t) { named.own.push_back(Data<T>(buffer)[at]); });
  named.data = named.own.data();
  return named;
}

// All of one element type, and at least one.
bool OperandsOf(OpCall& call, int slot, std::vector<const DtBuffer*>& operands) {
  for (int i = 0; i < call.Count(slot); ++i) {
    operands.push_back(&call.Arg(slot, i));
    if (TypeOf(*operands.back()) != TypeOf(*operands[0]))
      return call.Fail("'%s' differs in element type", operands.back()->name), false;
  }
  return !operands.empty();
}

}  // namespace

// Operands*; equation -> Out, InnerCache*
int32_t Einsum(OpCall& call) {
  using A = args::dt_einsum;
  std::vector<const DtBuffer*> operands;
  Equation e;
  if (!OperandsOf(call, A::Operands, operands) || !Parse(call, call.Text(A::equation), operands, e))
    return 1;
  for (int i = 0; i < call.Count(A::InnerCache); ++i) {
    if (!call.Has(A::InnerCache, i) || i >= call.Count(A::Operands)) continue;
    DtBuffer& copy = call.Arg(A::InnerCache, i);
    if (!call.Resize(copy, *operands[static_cast<size_t>(i)])) return 1;
    std::memcpy(copy.data, operands[static_cast<size_t>(i)]->data,
                static_cast<size_t>(Elements(copy) * ElementSize(copy)));
  }
  if (!call.Has(A::Out)) return 0;
  std::vector<int64_t> dims;
  for (char label : e.out) dims.push_back(e.extents[label]);
  DtBuffer& out = call.Arg(A::Out);
  if (dims.empty() && out.rank == 1) dims = {1};
  if (!call.Resize(out, dims)) return 1;
  return VisitFloat(call.context(), out, [&](auto tag) {
    using T = typename decltype(tag)::type;
    std::vector<Named<T>> named;
    for (size_t i = 0; i < operands.size(); ++i)
      named.push_back(NamedOf<T>(*operands[i], e.operands[i]));
    return Contract(call, e, named, e.out, Data<T>(out));
  });
}

// InnerCache*, Out@GRAD; equation -> Operands@GRAD*
// The gradient of operand i is a sum of products again: of Out@GRAD and the other operands, to the
// labels of operand i.
int32_t EinsumGrad(OpCall& call) {
  using A = args::dt_einsum_grad;
  std::vector<const DtBuffer*> operands;
  Equation e;
  if (!OperandsOf(call, A::InnerCache, operands) ||
      !Parse(call, call.Text(A::equation), operands, e))
    return 1;
  const DtBuffer& gradient = call.Arg(A::Out_GRAD);
  if (Elements(gradient) != Volume(e, e.out) || TypeOf(gradient) != TypeOf(*operands[0]))
    return call.Fail("'%s' has not the extents of the result", gradient.name);
  for (int i = 0; i < std::min(call.Count(A::Operands_GRAD), call.Count(A::InnerCache)); ++i) {
    if (!call.Has(A::Operands_GRAD, i)) continue;
    const DtBuffer& like = *operands[static_cast<size_t>(i)];
    DtBuffer& to = call.Arg(A::Operands_GRAD, i);
    if (!call.Resize(to, like)) return 1;
    const int32_t result = VisitFloat(call.context(), to, [&](auto tag) {
      using T = typename decltype(tag)::type;
      std::vector<Named<T>> factors = {{e.out, {}, Data<T>(gradient), {}}};
      for (char label : e.out) factors[0].dims.push_back(e.extents[label]);
      Labels all = e.out, target;
      for (size_t j = 0; j < operands.size(); ++j) {
        if (j == static_cast<size_t>(i)) continue;
        factors.push_back(NamedOf<T>(*operands[j], e.operands[j]));
        all += e.operands[j];
      }
      // Labels that only this operand has get the same gradient everywhere; extents that were
      // repeated get the sum.
      const Labels &given = e.operands[static_cast<size_t>(i)], own = Once(given);
      auto extent = [&](char label) { return like.dims[given.find(label)]; };
      for (char label : own)
        if (all.find(label) != Labels::npos && extent(label) == e.extents[label]) target += label;
      std::vector<T> reduced(static_cast<size_t>(Volume(e, target)));
      if (Contract(call, e, factors, target, reduced.data()) != 0) return 1;
      Named<T> part{target, {}, reduced.data(), {}};
      for (char label : target) part.dims.push_back(e.extents[label]);
      Equation mine = e;
      for (char label : own) mine.extents[label] = extent(label);
      const std::vector<T> whole = Arrange(mine, part, own);
      if (own.size() < given.size())
        std::memset(to.data, 0, static_cast<size_t>(Elements(to) * ElementSize(to)));
      AlongDiagonal(given, like, [&](int64_t at, int64_t number) {
        Data<T>(to)[at] = whole[static_cast<size_t>(number)];
      });
      return 0;
    });
    if (result != 0) return result;
  }
  return 0;
}

}  // namespace dtranspile::kernels
