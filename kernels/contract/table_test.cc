#include "kernels/contract/table.h"

#include <gtest/gtest.h>

namespace ingot {
namespace {

// An operation that exists only as a descriptor: selection never runs anything.
Operation imaginary_operation() {
  Operation operation;
  operation.name = "toy.scale";
  operation.variants = {{"avx512", {Feature::avx512}, true},
                        {"avx2", {Feature::avx2}, true},
                        {"neon", {Feature::neon}, false},
                        {"reference", {}, true}};
  return operation;
}

class Selection : public testing::Test {
 protected:
  Result<KernelTable> select(FeatureSet features, std::vector<ForcedVariant> forced = {}) {
    return KernelTable::select(list_, features, forced);
  }
  std::vector<int> available(FeatureSet features, std::vector<ForcedVariant> forced = {}) {
    const auto table = select(features, std::move(forced));
    const std::span<const int> indices = table.value().available("toy.scale");
    return {indices.begin(), indices.end()};
  }

  Operation operation_ = imaginary_operation();
  const Operation* list_[1] = {&operation_};
};

TEST_F(Selection, KeepsTheRowsWhoseNeedsHoldInOrder) {
  EXPECT_EQ(available({Feature::avx2, Feature::avx512}), (std::vector<int>{0, 1, 3}));
  EXPECT_EQ(available({Feature::avx2}), (std::vector<int>{1, 3}));
  EXPECT_EQ(available({}), (std::vector<int>{3}));
}

TEST_F(Selection, NeverOffersWhatIsNotBuilt) { EXPECT_EQ(available({Feature::neon}), (std::vector<int>{3})); }

TEST_F(Selection, AForcedVariantIsTheOnlyOne) {
  EXPECT_EQ(available({Feature::avx2, Feature::avx512}, {{"toy.scale", "avx2"}}), (std::vector<int>{1}));
  EXPECT_EQ(available({Feature::avx2}, {{"toy.scale", "reference"}}), (std::vector<int>{3}));
}

TEST_F(Selection, AnUnknownForcedVariantFails) {
  const auto table = select({Feature::avx2}, {{"toy.scale", "fastest"}});
  ASSERT_FALSE(table.ok());
  EXPECT_EQ(table.error().text(), "toy.scale: expected a variant among avx512, avx2, neon, reference, found 'fastest'");
}

TEST_F(Selection, AnUnknownForcedOperationFails) {
  const auto table = select({}, {{"toy.other", "reference"}});
  ASSERT_FALSE(table.ok());
  EXPECT_EQ(table.error().code(), ErrorCode::not_found);
}

TEST_F(Selection, AForcedVariantTheMachineLacksFailsAndNamesTheFeature) {
  const auto table = select({Feature::avx2}, {{"toy.scale", "avx512"}});
  ASSERT_FALSE(table.ok());
  EXPECT_NE(table.error().text().find("avx512, which this machine lacks"), std::string_view::npos);
}

TEST_F(Selection, AForcedVariantOfAnotherArchitectureFails) {
  const auto table = select({Feature::neon}, {{"toy.scale", "neon"}});
  ASSERT_FALSE(table.ok());
  EXPECT_NE(table.error().text().find("not built"), std::string_view::npos);
}

// What it takes, and what it takes where neighbours must never show, by variant.
class ImaginaryInvocation : public Invocation {
 public:
  ImaginaryInvocation(std::vector<bool> accepts, std::vector<bool> accepts_alone)
      : accepts_(std::move(accepts)), accepts_alone_(std::move(accepts_alone)) {}

  bool accepts(int variant) const override { return accepts_[static_cast<std::size_t>(variant)]; }
  bool accepts_alone(int variant) const override { return accepts_alone_[static_cast<std::size_t>(variant)]; }
  Result<void> check() const override { return {}; }
  Cost cost() const override { return {}; }
  Tolerance tolerance() const override { return {}; }
  std::size_t scratch_bytes(int, int) const override { return 0; }
  void run(int, Context&) const override {}
  ConstAnyView tensor(int) const override { return {}; }
  Result<void> set_tensor(int, const AnyView&) override { return {}; }
  AttributeValue attribute(int) const override { return false; }
  void set_attribute(int, const AttributeValue&) override {}
  std::unique_ptr<Invocation> clone() const override { return std::make_unique<ImaginaryInvocation>(*this); }

 private:
  std::vector<bool> accepts_, accepts_alone_;
};

TEST_F(Selection, TakesOnlyWhatAcceptsAloneWhereNeighboursMustNeverShow) {
  const FeatureSet features = {Feature::avx2, Feature::avx512};
  const ImaginaryInvocation invocation({true, true, true, true}, {false, true, true, true});
  EXPECT_EQ(select(features).value().choose(operation_, invocation), 0);
  const KernelTable table = KernelTable::select(list_, features, {}, Neighbours::never_show).value();
  EXPECT_EQ(table.choose(operation_, invocation), 1);
}

TEST_F(Selection, AForcedVariantIsNoExceptionWhereNeighboursMustNeverShow) {
  const ForcedVariant forced[] = {{"toy.scale", "avx512"}};
  const KernelTable table =
      KernelTable::select(list_, FeatureSet{Feature::avx2, Feature::avx512}, forced, Neighbours::never_show).value();
  EXPECT_EQ(table.choose(operation_, ImaginaryInvocation({true, true, true, true}, {false, true, true, true})), -1);
}

TEST_F(Selection, AnUnknownOperationHasNoVariants) { EXPECT_TRUE(select({}).value().available("toy.other").empty()); }

}  // namespace
}  // namespace ingot
