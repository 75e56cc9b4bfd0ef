// What one class of ranks does on its communicators, in order: the thread of the event model
// (docs/verification.md). Read off the text of a class: the programs of a role under a selector, or
// a specialised module. Used by run.h.
#pragma once

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
};

// One start or one wait of a thread.
struct Event {
  mlir::Operation* op;  // the communication op, or the wait
  int comm = -1;        // of a start: index into ClassText::comms
  int ticket = -1;  // of a wait: index of the start among the thread's events; of a start: its own
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
Signature signatureOf(mlir::Operation* op);

// The events of a program in order; what the model does not cover is reported as unknown.
std::vector<Event> eventsOf(const ClassText& text, pd::ProgramOp program, Rung& report);

}  // namespace dtranspile::verify
