#include "model/plan/cache_lowering.h"

#include <gtest/gtest.h>

#include "kernels/attention/visibility.h"
#include "model/circuit/builder.h"
#include "model/plan/rewrite.h"
#include "model/template/pass_inputs.h"

namespace ingot {
namespace {

constexpr CacheGeometry geometry = {.dtype = DType::f16,
                                    .pages = 24,
                                    .page_length = 4,
                                    .pages_per_sequence = 8,
                                    .sequences = 3,
                                    .ring_window = 5,
                                    .ring_pages = 4};

struct Heads {
  Operand q, k, v, y;  // [tokens, heads, dimensions]
};

// Layers of attention as templates write them down: four query heads over two of keys and values.
class CacheLoweringTest : public testing::Test {
 protected:
  Heads begin_layer(int layer) {
    builder_.input(pass_inputs::positions, DType::i32, {5});
    builder_.begin_layer(layer);
    // Keys and values are columns of one matrix, as where a model projects them together.
    const Operand both = builder_.activation("attn_kv", {5, 2 * 16 + 2 * 8});
    return {builder_.activation("attn_q", {5, 4, 16}), builder_.reshaped(builder_.sliced(both, 1, 0, 32), {5, 2, 16}),
            builder_.reshaped(builder_.sliced(both, 1, 32, 48), {5, 2, 8}), builder_.activation("attn", {5, 4, 8})};
  }

  Operand of_run_group(const Operand& all, int run_group) {
    return builder_.transposed(builder_.of_run_group(all, run_group), 1, 2);
  }

  void attend(const Heads& heads, int run_group, std::int64_t window = 0, MaskKind mask = MaskKind::causal) {
    attend(heads, run_group, run_group, window, mask);
  }

  void attend(const Heads& heads, int run_group, int key_run_group, std::int64_t window, MaskKind mask) {
    builder_.call("attention.sdpa", "attn",
                  {{"q", of_run_group(heads.q, run_group)},
                   {"k", of_run_group(heads.k, key_run_group)},
                   {"v", of_run_group(heads.v, key_run_group)},
                   {"y", of_run_group(heads.y, run_group)}},
                  {{"scale", 0.25}, {"mask_kind", static_cast<std::int64_t>(mask)}, {"window", window}});
  }

  void add_layer(int layer, std::int64_t window = 0, MaskKind mask = MaskKind::causal) {
    const Heads heads = begin_layer(layer);
    for (int run_group = 0; run_group < builder_.run_groups(); ++run_group) attend(heads, run_group, window, mask);
  }

  // Precondition: the circuit has no mistake.
  Circuit written() { return builder_.finish().value(); }

  Circuit lowered() {
    Circuit circuit = written();
    const Result<int> count = lower_to_cache(circuit, geometry);
    EXPECT_TRUE(count.ok()) << count.error().text();
    return circuit;
  }

  void expect_mistake(std::string_view text) {
    Circuit circuit = written();
    const Result<int> count = lower_to_cache(circuit, geometry);
    ASSERT_FALSE(count.ok());
    EXPECT_EQ(count.error().text(), text);
  }

