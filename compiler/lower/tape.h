// What forward blocks keep for their gradients (block_lowering.h).
#pragma once

#include <map>
#include <string>
#include <vector>

#include "dialects/pd/infer.h"

namespace dtranspile::lower {

// Of a loop lists with an item per turn; of a branch the buffers themselves, which stay as they
// are.
struct Tape {
  struct Item {
    std::string name;
    pd::TensorInfo info;  // of the value
    int buffer = -1;
    int lists = 0;  // how many lists are around it
  };
  std::map<std::string, Item> values;  // by saved name
  std::map<std::string, Tape> inner;   // tapes of blocks within, by saved name
  Item turns;  // of a loop: a list with an item per turn; without a buffer for a branch

  std::vector<Item*> items();  // all of it that have a buffer
};

}  // namespace dtranspile::lower
