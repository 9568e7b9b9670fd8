#include "cli/generated_text.h"

namespace ingot {

GeneratedText::GeneratedText(Session& session, const Tokenizer& tokenizer, const std::vector<std::string>& stops)
    : session_(session), tokenizer_(tokenizer), stop_(std::make_shared<const StopStrings>(stops)) {}

std::string GeneratedText::push(std::string_view piece) {
  std::string shown = stop_.push(piece);
  text_ += shown;
  return shown;
}

std::string GeneratedText::finish() {
  if (is_stopped()) return "";
  std::string shown = stop_.finish();
  text_ += shown;
  return shown;
}

Result<void> GeneratedText::score(std::int32_t token, std::span<const float> logits, std::int64_t most_likely) {
  is_scored_ = true;
  ScoredToken scored{token, std::nullopt};
  if (!logits.empty()) {
    Context context = session_.context_for_kernels();
    scored.score = TRY(score_token(session_.table(), logits, token, most_likely, context));
  }
  scores_.push_back(std::move(scored));
  return {};
}

std::string_view GeneratedText::reason(const GenerationReport& report) const {
  return is_stopped() ? "stop string" : name_of(report.reason);
}

void GeneratedText::describe(nlohmann::json& document) const {
  if (is_stopped()) document["stop_string"] = stop_.stop();
  if (!is_scored_) return;
  const auto told = [&](std::int32_t token, float log_probability) {
    return nlohmann::json{{"id", token}, {"piece", tokenizer_.piece(token)}, {"logprob", log_probability}};
  };
  document["logprobs"] = nlohmann::json::array();
  for (const ScoredToken& scored : scores_) {
    nlohmann::json row = told(scored.token, 0);
    row["most_likely"] = nlohmann::json::array();
    if (scored.score) {
      row["logprob"] = scored.score->log_probability;
      for (const TokenProbability& likely : scored.score->most_likely) {
        row["most_likely"].push_back(told(likely.token, likely.log_probability));
      }
    } else {
      row["logprob"] = nullptr;
    }
    document["logprobs"].push_back(std::move(row));
  }
}

}  // namespace ingot
