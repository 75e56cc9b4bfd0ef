// Rung 2 over composites: one framework op whose body communicates.
#include "compiler/verify/relations/analysis.h"

namespace dtranspile::verify {

void Analysis::visitComposite(dist::CompositeOp composite) { giveUnknown(composite, "is a composite without a relation rule"); }

}  // namespace dtranspile::verify
