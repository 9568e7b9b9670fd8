#include <memory>

#include "cli/command.h"
#include "cli/gpu_program.h"
#include "cli/terminal.h"
#include "kernels/contract/table.h"
#include "kernels/pick.h"
#include "machine/feature_names.h"
#include "machine/machine.h"
#include "profile/report_json.h"

namespace ingot::kernels_command {
namespace {

constexpr const char* examples =
    "The table chooses anew at each call, by its arguments. Shown is a typical choice: what it selects for the first "
    "of\n"
    "the operation's cases. `ingot explain MODEL` shows what it selects for each step of a model.\n"
    "\n"
    "Examples:\n"
    "  ingot kernels                       every operation, a line each\n"
    "  ingot kernels attention             one family\n"
    "  ingot kernels linear.matmul         one operation: its equation, fields and variants\n"
    "  ingot kernels --device cuda         what the first GPU would run\n"
    "  ingot kernels --json                for scripts";

struct Options {
  std::string operation;
  std::string device = "cpu";
  bool json = false;
};

// What rows are listed for.
struct Here {
  Processor processor;
  std::string name;
};

Result<Here> find_processor(const std::string& device) {
  if (device == "cpu") {
    const Machine machine = Machine::detect();
    return Here{machine.features, machine.cpu_model};
  }
  const DeviceInformation information = TRY(open_device(device))->information();
  return Here{processor_of(information), information.name};
}

std::string why(const VariantInformation& variant, const Processor& processor, bool selected) {
  if (selected) return "typically selected: the first row whose needs hold and which takes the operation's first case";
  switch (availability(variant, processor)) {
    case Availability::not_built:
      return processor.is_device ? "not built into this program" : "not built for this architecture";
    case Availability::elsewhere:
      if (processor.is_device) return "runs on the CPU";
      return variant.built ? "runs on a GPU: --device cuda"
                           : "runs on a GPU; this program carries no code for it (make gpu)";
    case Availability::lacks_features:
      return processor.is_device ? "the device lacks what it needs" : "this machine lacks what it needs";
    default: return "available";
  }
}

void print_line(const Operation& operation, const KernelTable& table, const Processor& processor) {
  const int chosen = typical_choice(operation, table);
  std::string variants;
  for (std::size_t index = 0; index < operation.variants.size(); ++index) {
    const VariantInformation& variant = operation.variants[index];
    const bool selected = static_cast<int>(index) == chosen;
    const bool usable = availability(variant, processor) == Availability::available;
    variants += coloured(variant.name, selected ? Colour::green : usable ? Colour::plain : Colour::dim);
    variants += selected ? "* " : " ";
  }
  std::printf("  %-40s %s\n", std::string(operation.name).c_str(), variants.c_str());
}

void print_details(const Operation& operation, const KernelTable& table, const Processor& processor) {
  std::printf("%s\n  %s\n\n", coloured(operation.name, Colour::bold).c_str(), std::string(operation.equation).c_str());
  for (const FieldInformation& field : operation.fields) {
    std::printf("  %-18s %s%s\n", std::string(field.name).c_str(), std::string(name_of(field.role)).c_str(),
                field.presence == Presence::optional ? ", optional" : "");
  }
  std::printf("\n");
  if (operation.backward.empty()) {
    std::printf("  backward: none (%s)\n\n", std::string(operation.no_backward).c_str());
  } else {
    std::printf("  backward:");
    for (std::string_view name : operation.backward) std::printf(" %s", std::string(name).c_str());
    std::printf("\n\n");
  }
  const int chosen = typical_choice(operation, table);
  std::printf("  variants, best first; each call takes the first whose needs hold and which accepts its arguments\n");
  for (std::size_t index = 0; index < operation.variants.size(); ++index) {
    const VariantInformation& variant = operation.variants[index];
    std::string needs;
    for (const std::string& name : feature_names(variant.needs)) needs += (needs.empty() ? "needs " : ", ") + name;
    std::printf("  %-25s %-36s %s\n", std::string(variant.name).c_str(), needs.c_str(),
                why(variant, processor, static_cast<int>(index) == chosen).c_str());
  }
}

int run(const Options& options) {
  const auto operations = pick_operations(options.operation);
  if (!operations.ok()) {
    print_error(operations.error().text());
    return exit_usage;
  }
  const auto here = find_processor(options.device);
  if (!here.ok()) {
    print_error(here.error().text());
    return exit_failure;
  }
  const Processor& processor = here.value().processor;
  const auto table = KernelTable::select(operations.value(), processor);
  if (!table.ok()) {
    print_error(table.error().text());
    return exit_failure;
  }
  if (options.json) {
    std::printf("%s\n", operations_json(operations.value(), table.value(), processor).c_str());
    return exit_success;
  }
  if (operations.value().size() == 1) {
    print_details(*operations.value().front(), table.value(), processor);
    return exit_success;
  }
  std::string_view family;
  for (const Operation* operation : operations.value()) {
    if (operation->family() != family) {
      family = operation->family();
      std::printf("%s\n", coloured(family, Colour::bold).c_str());
    }
    print_line(*operation, table.value(), processor);
  }
  std::printf("\n%zu operations; * is what %s selects for the first of their cases: a call's arguments decide\n",
              operations.value().size(), here.value().name.c_str());
  return exit_success;
}

}  // namespace

void add(const Command& application, int& exit_code) {
  auto options = std::make_shared<Options>();
  const Command command = application.add_subcommand("kernels", "list operations, their variants, and what runs here");
  command.footer(examples);
  command.add_option("OPERATION", options->operation, "an operation or a family; all where left out");
  add_device_option(command, options->device);
  command.add_flag("--json", options->json, "machine-readable output");
  command.callback([options, &exit_code] { exit_code = run(*options); });
}

}  // namespace ingot::kernels_command
