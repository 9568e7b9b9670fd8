#include "server/protocol/sampler_order.h"

#include "server/protocol/test_requests.h"

namespace ingot::protocol {
namespace {

constexpr SamplerOptions all_on = {.temperature = 0.8, .top_k = 40, .top_p = 0.95, .min_p = 0.05, .repetition = 1.1};

struct Read {
  std::string error;
  SamplerOptions sampling;
};

Read read_order(const std::string& samplers, SamplerOptions sampling = all_on) {
  const chat::Dictionary body = json_object("{\"samplers\":" + samplers + "}");
  FieldReader reader(body);
  read_sampler_order(reader, sampling);
  const Outcome<void> read = reader.finish();
  return {read.ok() ? "" : read.error().message, sampling};
}

TEST(SamplerOrder, IsTheSamplersOwn) {
  EXPECT_EQ(read_order(R"(["penalties","top_k","temperature","top_p","min_p"])").error, "");
  EXPECT_EQ(
      read_order(R"(["penalties","dry","top_n_sigma","top_k","typ_p","xtc","temperature","top_p","min_p"])").error, "");
  const std::string usual_of_llama =
      R"(["penalties","dry","top_n_sigma","top_k","typ_p","top_p","min_p","xtc","temperature"])";
  EXPECT_NE(read_order(usual_of_llama).error.find("found min_p before temperature"), std::string::npos);
  for (const char* wrong : {R"("kpt")", R"(["infill"])", "[5]", R"(["top_k","penalties"])", R"(["top_k","top_k"])"}) {
    EXPECT_NE(read_order(wrong).error.find("samplers: expected a list"), std::string::npos) << wrong;
  }
}

TEST(SamplerOrder, DoesNotMatterToLinksThatChangeNothing) {
  const std::string order = R"(["penalties","top_k","top_p","min_p","temperature"])";
  for (const double temperature : {0.0, 1.0}) {
    SamplerOptions sampling = all_on;
    sampling.temperature = temperature;
    EXPECT_EQ(read_order(order, sampling).error, "") << temperature;
  }
  SamplerOptions unfiltered = all_on;
  unfiltered.top_p = 1;
  unfiltered.min_p = 0;
  EXPECT_EQ(read_order(order, unfiltered).error, "");
}

TEST(SamplerOrder, LeavesOutWhatIsNotListed) {
  const SamplerOptions sampling = read_order(R"(["top_k"])").sampling;
  EXPECT_EQ(sampling.top_k, 40);
  EXPECT_EQ(sampling.temperature, 1);
  EXPECT_EQ(sampling.top_p, 1);
  EXPECT_EQ(sampling.min_p, 0);
  EXPECT_EQ(sampling.repetition, 1);
}

}  // namespace
}  // namespace ingot::protocol
