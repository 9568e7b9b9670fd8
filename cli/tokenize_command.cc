#include <memory>
#include <nlohmann/json.hpp>

#include "cli/command.h"
#include "cli/prompt.h"
#include "cli/standard_input.h"
#include "cli/terminal.h"
#include "engine/model.h"

namespace ingot::tokenize_command {
namespace {

constexpr const char* examples =
    "Examples:\n"
    "  ingot tokenize model.gguf \"Hello, world\"          ids and pieces\n"
    "  ingot tokenize model.gguf \"<|im_end|>\" --special  special tokens in the text are read\n"
    "  ingot tokenize folder/ \"Hello\" --json             by the folder's tokenizer.json\n"
    "  ingot tokenize model.gguf <notes.txt              a file, to its last byte\n"
    "  ingot tokenize model.gguf -- \"-- a dash\"          a text that begins with -";

struct Options {
  std::string model;
  std::string text;
  bool reads_input = false;
  bool parses_special = false;
  bool plain = false;
  bool json = false;
};

Result<void> run(const Options& options) {
  const Tokenizer tokenizer = TRY(open_tokenizer(options.model));
  const std::string text = readable("the text", options.reads_input ? TRY(read_standard_input()) : options.text);
  const std::vector<TokenId> ids =
      TRY(encode_with_warning(tokenizer, "the text", text, {!options.plain, options.parses_special}));
  const auto text_of_piece = [&](TokenId id) { return std::string(tokenizer.piece(id)); };
  if (options.json) {
    nlohmann::json document = {{"ids", ids}, {"pieces", nlohmann::json::array()}};
    for (const TokenId id : ids) document["pieces"].push_back(text_of_piece(id));
    std::printf("%s\n", document.dump(1, ' ', false, nlohmann::json::error_handler_t::replace).c_str());
    return {};
  }
  for (const TokenId id : ids) {
    // As JSON, so that spaces, line ends and bytes that are no text can be seen.
    const nlohmann::json piece = text_of_piece(id);
    std::printf("%7d  %s\n", id, piece.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace).c_str());
  }
  return {};
}

}  // namespace

void add(const Command& application, int& exit_code) {
  auto options = std::make_shared<Options>();
  const Command command = application.add_subcommand("tokenize", "show a text as a model's tokens");
  command.footer(examples);
  command.add_option("MODEL", options->model, "a .gguf file, a tokenizer.json, or a folder with one of them")
      .required();
  const Option text =
      command.add_option("TEXT", options->text,
                         "the text; behind -- where it begins with -; else that of a pipe or a file on standard input");
  command.add_flag("--special", options->parses_special, "read special tokens such as <|im_end|> in the text");
  command.add_flag("--plain", options->plain, "do not add the model's own special tokens around it");
  command.add_flag("--json", options->json, "machine-readable output");
  command.callback([options, text, &exit_code] {
    if (!text.is_given() && !has_piped_input()) {
      exit_code = refuse_usage(Error::of(ErrorCode::invalid_argument, "ingot tokenize: expected TEXT, found none"));
      return;
    }
    options->reads_input = !text.is_given();
    exit_code = finish_command(run(*options));
  });
}

}  // namespace ingot::tokenize_command
