#include "compiler/lower/kernel/formula_parser.h"

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <map>
#include <vector>

#include "compiler/lower/kernel/formula_functions.h"

namespace dtranspile::lower {
namespace {

struct Function1 {
  std::string_view name;
  Op op;
};
// The functions of the language that are one operation each.
const Function1 kUnary[] = {
    {"abs", Op::Abs},     {"exp", Op::Exp},     {"log", Op::Log},     {"log2", Op::Log2},
    {"log10", Op::Log10}, {"log1p", Op::Log1p}, {"expm1", Op::Expm1}, {"sqrt", Op::Sqrt},
    {"tanh", Op::Tanh},   {"erf", Op::Erf},     {"sin", Op::Sin},     {"cos", Op::Cos},
    {"tan", Op::Tan},     {"asin", Op::Asin},   {"acos", Op::Acos},   {"atan", Op::Atan},
    {"sinh", Op::Sinh},   {"cosh", Op::Cosh},   {"asinh", Op::Asinh}, {"acosh", Op::Acosh},
    {"atanh", Op::Atanh}, {"floor", Op::Floor}, {"ceil", Op::Ceil},   {"round", Op::Round},
    {"trunc", Op::Trunc}};
const Function1 kBinary[] = {{"min", Op::Min},     {"max", Op::Max}, {"pow", Op::Pow},
                             {"atan2", Op::Atan2}, {"rem", Op::Rem}, {"floordiv", Op::FloorDiv}};

struct Operator {
  std::string_view text;
  int level;  // binds tighter the higher
  Op op;
};
// Precedences of C. Longer operators stand before their prefixes.
const Operator kOperators[] = {{"||", 1, Op::Or}, {"&&", 2, Op::And}, {"==", 3, Op::Eq},
                               {"!=", 3, Op::Ne}, {"<=", 4, Op::Le},  {">=", 4, Op::Ge},
                               {"<", 4, Op::Lt},  {">", 4, Op::Gt},   {"+", 5, Op::Add},
                               {"-", 5, Op::Sub}, {"*", 6, Op::Mul},  {"/", 6, Op::Div}};

bool isPartOfName(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '@';
}

// Recursive descent with precedence climbing over a formula of a row: statements "Out = expression;
// …". It builds no tree of its own: expressions go straight into the pool, names and reductions to
// the actions of the caller. Depth is limited, since --op-table lets users write formulas.
class Parser {
 public:
  Parser(std::string_view text, ExprPool& pool, FormulaActions& actions)
      : text_(text), pool_(pool), actions_(actions), functions_(formulaFunctions().size()) {}

  bool run() {
    while (skip(), at_ < text_.size() && ok_) {
      statement();
      if (!accept(";")) break;
    }
    skip();
    if (ok_ && at_ != text_.size()) fail("unexpected text");
    return ok_;
  }

 private:
  using Scope = std::map<std::string_view, ExprId>;

  // The body of function number `function`: names are its parameters, functions those above it.
  Parser(const Parser& caller, size_t function, Scope scope)
      : text_(formulaFunctions()[function].body),
        pool_(caller.pool_),
        actions_(caller.actions_),
        functions_(function),
        scope_(std::move(scope)),
        depth_(caller.depth_),
        unread_(caller.unread_) {}

  void skip() {
    while (at_ < text_.size() && std::isspace(static_cast<unsigned char>(text_[at_]))) ++at_;
  }
  bool accept(std::string_view token) {
    skip();
    if (text_.substr(at_, token.size()) != token) return false;
    at_ += token.size();
    return true;
  }
  ExprId fail(const std::string& message) {
    if (ok_) actions_.fail(message + " at '" + std::string(text_.substr(at_, 30)) + "'");
    ok_ = false;
    return pool_.constant(0);
  }
  void expect(std::string_view token) {
    if (!accept(token)) fail("expected '" + std::string(token) + "'");
  }
  std::string_view identifier() {
    skip();
    size_t start = at_;
    while (at_ < text_.size() && isPartOfName(text_[at_])) ++at_;
    return text_.substr(start, at_ - start);
  }
  // [r]: per row; [i]: per element of a row; nothing: over the whole domain.
  Span span() {
    if (!accept("[")) return Span::Domain;
    std::string_view which = identifier();
    expect("]");
    if (which != "r" && which != "i") fail("a span is [r] or [i]");
    return which == "r" ? Span::Rows : Span::Inner;
  }

