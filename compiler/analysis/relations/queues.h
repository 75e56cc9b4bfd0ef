// What the contract `staleness` has to say where gradients wait on a trainer for others (D38,
// docs/parameter-server.md): written by pass ps-split, asked for by rung 2.
#pragma once

#include <cstdint>
#include <string>

namespace dtranspile::verify {

// Up to `most` gradients of a variable travel as one.
inline std::string mergedText(int64_t most, bool averaged) {
  return "up to " + std::to_string(most) + " gradients of a trainer, " +
         (averaged ? "averaged" : "added up") + ", are one push";
}

// Not every pull waits for what was pushed before it.
inline constexpr const char* kPulledBeforeText =
    "trainers go on with parameters that they pulled before their last pushes";

}  // namespace dtranspile::verify
