// Programs that are large in one direction only: so many ops, arguments of one op, attributes of
// one op, numbers in one attribute, variables, parameters, blocks, captures of one block.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace dtranspile::bench {

struct Direction {
  const char* name;
  std::string (*generate)(int64_t size);  // the bytes of a ProgramDesc
  int64_t most;                           // beyond it the importer's budget ends
};

const std::vector<Direction>& directions();

}  // namespace dtranspile::bench
