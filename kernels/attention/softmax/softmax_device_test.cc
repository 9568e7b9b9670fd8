// Whether a device moves four scores of a row at once, and keeps the row, depends on where it lies: its weights do not.
#include "kernels/attention/softmax/softmax.h"

#include "kernels/device/placed_rows.h"

namespace ingot {
namespace {

using SoftmaxRowsAnywhere = PlacedRows;

// Each thread has one weight of 1 at first, and behind it many that are lost in a sum with that one, but not in a sum
// of their own: in which order they are added shows.
TEST_P(SoftmaxRowsAnywhere, WeightsHaveTheSameBitsWhereverScoresLie) {
  std::vector<float> scores(static_cast<std::size_t>(GetParam()), -17.5f);
  for (std::size_t i = 0; i < scores.size() && i < 2048; i += 4) scores[i] = 0;
  expect_same_bits_anywhere(softmax_cuda, [&](std::int64_t shift) {
    Softmax::Arguments a;
    a.x = placed(scores, {1, GetParam()}, shift);
    a.y = numbers({1, GetParam()}, shift);
    return a;
  });
}

INSTANTIATE_TEST_SUITE_P(Lengths, SoftmaxRowsAnywhere, lengths_of_all_teams);

}  // namespace
}  // namespace ingot
