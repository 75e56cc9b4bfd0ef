// Extents that are known only while a step runs (rows of a ragged batch, results of `where`). While
// a kernel is made, distinct primes stand for them: products of extents, and the strides made of
// them, then compare and divide as the extents would, and are taken apart again at the end. An op
// whose fixed extents have such a prime as a factor is refused (op_lowering.cc), so nothing is
// taken for what it is not.
#pragma once

#include <cstdint>
#include <vector>

namespace dtranspile::lower {

// At most so many in one op; a kernel's strides are products of at most three of them.
constexpr int kMostTokens = 6;

// The number that stands for unknown extent `token`.
int64_t tokenNumber(int token);

// factor · product of tokens.
struct Monomial {
  int64_t factor = 1;
  std::vector<int> tokens = {};
};
Monomial monomialOf(int64_t number);

// Whether a token is among the factors.
bool isSymbolic(int64_t number);

}  // namespace dtranspile::lower
