// Two passes over the text: a scan for the domain (counts and spans depend on it), then the parser,
// whose actions build expressions over `refs_`. Then statements become kernels (nest.h): one for
// everything that fits the loop nest, one more per output that is a sum over dims it lacks.
#include "compiler/lower/kernel/formula.h"

#include <algorithm>
#include <cctype>
#include <limits>

#include "compiler/lower/kernel/extents.h"
#include "compiler/lower/kernel/formula_parser.h"
#include "compiler/lower/kernel/nest.h"

namespace dtranspile::lower {

int64_t TensorRef::elements() const {
  int64_t count = 1;
  for (int64_t extent : dims) count *= extent;
  return count;
}

namespace {

// Row-major strides.
std::vector<int64_t> contiguous(const Dims& dims) {
  std::vector<int64_t> strides(dims.size());
  int64_t stride = 1;
  // An extent of 0 is no reason to take the dims before it for broadcast ones.
  for (size_t i = dims.size(); i-- > 0; stride *= dims[i] == 0 ? 1 : dims[i]) strides[i] = stride;
  return strides;
}

int64_t productOfOthers(const Dims& dims) {
  int64_t product = 1;
  for (int64_t extent : dims) product *= extent == 0 ? 1 : extent;
  return product;
}

Dims withoutOnes(const Dims& dims) {
  Dims rest;
  std::copy_if(dims.begin(), dims.end(), std::back_inserter(rest),
               [](int64_t extent) { return extent != 1; });
  return rest;
}

// For messages; what is known at run time only is a question mark.
std::string text(const Dims& dims) {
  std::string s;
  for (int64_t extent : dims)
    s += (s.empty() ? "" : "x") + (isSymbolic(extent) ? "?" : std::to_string(extent));
  return "[" + s + "]";
}

// Strides of a tensor over the domain, numpy's broadcasting from the right or from `axis`; nothing
// if it does not fit.
std::optional<Dims> broadcast(const TensorRef& ref, const Dims& domain) {
  Dims strides(domain.size(), 0);
  if (ref.elements() == 1) return strides;
  Dims dims = ref.dims;
  if (ref.axis >= 0) {
    while (!dims.empty() && dims.back() == 1) dims.pop_back();
  }
  const int64_t first =
      ref.axis >= 0 ? ref.axis
                    : static_cast<int64_t>(domain.size()) - static_cast<int64_t>(dims.size());
  Dims own = contiguous(dims);
  bool fits = first >= 0 && first + dims.size() <= domain.size();
  for (size_t i = 0; fits && i < dims.size(); ++i) {
    fits = dims[i] == domain[first + i] || dims[i] == 1;
    if (fits && dims[i] != 1) strides[first + i] = own[i];
  }
  if (fits) return strides;
  if (withoutOnes(ref.dims) != withoutOnes(domain)) return std::nullopt;
  return contiguous(domain);
}

// Strides of a tensor that runs over the dims where `over` holds, contiguously.
std::optional<Dims> spanning(const TensorRef& ref, const Dims& domain,
                             const std::vector<bool>& over) {
  Dims strides(domain.size(), 0);
  if (ref.elements() == 1) return strides;
  int64_t stride = 1;
  for (size_t i = domain.size(); i-- > 0;) {
    if (!over[i]) continue;
    strides[i] = stride;
    stride *= domain[i];
  }
  if (stride != ref.elements()) return std::nullopt;
  return strides;
}

// Makes kernels of a formula: the domain is the largest tensor that it names, all others are
// broadcast to it, and every assignment is a store in the one loop nest, or a kernel of its own
// where its tensor lacks dims of the domain and is thus a sum over them.
class FormulaBuilder : public FormulaActions {
 public:
  FormulaBuilder(std::string_view hint, const FormulaNames& names, std::string& error, bool dynamic)
      : hint_(hint), names_(names), error_(error), dynamic_(dynamic) {}

  std::optional<std::vector<BoundKernel>> run(std::string_view formula, const InnerDims& inner) {
    if (!scanDomain(formula)) return std::nullopt;
    inner_ = inner ? inner(domain_) : std::vector<bool>(domain_.size(), false);
    if (!parseFormula(formula, pool_, *this) || !error_.empty()) return std::nullopt;
    auto kernels = assemble();
    if (!error_.empty()) return std::nullopt;
    return kernels;
  }

  void fail(const std::string& message) override {
    if (error_.empty()) error_ = message;
  }
  bool present(std::string_view name) override { return names_.input(name).has_value(); }

