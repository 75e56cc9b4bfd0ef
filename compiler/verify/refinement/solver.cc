#include "compiler/verify/refinement/solver.h"

#include <z3.h>

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/raw_ostream.h"
#include "mlir/Dialect/SMT/IR/SMTDialect.h"
#include "mlir/Dialect/SMT/IR/SMTOps.h"
#include "mlir/IR/Builders.h"
#include "mlir/Target/SMTLIB/ExportSMTLIB.h"

namespace dtranspile::verify {
namespace {

namespace smt = mlir::smt;

// Per question. Work is counted by Z3, the same on every machine, and ends a question within two
// seconds; the time is for a machine that is slower than anybody thought of, so that it does not
// decide a verdict.
constexpr unsigned kMilliseconds = 15'000, kWork = 5'000'000;
constexpr char kMebibytes[] = "512";  // of all questions of the process
constexpr size_t kLargest = 20'000;

// The expressions that a and b are made of, operands first.
std::vector<ExpressionId> reachable(const Expressions& all, ExpressionId a, ExpressionId b) {
  std::vector<bool> seen(all.size(), false);
  std::vector<ExpressionId> work = {a, b}, found;
  while (!work.empty()) {
    const ExpressionId one = work.back();
    work.pop_back();
    if (seen[one]) continue;
    seen[one] = true;
    found.push_back(one);
    for (ExpressionId operand : all.at(one).operands) work.push_back(operand);
  }
  // Numbers of operands are smaller.
  llvm::sort(found);
  return found;
}

// Expressions as the integer sort of dialect smt, which the text turns into reals afterwards: the
// dialect has no sort of real numbers.
class Lowering {
 public:
  Lowering(mlir::OpBuilder& builder, const Expressions& all, Question& question)
      : builder_(builder), at_(builder.getUnknownLoc()), all_(all), question_(question) {}

  // After its operands.
  void lower(ExpressionId id) {
    const Expression& one = all_.at(id);
    llvm::SmallVector<mlir::Value> operands;
    for (ExpressionId operand : one.operands) operands.push_back(of(operand));
    made_[id] = make(one, operands);
  }
  mlir::Value of(ExpressionId id) const { return made_.lookup(id); }

 private:
  // A literal has no sign.
  mlir::Value whole(int64_t number) {
    const auto literal = [&](int64_t size) -> mlir::Value {
      return smt::IntConstantOp::create(builder_, at_, builder_.getI64IntegerAttr(size));
    };
    if (number >= 0) return literal(number);
    return smt::IntSubOp::create(builder_, at_, literal(0), literal(-number));
  }

  // Leaves are constants of the solver with short names (their own may hold any characters), and
  // are remembered for the counterexample.
  mlir::Value make(const Expression& one, mlir::ValueRange operands) {
    mlir::Type real = smt::IntType::get(builder_.getContext());
    switch (one.kind) {
      case Expression::Constant: {
        mlir::Value top = whole(one.number.numerator());
        if (one.number.denominator() == 1) return top;
        return smt::IntDivOp::create(builder_, at_, top, whole(one.number.denominator()));
      }
      case Expression::Leaf: {
        const std::string symbol = "x" + std::to_string(question_.leaves.size());
        question_.leaves.emplace_back(symbol, one.name);
        return smt::DeclareFunOp::create(builder_, at_, real, builder_.getStringAttr(symbol));
      }
      case Expression::Sum: return smt::IntAddOp::create(builder_, at_, operands);
      case Expression::Product: return smt::IntMulOp::create(builder_, at_, operands);
      case Expression::Apply: return apply(one, operands, real);
    }
    llvm_unreachable("all kinds are above");
  }

  // An uninterpreted function, declared once per name and number of operands.
  mlir::Value apply(const Expression& one, mlir::ValueRange operands, mlir::Type real) {
    question_.functions = true;
    mlir::Value& function = functions_[{one.name, operands.size()}];
    if (!function) {
      const llvm::SmallVector<mlir::Type> domain(operands.size(), real);
      function = smt::DeclareFunOp::create(
          builder_, at_, smt::SMTFuncType::get(domain, real),
          builder_.getStringAttr("f" + std::to_string(functions_.size())));
    }
    return smt::ApplyFuncOp::create(builder_, at_, real, function, operands);
  }

