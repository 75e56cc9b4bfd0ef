#include "compiler/lower/kernel/formula_functions.h"

#include <algorithm>
#include <cassert>
#include <cctype>

namespace dtranspile::lower {
namespace {

// Functions that formulas of ops may call, in the language of formulas themselves (formula.h):
// `name(parameters) = expression`, expanded where they are called.
constexpr std::string_view kFunctions = R"(
square(x) = x * x
rsqrt(x) = 1 / sqrt(x)
sigmoid(x) = 1 / (1 + exp(-x))
finite(x) = x - x == 0

# log(1 + exp(x)) without overflow; the logarithm of a probability that may be 0.
log_one_plus_exp(x) = max(x, 0) + log(1 + exp(-abs(x)))
log_probability(p) = log(max(p, 1.17549435e-38))

# 1 / sqrt(2), 1 / sqrt(2 pi), sqrt(2 / pi) of gelu; the argument of tanh in its approximation.
rsqrt_of_2() = 0.70710678118654752
rsqrt_of_2_pi() = 0.39894228040143268
sqrt_of_2_by_pi() = 0.79788456080286536
gelu_argument(x) = sqrt_of_2_by_pi() * (x + 0.044715 * x * x * x)

# Moving averages of a gradient and of its square.
moment(before, g, decay) = decay * before + (1 - decay) * g
square_moment(before, g, decay) = decay * before + (1 - decay) * g * g

# Momentum: the gradient with a decay of the parameter, and the step (Nesterov's looks ahead).
decayed(g, p, scale, coefficient, decays) = decays ? scale * g + coefficient * p : scale * g
momentum_step(g, v, rate, mu, nesterov) = rate * (nesterov ? g + mu * v : v)

# Adam, with the running powers of both betas. 1.x adds epsilon to the corrected root.
adam_step(m, v, rate, power1, power2, e) =
    rate * sqrt(1 - power2) / (1 - power1) * (m / (sqrt(v) + e))
adam_epsilon(e, power2, old) = old ? e : e * sqrt(1 - power2)

# What a proximal step leaves of t: drawn to 0 by l1, shrunk by l2.
shrunk(t, rate, l1, l2) = sign(t) * max(abs(t) - rate * max(l1, 0), 0) / (1 + rate * l2)

# Whether an average of parameters has run over a window that grows with the updates.
window_is_full(updates, n, rate, least, most) =
    n >= least && (double(n) >= most || n >= int64(float(updates) * rate))
)";

std::string_view trimmed(std::string_view text) {
  const auto space = [](char c) { return std::isspace(static_cast<unsigned char>(c)) != 0; };
  while (!text.empty() && space(text.front())) text.remove_prefix(1);
  while (!text.empty() && space(text.back())) text.remove_suffix(1);
  return text;
}

// Letters, digits and underscores, no digit first.
bool isName(std::string_view text) {
  return !text.empty() && std::isdigit(static_cast<unsigned char>(text[0])) == 0 &&
         std::all_of(text.begin(), text.end(), [](char c) {
           return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
         });
}

// The text of the definition that begins at `at`, which is moved after it.
std::string_view nextDefinition(std::string_view text, size_t& at) {
  const size_t begin = at;
  do at = std::min(text.find('\n', at), text.size() - 1) + 1;
  while (at < text.size() && text[at] == ' ');
  return trimmed(text.substr(begin, at - begin));
}

// NAME(PARAMETER, …) = EXPRESSION; the expression stays text until a formula calls it, as its types
// are those of the arguments.
bool parseDefinition(std::string_view text, FormulaFunction& function) {
  const size_t open = text.find('('), close = text.find(')'), equals = text.find('=', close);
  if (equals == std::string_view::npos || open > close ||
      !trimmed(text.substr(close + 1, equals - close - 1)).empty())
    return false;
  function.name = trimmed(text.substr(0, open));
  function.body = trimmed(text.substr(equals + 1));
  std::string_view list = trimmed(text.substr(open + 1, close - open - 1));
  while (!list.empty()) {
    const size_t comma = std::min(list.find(','), list.size());
    function.parameters.push_back(trimmed(list.substr(0, comma)));
    list.remove_prefix(std::min(comma + 1, list.size()));
  }
  return isName(function.name) && !function.body.empty() &&
         std::all_of(function.parameters.begin(), function.parameters.end(), isName);
}

}  // namespace

// One definition a name; lines of remarks begin with #.
std::vector<FormulaFunction> parseFunctions(std::string_view text, std::string& error) {
  std::vector<FormulaFunction> functions;
  for (size_t at = 0; at < text.size();) {
    const std::string_view definition = nextDefinition(text, at);
    if (definition.empty() || definition[0] == '#') continue;
    FormulaFunction function;
    const bool good = parseDefinition(definition, function);
    const bool twice = std::any_of(functions.begin(), functions.end(),
                                   [&](const auto& other) { return other.name == function.name; });
    if (!good || twice) {
      error = "'" + std::string(definition) +
              "': " + (good ? "is defined twice" : "expected NAME(PARAMETER, …) = EXPRESSION");
      return {};
    }
    functions.push_back(std::move(function));
  }
  return functions;
}

const std::vector<FormulaFunction>& formulaFunctions() {
  static const auto* functions = [] {
    std::string error;
    auto* parsed = new std::vector(parseFunctions(kFunctions, error));
    assert(error.empty());
    return parsed;
  }();
  return *functions;
}

}  // namespace dtranspile::lower
