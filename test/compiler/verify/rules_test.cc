// The theory below the rules: exact scales, forms, and a rule for every op of the programs that
// must be verified.
#include <catch2/catch.hpp>

#include "compiler/analysis/relations/form.h"
#include "compiler/analysis/relations/needs.h"
#include "compiler/analysis/relations/rule.h"
#include "compiler/lower/native.h"
#include "dialects/pd/op_table.h"

namespace dtranspile::verify {
namespace {

Axes oneAxis(int64_t size) {
  Axes axes;
  axes.names.push_back("dp");
  axes.sizes.push_back(size);
  axes.meshSizes.push_back(size);
  axes.isData.push_back(true);
  return axes;
}

Reading reading(State state, Rational scale = Rational()) { return {true, {state}, scale}; }

// Evaluates a form over operands given by their readings; values are told apart by their address
// only.
class Evaluator {
 public:
  mlir::Value operand(Reading reading) {
    mlir::Value value = mlir::Value::getFromOpaquePointer(storage_ + 8 * readings_.size());
    readings_[value] = std::move(reading);
    return value;
  }
  Outcome run(
      const Form& form, const Axes& axes, IsZero isZero = [](mlir::Value) { return false; }) {
    return evaluate(
        form, axes, [&](mlir::Value value) -> const Reading& { return readings_[value]; }, isZero);
  }