  // Name, span, "=", expression: what the name stands for is the caller's to say, a tensor of the
  // op or a value that later statements read.
  void statement() {
    std::string_view name = identifier();
    Span where = span();
    expect("=");
    ExprId value = expression();
    if (ok_) actions_.assign(name, where, value);
  }

  // The conditional binds most loosely, and from the right: a ? b : c ? d : e.
  ExprId expression() {
    ExprId condition = operators(1);
    if (!accept("?")) return condition;
    ExprId yes = expression();
    expect(":");
    ExprId no = expression();
    return pool_.select(condition, yes, no);
  }

  const Operator* peekOperator(int level) {
    skip();
    for (const Operator& o : kOperators) {
      if (o.level >= level && text_.substr(at_, o.text.size()) == o.text) return &o;
    }
    return nullptr;
  }

  // All operators of at least this level; those of one level bind from the left.
  ExprId operators(int level) {
    ExprId left = primary();
    while (const Operator* o = peekOperator(level)) {
      at_ += o->text.size();
      ExprId right = operators(o->level + 1);
      left = pool_.binary(o->op, left, right);
    }
    return left;
  }

  ExprId primary() {
    if (!ok_) return pool_.constant(0);
    if (++depth_ > 200) return fail("nested too deeply");
    ExprId value = primaryWithin();
    --depth_;
    return value;
  }

  // A sign, a parenthesis, a numeral, a call or a name. In the body of a function names are its
  // parameters; elsewhere the caller knows them.
  ExprId primaryWithin() {
    if (accept("-")) return pool_.unary(Op::Neg, primary());
    if (accept("!")) return pool_.unary(Op::Not, primary());
    if (accept("(")) {
      ExprId value = expression();
      expect(")");
      return value;
    }
    skip();
    if (at_ < text_.size() &&
        (std::isdigit(static_cast<unsigned char>(text_[at_])) || text_[at_] == '.'))
      return numeral();
    std::string_view name = identifier();
    if (name.empty()) return fail("expected a value");
    if (accept("(")) return call(name);
    if (isBody()) {
      const auto parameter = scope_.find(name);
      return parameter == scope_.end() ? fail("a function reads its parameters only")
                                       : parameter->second;
    }
    Span where = span();
    ExprId value = unread_ ? pool_.constant(0) : actions_.name(name, where);
    if (value < 0) ok_ = false;
    return ok_ ? value : pool_.constant(0);
  }

  bool isBody() const { return functions_ < formulaFunctions().size(); }

  ExprId numeral() {
    std::string digits(text_.substr(at_, 40));
    char* end = nullptr;
    double value = std::strtod(digits.c_str(), &end);
    at_ += end - digits.c_str();
    return pool_.constant(value);
  }

  // Functions of the language (formulaFunctions) first, then operations; what is neither is a
  // reduction of one argument.
  ExprId call(std::string_view name) {
    if ((name == "or" || name == "has") && !isBody()) return optional(name);
    std::vector<ExprId> arguments;
    if (!accept(")")) {
      do arguments.push_back(expression());
      while (accept(","));
      expect(")");
    }
    if (!ok_) return pool_.constant(0);
    for (size_t i = 0; i < functions_; ++i) {
      if (formulaFunctions()[i].name == name) return inlined(i, arguments);
    }
    ExprId value = arguments.size() == 1   ? call1(name, arguments[0])
                   : arguments.size() == 2 ? call2(name, arguments[0], arguments[1])
                                           : -1;
    return value < 0 ? fail("no function " + std::string(name) + " with " +
                            std::to_string(arguments.size()) + " arguments")
                     : value;
  }

  // A function of the formula language is parsed anew at every call, with its parameters bound to
  // the arguments. It sees only functions defined above it, so that there is no recursion.
  ExprId inlined(size_t function, const std::vector<ExprId>& arguments) {
    const FormulaFunction& f = formulaFunctions()[function];
    if (arguments.size() != f.parameters.size())
      return fail(std::string(f.name) + " takes " + std::to_string(f.parameters.size()) +
                  " arguments, not " + std::to_string(arguments.size()));
    Scope scope;
    for (size_t i = 0; i < arguments.size(); ++i) scope.emplace(f.parameters[i], arguments[i]);
    Parser body(*this, function, std::move(scope));
    const ExprId value = body.expression();
    body.skip();
    if (body.ok_ && body.at_ != body.text_.size()) body.fail("unexpected text");
    ok_ = body.ok_;
    return value;
  }