  // By precedence: what was assigned before, an argument, the words of the language, an attribute.
  ExprId name(std::string_view name, Span span) override {
    if (auto it = locals_.find(name); it != locals_.end()) return it->second;
    if (auto input = names_.input(name)) return load(*input, span, name);
    if (name == "count" || name == "rows") {
      const int64_t n = extent(name == "count");
      needsElements_ |= name == "count";
      return dynamic_ ? pool_.count(n) : pool_.constant(static_cast<double>(n));
    }
    if (name == "position") return pool_.position(-1);
    if (name == "infinity") return pool_.constant(std::numeric_limits<double>::infinity());
    if (auto value = names_.attribute(name)) return pool_.constant(*value);
    fail("the formula reads " + std::string(name) +
         ", which is neither an argument nor an attribute of this op");
    return -1;
  }

  // A reduction over the inner dims. Its level is one more than that of the reductions that it
  // reads: all of one level are done in one walk over the row.
  ExprId reduce(std::string_view function, ExprId value) override {
    static const std::pair<std::string_view, Combine> kFunctions[] = {
        {"sum", Combine::Sum}, {"prod", Combine::Prod}, {"max", Combine::Max},
        {"min", Combine::Min}, {"all", Combine::All},   {"any", Combine::Any}};
    for (const auto& [name, how] : kFunctions) {
      if (name != function) continue;
      if (how == Combine::All || how == Combine::Any) value = pool_.cast(value, Scalar::I1);
      else if (pool_[value].type == Scalar::Weak) value = pool_.cast(value, Scalar::F32);
      else if (how == Combine::Sum || how == Combine::Prod) value = summed(value);
      else if (pool_[value].type == Scalar::I1) value = pool_.cast(value, Scalar::I32);
      needsElements_ |= how == Combine::Max || how == Combine::Min;
      nest_.reductions.push_back({how, value, level(value)});
      return pool_.result(static_cast<int>(nest_.reductions.size()) - 1, pool_[value].type);
    }
    return -1;
  }

  // A second assignment to one tensor replaces the first unless a reduction stands between them.
  void assign(std::string_view name, Span span, ExprId value) override {
    auto output = names_.output(name);
    locals_[std::string(name)] = value;
    if (!output || output->buffer < 0)
      return;  // an intermediate value, or an output that nobody asked for
    auto strides = stridesOf(*output, span, name);
    if (!strides) return;
    // Stores keep the type of the tensor, and so do later statements that read it.
    const ExprId typed = pool_.cast(value, scalarOf(output->dtype));
    locals_[std::string(name)] = typed;
    Assignment a{addRef(*output, *strides), typed, level(typed), span == Span::Rows};
    if (a.perRow && variesInRow(typed))
      return fail(std::string(name) + "[r] needs one value per row");
    const bool lacks = !a.perRow && lacksDims(*strides);
    if (lacks && (a.level > 0))
      return fail(std::string(name) + " is a sum over rows of a value with row reductions");
    if (lacks) {
      sums_.push_back(a);
      return;
    }
    for (const Assignment& s : nest_.stores) {
      if (refs_[s.ref].tensor.buffer == output->buffer) a.level = std::max(a.level, s.level);
    }
    std::erase_if(nest_.stores, [&](const Assignment& s) {
      return refs_[s.ref].tensor.buffer == output->buffer && s.level == a.level;
    });
    nest_.stores.push_back(a);
  }

 private:
  // Sums of integers are formed in 64 bits, whatever they are stored in.
  ExprId summed(ExprId value) {
    return isFloat(pool_[value].type) ? value : pool_.cast(value, Scalar::I64);
  }

  // The largest tensor that the formula names without a span.
  bool scanDomain(std::string_view text) {
    auto part = [](char c) {
      return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '@';
    };
    std::pair<int64_t, int64_t> most(-1, 0);  // extents of 0, product of the others
    for (size_t i = 0; i < text.size();) {
      size_t start = i;
      while (i < text.size() && part(text[i])) ++i;
      std::string_view word = text.substr(start, i - start);
      const bool spanned = i < text.size() && (text[i] == '[' || text[i] == '(');
      if (i == start) ++i;
      if (word.empty() || spanned) continue;
      std::optional<TensorRef> ref = names_.output(word);
      if (!ref) ref = names_.input(word);
      if (!ref) continue;
      // Nothing broadcasts to what has no elements but what has none itself: such a tensor counts
      // as larger than all others.
      const std::pair size(std::count(ref->dims.begin(), ref->dims.end(), 0),
                           productOfOthers(ref->dims));
      if (size > most || (size == most && ref->dims.size() > domain_.size())) {
        most = size;
        domain_ = ref->dims;
      }
    }
    if (most.first < 0) fail("the formula names no tensor that gives its domain");
    return most.first >= 0;
  }

  std::optional<Dims> stridesOf(const TensorRef& ref, Span span, std::string_view name) {
    std::optional<Dims> strides;
    std::vector<bool> over = inner_;
    if (span == Span::Rows) over.flip();
    strides = span == Span::Domain ? broadcast(ref, domain_) : spanning(ref, domain_, over);
    if (!strides)
      fail(std::string(name) + " of shape " + text(ref.dims) + " does not fit " + text(domain_));
    return strides;
  }

