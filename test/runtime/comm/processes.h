// Runs the ranks of a test as real processes. Forks from the test's main thread, which starts no
// threads of its own; a rank's result comes back as text over a pipe. Used by the communication
// tests.
#pragma once

#include <sys/types.h>

#include <functional>
#include <string>
#include <vector>

namespace dtranspile::comm::test {

struct Outcome {
  int signal = 0;     // that ended the process, 0 for none
  bool late = false;  // had to be killed
  std::string text;   // what the body returned
};

// Calls body(rank) in `ranks` processes; waits until all have ended, or all but `abandoned`, or
// `seconds` have passed; kills what is left.
std::vector<Outcome> RunRanks(int ranks, const std::function<std::string(int rank)>& body,
                              std::vector<int> abandoned = {}, double seconds = 120);

// The same, and fails the test unless every rank returned "".
void RequireRanks(int ranks, const std::function<std::string(int rank)>& body,
                  double seconds = 120);

// Steady seconds.
double Now();

}  // namespace dtranspile::comm::test
