// Where values are, and what communication makes of them: the functions that rung 2 asks of places,
// axes and states, each by a table. (Of whole jobs: roles_test.cc.)
#include <catch2/catch.hpp>

#include "compiler/analysis/relations/place.h"
#include "compiler/analysis/relations/transfer.h"
#include "mlir/AsmParser/AsmParser.h"
#include "test/compiler/verify/jobs.h"

namespace dtranspile::verify::test {
namespace {

struct Fixture {
  Jobs jobs;

  mlir::StringAttr name(llvm::StringRef text) {
    return mlir::StringAttr::get(jobs.context(), text);
  }
  // "pp = 0"; null for "".
  dist::SelAttr sel(const std::string& text) {
    if (text.empty()) return {};
    auto attribute = llvm::dyn_cast_or_null<dist::SelAttr>(
        mlir::parseAttribute("#dist.sel<" + text + ">", jobs.context()));
    REQUIRE(attribute);
    return attribute;
  }
  Place place(const std::string& text) { return {sel(text), {}}; }
  State different() { return State::different(name(kRandomTag)); }
};

// Two data parallel replicas of four stages.
Axes mesh() { return {{"dp", "pp"}, {2, 4}, {2, 4}, {true, false}}; }

Reading readingWith(State dp, State pp) {
  Reading reading = Reading::replicated(mesh());
  reading.states[0] = dp, reading.states[1] = pp;
  return reading;
}

const State R = State::replicated(), P = State::partial(dist::Reduce::Sum), Q = State::parts(),
            S = State::split(0);

}  // namespace

TEST_CASE_METHOD(Fixture, "a place is the ranks that a selector names, within those of another") {
  const Place all = place(""), first = place("pp = 0"), half = place("pp in {0 to 1}");
  CHECK(all.text() == "<>");
  CHECK(first.text() == "<pp = 0>");
  CHECK(half.within(sel("pp in {1 to 2}")).text() == "<pp = 1>");
  CHECK(first.within(sel("dp = 1")).where == sel("dp = 1 and pp = 0"));
  CHECK(first.within({}).where == sel("pp = 0"));
  // Never met (D9): as it was.
  CHECK(first.within(sel("pp = 3")).where == sel("pp = 0"));
  CHECK((all.covers(sel("pp = 3")) && half.covers(sel("pp = 1"))));
  CHECK_FALSE(half.covers(sel("pp = 2")));
  CHECK_FALSE(half.covers({}));
  CHECK((all.meets(sel("pp = 3")) && half.meets({}) && half.meets(sel("pp in {1 to 3}"))));
  CHECK_FALSE(half.meets(sel("pp in {2 to 3}")));
  CHECK((half.countAlong("pp", 4) == 2 && half.countAlong("dp", 2) == 2));
  CHECK(all.countAlong("pp", 4) == 4);
  Place vague = first;
  vague.vague.push_back(name("dp"));
  CHECK((vague.isVague("dp") && !vague.isVague("pp")));
}

TEST_CASE_METHOD(Fixture, "ops of a guard see the coordinates that it leaves") {
  const Axes here = axesAt(mesh(), place("pp in {1 to 2}"));
  CHECK((here.sizes[0] == 2 && here.sizes[1] == 2));
  CHECK(here.meshSizes[1] == 4);
}

TEST_CASE_METHOD(Fixture, "on fewer ranks equal values stay equal, parts and summands are lost") {
  struct Row {
    State dp, pp;
    std::string from, to;
    int lost;  // the axis; -1: none
  };
  const Row rows[] = {
      {R, R, "", "pp = 0", -1},
      {R, P, "", "pp = 0", 1},
      {R, S, "", "pp = 0", 1},
      {R, Q, "", "pp = 0", 1},
      {P, R, "", "pp = 0", -1},                   // along the other axis nobody is missing
      {P, R, "", "dp = 1", 0},                    //
      {R, different(), "", "pp = 0", -1},         // each keeps what it has
      {R, P, "pp = 0", "pp = 0", -1},             // as many as before
      {R, P, "pp in {0 to 1}", "pp = 1", 1},      //
      {R, P, "pp = 0", "dp = 0 and pp = 0", -1},  // one coordinate: a sum of one
      {Q, P, "pp = 2", "dp = 0 and pp = 2", 0},   // the share of one replica only
      {R, R, "pp in {0 to 1}", "dp = 0 and pp = 0", -1},
  };
  for (const Row& row : rows) {
    Reading reading = readingWith(row.dp, row.pp);
    const auto lost = restrictTo(reading, mesh(), place(row.from), place(row.to));
    INFO(row.dp.text() << ", " << row.pp.text() << " from <" << row.from << "> to <" << row.to
                       << ">");
    CHECK((lost ? static_cast<int>(*lost) : -1) == row.lost);
    CHECK(reading.known == (row.lost < 0));
  }
  // Axes of which nobody says which coordinates are missing.
  Reading reading = readingWith(P, R);
  Place vague = place("");
  vague.vague.push_back(name("dp"));
  CHECK(restrictTo(reading, mesh(), place(""), vague) == 0u);
  Reading unknown;
  CHECK_FALSE(restrictTo(unknown, mesh(), place(""), place("pp = 0")));
}

TEST_CASE_METHOD(Fixture, "selectors cut a place into pieces that are inside or outside of each") {
  struct Row {
    std::string place;
    std::vector<std::string> selectors, pieces;
  };
  const Row rows[] = {
      {"", {"pp = 0"}, {"pp = 0", "pp in {1 to 3}"}},
      {"", {"pp in {1 to 2}"}, {"pp = 0", "pp in {1 to 2}", "pp = 3"}},
      {"pp in {0 to 1}", {"pp in {1 to 2}"}, {"pp = 0", "pp = 1"}},
      {"",
       {"dp = 0", "pp in {0 to 1}"},
       {"dp = 0 and pp in {0 to 1}", "dp = 0 and pp in {2 to 3}", "dp = 1 and pp in {0 to 1}",
        "dp = 1 and pp in {2 to 3}"}},
  };
  for (const Row& row : rows) {
    std::vector<dist::SelAttr> selectors, expected;
    for (const std::string& text : row.selectors) selectors.push_back(sel(text));
    for (const std::string& text : row.pieces) expected.push_back(sel(text));
    const auto pieces = piecesOf(place(row.place), mesh(), selectors);
    REQUIRE(pieces);
    INFO(row.place);
    CHECK(*pieces == expected);
  }
  CHECK(piecesOf(place("pp = 1"), mesh(), {})->front() == sel("pp = 1"));
  // A selector of every other coordinate of a long axis: more pieces than are looked at.
  Axes wide = mesh();
  wide.meshSizes[1] = wide.sizes[1] = 100000;
  std::string every = "pp in {0";
  for (int i = 2; i < 10000; i += 2) every += ", " + std::to_string(i);
  CHECK_FALSE(piecesOf(place(""), wide, {sel(every + "}")}));
}

TEST_CASE_METHOD(Fixture, "a sum over ranks or micro-batches, by what is summed") {
  using dist::Reduce;
  struct Row {
    State state;
    Reduce reduce;
    bool gradient, whole;
    std::optional<Rational> scale;  // of the result; none: what belongs to different samples
  };
  const State local = State::different(name(kLocalSgdTag));
  const Row rows[] = {
      {P, Reduce::Sum, false, true, Rational()},
      {State::partial(Reduce::Max), Reduce::Max, false, true, Rational()},
      {P, Reduce::Max, false, true, std::nullopt},
      {R, Reduce::Sum, false, true, Rational(4)},  // a doubled reduction shows
      {R, Reduce::Max, false, true, Rational()},
      {R, Reduce::Prod, false, true, std::nullopt},
      {Q, Reduce::Sum, true, true, Rational()},  // gradients of shares: their sum is the whole's
      {Q, Reduce::Sum, false, true, std::nullopt},
      {Q, Reduce::Sum, false, false, Rational(4)},
      {Q, Reduce::Max, true, true, std::nullopt},
      {S, Reduce::Sum, true, true, std::nullopt},
      {local, Reduce::Sum, false, true, Rational(4)},
      {different(), Reduce::Sum, false, true, std::nullopt},
  };
  for (const Row& row : rows) {
    Relation relation;
    relation.gradient = row.gradient;
    const auto scale = reducedScale(row.state, row.reduce, 4, relation, row.whole);
    INFO(row.state.text() << " " << dist::stringifyReduce(row.reduce).str());
    REQUIRE(scale.has_value() == row.scale.has_value());
    if (scale) CHECK(scale->text() == row.scale->text());
  }
}

}  // namespace dtranspile::verify::test