  mlir::OpBuilder& builder_;
  mlir::Location at_;
  const Expressions& all_;
  Question& question_;
  llvm::DenseMap<ExpressionId, mlir::Value> made_;
  std::map<std::pair<std::string, size_t>, mlir::Value> functions_;
};

// Z3 calls this instead of ending the process; errors are asked for.
void ignore(Z3_context, Z3_error_code) {}

// One question, one context: nothing is left over for the next one.
class Session {
 public:
  Session() {
    Z3_global_param_set("memory_max_size", kMebibytes);
    Z3_config config = Z3_mk_config();
    context_ = Z3_mk_context(config);
    Z3_del_config(config);
    Z3_set_error_handler(context_, ignore);
  }
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;
  ~Session() {
    if (solver_) Z3_solver_dec_ref(context_, solver_);
    Z3_del_context(context_);
  }

  bool failed() const { return Z3_get_error_code(context_) != Z3_OK; }

  // Sums of monomials first, which decides equal polynomials; then what is known of functions, or
  // without any, the real numbers.
  bool take(const std::string& text, bool functions) {
    Z3_ast_vector formulas =
        Z3_parse_smtlib2_string(context_, text.c_str(), 0, nullptr, nullptr, 0, nullptr, nullptr);
    if (failed()) return false;
    Z3_ast_vector_inc_ref(context_, formulas);
    Z3_params normal = Z3_mk_params(context_);
    Z3_params_inc_ref(context_, normal);
    for (const char* name : {"som", "arith_lhs", "flat"})
      Z3_params_set_bool(context_, normal, Z3_mk_string_symbol(context_, name), true);
    Z3_tactic simplify = keep(Z3_mk_tactic(context_, "simplify"));
    Z3_tactic first = keep(Z3_tactic_using_params(context_, simplify, normal));
    Z3_tactic then = keep(Z3_mk_tactic(context_, functions ? "smt" : "qfnra-nlsat"));
    Z3_tactic both = keep(Z3_tactic_and_then(context_, first, then));
    solver_ = Z3_mk_solver_from_tactic(context_, both);
    Z3_solver_inc_ref(context_, solver_);
    limit();
    for (unsigned i = 0; i < Z3_ast_vector_size(context_, formulas); ++i)
      Z3_solver_assert(context_, solver_, Z3_ast_vector_get(context_, formulas, i));
    for (Z3_tactic one : {simplify, first, then, both}) Z3_tactic_dec_ref(context_, one);
    Z3_params_dec_ref(context_, normal);
    Z3_ast_vector_dec_ref(context_, formulas);
    return !failed();
  }

  Z3_lbool check() {
    const Z3_lbool result = Z3_solver_check(context_, solver_);
    return failed() ? Z3_L_UNDEF : result;
  }

  // Units of work so far.
  int64_t work() {
    Z3_stats all = Z3_solver_get_statistics(context_, solver_);
    if (!all || failed()) return 0;
    Z3_stats_inc_ref(context_, all);
    int64_t count = 0;
    for (unsigned i = 0; i < Z3_stats_size(context_, all); ++i)
      if (llvm::StringRef(Z3_stats_get_key(context_, all, i)) == "rlimit count" &&
          Z3_stats_is_uint(context_, all, i))
        count = Z3_stats_get_uint_value(context_, all, i);
    Z3_stats_dec_ref(context_, all);
    return count;
  }

  std::string model() {
    Z3_model model = Z3_solver_get_model(context_, solver_);
    if (!model || failed()) return "";
    Z3_model_inc_ref(context_, model);
    std::string text = Z3_model_to_string(context_, model);
    Z3_model_dec_ref(context_, model);
    return text;
  }

 private:
  Z3_tactic keep(Z3_tactic one) {
    Z3_tactic_inc_ref(context_, one);
    return one;
  }

  // Bounded in time and in work, so that a verdict does not depend on the load of the machine
  // alone, and never hangs.
  void limit() {
    Z3_params limits = Z3_mk_params(context_);
    Z3_params_inc_ref(context_, limits);
    const auto set = [&](const char* name, unsigned value) {
      Z3_params_set_uint(context_, limits, Z3_mk_string_symbol(context_, name), value);
    };
    set("timeout", kMilliseconds);
    set("rlimit", kWork);
    Z3_solver_set_params(context_, solver_, limits);
    Z3_params_dec_ref(context_, limits);
  }

