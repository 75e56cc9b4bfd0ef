// What the drawing of a role shows, without where: class boxes, arrows, bands, requests.
#pragma once

#include "tools/dtranspile/page/facts.h"

namespace dtranspile::page {

struct ClassBox {
  std::string title, tip;
  std::vector<std::string> lines;
  int64_t ranks = 0;
};

// From box to box along a `pairs` communicator; arrows of one row do not overlap.
struct TransferArrow {
  size_t from = 0, to = 0;
  int row = 0;
  std::string text, tip;
};
struct TransferLane {
  std::string title, tip;
  std::vector<TransferArrow> arrows;
  int rows = 0;
};

struct GroupBand {
  std::string title, text, tip;
  std::vector<size_t> boxes;  // that have operations on it
  bool step = false;          // in a step, and not at start-up only
};

struct RequestArrow {
  std::string what, text;
  bool up = false;  // from the server
};
struct RequestStrip {
  std::string title, phases, tip, server;
  std::vector<RequestArrow> arrows;
};

struct Lanes {
  size_t boxes = 0;  // at most kMostClasses; the last one stands for all further classes
  std::vector<ClassBox> content;
  std::vector<TransferLane> transfers;
  std::vector<GroupBand> groups;
  std::vector<RequestStrip> requests;
  size_t cut = 0;  // communicators beyond kMostLanes
};

Lanes lanesOf(const RoleFacts& role);

}  // namespace dtranspile::page
