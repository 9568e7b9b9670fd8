#include <memory>
#include <nlohmann/json.hpp>

#include "cli/session_options.h"
#include "cli/terminal.h"
#include "convert/quantizer.h"
#include "machine/limits.h"

namespace ingot::quantize_command {
namespace {

constexpr const char* convert_examples =
    "What other readers of GGUF find in the file: its keys, names and order of rows are theirs. Without a TYPE "
    "numbers\n"
    "stay as they are stored; with one, this is ingot quantize. A model in several files becomes one.\n"
    "\n"
    "Examples:\n"
    "  ingot convert folder/ model.gguf                  a Hugging Face folder, with its tokenizer and template\n"
    "  ingot convert folder/ model.gguf Q8_0\n"
    "  ingot convert folder/model.safetensors model.gguf one file, with the config.json beside it\n"
    "  ingot convert model-00001-of-00003.gguf model.gguf";

constexpr const char* examples =
    "TYPE names a format (F32 F16 BF16 Q8_0 Q4_0 Q4_1 Q5_0 Q5_1 Q6_K IQ4_NL IQ4_XS TQ1_0 TQ2_0\n"
    "MXFP4) or a mix (Q2_K Q3_K_S Q3_K_M Q3_K_L Q4_K_S Q4_K_M Q5_K_S Q5_K_M MXFP4_MOE). Either gives more bits to a\n"
    "few tensors that matter more, unless --pure is given.\n"
    "\n"
    "Examples:\n"
    "  ingot quantize model-f16.gguf model-q4.gguf Q4_K_M\n"
    "  ingot quantize folder/ model.gguf Q8_0            from a Hugging Face folder\n"
    "  ingot quantize folder/ model.gguf BF16            only converted\n"
    "  ingot quantize model.gguf out.gguf Q3_K --dry-run what would be done";

struct Options {
  std::string input;
  std::string output;
  std::string type;
  bool pure = false;
  bool dry_run = false;
  bool json = false;
  int threads = usable_cpu_count();
};

struct Totals {
  std::uint64_t before = 0;
  std::uint64_t after = 0;
  std::uint64_t elements = 0;
};

Totals totals_of(const Quantizer& quantizer) {
  Totals totals;
  for (const PlannedTensor& tensor : quantizer.tensors()) {
    totals.before += tensor.bytes_before();
    totals.after += tensor.bytes_after();
    totals.elements += static_cast<std::uint64_t>(element_count(tensor.shape));
  }
  return totals;
}

std::string text_of(const Shape& shape) {
  FixedText<120> text;
  text.append_all(shape);
  return std::string(text.view());
}

void print_table(const Quantizer& quantizer, const std::vector<double>& errors) {
  std::size_t widest = 6;
  for (const PlannedTensor& tensor : quantizer.tensors()) widest = std::max(widest, tensor.name.size());
  const int width = static_cast<int>(widest);
  std::printf("%-*s  %-18s  %-7s  %-7s  %10s  %12s  %12s\n", width, "tensor", "shape", "from", "to", "RMS error",
              "bytes before", "bytes after");
  for (std::size_t index = 0; index < quantizer.tensors().size(); ++index) {
    const PlannedTensor& tensor = quantizer.tensors()[index];
    char error[16] = "-";
    if (!errors.empty()) std::snprintf(error, sizeof(error), "%.3e", errors[index]);
    std::printf("%-*s  %-18s  %-7s  %-7s  %10s  %12llu  %12llu%s\n", width, tensor.name.c_str(),
                text_of(tensor.shape).c_str(), std::string(name_of(tensor.from())).c_str(),
                std::string(name_of(tensor.to())).c_str(), error,
                static_cast<unsigned long long>(tensor.bytes_before()),
                static_cast<unsigned long long>(tensor.bytes_after()), tensor.falls_back ? "  falls back" : "");
  }
  const Totals totals = totals_of(quantizer);
  std::printf(
      "%zu tensors, %.2f MiB -> %.2f MiB, %.2f bits a number\n", quantizer.tensors().size(), mebibytes(totals.before),
      mebibytes(totals.after),
      totals.elements == 0 ? 0 : 8.0 * static_cast<double>(totals.after) / static_cast<double>(totals.elements));
}

void print_json(const Options& options, const Quantizer& quantizer, const std::vector<double>& errors) {
  const Totals totals = totals_of(quantizer);
  nlohmann::json document = {
      {"input", options.input},           {"output", options.output},          {"type", nullptr},
      {"dry_run", options.dry_run},       {"bytes_before", totals.before},     {"bytes_after", totals.after},
      {"notes", nlohmann::json::array()}, {"tensors", nlohmann::json::array()}};
  if (!options.type.empty()) document["type"] = options.type;
  for (const std::string& note : quantizer.notes()) document["notes"].push_back(note);
  for (std::size_t index = 0; index < quantizer.tensors().size(); ++index) {
    const PlannedTensor& tensor = quantizer.tensors()[index];
    nlohmann::json row = {{"name", tensor.name},
                          {"shape", std::vector<std::int64_t>(tensor.shape.begin(), tensor.shape.end())},
                          {"from", name_of(tensor.from())},
                          {"to", name_of(tensor.to())},
                          {"falls_back", tensor.falls_back},
                          {"bytes_before", tensor.bytes_before()},
                          {"bytes_after", tensor.bytes_after()}};
    if (!errors.empty()) row["rms_error"] = errors[index];
    document["tensors"].push_back(std::move(row));
  }
  std::printf("%s\n", document.dump(1, ' ', false, nlohmann::json::error_handler_t::replace).c_str());
}

Result<void> run(const Options& options) {
  const TypeMix* mix = options.type.empty() ? nullptr : TRY(find_type_mix(options.type));
  const Quantizer quantizer =
      TRY(Quantizer::open(options.input, {mix, options.pure ? MixRules::pure : MixRules::usual}));
  for (const std::string& note : quantizer.notes()) {
    std::fprintf(stderr, "%s %s\n", coloured("note:", Colour::yellow, stderr).c_str(), note.c_str());
  }
  std::vector<double> errors;
  if (!options.dry_run) {
    ProgressBar bar("writing", static_cast<int>(quantizer.tensors().size()));
    TRY(quantizer.write(options.output, {options.threads, [&](const PlannedTensor& tensor, double error) {
                                           errors.push_back(error);
                                           bar.advance(tensor.name);
                                         }}));
  }
  options.json ? print_json(options, quantizer, errors) : print_table(quantizer, errors);
  return {};
}

// One command with two names: with `convert` the numbers need not change.
void add_as(const Command& command, bool needs_type, int& exit_code) {
  auto options = std::make_shared<Options>();
  command
      .add_option(
          "IN", options->input,
          "a .gguf file (of a model in several, any), a folder with config.json and weights, or its .safetensors")
      .required();
  command.add_option("OUT", options->output, "the GGUF file to write").required();
  const Option type = command.add_option("TYPE", options->type, "what the numbers become").check(type_of_numbers());
  if (needs_type) type.required();
  command.add_flag("--pure", options->pure, "every matrix gets the same format");
  command.add_flag("--dry-run", options->dry_run, "print what would be done, write nothing");
  command.add_option("--threads", options->threads, "worker threads").check(between(1, 1024)).capture_default_str();
  command.add_flag("--json", options->json, "machine-readable output");
  command.callback([options, &exit_code] { exit_code = finish_command(run(*options)); });
}

}  // namespace

void add(const Command& application, int& exit_code) {
  const Command quantize = application.add_subcommand("quantize", "write a model with smaller numbers");
  quantize.footer(examples);
  add_as(quantize, true, exit_code);
  const Command convert = application.add_subcommand("convert", "write a model of any kind as one GGUF file");
  convert.footer(convert_examples);
  add_as(convert, false, exit_code);
}

}  // namespace ingot::quantize_command
