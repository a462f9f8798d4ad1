#include "stats/tables.hpp"

#include <gtest/gtest.h>

#include <stdexcept>
#include <vector>

namespace hone::stats {
namespace {

TEST(McNemar, AgreesWithTheReferences) {
  struct Row {
    int b, c;
    double exact, mid_p, chi2, chi2_p;
  };
  for (const Row& r :
       {Row{0, 5, .0625, .03125, 3.2, .07363827}, Row{1, 9, .021484375, .01171875, 4.9, .02685670},
        Row{2, 8, .109375, .0654296875, 2.5, .11384630},
        Row{3, 15, .0075378418, .0044250488, 6.722222, .00952189}}) {
    const McNemar m = mcnemar(r.b, r.c);
    EXPECT_NEAR(m.exact, r.exact, 1e-10) << r.b << "," << r.c;
    EXPECT_NEAR(m.mid_p, r.mid_p, 1e-10);
    EXPECT_NEAR(m.chi2, r.chi2, 1e-6);
    EXPECT_NEAR(m.chi2_p, r.chi2_p, 1e-8);
    EXPECT_EQ(mcnemar(r.c, r.b).exact, m.exact);
  }
  EXPECT_EQ(mcnemar(0, 0).exact, 1);
  EXPECT_EQ(mcnemar(3, 3).exact, 1);
  EXPECT_LE(mcnemar(3, 3).mid_p, 1);
  EXPECT_THROW(mcnemar(-1, 0), std::invalid_argument);
}

TEST(FisherDrop, IsTheLowerTailOfTheHypergeometric) {
  EXPECT_NEAR(fisher_drop_p({5, 5}, {0, 5}), 1 / 252.0, 1e-12);
  EXPECT_NEAR(fisher_drop_p({3, 3}, {0, 3}), 1 / 20.0, 1e-12);
  EXPECT_NEAR(fisher_drop_p({0, 3}, {3, 3}), 1, 1e-12);
  EXPECT_EQ(fisher_drop_p({0, 0}, {0, 3}), 1);
  EXPECT_NEAR(fisher_drop_p({9, 10}, {5, 10}), 0.0704334365, 1e-9);  // scipy fisher_exact, less
}

TEST(StratifiedDrop, MultipliesIndependentCases) {
  const std::pair<Tally, Tally> broken{{3, 3}, {0, 3}};
  EXPECT_NEAR(stratified_drop_p(std::vector{broken, broken}), 1 / 400.0, 1e-12);
  // Cases that always or never pass say nothing, whatever their number.
  const std::pair<Tally, Tally> still{{3, 3}, {3, 3}}, never{{0, 3}, {0, 3}};
  EXPECT_NEAR(stratified_drop_p(std::vector{broken, still, never, still}), 1 / 20.0, 1e-12);
  EXPECT_EQ(stratified_drop_p({}), 1);
}

}  // namespace
}  // namespace hone::stats
