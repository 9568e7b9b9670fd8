#include <memory>
#include <nlohmann/json.hpp>

#include "cli/adapter_options.h"
#include "cli/prompt.h"
#include "cli/session_options.h"
#include "cli/terminal.h"
#include "engine/embedding.h"

namespace ingot::embed_command {
namespace {

constexpr const char* examples =
    "A text as one vector of length one, so that the product of two vectors is their cosine. It comes of the vectors "
    "of\n"
    "its tokens: their mean, or the first's or the last's, as the model's file says; --pooling says otherwise, and "
    "with\n"
    "none each token keeps its own. Of a model that predicts tokens it is what stands before the prediction, and the\n"
    "last token's where the file says nothing, because that one alone has read all of the text.\n"
    "\n"
    "Examples:\n"
    "  ingot embed bert.gguf -p \"a cat sat\"\n"
    "  ingot embed bert.gguf -p \"a cat sat\" -p \"the dog stood\" --json\n"
    "  ingot embed qwen3.gguf -p \"a cat sat\" --pooling mean";

struct Options {
  ModelOptions model;
  std::vector<std::string> texts;
  std::string pooling;
  bool json = false;
};

Result<void> run(const Options& options) {
  ModelOptions model = options.model;
  model.use = {.embeds = true, .pooling = pooling_by_name(options.pooling)};
  const OpenedModel opened = TRY(open_model(model));
  const Tokenizer& tokenizer = *TRY(opened.model->tokenizer());
  nlohmann::json document = {{"model", options.model.path},
                             {"adapters", described_adapters(opened.session->options())},
                             {"pooling", name_of(opened.model->facts().pooling)},
                             {"embeddings", nlohmann::json::array()}};
  for (const std::string& given : options.texts) {
    const std::string text = readable("a text", given);
    const std::vector<std::int32_t> tokens = TRY(encode_with_warning(tokenizer, "a text", text, {}));
    for (const std::vector<float>& embedding : TRY(embeddings_of(*opened.session, tokens))) {
      if (options.json) {
        document["embeddings"].push_back({{"text", text}, {"tokens", tokens.size()}, {"embedding", embedding}});
        continue;
      }
      for (std::size_t index = 0; index < embedding.size(); ++index) {
        std::printf("%s%.7g", index == 0 ? "" : " ", static_cast<double>(embedding[index]));
      }
      std::printf("\n");
    }
  }
  if (options.json) {
    std::printf("%s\n", document.dump(1, ' ', false, nlohmann::json::error_handler_t::replace).c_str());
  }
  return {};
}

}  // namespace

void add(const Command& application, int& exit_code) {
  auto options = std::make_shared<Options>();
  const Command command = application.add_subcommand(
      "embed", "turn a text into a vector, or into one a token where the model does not pool them");
  command.footer(examples);
  add_device_model_options(command, options->model);
  command.add_option("-p,--prompt", options->texts, "a text; may be given several times")
      .required()
      .one_word_each_time();
  command
      .add_option("--pooling", options->pooling,
                  "how tokens' vectors become the text's: mean, first, last or none; without this, as the file says")
      .check(one_of({"mean", "first", "last", "none"}));
  command.add_flag("--json", options->json, "machine-readable output");
  command.callback([options, &exit_code] { exit_code = finish_command(run(*options)); });
}

}  // namespace ingot::embed_command