 private:
  alignas(16) char storage_[256];
  llvm::DenseMap<mlir::Value, Reading> readings_;
};

}  // namespace

TEST_CASE("scales are recovered from 32-bit floats") {
  for (int64_t n = 1; n <= 5000; ++n)
    CHECK(Rational::ofFloat(static_cast<float>(1.0 / static_cast<double>(n))) == Rational(1, n));
  for (int64_t n : {65536, 99999, 100000, 1000000})
    CHECK(Rational::ofFloat(static_cast<float>(1.0 / static_cast<double>(n))) == Rational(1, n));
  CHECK(Rational::ofFloat(-0.75) == Rational(-3, 4));
  CHECK(Rational::ofFloat(std::numeric_limits<double>::infinity()).isLost());
}

TEST_CASE("scales that do not fit are lost and equal nothing") {
  Rational large(INT64_MAX);
  CHECK((large * large).isLost());
  CHECK_FALSE(Rational::lost() == Rational::lost());
  CHECK((Rational(1, 3) + Rational(1, 6)) == Rational(1, 2));
}

TEST_CASE("a contraction over a split dim is a partial sum, a mean over it n times too large") {
  Evaluator evaluator;
  Form form;
  form.terms.push_back({evaluator.operand(reading(State::split(0))), {0, 1}, Use::Linear});
  form.result = {1};
  form.fold = Fold::Sum;
  Outcome sum = evaluator.run(form, oneAxis(4));
  CHECK(sum.reading == reading(State::partial(dist::Reduce::Sum)));
  form.averaged = {0};
  CHECK(evaluator.run(form, oneAxis(4)).reading ==
        reading(State::partial(dist::Reduce::Sum), Rational(4)));
}

TEST_CASE("rows of one operand against rows of another couple samples, which is no misfit") {
  Evaluator evaluator;
  Form form;
  form.terms.push_back({evaluator.operand(reading(State::split(0))), {0, kWholeDim}, Use::Linear});
  form.terms.push_back({evaluator.operand(reading(State::split(0))), {1, kWholeDim}, Use::Linear});
  form.result = {0, 1};
  Outcome pairs = evaluator.run(form, oneAxis(2));
  CHECK_FALSE(pairs.reading.known);
  CHECK_FALSE(pairs.reason.misfit);
  // One of them has the other's dim, and whole: on a rank the extents differ.
  form.terms[0].labels = {0, 1};
  CHECK(evaluator.run(form, oneAxis(2)).reason.misfit);
}

TEST_CASE("a dim whose extent is not read may be cut") {
  Evaluator evaluator;
  Form form;
  form.terms.push_back(
      {evaluator.operand(reading(State::split(0))), {kAnyDim, kWholeDim}, Use::Shape});
  form.result = {kWholeDim};
  CHECK(evaluator.run(form, oneAxis(2)).reading == reading(State::replicated()));
  form.terms[0].labels = {kWholeDim, kAnyDim};
  CHECK_FALSE(evaluator.run(form, oneAxis(2)).reading.known);
}

TEST_CASE("dividing by the extent of a part is dividing by 1/n of the whole") {
  Evaluator evaluator;
  Form form;
  form.terms.push_back(
      {evaluator.operand(reading(State::partial(dist::Reduce::Sum))), {}, Use::Linear});
  mlir::Value batch = evaluator.operand(reading(State::split(0)));
  form.divisors.push_back({batch, 0});
  CHECK(evaluator.run(form, oneAxis(4)).reading ==
        reading(State::partial(dist::Reduce::Sum), Rational(4)));
}

TEST_CASE("a partial value passes linear ops only") {
  Evaluator evaluator;
  Form form;
  form.terms.push_back(
      {evaluator.operand(reading(State::partial(dist::Reduce::Sum))), {0}, Use::Linear});
  form.result = {0};
  CHECK(evaluator.run(form, oneAxis(2)).reading == reading(State::partial(dist::Reduce::Sum)));
  form.terms[0].use = Use::Value;
  Outcome lost = evaluator.run(form, oneAxis(2));
  CHECK_FALSE(lost.reading.known);
  CHECK(lost.reason.axis == 0);
}

TEST_CASE("a replicated term counts once per rank in a sum with a partial one") {
  Evaluator evaluator;
  Form form;
  form.combine = Combine::Sum;
  form.terms.push_back({evaluator.operand(reading(State::partial(dist::Reduce::Sum), Rational(4))),
                        {0},
                        Use::Linear});
  form.terms.push_back({evaluator.operand(reading(State::replicated())), {0}, Use::Linear});
  form.result = {0};
  CHECK(evaluator.run(form, oneAxis(4)).reading ==
        reading(State::partial(dist::Reduce::Sum), Rational(4)));
  CHECK_FALSE(evaluator.run(form, oneAxis(2)).reading.known);
}

TEST_CASE(
    "zeros fit every sum; put together with nothing else they have the extents of their parts") {
  Evaluator evaluator;
  Form form;
  form.combine = Combine::Sum;
  const mlir::Value zero = evaluator.operand(reading(State::split(0)));
  form.terms.push_back({zero, {0}, Use::Linear});
  form.result = {0};
  auto isZero = [&](mlir::Value value) { return value == zero; };
  CHECK(evaluator.run(form, oneAxis(2), isZero).reading == reading(State::split(0)));
  form.terms.push_back({evaluator.operand(reading(State::replicated())), {0}, Use::Linear});
  CHECK(evaluator.run(form, oneAxis(2), isZero).reading == reading(State::replicated()));
}

TEST_CASE("parts pass every op, and do not mix with split values") {
  Evaluator evaluator;
  Form form;
  form.terms.push_back({evaluator.operand(reading(State::parts())), {0}, Use::Value});
  form.terms.push_back({evaluator.operand(reading(State::replicated())), {0}, Use::Value});
  form.result = {kWholeDim};
  CHECK(evaluator.run(form, oneAxis(2)).reading == reading(State::parts()));
  form.terms.push_back({evaluator.operand(reading(State::split(0))), {0}, Use::Value});
  CHECK_FALSE(evaluator.run(form, oneAxis(2)).reading.known);
}

TEST_CASE("along an axis of one rank everything is replicated") {
  Evaluator evaluator;
  Form form;
  form.terms.push_back({evaluator.operand(reading(State::split(0))), {kWholeDim}, Use::Value});
  form.result = {kWholeDim};
  CHECK(evaluator.run(form, oneAxis(1)).reading == reading(State::replicated()));
}

TEST_CASE("rules are for ops that exist, and read slots that these have") {
  for (const std::string& type : ruleTypes()) {
    INFO(type);
    const pd::OpSpec* spec = pd::findOp(type);
    REQUIRE(spec);
    for (const Clause& clause : findRule(type)->clauses) {
      for (const SlotUse& input : clause.inputs) {
        INFO(input.slot);
        CHECK((spec->input(input.slot) || input.slot.front() == '$' ||
               input.slot == "ShapeTensor" || input.slot == "ShapeTensorList" ||
               input.slot == "ValueTensor"));
      }
      for (const SlotResult& output : clause.outputs) {
        INFO(output.slot);
        CHECK(spec->output(output.slot));
      }
    }
  }
}

TEST_CASE("what a rule was made for are attributes and inputs that its op has") {
  for (const std::string& type : ruleTypes()) {
    INFO(type);
    const pd::OpSpec& spec = *pd::findOp(type);
    for (const Need& need : findRule(type)->needs) {
      INFO(need.name);
      const pd::AttrRow* attribute = spec.attribute(need.name);
      CHECK((attribute || (spec.input(need.name) && need.values.empty())));
      if (attribute) CHECK((!attribute->hint && !isValueFree(need.name)));
    }
  }
}

TEST_CASE("common attributes change no value, or are hints") {
  for (const char* name : {"op_role", "op_role_var", "op_namescope", "op_callstack", "op_device"}) {
    INFO(name);
    CHECK(pd::isCommonAttribute(name));
    CHECK(isValueFree(name));
  }
  CHECK_FALSE(isValueFree("axis"));
}

TEST_CASE("needs are names, with the values that a rule holds for") {
  std::vector<Need> needs = parseNeeds("axis, mode=a|b, Shape, dims={}");
  REQUIRE(needs.size() == 4);
  CHECK(needs[0].name == "axis");
  CHECK(needs[0].values.empty());
  CHECK(needs[1].values == std::vector<std::string>{"a", "b"});
  CHECK(needs[3].values == std::vector<std::string>{"{}"});
}

// What has no rule says why: `verify` prints the reason.
TEST_CASE("every op type that runs natively has a rule, or a reason why there can be none") {
  for (const pd::OpSpec& spec : pd::builtinOps()) {
    if (!lower::nativeForm(spec.type)) continue;
    INFO(spec.type);
    CHECK((findRule(spec.type) != nullptr) != !whyNoRule(spec.type).empty());
  }
}

// An attribute that no row names makes an op unknown unless it has its default: that is so of these
// and of no others.
TEST_CASE("attributes that make an op unknown are few, and listed") {
  std::string list;
  for (const std::string& type : ruleTypes()) {
    const ParsedRule& rule = *findRule(type);
    for (const pd::AttrRow& row : pd::findOp(type)->attributes) {
      const Need* need = rule.need(row.name);
      if (row.hint || isValueFree(row.name) || (need && need->values.empty())) continue;
      list += type + "." + row.name + " ";
      CHECK_FALSE((row.required && !need));
    }
  }
  WARN(list);
}

}  // namespace dtranspile::verify
