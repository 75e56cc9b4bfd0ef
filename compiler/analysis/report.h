// What `verify` says: verdicts and messages per rung. Every rung fills one section; render.h prints
// the whole. No MLIR handles are kept, so that a report outlives the module.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace dtranspile::verify {

// Holds: proved under the declared contract. Unknown is never success.
enum class Verdict { Holds, Unknown, Refuted };

// "verified", "unknown", "refuted".
const char* verdictName(Verdict verdict);

struct Message {
  enum class Level { Note, Unknown, Refuted };
  Level level = Level::Refuted;
  std::string rule;      // short name of what is violated: "reduced-once", "D8", …
  std::string op;        // type of the op, "sgd"; empty where no op is meant
  std::string position;  // "trainer/main: sgd of `w` (block 0, op 11; train.py:88)"
  std::string file;      // of the op's location, for tools that annotate sources; may be empty
  int64_t block = -1, index = -1;  // inside that file
  std::string rankClass;           // ranks concerned: "trainer", "trainer[dp=0]"
  std::string text;                // what was found and what is required
  std::string remedy;              // what to do
  std::vector<std::string> notes;  // second positions, the edges of a cycle
};

// What a verdict leans on: it holds under a contract, with a variable that each rank has its own
// value of, or for the source as a pass was asked to change it.
struct Condition {
  std::string kind;  // "contract", "variable", "change"
  std::string name;
  std::string statement;  // what the contract says; the contract of the variable
};

struct Rung {
  std::string name;  // "structure", "refinement", "relations", "communication", "execution"
  Verdict verdict = Verdict::Holds;
  std::string holds = "verified";  // what it is called where it holds: evidence is no proof
  std::string notRun;  // why it found nothing out, not even what it does not know; else empty
  std::vector<Message> messages;
  std::vector<Condition> conditions;
  std::vector<std::pair<std::string, int64_t>> stats;  // in a fixed order

  // Adds a message and worsens the verdict accordingly. Messages above a limit are counted, not
  // kept.
  void add(Message message);
  // What the report calls the verdict.
  std::string word() const;
  void stat(std::string name, int64_t value) { stats.emplace_back(std::move(name), value); }
  int64_t dropped = 0;  // messages above the limit
};

struct VerifyReport {
  std::vector<Rung> rungs;
  std::vector<std::string> required;  // names of the rungs that the overall verdict covers

  // The worst verdict of the required rungs; a required rung that did not run is unknown.
  Verdict overall() const;
  const Rung* find(const std::string& name) const;
};

// 0 verified, 1 refuted, 3 unknown.
int exitCode(Verdict verdict);

}  // namespace dtranspile::verify
