// Attributes of the op that is made of a PIR op, by its row (op_mapping.h). Called by normalize.cc
// for every op.
#pragma once

#include <string>

#include "compiler/import/pir/op_mapping.h"
#include "compiler/import/pir/program.h"
#include "compiler/program_desc/framework.pb.h"

namespace dtranspile::pir {

// Sets what the row states, then what the file gives, and of gradient ops what is left out there.
// What is wrong, to be said of the op, or empty. An attribute that neither the row nor the op of
// dialect pd knows is wrong, unless the row has a hook that reads it.
std::string setAttributes(const Op& op, const Rule& rule, framework::OpDesc& made);

}  // namespace dtranspile::pir
