#include "train/tokenizer/tokenizer_json.h"

#include <nlohmann/json.hpp>
#include <span>
#include <string_view>

#include "model/files/replaced_file.h"

namespace ingot {

namespace {

using OrderedJson = nlohmann::ordered_json;

std::string dumped(const OrderedJson& json) { return json.dump(-1, ' ', false, OrderedJson::error_handler_t::replace); }

Result<void> check_writable(const TokenizerDescription& description) {
  const auto unsupported = [](std::string_view expected) {
    return Error::of(ErrorCode::unsupported, "tokenizer.json: expected ", expected, ", found another tokenizer");
  };
  if (description.model != TokenizerModel::byte_pair || !description.is_byte_level) {
    return unsupported("byte-level byte-pair encoding");
  }
  if (!description.normalizer.empty()) return unsupported("no normalizer");
  if (!description.prefix.empty() || !description.suffix.empty()) return unsupported("no tokens around a text");
  for (const PreTokenizerStep& step : description.pre_tokenizer) {
    if (step.kind != PreTokenizerStep::Kind::split || step.behavior != SplitBehavior::isolated || step.is_inverted) {
      return unsupported("splits at patterns");
    }
  }
  if (description.types.size() != description.tokens.size()) return unsupported("a type for each token");
  return {};
}

OrderedJson added_tokens_of(const TokenizerDescription& description) {
  OrderedJson tokens = OrderedJson::array();
  for (const AddedToken& token : description.added_tokens) {
    tokens.push_back({{"id", token.id},
                      {"content", token.text},
                      {"single_word", token.is_single_word},
                      {"lstrip", token.strips_left},
                      {"rstrip", token.strips_right},
                      {"normalized", token.is_normalized},
                      {"special", token.is_special}});
  }
  return tokens;
}

OrderedJson pre_tokenizer_of(const TokenizerDescription& description) {
  OrderedJson steps = OrderedJson::array();
  for (const PreTokenizerStep& step : description.pre_tokenizer) {
    steps.push_back(
        {{"type", "Split"}, {"pattern", {{"Regex", step.pattern}}}, {"behavior", "Isolated"}, {"invert", false}});
  }
  steps.push_back({{"type", "ByteLevel"}, {"add_prefix_space", false}, {"trim_offsets", true}, {"use_regex", false}});
  return {{"type", "Sequence"}, {"pretokenizers", steps}};
}

// Put together by hand, because an ordered object of n members takes n^2 / 2 comparisons to fill.
std::string model_of(const TokenizerDescription& description) {
  std::string text = R"({"type": "BPE", "dropout": null, "unk_token": null, "continuing_subword_prefix": null, )"
                     R"("end_of_word_suffix": null, "fuse_unk": false, "byte_fallback": false, "ignore_merges": )";
  text += description.ignores_merges ? "true" : "false";
  text += ",\n\"vocab\": {";
  std::string_view between = "\n";
  for (std::size_t id = 0; id < description.tokens.size(); ++id) {
    if (description.types[id] != TokenType::normal) continue;
    text.append(between).append(dumped(description.tokens[id])).append(": ").append(std::to_string(id));
    between = ",\n";
  }
  text += "},\n\"merges\": [";
  between = "\n";
  for (const Merge& merge : description.merges) {
    text.append(between).append(dumped(merge.left + " " + merge.right));
    between = ",\n";
  }
  return text + "]}";
}

}  // namespace

Result<std::string> tokenizer_json(const TokenizerDescription& description) {
  TRY(check_writable(description));
  const OrderedJson decoder = {
      {"type", "ByteLevel"}, {"add_prefix_space", false}, {"trim_offsets", true}, {"use_regex", false}};
  std::string text = R"({"version": "1.0", "truncation": null, "padding": null,)";
  text.append("\n\"added_tokens\": ").append(dumped(added_tokens_of(description)));
  text.append(",\n\"normalizer\": null,\n\"pre_tokenizer\": ").append(dumped(pre_tokenizer_of(description)));
  text.append(",\n\"post_processor\": null,\n\"decoder\": ").append(dumped(decoder));
  return text.append(",\n\"model\": ").append(model_of(description)).append("}\n");
}

Result<void> write_tokenizer_json(const std::string& path, const TokenizerDescription& description) {
  const std::string text = TRY(tokenizer_json(description));
  ReplacedFile file = TRY(ReplacedFile::create(path));
  TRY(file.write(std::as_bytes(std::span(text))));
  return file.commit();
}

}  // namespace ingot
