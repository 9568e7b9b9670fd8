#include <cstdlib>
#include <memory>
#include <random>

#include "cli/command.h"
#include "cli/gpu_program.h"
#include "cli/open_place.h"
#include "cli/terminal.h"
#include "kernels/all_operations.h"
#include "kernels/contract/accelerated_call.h"
#include "kernels/pick.h"
#include "machine/machine.h"
#include "profile/report_json.h"

namespace ingot::verify_command {
namespace {

constexpr const char* examples =
    "Every variant this machine can run is compared with its scalar reference on fresh random and adversarial\n"
    "cases: odd sizes, strided and unaligned layouts, empty tensors, NaN, infinities, denormals, large magnitudes;\n"
    "1, 2 and 3 threads must agree bit for bit, and gradients must match finite differences. Tensors and scratch lie\n"
    "against pages that nobody may touch, so a read outside of them is seen as well as a write.\n"
    "With --device, the rows of a GPU are compared with the same references. `emulated` is a GPU that the CPU plays,\n"
    "fiber by fiber, in several orders: for machines that have none. An accelerator is proved through its queue: one\n"
    "row an operation, whatever its worker chooses to compute it with.\n"
    "\n"
    "Examples:\n"
    "  ingot verify                                  everything\n"
    "  ingot verify attention                        one family\n"
    "  ingot verify norm.rms_norm --variant avx2     one variant\n"
    "  ingot verify --device cuda                    the rows of the first GPU\n"
    "  ingot verify --device accelerator:/tmp/gpu    what `ingot accelerator --socket /tmp/gpu` computes\n"
    "  ingot verify --device accelerator             the same of the machine that this program was booted on\n"
    "  ingot verify --seed 7 --json                  repeatable, for scripts\n"
    "  ingot verify model model.gguf                 a whole model: its words do not depend on who else is served";

struct Options {
  std::string operation;
  std::string device = "cpu";
  VerifyOptions verify;
  bool json = false;
};

Colour colour_of(VerifyStatus status) {
  switch (status) {
    case VerifyStatus::passed: return Colour::green;
    case VerifyStatus::failed: return Colour::red;
    case VerifyStatus::skipped: return Colour::yellow;
  }
  return Colour::plain;
}

void print_row(const VerifyRow& row) {
  std::string status(name_of(row.status));
  status.resize(8, ' ');  // padded before it is coloured: escape codes have no width
  std::printf("%s %-38s %-16s %9.3g %6d  %s\n", coloured(status, colour_of(row.status)).c_str(), row.operation.c_str(),
              row.variant.c_str(), row.worst_epsilons, row.cases, coloured(row.detail, Colour::dim).c_str());
}

// Returns the exit code.
int print_report(const std::vector<VerifyRow>& rows, const Options& options, const std::string& processor) {
  const VerifyCounts counts = count_rows(rows);
  if (options.json) {
    std::printf("%s\n", verify_json(rows, options.verify.seed).c_str());
  } else {
    std::printf("%s\n", coloured("status   operation                              variant           epsilons  cases",
                                 Colour::bold)
                            .c_str());
    for (const VerifyRow& row : rows) print_row(row);
    std::printf("\n%d passed, %d failed, %d skipped on %s (seed %llu)\n", counts.passed, counts.failed, counts.skipped,
                processor.c_str(), static_cast<unsigned long long>(options.verify.seed));
  }
  return counts.failed == 0 && counts.passed > 0 ? exit_success : exit_failure;
}

// Where the rows run, and what a report calls it.
struct ProvedPlace {
  std::string name;
  FeatureSet features;  // of this machine, where there is no device
  std::unique_ptr<Device> device;
  std::unique_ptr<AcceleratorQueue> queue;  // of an accelerator
  std::unique_ptr<AcceleratedCalls> calls;  // into that queue
};

Result<ProvedPlace> place_named(const std::string& device) {
  const Machine machine = Machine::detect();
  ProvedPlace place = {machine.cpu_model, machine.features, nullptr, nullptr, nullptr};
  if (const auto path = accelerator_path(device)) {
    std::unique_ptr<AcceleratorDevice> accelerator = TRY(open_accelerator(*path));
    place.queue = TRY(accelerator->make_accelerator_queue());
    place.calls = std::make_unique<AcceleratedCalls>(*place.queue);
    place.device = std::move(accelerator);
  } else if (device != "cpu") {
    place.device = TRY(open_device(device));
  }
  if (place.device) place.name = place.device->information().name;
  return place;
}

Result<Verifier> verifier_of(ProvedPlace& place, VerifyOptions options) {
  if (place.calls) return Verifier::create(*place.device, std::move(place.queue), *place.calls, std::move(options));
  if (place.device) return Verifier::create(*place.device, std::move(options));
  return Verifier::create(place.features, std::move(options));
}

int run(const Options& options) {
  if (accelerator_path(options.device).has_value() && !options.verify.variant.empty()) {
    print_error("expected --variant without --device accelerator, found both: its worker chooses the row");
    return exit_usage;
  }
  const auto operations = pick_operations(options.operation);
  if (!operations.ok()) {
    print_error(operations.error().text());
    return exit_usage;
  }
  if (!options.verify.variant.empty()) {
    const Result<void> known = require_variant(operations.value(), options.verify.variant);
    if (!known.ok()) {
      print_error(known.error().text());
      return exit_usage;
    }
  }
  auto opened = place_named(options.device);
  if (!opened.ok()) {
    print_error(opened.error().text());
    return exit_failure;
  }
  ProvedPlace place = std::move(opened).value();
  std::vector<VerifyRow> rows;
  VerifyOptions verify = options.verify;
  // A kernel that does not come back keeps its thread: the report so far is written beside it, and the program ends.
  verify.on_stuck = [&](const std::vector<VerifyRow>& last) {
    rows.insert(rows.end(), last.begin(), last.end());
    print_error("ended early: the last row's variant did not come back");
    const int exit_code = print_report(rows, options, place.name);
    std::fflush(stdout);
    std::_Exit(exit_code);
  };
  auto verifier = verifier_of(place, std::move(verify));
  if (!verifier.ok()) {
    print_error(verifier.error().text());
    return exit_failure;
  }
  {
    ProgressBar progress("verifying", static_cast<int>(operations.value().size()));
    for (const Operation* operation : operations.value()) {
      progress.advance(operation->name);
      for (VerifyRow& row : verifier.value().verify(*operation, all_operations())) rows.push_back(std::move(row));
    }
  }
  const int exit_code = print_report(rows, options, place.name);
  if (rows.empty()) {
    print_error(nothing_runs_there(options.operation, options.verify.variant, place.name).text());
  }
  return exit_code;
}

}  // namespace

void add(const Command& application, int& exit_code) {
  auto options = std::make_shared<Options>();
  const Command command = application.add_subcommand(
      "verify", "prove every kernel on this CPU, a GPU or an accelerator against its reference");
  command.footer(examples);
  command.add_option("OPERATION", options->operation, "an operation or a family; all where left out");
  add_place_option(command, options->device);
  command.add_option("--variant", options->verify.variant, "only the variant of this name");
  const Option seed =
      command.add_option("--seed", options->verify.seed, "the random cases' seed; fresh where left out");
  command.add_flag("--reduced", options->verify.reduced, "fewer combinations, for emulated machines");
  command.add_option("--limit", options->verify.limit_seconds, "seconds that one run of a variant may take; 0: any")
      .check(between(0.0, 1e9))
      .capture_default_str();
  command.add_flag("--json", options->json, "machine-readable output");
  model_verify_command::add(command, exit_code);
  command.callback([options, command, seed, &exit_code] {
    if (command.has_parsed_subcommand()) return;
    if (!seed.is_given()) options->verify.seed = std::random_device{}() % 1000000;
    exit_code = run(*options);
  });
}

}  // namespace ingot::verify_command
