#include "kernels/device/windows.h"

#include <gtest/gtest.h>

#include <type_traits>
#include <vector>

#include "tensor/rows.h"

namespace ingot {
namespace {

static_assert(std::is_trivially_copyable_v<DeviceRows<float>> && std::is_trivially_copyable_v<DeviceTensor<float>>);

class Windows : public testing::Test {
 protected:
  std::vector<float> data_ = std::vector<float>(4096);

  void expect_same(const View<float>& view) {
    const Rows<float> rows(view);
    const DeviceRows<float> device = device_rows(view);
    ASSERT_EQ(device.count, rows.count());
    ASSERT_EQ(device.length, rows.length());
    EXPECT_EQ(device.stride, rows.stride());
    for (std::uint32_t row = 0; row < device.count; ++row) ASSERT_EQ(device.row(row), rows[row]);

    const DeviceTensor<float> tensor = device_tensor(view);
    for (std::int64_t row = 0; row < rows.count(); ++row) {
      for (std::int64_t i = 0; i < rows.length(); ++i) {
        ASSERT_EQ(&tensor.at(static_cast<std::uint64_t>(row * rows.length() + i)), rows[row] + i * rows.stride());
      }
    }
  }
};

TEST_F(Windows, PackedTensorsHaveOneAxisOfRows) {
  const View<float> view(data_.data(), {3, 4, 5, 6});
  expect_same(view);
  EXPECT_EQ(device_rows(view).axes, 1u);
  expect_same(View<float>(data_.data(), {7}));
  EXPECT_EQ(device_rows(View<float>(data_.data(), {7})).axes, 0u);
}

TEST_F(Windows, StridedViewsLieWhereTheHostsRowsDo) {
  const View<float> view(data_.data(), {3, 4, 5, 6});
  expect_same(view.transposed(0, 2).value());
  expect_same(view.transposed(1, 3).value());
  expect_same(view.slice(1, 1, 3).value());
  expect_same(view.slice(3, 0, 6, 2).value());
  expect_same(View<float>(data_.data(), {1, 1, 6}).broadcast_to({4, 2, 6}).value());
  expect_same(View<float>(data_.data(), {2, 3, 2, 2, 2, 4}, {7, 100, 400, 3, 1000, 1}));
}

TEST_F(Windows, ElementsAreNamedByOneIndexAnAxis) {
  const View<float> view = View<float>(data_.data(), {3, 4, 5}).transposed(0, 1).value();
  EXPECT_EQ(&device_tensor(view)(2, 1, 3), &view(2, 1, 3));
  EXPECT_EQ(&device_tensor(View<float>(data_.data() + 5, {})).at(0), data_.data() + 5);
}

TEST_F(Windows, EmptyViewsHaveRowsOfNothing) {
  const DeviceRows<float> rows = device_rows(View<float>(nullptr, {4, 0}));
  EXPECT_EQ(rows.count, 4u);
  EXPECT_EQ(rows.length, 0u);
  EXPECT_EQ(device_rows(View<float>(nullptr, {0, 4})).count, 0u);
}

TEST_F(Windows, TensorsThatNeedMoreThan32BitsAreToldApart) {
  const std::int64_t large = std::int64_t{1} << 31;
  EXPECT_TRUE(fits_device({large - 1, 1}));
  EXPECT_TRUE(fits_device({1 << 20, 1 << 20}));
  EXPECT_FALSE(fits_device({large, 1}));
  EXPECT_FALSE(fits_device({1 << 16, 1 << 15, 4})) << "as many rows";
  EXPECT_TRUE(fits_device({0, 4}));
  // The place of an element may need more.
  DeviceTensor<const char> tensor;
  tensor.rank = 2;
  tensor.sizes[0] = 1 << 20;
  tensor.sizes[1] = 1 << 20;
  tensor.strides[0] = 3;
  tensor.strides[1] = 5;
  static const char anywhere = 0;  // nothing is read
  tensor.data = &anywhere;
  const std::uint64_t place = (std::uint64_t{7} << 32) + 9;
  const std::int64_t offset =
      static_cast<std::int64_t>(place >> 20) * 3 + static_cast<std::int64_t>(place & 0xfffff) * 5;
  EXPECT_EQ(&tensor.at(place) - tensor.data, offset);
}

}  // namespace
}  // namespace ingot
