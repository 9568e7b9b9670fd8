#include <algorithm>
#include <charconv>
#include <memory>
#include <nlohmann/json.hpp>

#include "cli/session_options.h"
#include "cli/terminal.h"
#include "engine/sequence_proof.h"
#include "machine/accelerator/accelerator_device.h"
#include "machine/machine.h"

namespace ingot::model_verify_command {
namespace {

constexpr const char* examples =
    "Arbitrary texts go through the model each by itself, then with their prompts cut into passes, then many at once.\n"
    "The logits must be the same to the bit: what a request is answered does not depend on who else asks. On the CPU\n"
    "that holds for sessions that are deterministic (ingot serve --deterministic), and those are proved, with --split\n"
    "auto too; on a GPU for all.\n"
    "\n"
    "Examples:\n"
    "  ingot verify model model.gguf --device cuda\n"
    "  ingot verify model model.gguf --device cuda --cache q8_0 --batches 2,8,64\n"
    "  ingot verify model --prompt 40 --generate 2 --cuts 1,16 --batches 2,9    the built-in model, quickly";

std::string text_of(const std::vector<std::int64_t>& counts) {
  std::string text;
  for (const std::int64_t count : counts) text += (text.empty() ? "" : ",") + std::to_string(count);
  return text;
}

struct Options {
  ModelOptions model;
  SequenceProofOptions proof;
  std::string cuts = text_of(proof.cuts);
  std::string batches = text_of(proof.batches);
  bool json = false;
};

// "1,64,512"; 0 alone: none.
Result<std::vector<std::int64_t>> counts_of(std::string_view option, std::string_view text) {
  std::vector<std::int64_t> counts;
  if (text == "0") return counts;
  for (std::string_view rest = text; !rest.empty();) {
    std::int64_t count = 0;
    const std::string_view word = rest.substr(0, rest.find(','));
    const auto [end, problem] = std::from_chars(word.data(), word.data() + word.size(), count);
    if (problem != std::errc() || end != word.data() + word.size() || count < 1 || count > 4096) {
      return Error::of(ErrorCode::invalid_argument, option, ": expected numbers from 1 to 4096 with commas between ",
                       "them, or 0, found '", text, "'");
    }
    counts.push_back(count);
    rest.remove_prefix(std::min(word.size() + 1, rest.size()));
  }
  return counts;
}

void print_json(const Options& options, const std::vector<SequenceProofRow>& rows, int failed) {
  nlohmann::json document = {{"model", options.model.path},
                             {"device", options.model.device},
                             {"cache", options.model.cache},
                             {"passed", static_cast<int>(rows.size()) - failed},
                             {"failed", failed},
                             {"rows", nlohmann::json::array()}};
  for (const SequenceProofRow& row : rows) {
    document["rows"].push_back({{"what", row.what},
                                {"compared", row.compared},
                                {"different", row.different},
                                {"first_difference", row.first_difference}});
  }
  std::printf("%s\n", document.dump(1, ' ', false, nlohmann::json::error_handler_t::replace).c_str());
}

void print_text(const std::vector<SequenceProofRow>& rows, int failed, const std::string& processor) {
  for (const SequenceProofRow& row : rows) {
    const std::string mark = row.different == 0 ? coloured("passed", Colour::green) : coloured("failed", Colour::red);
    std::printf("%s  %-44s %6lld rows of logits", mark.c_str(), row.what.c_str(), static_cast<long long>(row.compared));
    if (row.different > 0) {
      std::printf(", %lld of them different; %s", static_cast<long long>(row.different), row.first_difference.c_str());
    }
    std::printf("\n");
  }
  std::printf("\n%zu passed, %d failed on %s\n", rows.size() - static_cast<std::size_t>(failed), failed,
              processor.c_str());
}

Result<int> run(Options& options) {
  SequenceProofOptions& proof = options.proof;
  ModelOptions& model = options.model;
  if (model.session.context == 0) model.session.context = proof.prompt + proof.generate;
  model.session.chunk = std::max(model.session.chunk, proof.prompt + proof.sequences());
  model.session.sequences = static_cast<int>(proof.sequences());
  // A CPU's, here or behind an accelerator; the rows of a GPU are so of themselves.
  const bool is_of_cpu = model.device == "cpu" || accelerator_path(model.device).has_value();
  model.session.deterministic = is_of_cpu || model.split != "none";
  const OpenedModel opened = TRY(open_model(model));
  Session& session = *opened.session;
  if (session.model().facts().makes_embeddings) {
    return Error::of(ErrorCode::unsupported, "expected a model that predicts tokens, found ",
                     session.model().facts().architecture, ", which makes embeddings and keeps nothing of a text");
  }
  std::vector<SequenceProofRow> rows;
  {
    ProgressBar progress("proving", static_cast<int>(proof.cuts.size() + proof.batches.size() + 1));
    rows = TRY(prove_sequences(session, proof, [&] { progress.advance(""); }));
  }
  const auto failed =
      static_cast<int>(std::ranges::count_if(rows, [](const SequenceProofRow& row) { return row.different > 0; }));
  const DeviceSide* const side = session.device_side();
  if (options.json) {
    print_json(options, rows, failed);
  } else {
    print_text(rows, failed, side ? side->device().information().name : Machine::detect().cpu_model);
  }
  return failed == 0 ? exit_success : exit_failure;
}

int run_or_refuse(Options& options) {
  auto cuts = counts_of("--cuts", options.cuts);
  auto batches = counts_of("--batches", options.batches);
  if (!cuts.ok()) return refuse_usage(cuts.error());
  if (!batches.ok()) return refuse_usage(batches.error());
  options.proof.cuts = std::move(cuts).value();
  options.proof.batches = std::move(batches).value();
  if (options.proof.cuts.empty() && options.proof.batches.empty()) {
    return refuse_usage(Error::of(ErrorCode::invalid_argument, "expected --cuts or --batches, found neither"));
  }
  const Result<int> code = run(options);
  if (!code.ok()) print_error(code.error().text());
  return code.ok() ? code.value() : exit_failure;
}

}  // namespace

void add(const Command& verify, int& exit_code) {
  auto options = std::make_shared<Options>();
  const Command command =
      verify.add_subcommand("model", "prove that what a sequence yields does not depend on others, nor on passes");
  command.footer(examples);
  add_device_model_options(command, options->model);
  command.add_option("--prompt", options->proof.prompt, "tokens of the longest prompt")
      .check(tokens_from(1))
      .capture_default_str();
  command.add_option("--generate", options->proof.generate, "tokens that follow one by one")
      .check(tokens_from(1))
      .capture_default_str();
  command.add_option("--cuts", options->cuts, "tokens of a pass into which the prompt is cut; 0: none")
      .capture_default_str();
  command.add_option("--batches", options->batches, "sequences that go on together; 0: none").capture_default_str();
  command.add_flag("--json", options->json, "machine-readable output");
  command.callback([options, verify, &exit_code] {
    const Result<void> order = verify.require_no_options();
    exit_code = order.ok() ? run_or_refuse(*options) : refuse_usage(order.error());
  });
}

}  // namespace ingot::model_verify_command
