// Whether a device moves four numbers of a row at once, and keeps the row, depends on where it lies: its sums do not.
#include "kernels/device/placed_rows.h"
#include "kernels/norm/layer_norm.h"
#include "kernels/norm/residual_rms_norm.h"
#include "kernels/norm/rms_norm.h"

namespace ingot {
namespace {

using NormRows = PlacedRows;

TEST_P(NormRows, ARootMeanSquareHasTheSameBitsWhereverItsRowLies) {
  expect_same_bits_anywhere(rms_norm_cuda, [&](std::int64_t shift) {
    RmsNorm::Arguments a;
    a.x = numbers({2, GetParam()}, shift);
    a.gamma = numbers({GetParam()}, shift);
    a.y = numbers({2, GetParam()}, shift);
    return a;
  });
}

TEST_P(NormRows, SoHasThatOfASum) {
  expect_same_bits_anywhere(residual_rms_norm_cuda, [&](std::int64_t shift) {
    ResidualRmsNorm::Arguments a;
    a.x = numbers({2, GetParam()}, shift);
    a.residual = numbers({2, GetParam()}, 0);
    a.gamma = numbers({GetParam()}, shift);
    a.sum = numbers({2, GetParam()}, shift);
    a.y = numbers({2, GetParam()}, shift);
    return a;
  });
}

TEST_P(NormRows, SoHaveMeanAndVariance) {
  expect_same_bits_anywhere(layer_norm_cuda, [&](std::int64_t shift) {
    LayerNorm::Arguments a;
    a.x = numbers({2, GetParam()}, shift);
    a.gamma = numbers({GetParam()}, shift);
    a.y = numbers({2, GetParam()}, shift);
    return a;
  });
}

INSTANTIATE_TEST_SUITE_P(Lengths, NormRows, lengths_of_all_teams);

}  // namespace
}  // namespace ingot