  // or(SLOT, e): names in the alternative count only when the slot is absent.
  ExprId optional(std::string_view which) {
    std::string_view slot = identifier();
    Span where = span();
    const bool there = actions_.present(slot);
    if (which == "has") {
      expect(")");
      return pool_.constant(there);
    }
    expect(",");
    const bool outer = unread_;
    unread_ = unread_ || there;
    ExprId otherwise = expression();
    unread_ = outer;
    expect(")");
    return there && ok_ && !unread_ ? actions_.name(slot, where) : otherwise;
  }

  // What is neither an operation nor a conversion is a reduction, which the actions know.
  ExprId call1(std::string_view name, ExprId a) {
    for (const Function1& f : kUnary) {
      if (f.name == name) return pool_.unary(f.op, a);
    }
    if (name == "sign") {
      ExprId zero = pool_.cast(pool_.constant(0), pool_[a].type),
             one = pool_.cast(pool_.constant(1), pool_[a].type);
      ExprId negative =
          pool_.select(pool_.binary(Op::Lt, a, zero), pool_.unary(Op::Neg, one), zero);
      return pool_.select(pool_.binary(Op::Gt, a, zero), one, negative);
    }
    if (name == "float") return pool_.cast(a, Scalar::F32);
    if (name == "double") return pool_.cast(a, Scalar::F64);
    if (name == "int32") return pool_.cast(a, Scalar::I32);
    if (name == "int64") return pool_.cast(a, Scalar::I64);
    if (name == "bool") return pool_.cast(a, Scalar::I1);
    return unread_ ? a : actions_.reduce(name, a);
  }

  ExprId call2(std::string_view name, ExprId a, ExprId b) {
    for (const Function1& f : kBinary) {
      if (f.name == name) return pool_.binary(f.op, a, b);
    }
    return -1;
  }

  std::string_view text_;
  ExprPool& pool_;
  FormulaActions& actions_;
  const size_t functions_;  // so many of formulaFunctions() are known
  const Scope scope_;       // parameters of the function whose body this is
  size_t at_ = 0;
  int depth_ = 0;
  bool ok_ = true;
  bool unread_ = false;  // inside an alternative that does not count
};

}  // namespace

// All names of a formula without parsing it: which are read, which are assigned, which are called.
// For tests of the tables, and to know which arguments a formula uses before they have buffers.
Identifiers identifiersOf(std::string_view text) {
  Identifiers found;
  auto space = [](char c) { return std::isspace(static_cast<unsigned char>(c)) != 0; };
  auto digit = [](char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0 || c == '.'; };
  for (size_t at = 0; at < text.size();) {
    const size_t start = at;
    if (text[at] == '[') {  // a span: [r], [i]
      at = std::min(text.find(']', at), text.size() - 1) + 1;
    } else if (digit(text[at])) {  // a numeral, maybe with an exponent
      while (at < text.size() && (digit(text[at]) || isPartOfName(text[at]) ||
                                  (text[at - 1] == 'e' && (text[at] == '-' || text[at] == '+'))))
        ++at;
    } else if (isPartOfName(text[at])) {
      while (at < text.size() && isPartOfName(text[at])) ++at;
      const std::string_view name = text.substr(start, at - start);
      size_t next = at;
      if (next < text.size() && text[next] == '[') next = text.find(']', next) + 1;
      while (next < text.size() && space(text[next])) ++next;
      const char after = next < text.size() ? text[next] : ';';
      const bool equals = next + 1 < text.size() && text[next + 1] == '=';
      if (after == '(') {
        found.functions.insert(name);
      } else {
        found.names.insert(name);
        if (after == '=' && !equals) found.assigned.insert(name);
      }
    } else {
      ++at;
    }
  }
  return found;
}

bool parseFormula(std::string_view text, ExprPool& pool, FormulaActions& actions) {
  return Parser(text, pool, actions).run();
}

}  // namespace dtranspile::lower
