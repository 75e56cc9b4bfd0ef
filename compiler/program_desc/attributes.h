// Attributes of saved ops to MLIR attributes and back (the table in docs/dialects/pd.md). Called by
// import.cc and by the exporter.
#pragma once

#include <string>

#include "compiler/program_desc/framework.pb.h"
#include "mlir/IR/Attributes.h"
#include "mlir/IR/Builders.h"

namespace dtranspile {

// Null, with `error` saying why, when type and value do not agree or the type is not known.
mlir::Attribute importAttribute(mlir::Builder& builder, const framework::OpDesc::Attr& attribute,
                                std::string& error);

// False when the attribute is none of the framework's kinds.
bool exportAttribute(mlir::Attribute value, framework::OpDesc::Attr& attribute);

}  // namespace dtranspile