  // The inner dims multiplied, or the kept ones.
  int64_t extent(bool inner) const {
    int64_t n = 1;
    for (size_t d = 0; d < domain_.size(); ++d) n *= inner_[d] == inner ? domain_[d] : 1;
    return n;
  }

  // Values per row that are means or extreme values: of nothing they would be NaN or infinite.
  void addNeeds(Kernel& kernel) {
    if (!needsElements_ || std::none_of(nest_.stores.begin(), nest_.stores.end(),
                                        [](const Assignment& s) { return s.perRow; }))
      return;
    kernel.needs = extent(true);
    if (kernel.needs == 0 && extent(false) != 0)
      fail("a mean, maximum or minimum of no elements has no value; the shape is " + text(domain_));
  }

  int addRef(const TensorRef& tensor, const Dims& strides) {
    for (size_t i = 0; i < refs_.size(); ++i) {
      if (refs_[i].tensor.buffer == tensor.buffer && refs_[i].strides == strides &&
          refs_[i].tensor.dtype == tensor.dtype)
        return static_cast<int>(i);
    }
    refs_.push_back({tensor, strides});
    return static_cast<int>(refs_.size()) - 1;
  }

  ExprId load(const TensorRef& ref, Span span, std::string_view name) {
    auto strides = stridesOf(ref, span, name);
    return strides ? pool_.load(addRef(ref, *strides), scalarOf(ref.dtype)) : -1;
  }

  // How many reductions have to be done before the value can be computed.
  int level(ExprId id) const {
    int most = 0;
    pool_.walk(id, [&](const Expr& e) {
      if (e.op == Op::Result) most = std::max(most, nest_.reductions[e.index].level + 1);
    });
    return most;
  }

  // Whether the value differs along a dim that is reduced: a statement that does not is stored once
  // per row.
  bool variesInRow(ExprId id) const {
    bool varies = false;
    pool_.walk(id, [&](const Expr& e) {
      varies |= e.op == Op::Index;
      if (e.op != Op::Load) return;
      for (size_t d = 0; d < domain_.size(); ++d)
        varies |= inner_[d] && domain_[d] > 1 && refs_[e.index].strides[d] != 0;
    });
    return varies;
  }

  bool lacksDims(const Dims& strides) const {
    for (size_t d = 0; d < domain_.size(); ++d) {
      if (strides[d] == 0 && domain_[d] > 1) return true;
    }
    return false;
  }

  // The nest of all stores first, then the sums, which may read what it stores.
  std::vector<BoundKernel> assemble() {
    std::vector<BoundKernel> kernels;
    nest_.inner = inner_;
    dropUnusedReductions();
    if (!nest_.stores.empty()) {
      kernels.push_back(buildNest(hint_, domain_, pool_, refs_, nest_, dynamic_));
      addNeeds(kernels.back().kernel);
    }
    for (const Assignment& a : sums_) {
      Nest nest;
      for (size_t d = 0; d < domain_.size(); ++d)
        nest.inner.push_back(refs_[a.ref].strides[d] == 0);
      const ExprId value = summed(a.value);
      nest.reductions.push_back({Combine::Sum, value, 0});
      nest.stores.push_back({a.ref, pool_.result(0, pool_[value].type), 1, true});
      kernels.push_back(buildNest(hint_, domain_, pool_, refs_, nest, dynamic_));
    }
    return kernels;
  }

  // An `or(X, …)` or an absent output may leave a reduction without a reader; its results keep
  // their numbers.
  void dropUnusedReductions() {
    std::vector<bool> used(nest_.reductions.size());
    auto mark = [&](ExprId id) {
      pool_.walk(id, [&](const Expr& e) {
        if (e.op == Op::Result) used[e.index] = true;
      });
    };
    for (const Assignment& s : nest_.stores) mark(s.value);
    for (size_t r = used.size(); r-- > 0;) {
      if (used[r]) mark(nest_.reductions[r].value);
    }
    for (size_t r = 0; r < used.size(); ++r) {
      if (!used[r]) nest_.reductions[r].level = -1;
    }
  }

  std::string_view hint_;
  const FormulaNames& names_;
  std::string& error_;
  bool dynamic_;
  Dims domain_;
  std::vector<bool> inner_;
  ExprPool pool_;
  std::vector<Ref> refs_;
  std::map<std::string, ExprId, std::less<>> locals_;
  Nest nest_;
  std::vector<Assignment> sums_;
  bool needsElements_ = false;
};

}  // namespace

std::optional<std::vector<BoundKernel>> buildFormula(std::string_view hint,
                                                     std::string_view formula,
                                                     const FormulaNames& names,
                                                     const InnerDims& inner, std::string& error,
                                                     bool dynamic) {
  error.clear();
  return FormulaBuilder(hint, names, error, dynamic).run(formula, inner);
}

}  // namespace dtranspile::lower
