// Integer operations at the places that neither LLVM nor the hardware defines. A zero divisor is
// the program's mistake: its place is left in the kernel's fault cell (abi.h), and the division
// goes on with 1. The smallest number by -1 wraps around, as sums and products do. What a float
// has no integer for (NaN, infinities, too large) becomes the smallest one, as on the machines that
// the framework's own casts were compiled for.
#include "compiler/lower/kernel/emitter.h"

namespace dtranspile::lower {
namespace {

struct IntegerRange {
  double least, end;  // of the integers that have the type: [least, end)
};
constexpr IntegerRange kInt32 = {-2147483648.0, 2147483648.0};
constexpr IntegerRange kInt64 = {-9223372036854775808.0, 9223372036854775808.0};

}  // namespace

// Both bounds are floats of either width, and a comparison with NaN is false.
std::string Emitter::toInteger(const std::string& from, Scalar source, Scalar target) {
  const IntegerRange range = target == Scalar::I64 ? kInt64 : kInt32;
  const std::string wide = mlirName(source), type = mlirName(target);
  const std::string above =
      define("arith.cmpf oge, " + from + ", " + constant(range.least, source), wide);
  const std::string below =
      define("arith.cmpf olt, " + from + ", " + constant(range.end, source), wide);
  const std::string fits = define("arith.andi " + above + ", " + below, "i1");
  const std::string safe =
      define("arith.select " + fits + ", " + from + ", " + constant(0, source), wide);
  const std::string whole = define("arith.fptosi " + safe, wide + " to " + type);
  return define("arith.select " + fits + ", " + whole + ", " + constant(range.least, target), type);
}

// Divides by 1 where the divisor is 0 or -1 and puts the results right afterwards (a negation for
// -1, whose remainder is 0 anyway), so that the hardware instruction never traps. Nothing of that
// where the divisor is known to be neither.
std::string Emitter::divide(const Expr& e, const std::string& a, const std::string& b) {
  const std::string type = mlirName(e.type), how = spellBinary(e.op, false);
  if (!kernel_.mayFault(e)) return define(how + " " + a + ", " + b, type);
  const std::string zero = constant(0, e.type), one = constant(1, e.type);
  const std::string isZero = define("arith.cmpi eq, " + b + ", " + zero, type);
  const std::string negates = define("arith.cmpi eq, " + b + ", " + constant(-1, e.type), type);
  reportFault(isZero);
  const std::string either = define("arith.ori " + isZero + ", " + negates, "i1");
  const std::string safe = define("arith.select " + either + ", " + one + ", " + b, type);
  const std::string result = define(how + " " + a + ", " + safe, type);
  if (e.op == Op::Rem) return result;
  const std::string negative = define("arith.subi " + zero + ", " + a, type);
  return define("arith.select " + negates + ", " + negative + ", " + result, type);
}

// The first place, whatever thread finds its own first.
void Emitter::reportFault(const std::string& isZero) {
  open("scf.if " + isZero);
  std::string place = "%i0";
  for (size_t dim = 1; dim < kernel_.dims.size(); ++dim) {
    place = define("arith.muli " + place + ", " + index(kernel_.dims[dim]), "index");
    place = define("arith.addi " + place + ", " + id("%i", static_cast<int64_t>(dim)), "index");
  }
  const std::string number = define("arith.index_cast " + place, "index to i64");
  line(fresh() + " = memref.atomic_rmw minu " + number + ", %fault[%zero] : (i64, memref<1xi64>)" +
       " -> i64");
  close();
}

}  // namespace dtranspile::lower
