// What one class of ranks does on its communicators, in order: the thread of the event model
// (docs/verification.md). Read off the text of a class: the programs of a role under a selector, or
// a specialised module. Used by run.h.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "compiler/analysis/report.h"
#include "dialects/dist/dist.h"
#include "dialects/pd/pd.h"

namespace dtranspile::verify {

// The ranks of a role with one text.
struct ClassText {
  std::string name;                 // "trainer", "trainer[pp=0]"
  dist::SelAttr where;              // its ranks; guards in the text are resolved by it
  std::vector<dist::CommOp> comms;  // in order of creation
  pd::ProgramOp startup, main;      // startup may be null
  std::string role;                 // empty in a specialised module
};

// One start or one wait of a thread.
struct Event {
  mlir::Operation* op;  // the communication op, or the wait
  int comm = -1;        // of a start: index into ClassText::comms
  int ticket = -1;  // of a wait: index of the start among the thread's events; of a start: its own
  // Which of the communicator's queues: the two coordinates of a pair, "0>1"; the server; empty for
  // a group.
  std::string channel;
  std::string path;        // the control flow around it, "conditional_block #12"
  int64_t micro = -1;      // its micro-batch; -1 outside of pipelines
  const char* phase = "";  // of the end of a phase: "push" or "pull"
  bool isStart() const { return comm >= 0; }
};

// What all members of a group must agree in.
struct Signature {
  std::string kind;    // "all_reduce sum", "broadcast from <dp = 0>"
  std::string types;   // local types of the operands
  std::string values;  // names of the variables
  bool operator==(const Signature& other) const {
    return kind == other.kind && types == other.types && values == other.values;
  }
};
Signature signatureOf(const Event& event);

// Classes of servers with rounds by the communicator on which they are asked; others wait for
// nobody.
using Servers = std::map<std::string, std::vector<std::string>>;

// The events of a program in order, null where the class has none of the name; what the model does
// not cover is reported as unknown.
std::vector<Event> eventsOf(const ClassText& text, llvm::StringRef program, const Servers& servers,
                            Rung& report);

// The loop of a server in main; null for others.
dist::ServeOp serveOf(const ClassText& text);

}  // namespace dtranspile::verify
