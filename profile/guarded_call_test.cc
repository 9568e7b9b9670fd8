// Where a guarded call lays the tensors of a toy operation (y = x).
#include "profile/guarded_call.h"

#include <gtest/gtest.h>

#include "kernels/contract/describe.h"

namespace ingot {
namespace {

struct Twin {
  static constexpr std::string_view name = "toy.twin";
  static constexpr std::string_view equation = "y[i] = x[i]";
  static constexpr Backward backward = Backward::none("toy");
  struct Arguments {
    View<const float> x;
    View<float> y;
    static constexpr auto fields() { return field_list(input(&Arguments::x, "x"), output(&Arguments::y, "y")); }
  };
  static Result<void> check(const Arguments&) { return {}; }
  static Cost cost(const Arguments&) { return {}; }
  static Tolerance tolerance(const Arguments&) { return Tolerance::exact("a copy"); }
  static std::span<const Variant<Twin>> variants() {
    static const Variant<Twin> table[] = {{"reference", {}, [](const Arguments&, Context&) {}}};
    return table;
  }
  static void cases(CaseList<Twin>&) {}
};

class GuardedCallTest : public testing::Test {
 protected:
  GuardedCall make(const View<const float>& x, const View<float>& y, Placement placement) {
    const Operation& operation = describe_operation<Twin>();
    const std::unique_ptr<Invocation> original = operation.empty();
    EXPECT_TRUE(
        original->set_tensor(0, AnyView(View<float>(const_cast<float*>(x.data()), x.shape(), x.strides()))).ok());
    EXPECT_TRUE(original->set_tensor(1, AnyView(y)).ok());
    return GuardedCall::make(ground_, operation, *original, placement, "").value();
  }
  bool is_guarded(const std::byte* address) {
    const GuardWatch watch(ground_.memory, StrayAccess::ends_program);
    (void)*static_cast<const volatile std::byte*>(address);
    return watch.trespass().has_value();
  }

  ProvingGround ground_;
  std::vector<float> storage_ = std::vector<float>(64, 3.5f);
  View<float> matrix_{storage_.data(), {4, 16}};
  std::vector<float> other_ = std::vector<float>(5);
  View<float> small_{other_.data(), {5}};
};

TEST_F(GuardedCallTest, AViewTouchesTheGuardAndNotWhatItWasCutFrom) {
  const View<float> columns = matrix_.slice(1, 3, 10).value();
  const std::ptrdiff_t reach = (3 * 16 + 7) * 4;
  const GuardedCall behind = make(columns, small_, Placement::behind);
  const std::byte* data = behind.invocation().tensor(0).data();
  EXPECT_FALSE(is_guarded(data + reach - 1));
  EXPECT_TRUE(is_guarded(data + reach));
  const GuardedCall before = make(columns, small_, Placement::before);
  data = before.invocation().tensor(0).data();
  EXPECT_FALSE(is_guarded(data));
  EXPECT_TRUE(is_guarded(data - 1));
  EXPECT_EQ(reinterpret_cast<const float*>(data)[16], 3.5f);
}

TEST_F(GuardedCallTest, AddressesKeepTheirRemainderWhereTheyShall) {
  const GuardedCall kept = make(small_, matrix_, Placement::kept);
  const std::byte* data = kept.invocation().tensor(0).data();
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(data) % 64, reinterpret_cast<std::uintptr_t>(small_.data()) % 64);
  EXPECT_TRUE(is_guarded(data + 5 * 4 + 63));
}

TEST_F(GuardedCallTest, ViewsThatShareBytesShareThemInTheCopy) {
  const GuardedCall in_place = make(matrix_, matrix_, Placement::behind);
  EXPECT_EQ(in_place.invocation().tensor(0).data(), in_place.invocation().tensor(1).data());
  const View<float> left = matrix_.slice(1, 0, 4).value();
  const View<float> right = matrix_.slice(1, 9, 16).value();
  const GuardedCall interleaved = make(right, left, Placement::behind);
  EXPECT_EQ(interleaved.invocation().tensor(0).data() - interleaved.invocation().tensor(1).data(), 9 * 4);
}

TEST_F(GuardedCallTest, EmptyTensorsPointAtAGuard) {
  for (Placement placement : {Placement::before, Placement::behind, Placement::kept}) {
    const GuardedCall call = make(small_.slice(0, 2, 2).value(), small_, placement);
    EXPECT_TRUE(is_guarded(call.invocation().tensor(0).data()));
  }
}

}  // namespace
}  // namespace ingot
