#include <memory>
#include <nlohmann/json.hpp>
#include <utility>

#include "cli/adapter_options.h"
#include "cli/prompt.h"
#include "cli/session_options.h"
#include "cli/terminal.h"
#include "engine/perplexity.h"
#include "model/files/mapped_file.h"
#include "model/files/quoted.h"

namespace ingot::perplexity_command {
namespace {

constexpr const char* examples =
    "The exponential of the mean negative log likelihood of the text's tokens, the first one left out. A text longer\n"
    "than the context goes through in overlapping windows; every token is scored once.\n"
    "\n"
    "Examples:\n"
    "  ingot perplexity model.gguf essay.txt\n"
    "  ingot perplexity tales.txt                            of the built-in model\n"
    "  ingot perplexity model.gguf book.txt --context 512 --stride 256 --json";

struct Options {
  ModelOptions model;
  std::string file;
  std::int64_t stride = 0;
  bool json = false;
};

Result<void> run(const Options& options) {
  const MappedFile text = TRY(MappedFile::open(options.file));
  if (text.text().starts_with("GGUF")) {
    return Error::of(ErrorCode::invalid_argument, Quoted{options.file},
                     ": expected a text, found a model file: name the text behind it, as in ingot perplexity ",
                     Quoted{options.file}, " FILE");
  }
  const OpenedModel opened = TRY(open_model(options.model));
  const Tokenizer& tokenizer = *TRY(opened.model->tokenizer());
  const std::vector<std::int32_t> tokens =
      TRY(encode_with_warning(tokenizer, options.file, readable(options.file, text.text()), {}));
  constexpr int bar_steps = 200;
  ProgressBar progress("scoring", bar_steps);
  int shown = 0;
  const Perplexity result =
      TRY(perplexity_of(*opened.session, tokens, options.stride, [&](std::int64_t scored, std::int64_t of) {
        for (; shown < bar_steps * scored / of; ++shown) progress.advance(std::to_string(scored) + " tokens");
      }));
  if (options.json) {
    const nlohmann::json document = {
        {"model", options.model.path},   {"adapters", described_adapters(opened.session->options())},
        {"file", options.file},          {"perplexity", result.value},
        {"mean_loss", result.mean_loss}, {"standard_error", result.standard_error},
        {"tokens", tokens.size()},       {"scored", result.scored},
        {"windows", result.windows},     {"context", opened.session->context()}};
    std::printf("%s\n", document.dump(1, ' ', false, nlohmann::json::error_handler_t::replace).c_str());
    return {};
  }
  std::printf("perplexity %.4f  (%.4f +- %.4f nats a token, %lld tokens scored, %lld window(s) of %lld)\n",
              result.value, result.mean_loss, result.standard_error, static_cast<long long>(result.scored),
              static_cast<long long>(result.windows), static_cast<long long>(opened.session->context()));
  return {};
}

}  // namespace

void add(const Command& application, int& exit_code) {
  auto options = std::make_shared<Options>();
  const Command command = application.add_subcommand("perplexity", "how well a model predicts a text");
  command.footer(examples);
  add_device_model_options(command, options->model);
  command.add_option("FILE", options->file, "the text; where it stands alone, the built-in model scores it");
  command.add_option("--stride", options->stride, "tokens from window to window; 0: half the context")
      .check(tokens_from(0));
  command.add_flag("--json", options->json, "machine-readable output");
  command.callback([options, &exit_code] {
    if (options->file.empty() && options->model.path != default_model_name) {
      options->file = std::exchange(options->model.path, std::string(default_model_name));
    }
    if (options->file.empty()) {
      exit_code = refuse_usage(Error::of(ErrorCode::invalid_argument, "ingot perplexity: expected FILE, found none"));
      return;
    }
    exit_code = finish_command(run(*options));
  });
}

}  // namespace ingot::perplexity_command
