// Kernels of the family `activation`: values of the framework (paddlepaddle 2.6.2, float64), and
// gradients against differences.
#include <catch2/catch.hpp>

#include "test/runtime/kernels/cpu/ops/bag.h"

namespace dtranspile::kernels {
namespace {

void CheckNear(const std::vector<double>& found, const std::vector<double>& expected) {
  REQUIRE(found.size() == expected.size());
  for (size_t i = 0; i < found.size(); ++i) {
    INFO("element " << i);
    CHECK(found[i] == Approx(expected[i]).epsilon(1e-10).margin(1e-14));
  }
}

struct Row {
  const char* type;
  std::vector<double> values, slopes;
};

TEST_CASE("Bessel functions have the framework's values and slopes") {
  const std::vector<double> x = {-40, -2.5, 0, 0.3, 7.5, 31};
  const Row kRows[] = {{"i0",
                        {1.48947747934199e+16, 3.28983914405012, 1, 1.0226268793516,
                         268.161311515189, 2089962966491.9},
                        {-1.47073961632594e+16, -2.5167162452887, 0, 0.151693840003593,
                         249.584365422688, 2055972795294.56}},
                       {"i0e",
                        {0.0632782798752353, 0.270046441612203, 1, 0.757580625182548,
                         0.148315830077395, 0.0719464966969838},
                        {0.000796050800793265, 0.0634617920809362, -1, -0.645203064542709,
                         -0.0102746185288413, -0.00117010386259814}},
                       {"i1",
                        {-1.47073961632594e+16, -2.5167162452887, 0, 0.151693840003593,
                         249.584365422688, 2055972795294.56},
                        {1.45270898893384e+16, 2.28315264593464, 0.5, 0.516980746006288,
                         234.883396125498, 2023641263417.89}},
                       {"i1e",
                        {-0.0624822290744421, -0.206584649531267, 0, 0.112377560639839,
                         0.138041211548554, 0.0707763928343857},
                        {-0.000766004926067779, -0.0191720677315704, 0.5, 0.270611195743247,
                         -0.00813087634429921, -0.00111300558367236}}};
  for (const Row& row : kRows) {
    INFO(row.type);
    Bag bag;
    bag.Put<double>("X", {6}, x);
    bag.Put<double>("Out@GRAD", {6}, std::vector<double>(6, 1.0));
    REQUIRE(bag.Run("dt_special", {"X"}, {"Out"}, Attributes().Text(row.type)).ok());
    CheckNear(bag.Data("Out"), row.values);
    const std::string gradient = std::string(row.type) + "_grad";
    REQUIRE(bag.Run("dt_special_grad", {"X", "Out@GRAD"}, {"X@GRAD"},
                    Attributes().Text(gradient.c_str()))
                .ok());
    CheckNear(bag.Data("X@GRAD"), row.slopes);
  }
}

TEST_CASE("derivatives of digamma have the framework's values, and each is the slope of the last") {
  const std::vector<double> first = {26.2673772054238, 1.64493406684823, 0.310037857670038,
                                     0.0869018728717684},
                            second = {-251.478036114436, -2.40411380631919, -0.095395308728554,
                                      -0.00754720536899891},
                            fourth = {-75010.2124979726, -24.8862661234409, -0.053038611107954,
                                      -0.000340910050701089};
  for (const auto& [n, values] :
       {std::pair(1, first), std::pair(2, second), std::pair(4, fourth)}) {
    Bag bag;
    bag.Put<double>("X", {4}, {0.2, 1, 3.7, 12});
    bag.Put<double>("Out@GRAD", {4}, std::vector<double>(4, 1.0));
    REQUIRE(bag.Run("dt_polygamma", {"X"}, {"Out"}, Attributes().Int(n)).ok());
    CheckNear(bag.Data("Out"), values);
    REQUIRE(
        bag.Run("dt_polygamma_grad", {"X", "Out@GRAD"}, {"X@GRAD"}, Attributes().Int(n - 1)).ok());
    CheckNear(bag.Data("X@GRAD"), values);
  }
}

TEST_CASE("nextafter is the neighbour on the way") {
  Bag bag;
  bag.Put<double>("X", {3}, {1, 1, 0});
  bag.Put<double>("Y", {3}, {2, 1, -1});
  REQUIRE(bag.Run("dt_nextafter", {"X", "Y"}, {"Out"}).ok());
  CHECK(bag.Data("Out") ==
        std::vector<double>{std::nextafter(1.0, 2.0), 1, -4.9406564584124654e-324});
}

}  // namespace
}  // namespace dtranspile::kernels
