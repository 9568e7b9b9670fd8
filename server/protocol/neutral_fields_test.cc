#include "server/protocol/neutral_fields.h"

#include "server/protocol/test_requests.h"

namespace ingot::protocol {
namespace {

// The field that is refused; empty where none is.
std::string refused_field(const std::string& fields) {
  const chat::Dictionary body = json_object("{" + fields + "}");
  FieldReader reader(body);
  read_neutral_fields(reader);
  const Outcome<void> read = reader.finish();
  return read.ok() ? "" : read.error().param;
}

TEST(NeutralFields, AreAcceptedWhereTheyAskForNothing) {
  for (const char* fields :
       {R"("mirostat":0,"mirostat_tau":5.0,"mirostat_eta":0.1)", R"("typical_p":1,"tfs_z":1.0)",
        R"("xtc_probability":0.0,"xtc_threshold":0.1)", R"("dynatemp_range":0,"dynatemp_exponent":1)",
        R"("dry_multiplier":0,"dry_base":1.75,"dry_allowed_length":2)",
        R"("dry_penalty_last_n":-1,"dry_sequence_breakers":["\n",":"])",
        R"("top_n_sigma":-1,"adaptive_target":-1.0,"adaptive_decay":0.9)", R"("min_keep":0,"n_keep":0,"n_discard":0)",
        R"("image_data":[],"n_indent":0,"t_max_predict_ms":0,"n_cache_reuse":0)",
        R"("post_sampling_probs":false,"response_fields":[],"penalize_nl":null)"}) {
    EXPECT_EQ(refused_field(fields), "") << fields;
  }
}

TEST(NeutralFields, AreRefusedByNameWhereTheyAskForSomething) {
  for (const std::string_view field :
       {R"("mirostat":2)", R"("mirostat":false)", R"("typical_p":0.9)", R"("tfs_z":"1")", R"("xtc_probability":0.1)",
        R"("dynatemp_range":0.5)", R"("dry_multiplier":0.8)", R"("top_n_sigma":1)", R"("adaptive_target":0)",
        R"("min_keep":2)", R"("image_data":{})", R"("t_max_predict_ms":500)", R"("n_cache_reuse":256)",
        R"("post_sampling_probs":true)", R"("response_fields":["content"])", R"("mirostat_tau":"5")",
        R"("dry_sequence_breakers":5)"}) {
    const std::string_view name = field.substr(1, field.find('"', 1) - 1);
    EXPECT_EQ(refused_field(std::string(field)), name) << field;
  }
}

}  // namespace
}  // namespace ingot::protocol
