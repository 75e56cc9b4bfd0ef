#include "compiler/lower/kernel/extents.h"

namespace dtranspile::lower {
namespace {

// The first primes above 2^16: longer than any lane (formula.cc), and three of them times a
// thousand fit in 64 bits.
constexpr int64_t kPrimes[kMostTokens] = {65537, 65539, 65543, 65551, 65557, 65563};

}  // namespace

int64_t tokenNumber(int token) { return kPrimes[token]; }

// Tokens are distinct primes, so that a product of extents factors back into them uniquely.
Monomial monomialOf(int64_t number) {
  Monomial result;
  for (int k = 0; k < kMostTokens; ++k) {
    while (number != 0 && number % kPrimes[k] == 0) {
      number /= kPrimes[k];
      result.tokens.push_back(k);
    }
  }
  result.factor = number;
  return result;
}

bool isSymbolic(int64_t number) { return !monomialOf(number).tokens.empty(); }

}  // namespace dtranspile::lower
