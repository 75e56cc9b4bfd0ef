// The phases after the passes, as passes: lit tests and people who look at one phase run them on
// text with dtranspile-opt. The command line calls the phases themselves.
#pragma once

namespace dtranspile {

// `specialize{role=trainer class=NAME composites=keep}`: the module becomes the text of that class
// (the first one where none is named); the names and sizes of all classes are remarks.
// `export-collective{rank=0 endpoints=…}`: communication becomes the framework's own operators.
// `export-servers{role=server rank=0 endpoints=…}`: a job of trainers and servers becomes the
// programs of that rank in the framework's own operators.
void registerPhases();

}  // namespace dtranspile