  Weights weights_;
  CircuitBuilder builder_{weights_, {.runs = {2, 3}, .outputs = 2}, {.longest = 32}};
};

TEST_F(CacheLoweringTest, TheStepsOfALayerOfShortRunsBecomeTwoStoresAndOneDecode) {
  add_layer(1);
  const Circuit circuit = lowered();
  EXPECT_EQ(text_of(circuit),
            "blk.1.cache_k  cache.store_paged  x=blk.1.attn_kv [5, 2, 16] f32, sequences=sequences [5] i32, "
            "positions=positions [5] i32, block_table=pages [3, 8] i32 -> pages=blk.1.cache_k [24, 2, 4, 16] f16\n"
            "blk.1.cache_v  cache.store_paged  x=blk.1.attn_kv [5, 2, 8] f32, sequences=sequences [5] i32, "
            "positions=positions [5] i32, block_table=pages [3, 8] i32 -> pages=blk.1.cache_v [24, 2, 4, 8] f16\n"
            "blk.1.attn  attention.decode  q=blk.1.attn_q [5, 4, 16] f32, k_pages=blk.1.cache_k [24, 2, 4, 16] f16, "
            "v_pages=blk.1.cache_v [24, 2, 4, 8] f16, block_table=token_pages [5, 8] i32, lengths=lengths [5] i32 -> "
            "y=blk.1.attn [5, 4, 8] f32\n");
  const Step& decode = circuit.steps[2];
  EXPECT_EQ(decode.layer, 1);
  EXPECT_EQ(*decode.find_attribute("scale"), AttributeValue(0.25));
  EXPECT_EQ(circuit.steps[1].find("x")->byte_strides, Strides({48 * 4, 8 * 4, 4}));
  EXPECT_EQ(circuit.steps[1].find("x")->byte_offset, 32 * 4);
}

TEST_F(CacheLoweringTest, ALayerReadsTheCacheOfALayerWithTheSameKeysAndValues) {
  const Heads first = begin_layer(0);
  for (int run_group = 0; run_group < builder_.run_groups(); ++run_group) attend(first, run_group);
  for (const int layer : {1, 2}) {
    builder_.begin_layer(layer);
    const Heads heads = {builder_.activation("attn_q", {5, 4, 16}), first.k, first.v,
                         builder_.activation("attn", {5, 4, 8})};
    const std::int64_t window = layer == 2 ? 5 : 0;
    for (int run_group = 0; run_group < builder_.run_groups(); ++run_group) attend(heads, run_group, window);
  }
  const Circuit circuit = lowered();
  const auto caches = std::ranges::count(circuit.tensors, Storage::cache, &CircuitTensor::storage);
  EXPECT_EQ(caches, 4);                // another window is another cache
  EXPECT_EQ(circuit.steps.size(), 7);  // two stores, two decodes, two stores and a decode
  EXPECT_EQ(*circuit.steps[3].find("k_pages"), *circuit.steps[2].find("k_pages"));
  EXPECT_EQ(*circuit.steps[3].find("v_pages"), *circuit.steps[2].find("v_pages"));
}

// One layer of attention over a pass of these runs, lowered.
Circuit lowered_runs(const std::vector<std::int64_t>& runs, std::int64_t window = 0,
                     Neighbours neighbours = Neighbours::may_show) {
  const Weights weights;
  CircuitBuilder builder(weights, {.runs = runs, .outputs = 1}, {.longest = 32});
  const std::int64_t tokens = builder.tokens();
  builder.input(pass_inputs::positions, DType::i32, {tokens});
  builder.begin_layer(0);
  Operand all[4];
  for (int i = 0; i < 4; ++i) all[i] = builder.activation(std::string(1, "qkvy"[i]), {tokens, 2, 8});
  for (int run_group = 0; run_group < builder.run_groups(); ++run_group) {
    const auto of_run_group = [&](int i) { return builder.transposed(builder.of_run_group(all[i], run_group), 1, 2); };
    builder.call("attention.sdpa", "attn",
                 {{"q", of_run_group(0)}, {"k", of_run_group(1)}, {"v", of_run_group(2)}, {"y", of_run_group(3)}},
                 {{"mask_kind", static_cast<std::int64_t>(MaskKind::causal)}, {"window", window}});
  }
  Circuit circuit = builder.finish().value();
  EXPECT_EQ(lower_to_cache(circuit, geometry, neighbours).value(), 1);
  return circuit;
}

TEST_F(CacheLoweringTest, LongRunsBecomeAPrefillThatIsToldWhereTheyBegin) {
  const Circuit circuit = lowered_runs({7, 1, 4});
  Circuit attention = circuit;
  attention.steps.erase(attention.steps.begin(), attention.steps.begin() + 2);
  EXPECT_EQ(text_of(attention),
            "blk.0.attn  attention.prefill  q=blk.0.q [12, 2, 8] f32, k_pages=blk.0.cache_k [24, 2, 4, 8] f16, "
            "v_pages=blk.0.cache_v [24, 2, 4, 8] f16, block_table=run_pages [3, 8] i32, lengths=run_lengths [3] i32, "
            "run_begins=run_begins [4] i32 -> y=blk.0.y [12, 2, 8] f32\n");
  EXPECT_EQ(circuit.find(pass_inputs::token_pages), nullptr);
  EXPECT_EQ(circuit.find(pass_inputs::lengths), nullptr);
}

TEST_F(CacheLoweringTest, EveryTokenIsDecodedWhereNeighboursMustNeverShow) {
  const Circuit circuit = lowered_runs({1, 7, 4}, 0, Neighbours::never_show);
  EXPECT_EQ(circuit.find(pass_inputs::run_begins), nullptr);
  EXPECT_EQ(circuit.find(pass_inputs::lengths)->shape, (Shape{12}));
  EXPECT_EQ(circuit.steps.back().operation->name, "attention.decode");
}

TEST_F(CacheLoweringTest, ShortRunsBeforeLongOnesAreDecodedBesideThem) {
  Circuit circuit = lowered_runs({1, 3, 4, 5});
  circuit.steps.erase(circuit.steps.begin(), circuit.steps.begin() + 2);
  EXPECT_EQ(text_of(circuit),
            "blk.0.attn  attention.decode  q=blk.0.q [4, 2, 8] f32, k_pages=blk.0.cache_k [24, 2, 4, 8] f16, "
            "v_pages=blk.0.cache_v [24, 2, 4, 8] f16, block_table=token_pages [4, 8] i32, lengths=lengths [4] i32 -> "
            "y=blk.0.y [4, 2, 8] f32\n"
            "blk.0.attn  attention.prefill  q=blk.0.q [9, 2, 8] f32, k_pages=blk.0.cache_k [24, 2, 4, 8] f16, "
            "v_pages=blk.0.cache_v [24, 2, 4, 8] f16, block_table=run_pages [2, 8] i32, lengths=run_lengths [2] i32, "
            "run_begins=run_begins [3] i32 -> y=blk.0.y [9, 2, 8] f32\n");
  EXPECT_EQ(circuit.steps[1].find("q")->byte_offset, 4 * 2 * 8 * 4);
  EXPECT_EQ(circuit.steps[1].find("y")->byte_offset, 4 * 2 * 8 * 4);
}

TEST_F(CacheLoweringTest, ALoweredCircuitDependsOnHowManyTokensThereAreAndNotOnWhichRunIsHowLong) {
  EXPECT_EQ(text_of(lowered_runs({2, 1, 3, 5, 7})), text_of(lowered_runs({1, 1, 1, 1, 1, 1, 10, 2})));
  EXPECT_NE(text_of(lowered_runs({2, 1, 3, 5, 7})), text_of(lowered_runs({1, 1, 1, 1, 1, 1, 12})));
}

TEST_F(CacheLoweringTest, APrefillWithAWindowGetsThePagesOfARing) {
  const Circuit circuit = lowered_runs({6, 6}, 5);
  const int table = circuit.steps[2].find("block_table")->tensor;
  EXPECT_EQ(circuit.tensors[static_cast<std::size_t>(table)].name, pass_inputs::run_ring_pages);
  EXPECT_EQ(circuit.find(pass_inputs::run_pages), nullptr);
  EXPECT_EQ(circuit.steps[2].integer("window"), 5);
}

TEST_F(CacheLoweringTest, RunsThatWereJoinedAreLoweredToo) {
  CircuitBuilder joined(weights_, {.runs = {2, 2}, .outputs = 4});
  joined.input(pass_inputs::positions, DType::i32, {4});
  const auto view = [&](std::string_view name) {
    return joined.transposed(joined.of_run_group(joined.activation(name, {4, 2, 8}), 0), 1, 2);
  };
  joined.call("attention.sdpa", "attn", {{"q", view("q")}, {"k", view("k")}, {"v", view("v")}, {"y", view("y")}},
              {{"mask_kind", static_cast<std::int64_t>(MaskKind::causal)}});
  Circuit circuit = joined.finish().value();
  ASSERT_EQ(lower_to_cache(circuit, geometry).value(), 1);
  EXPECT_EQ(*circuit.steps[2].find("q"), circuit.whole(1));
}

TEST_F(CacheLoweringTest, ALayerWithAWindowGetsThePagesOfARing) {
  add_layer(0);
  add_layer(1, 5);
  add_layer(2, 3);
  add_layer(3, 6);
  const Circuit circuit = lowered();
  EXPECT_EQ(circuit.find("blk.0.cache_k")->shape, Shape({24, 2, 4, 16}));
  EXPECT_EQ(circuit.find("blk.1.cache_k")->shape, Shape({12, 2, 4, 16}));
  EXPECT_EQ(circuit.find("blk.2.cache_v")->shape, Shape({12, 2, 4, 8}));
  EXPECT_EQ(circuit.find("blk.2.cache_v")->window, 3);
  EXPECT_EQ(circuit.find("blk.3.cache_k")->shape, Shape({24, 2, 4, 16}));
  EXPECT_EQ(circuit.steps[6].find("block_table")->tensor, circuit.steps[3].find("block_table")->tensor);
  EXPECT_NE(circuit.steps[9].find("block_table")->tensor, circuit.steps[3].find("block_table")->tensor);
  EXPECT_EQ(circuit.steps[5].integer("window"), 5);
}

TEST_F(CacheLoweringTest, WithoutARingEveryLayerKeepsAll) {
  add_layer(0, 5);
  Circuit circuit = written();
  ASSERT_TRUE(lower_to_cache(circuit, {.pages = 7, .page_length = 4, .pages_per_sequence = 7}).ok());
  EXPECT_EQ(circuit.find("blk.0.cache_k")->shape, Shape({7, 2, 4, 16}));
  EXPECT_EQ(circuit.find(pass_inputs::ring_pages), nullptr);
}

TEST_F(CacheLoweringTest, OnlyInputsThatAreReadAreAdded) {
  add_layer(0, 5);
  const Circuit circuit = lowered();
  EXPECT_NE(circuit.find(pass_inputs::ring_pages), nullptr);
  EXPECT_NE(circuit.find(pass_inputs::token_ring_pages), nullptr);
  EXPECT_EQ(circuit.find(pass_inputs::pages), nullptr);
  EXPECT_EQ(circuit.find(pass_inputs::token_pages), nullptr);
}

TEST_F(CacheLoweringTest, AttentionThatSeesTheFutureStays) {
  add_layer(0, 4, MaskKind::full);
  Circuit circuit = written();
  const std::string before = text_of(circuit);
  const std::size_t tensors = circuit.tensors.size();
  EXPECT_EQ(largest_window(circuit), 0);
  EXPECT_EQ(lower_to_cache(circuit, geometry).value(), 0);
  EXPECT_EQ(text_of(circuit), before);
  EXPECT_EQ(circuit.tensors.size(), tensors);
}

TEST_F(CacheLoweringTest, TheLargestWindowIsThatOfAnyStep) {
  add_layer(0);
  add_layer(1, 7);
  add_layer(2, 3);
  EXPECT_EQ(largest_window(written()), 7);
}

TEST_F(CacheLoweringTest, RewritesLowerWhereThereIsACacheWithFusionsOrWithout) {
  add_layer(0);
  add_layer(1);
  const Circuit plain = written();
  for (const Fusion fusion : {Fusion::all, Fusion::none}) {
    Circuit circuit = plain;
    ASSERT_TRUE(apply_rewrites(circuit, {.cache = &geometry, .fusion = fusion}).ok());
    ASSERT_EQ(circuit.rewrites.size(), 1u);
    EXPECT_EQ(circuit.rewrites[0].name, "cache lowering");
    EXPECT_EQ(circuit.rewrites[0].count, 2);
  }
  Circuit without = plain;
  ASSERT_TRUE(apply_rewrites(without, {}).ok());
  EXPECT_TRUE(without.rewrites.empty());
  EXPECT_EQ(text_of(without), text_of(plain));
}

TEST_F(CacheLoweringTest, RunsThatAreMissing) {
  attend(begin_layer(2), 0);
  expect_mistake("blk.2.attn: expected attention over all 5 tokens of the pass, found q of 2");
}

TEST_F(CacheLoweringTest, RunsInAnotherOrder) {
  const Heads heads = begin_layer(2);
  attend(heads, 1);
  attend(heads, 0);
  expect_mistake(
      "blk.2.attn: expected q that continues the one of the runs before, found [1, 4, 2, 16] from byte 0 on");
}

TEST_F(CacheLoweringTest, KeysOfAnotherTensor) {
  Heads heads = begin_layer(2);
  attend(heads, 0);
  heads.k = builder_.activation("others", {5, 2, 16});
  attend(heads, 1);
  expect_mistake(
      "blk.2.attn: expected k that continues the one of the runs before, found [1, 2, 3, 16] from byte 256 on");
}

TEST_F(CacheLoweringTest, KeysOfOtherRunsThanTheQueries) {
  const Heads heads = begin_layer(2);
  attend(heads, 0, 1, 0, MaskKind::causal);
  attend(heads, 1, 0, 0, MaskKind::causal);
  expect_mistake(
      "blk.2.attn: expected k that continues the one of the runs before, found [1, 2, 3, 16] from byte 384 on");
}

TEST_F(CacheLoweringTest, RunsOfOtherAttributes) {
  const Heads heads = begin_layer(2);
  attend(heads, 0, 5);
  attend(heads, 1, 4);
  expect_mistake("blk.2.attn: expected the attributes of the runs before, found others");
}

TEST_F(CacheLoweringTest, TwoAttentionsInALayer) {
  add_layer(2);
  builder_.activation("between", {1});
  builder_.call("norm.rms_norm", "between", {});
  const Operand all = builder_.activation("again", {5, 4, 8});
  attend({all, all, all, all}, 0);
  attend({all, all, all, all}, 1);
  expect_mistake("blk.2.attn: expected one attention a layer, found another");
}

TEST_F(CacheLoweringTest, AMaskOfTheCallers) {
  const Heads heads = begin_layer(2);
  builder_.call("attention.sdpa", "attn",
                {{"q", of_run_group(heads.q, 0)}, {"mask", builder_.activation("mask", {2, 2})}},
                {{"mask_kind", static_cast<std::int64_t>(MaskKind::causal)}});
  expect_mistake("blk.2.attn: expected attention without mask where keys and values are kept, found one with it");
}

TEST_F(CacheLoweringTest, QueriesThatBeginLater) {
  const Heads heads = begin_layer(2);
  builder_.call("attention.sdpa", "attn", {{"q", of_run_group(heads.q, 0)}},
                {{"mask_kind", static_cast<std::int64_t>(MaskKind::causal)}, {"query_offset", std::int64_t{3}}});
  expect_mistake(
      "blk.2.attn: expected queries from position 0 on where keys and values are kept, found an offset of 3");
}

TEST_F(CacheLoweringTest, AStepWithoutKeys) {
  const Heads heads = begin_layer(2);
  builder_.call("attention.sdpa", "attn", {{"q", of_run_group(heads.q, 0)}},
                {{"mask_kind", static_cast<std::int64_t>(MaskKind::causal)}});
  Circuit circuit = written();
  circuit.tensors[0].shape = {2};  // so that q is whole
  EXPECT_EQ(lower_to_cache(circuit, geometry).error().text(), "blk.2.attn: expected k of four axes, found another");
}

TEST_F(CacheLoweringTest, APassWithoutPositions) {
  add_layer(2);
  Circuit circuit = written();
  circuit.tensors[0].name = "places";
  EXPECT_EQ(lower_to_cache(circuit, geometry).error().text(), "blk.2.attn: expected the pass's positions, found none");
}

}  // namespace
}  // namespace ingot