  Z3_context context_;
  Z3_solver solver_ = nullptr;
};

// Lines "x3 -> (/ 1.0 2.0)".
std::vector<std::pair<std::string, std::string>> valuesOf(const Question& question,
                                                          const std::string& model) {
  std::vector<std::pair<std::string, std::string>> values;
  llvm::SmallVector<llvm::StringRef> lines;
  llvm::StringRef(model).split(lines, '\n');
  for (llvm::StringRef line : lines) {
    const auto [symbol, value] = line.split(" -> ");
    for (const auto& [name, element] : question.leaves)
      if (symbol == name) values.emplace_back(element, value.str());
  }
  return values;
}

}  // namespace

// Asserts that a and b differ: unsatisfiable means that they are equal for all values of the
// leaves. Expressions are lowered in the order of their numbers, operands first, each once.
Question questionOf(mlir::MLIRContext& context, const Expressions& expressions, ExpressionId a,
                    ExpressionId b) {
  Question question;
  const std::vector<ExpressionId> all = reachable(expressions, a, b);
  question.fits = all.size() <= kLargest;
  if (!question.fits) return question;
  mlir::OpBuilder builder(&context);
  mlir::Location at = builder.getUnknownLoc();
  question.module = mlir::ModuleOp::create(at);
  builder.setInsertionPointToEnd(question.module->getBody());
  auto solver = smt::SolverOp::create(builder, at, mlir::TypeRange(), mlir::ValueRange());
  builder.createBlock(&solver.getBodyRegion());
  Lowering lowering(builder, expressions, question);
  for (ExpressionId one : all) lowering.lower(one);
  mlir::Value differ = smt::DistinctOp::create(builder, at, lowering.of(a), lowering.of(b));
  smt::AssertOp::create(builder, at, differ);
  smt::YieldOp::create(builder, at);
  return question;
}

// SMT-LIB in the sort of integers, turned into reals by words: dialect smt has no reals.
std::string questionText(mlir::ModuleOp question) {
  std::string text;
  llvm::raw_string_ostream out(text);
  if (mlir::failed(smt::exportSMTLIB(question, out))) return "";
  // All symbols are x and f with a number: these words are sorts and operations.
  for (const auto& [from, to] : {std::pair("Int", "Real"), std::pair("(div ", "(/ ")})
    for (size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + 1))
      text.replace(at, std::string(from).size(), to);
  // The solver is asked by its interface.
  if (const size_t end = text.rfind("(reset)"); end != std::string::npos) text.erase(end);
  return text;
}

Solver::Solver() : context_(mlir::MLIRContext::Threading::DISABLED) {
  context_.loadDialect<smt::SMTDialect>();
}

// A model is a counterexample only if no uninterpreted function is in it: the real function might
// not have the values that the solver chose.
Answer Solver::decide(const Expressions& expressions, ExpressionId a, ExpressionId b) {
  ++asked_;
  Answer answer;
  const auto unknown = [&](const char* why) {
    answer.why = why;
    return answer;
  };
  if (expressions.isLost()) return unknown("a number does not fit");
  Question question = questionOf(context_, expressions, a, b);
  if (!question.fits) return unknown("the instance is too large");
  const std::string text = questionText(*question.module);
  if (text.empty()) return unknown("the question cannot be written");
  Session session;
  if (!session.take(text, question.functions)) return unknown("the solver does not read it");
  const Z3_lbool result = session.check();
  // Of a question without an end there may be no count.
  work_ += result == Z3_L_UNDEF ? std::max<int64_t>(session.work(), kWork) : session.work();
  switch (result) {
    case Z3_L_FALSE: answer.kind = Answer::Equal; return answer;
    case Z3_L_TRUE: break;
    default: return unknown("the solver gave up within its limits");
  }
  answer.kind = Answer::Differ;
  if (!question.functions) answer.values = valuesOf(question, session.model());
  return answer;
}

}  // namespace dtranspile::verify
