#include "convert/type_mix.h"

#include <gtest/gtest.h>

#include <map>
#include <set>

namespace ingot {
namespace {

enum class Classifier : std::uint8_t { own, tied };

// The tensors of a llama, and what each gets.
std::map<std::string, TypeChoice> choices_of(std::string_view type, MixFacts facts, Classifier classifier = {},
                                             std::int64_t row = 4096, MixRules rules = MixRules::usual) {
  std::vector<std::string> names = {"token_embd.weight", "output_norm.weight"};
  if (classifier == Classifier::own) names.push_back("output.weight");
  for (std::int64_t layer = 0; layer < facts.layers; ++layer) {
    for (const std::string_view part :
         {"attn_norm", "attn_q", "attn_k", "attn_v", "attn_output", "ffn_gate", "ffn_up", "ffn_down", "ffn_gate_inp"}) {
      names.push_back("blk." + std::to_string(layer) + "." + std::string(part) + ".weight");
    }
  }
  std::vector<NamedShape> shapes;
  for (const std::string& name : names) {
    shapes.push_back({name, name.find("norm") == std::string::npos ? Shape{64, row} : Shape{row}});
  }
  const Result<const TypeMix*> mix = find_type_mix(type);
  EXPECT_TRUE(mix.ok()) << type;
  const std::vector<TypeChoice> choices = choose_types(*mix.value(), facts, rules, shapes);
  std::map<std::string, TypeChoice> result;
  for (std::size_t index = 0; index < names.size(); ++index) result[names[index]] = choices[index];
  return result;
}

// Which layers' tensor of this part has this format.
std::set<int> layers_with(const std::map<std::string, TypeChoice>& choices, std::string_view part, DType dtype) {
  std::set<int> layers;
  for (const auto& [name, choice] : choices) {
    if (name.ends_with("." + std::string(part) + ".weight") && choice.dtype == dtype) {
      layers.insert(static_cast<int>(layer_of(name)));
    }
  }
  return layers;
}

const MixFacts llama = {"llama", 32, 32, 8, 0};
const std::set<int> all = {0,  1,  2,  3,  4,  5,  6,  7,  8,  9,  10, 11, 12, 13, 14, 15,
                           16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31};
const std::set<int> more_bits = {0, 1, 2, 3, 6, 9, 12, 15, 18, 21, 24, 27, 28, 29, 30, 31};

TEST(TypeMixTest, NamesInAnyCaseAndShortOnes) {
  EXPECT_EQ(find_type_mix("q4_k_m").value()->mix, Mix::q4_k_m);
  EXPECT_EQ(find_type_mix("Q4_K").value()->mix, Mix::q4_k_m);
  EXPECT_EQ(find_type_mix("q5_K").value()->mix, Mix::q5_k_m);
  EXPECT_EQ(find_type_mix("q3_k").value()->mix, Mix::q3_k_m);
  EXPECT_EQ(find_type_mix("bf16").value()->file_type, 32u);
  for (const TypeMix& mix : all_type_mixes()) EXPECT_EQ(find_type_mix(mix.name).value(), &mix);
  for (const std::string_view bad : {"", "q4", "Q9_K", "q4_k_x"}) {
    const Result<const TypeMix*> found = find_type_mix(bad);
    ASSERT_FALSE(found.ok()) << bad;
    EXPECT_NE(found.error().text().find("expected one of F32"), std::string_view::npos);
  }
}

TEST(TypeMixTest, NormsRoutersAndVectorsStay) {
  for (const TypeMix& mix : all_type_mixes()) {
    const auto choices = choices_of(mix.name, llama);
    EXPECT_FALSE(choices.at("output_norm.weight").dtype);
    EXPECT_FALSE(choices.at("blk.0.attn_norm.weight").dtype);
    EXPECT_FALSE(choices.at("blk.0.ffn_gate_inp.weight").dtype);
    EXPECT_TRUE(choices.at("blk.0.attn_q.weight").dtype);
  }
}

struct Expected {
  std::string_view type;
  DType base;
  DType output;
  DType value;  // in `value_layers`, base elsewhere
  std::set<int> value_layers;
  DType down;
  std::set<int> down_layers;
  DType attention_output;  // in all layers
};

TEST(TypeMixTest, FormatsThatAreReadAndNotWrittenAreRefusedByName) {
  for (const std::string_view name : {"IQ1_S", "iq1_m", "IQ2_XXS", "IQ2_XS", "IQ2_S", "IQ3_XXS", "iq3_s", "NVFP4"}) {
    const Result<const TypeMix*> mix = find_type_mix(name);
    ASSERT_FALSE(mix.ok()) << name;
    EXPECT_EQ(mix.error().code(), ErrorCode::unsupported) << name;
    EXPECT_NE(mix.error().text().find("that has an encoder"), std::string_view::npos) << name;
  }
}

TEST(TypeMixTest, TernaryMixesKeepTheEmbedding) {
  const auto choices = choices_of("TQ2_0", llama);
  EXPECT_EQ(choices.at("token_embd.weight").dtype, DType::q4_k);
  EXPECT_EQ(choices.at("output.weight").dtype, DType::q6_k);
  EXPECT_EQ(choices.at("blk.0.attn_q.weight").dtype, DType::tq2_0);
  EXPECT_EQ(choices_of("TQ1_0", llama, Classifier::own, 4096 + 32).at("blk.0.attn_q.weight").dtype, DType::q4_0);
}

TEST(TypeMixTest, MixesChooseWhatTheRulesSay) {
  const std::set<int> first_two = {0, 1};
  const std::set<int> first_four = {0, 1, 2, 3};
  const Expected table[] = {
      {"F16", DType::f16, DType::f16, DType::f16, all, DType::f16, all, DType::f16},
      {"Q8_0", DType::q8_0, DType::q8_0, DType::q8_0, all, DType::q8_0, all, DType::q8_0},
      {"Q4_0", DType::q4_0, DType::q6_k, DType::q4_0, all, DType::q4_0, all, DType::q4_0},
      {"Q5_1", DType::q5_1, DType::q6_k, DType::q5_1, all, DType::q5_1, all, DType::q5_1},
      {"Q2_K", DType::q2_k, DType::q6_k, DType::q4_k, all, DType::q3_k, all, DType::q3_k},
      {"Q3_K_S", DType::q3_k, DType::q6_k, DType::q3_k, all, DType::q3_k, all, DType::q3_k},
      {"Q3_K_M", DType::q3_k, DType::q6_k, DType::q5_k, first_two, DType::q5_k, first_two, DType::q4_k},
      {"Q3_K_L", DType::q3_k, DType::q6_k, DType::q5_k, all, DType::q5_k, all, DType::q5_k},
      {"Q4_K_S", DType::q4_k, DType::q6_k, DType::q5_k, first_four, DType::q5_k, first_four, DType::q4_k},
      {"Q4_K_M", DType::q4_k, DType::q6_k, DType::q6_k, more_bits, DType::q6_k, more_bits, DType::q4_k},
      {"Q5_K_S", DType::q5_k, DType::q6_k, DType::q5_k, all, DType::q5_k, all, DType::q5_k},
      {"Q5_K_M", DType::q5_k, DType::q6_k, DType::q6_k, more_bits, DType::q6_k, more_bits, DType::q5_k},
      {"Q6_K", DType::q6_k, DType::q6_k, DType::q6_k, all, DType::q6_k, all, DType::q6_k},
      {"IQ4_NL", DType::iq4_nl, DType::q6_k, DType::q5_k, all, DType::q5_k, first_four, DType::iq4_nl},
      {"IQ4_XS", DType::iq4_xs, DType::q6_k, DType::q5_k, all, DType::q5_k, first_four, DType::iq4_xs},
      {"MXFP4", DType::mxfp4, DType::q6_k, DType::mxfp4, all, DType::mxfp4, all, DType::mxfp4},
      {"MXFP4_MOE", DType::q8_0, DType::q8_0, DType::q8_0, all, DType::q8_0, all, DType::q8_0},
  };
  for (const Expected& row : table) {
    const auto choices = choices_of(row.type, llama);
    EXPECT_EQ(choices.at("token_embd.weight").dtype, row.base) << row.type;
    EXPECT_EQ(choices.at("output.weight").dtype, row.output) << row.type;
    EXPECT_EQ(layers_with(choices, "attn_q", row.base), all) << row.type;
    EXPECT_EQ(layers_with(choices, "ffn_up", row.base), all) << row.type;
    EXPECT_EQ(layers_with(choices, "attn_v", row.value), row.value_layers) << row.type;
    EXPECT_EQ(layers_with(choices, "ffn_down", row.down), row.down_layers) << row.type;
    EXPECT_EQ(layers_with(choices, "attn_output", row.attention_output), all) << row.type;
    const auto tied = choices_of(row.type, llama, Classifier::tied);
    EXPECT_EQ(tied.at("token_embd.weight").dtype, row.output) << row.type;
  }
  // The other layers of a Q3_K_M file are a step above its base.
  EXPECT_EQ(layers_with(choices_of("Q3_K_M", llama), "attn_v", DType::q4_k).size(), 30u);
  EXPECT_EQ(layers_with(choices_of("Q3_K_M", llama), "ffn_down", DType::q4_k).size(), 30u);
}

TEST(TypeMixTest, HeadsExpertsAndSizeChangeTheRules) {
  const MixFacts own_keys = {"llama", 32, 32, 32, 0};
  EXPECT_EQ(layers_with(choices_of("Q2_K", own_keys), "attn_v", DType::q3_k), all);
  const MixFacts mixtral = {"llama", 32, 32, 8, 8};
  EXPECT_EQ(layers_with(choices_of("Q4_K_M", mixtral), "attn_v", DType::q8_0), all);
  EXPECT_EQ(layers_with(choices_of("Q4_K_M", mixtral), "attn_k", DType::q8_0), all);
  EXPECT_EQ(layers_with(choices_of("Q4_K_M", mixtral), "attn_output", DType::q5_k), all);
  const MixFacts large = {"llama", 80, 64, 8, 0};
  EXPECT_EQ(layers_with(choices_of("Q3_K_S", large), "attn_v", DType::q5_k).size(), 80u);
  EXPECT_EQ(layers_with(choices_of("Q3_K_S", large), "attn_k", DType::q3_k).size(), 80u);
}

TEST(TypeMixTest, RowsThatDoNotDivideGetSmallerBlocks) {
  const struct {
    std::string_view type;
    std::int64_t row;
    DType expected;
  } table[] = {{"Q2_K", 160, DType::q4_0},   {"Q3_K_S", 160, DType::q4_0}, {"Q4_K_S", 160, DType::q5_0},
               {"Q5_K_S", 160, DType::q5_1}, {"Q6_K", 160, DType::q8_0},   {"Q6_K", 100, DType::f16},
               {"Q4_0", 100, DType::f16},    {"IQ4_NL", 100, DType::f16},  {"Q8_0", 160, DType::q8_0}};
  for (const auto& row : table) {
    const TypeChoice choice = choices_of(row.type, llama, Classifier::own, row.row).at("blk.9.attn_q.weight");
    EXPECT_EQ(choice.dtype, row.expected) << row.type << " " << row.row;
    EXPECT_EQ(choice.falls_back, row.type != "Q8_0") << row.type;
  }
  EXPECT_EQ(choices_of("Q4_K_M", llama, Classifier::own, 160).at("output.weight").dtype, DType::q8_0);
}

TEST(TypeMixTest, PureIsTheSameEverywhere) {
  const auto choices = choices_of("Q2_K", llama, Classifier::own, 4096, MixRules::pure);
  EXPECT_EQ(choices.at("output.weight").dtype, DType::q2_k);
  EXPECT_EQ(layers_with(choices, "attn_v", DType::q2_k), all);
}

}  // namespace
}  // namespace ingot
