// A token attends to the same bits whatever other tokens are decoded with it, few or many.
#include "kernels/attention/cached/decode.h"

#include <gtest/gtest.h>

#include <cstring>
#include <vector>

#include "base/random.h"
#include "kernels/contract/describe.h"
#include "kernels/contract/table.h"
#include "machine/machine.h"
#include "tensor/block_codec.h"

namespace ingot {
namespace {

constexpr std::int64_t page_length = 64, pages_each = 40, dimensions = 64;

struct Heads {
  std::int64_t queries, keys;
};

class DecodeTest : public testing::Test {
 protected:
  DecodeTest() : scratch_(64 << 20) {}

  void fill(DType cache, Heads heads, const std::vector<std::int32_t>& lengths) {
    RandomNumbers random(3);
    lengths_ = lengths;
    const auto sequences = static_cast<std::int64_t>(lengths.size());
    q_.resize(static_cast<std::size_t>(sequences * heads.queries * dimensions));
    for (float& value : q_) value = static_cast<float>(random.normal());
    const std::int64_t rows = pages_each * heads.keys * page_length;  // all sequences look at the same pages
    for (std::vector<std::byte>* pages : {&keys_, &values_}) {
      pages->resize(static_cast<std::size_t>(rows * row_bytes(cache, dimensions)));
      std::vector<float> row(static_cast<std::size_t>(dimensions));
      for (std::int64_t i = 0; i < rows; ++i) {
        for (float& value : row) value = static_cast<float>(random.normal());
        encode_row(cache, row.data(), pages->data() + i * row_bytes(cache, dimensions), dimensions);
      }
    }
    table_.clear();
    for (std::int64_t i = 0; i < sequences * pages_each; ++i)
      table_.push_back(static_cast<std::int32_t>(i % pages_each));
    arguments_ = {};
    arguments_.k_pages = ConstAnyView(keys_.data(), cache, {pages_each, heads.keys, page_length, dimensions});
    arguments_.v_pages = ConstAnyView(values_.data(), cache, {pages_each, heads.keys, page_length, dimensions});
    arguments_.scale = 0.125f;
    heads_ = heads;
  }

  std::vector<float> decode(int variant, std::int64_t first, std::int64_t count) {
    const std::int64_t width = heads_.queries * dimensions;
    std::vector<float> y(static_cast<std::size_t>(count * width));
    Decode::Arguments a = arguments_;
    a.q = View<const float>(q_.data() + first * width, {count, heads_.queries, dimensions});
    a.lengths = View<const std::int32_t>(lengths_.data() + first, {count});
    a.block_table = View<const std::int32_t>(table_.data() + first * pages_each, {count, pages_each});
    a.y = View<float>(y.data(), {count, heads_.queries, dimensions});
    const describe_detail::TypedInvocation<Decode> invocation(a);
    EXPECT_TRUE(invocation.check().ok());
    EXPECT_LE(invocation.scratch_bytes(variant, workers_->count()), scratch_.size() - 64);
    const auto aligned = align_up(reinterpret_cast<std::uintptr_t>(scratch_.data()), 64);
    Context context{*workers_, {reinterpret_cast<std::byte*>(aligned), scratch_.size() - 64}};
    invocation.run(variant, context);
    return y;
  }

  std::unique_ptr<Workers> workers_ = Workers::create({.threads = 3}).value();
  Heads heads_ = {};
  Decode::Arguments arguments_;
  std::vector<float> q_;
  std::vector<std::byte> keys_, values_;
  std::vector<std::int32_t> table_, lengths_;
  std::vector<std::byte> scratch_;
};

TEST_F(DecodeTest, ATokenIsWhatItIsAlone) {
  const Operation& operation = describe_operation<Decode>();
  const Operation* const list[] = {&operation};
  const KernelTable table = KernelTable::select(list, Machine::detect().features, {}, Neighbours::never_show).value();
  std::vector<std::int32_t> lengths;
  for (int i = 0; i < 40; ++i) lengths.push_back(1 + i * i * 8 / 5);
  lengths.push_back(2560);
  for (const DType cache : {DType::f16, DType::q8_0, DType::f32}) {
    for (const Heads heads : {Heads{8, 2}, Heads{2, 1}, Heads{3, 3}}) {
      fill(cache, heads, lengths);
      for (const int variant : table.available(operation.name)) {
        if (variant == operation.reference()) continue;
        const std::int64_t width = heads.queries * dimensions;
        const std::vector<float> together = decode(variant, 0, static_cast<std::int64_t>(lengths.size()));
        for (std::int64_t token = 0; token < static_cast<std::int64_t>(lengths.size()); ++token) {
          const std::vector<float> alone = decode(variant, token, 1);
          ASSERT_EQ(std::memcmp(alone.data(), together.data() + token * width, alone.size() * sizeof(float)), 0)
              << operation.variants[static_cast<std::size_t>(variant)].name << ", " << name_of(cache) << ", "
              << lengths[static_cast<std::size_t>(token)] << " tokens";
        }
      }
    }
  }
}

}  // namespace
}  // namespace ingot
