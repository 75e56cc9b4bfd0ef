// The sections of a page, in their order. Each says of itself what it leaves out.
#pragma once

#include "tools/dtranspile/page/facts.h"
#include "tools/dtranspile/page/html.h"

namespace dtranspile::page {

void writeHead(const JobFacts& job, Html& html);     // digest, request, contracts, feeds, fetches
void writeDrawing(const JobFacts& job, Html& html);  // roles, classes, communicators
void writeSteps(const JobFacts& job, Html& html);  // the ops of a step in a row, what is under way
void writeSchedules(const JobFacts& job, Html& html);  // pipelines: which stage runs what when
void writeMemory(const JobFacts& job, Html& html);     // who holds how much
void writeExchanges(const JobFacts& job, Html& html);  // a row per kind of communication
void writeVariables(const JobFacts& job, Html& html);  // owner and relation
void writePrograms(const JobFacts& job, Html& html);   // op by op, foldable

extern const char kStyle[];
extern const char kScript[];

}  // namespace dtranspile::page
