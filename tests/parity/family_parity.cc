// Proves one family: every built variant against its reference, every gradient, every constraint. One program a family,
// so that they build and run side by side. The build names the family's header and its list of operations.
//
//   parity_norm [--reduced] [--seed N] [--device emulated] [OPERATION]
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

#include "machine/gpu/device.h"
#include "machine/machine.h"
#include "profile/mutate.h"
#include "profile/verify.h"

#include INGOT_FAMILY_HEADER

using namespace ingot;

namespace {

void print_row(const VerifyRow& row) {
  std::printf("%-8s %-40s %-12s %10.3g epsilons %4d cases  %s\n", std::string(name_of(row.status)).c_str(),
              row.operation.c_str(), row.variant.c_str(), row.worst_epsilons, row.cases, row.detail.c_str());
}

}  // namespace

int main(int argument_count, char** arguments) {
  VerifyOptions options;
  std::string only;
  std::string device_name;
  for (int index = 1; index < argument_count; ++index) {
    if (std::strcmp(arguments[index], "--reduced") == 0) {
      options.reduced = true;
    } else if (std::strcmp(arguments[index], "--seed") == 0 && index + 1 < argument_count) {
      options.seed = std::strtoull(arguments[++index], nullptr, 10);
    } else if (std::strcmp(arguments[index], "--device") == 0 && index + 1 < argument_count) {
      device_name = arguments[++index];
    } else {
      only = arguments[index];
    }
  }
  options.limit_seconds = 300;  // an emulated machine on a busy host
  options.on_stuck = [](const std::vector<VerifyRow>& rows) {
    for (const VerifyRow& row : rows) print_row(row);
    std::fflush(stdout);
    std::_Exit(1);
  };
  const Machine machine = Machine::detect();
  std::unique_ptr<Device> device;
  if (!device_name.empty()) {
    auto opened = open_device(device_name);
    if (!opened.ok()) {
      std::fprintf(stderr, "%s\n", std::string(opened.error().text()).c_str());
      return 1;
    }
    device = std::move(opened).value();
  }
  auto verifier = device ? Verifier::create(*device, options) : Verifier::create(machine.features, options);
  auto workers = Workers::create({.threads = 2});
  if (!verifier.ok() || !workers.ok()) {
    std::fprintf(stderr, "could not start worker threads\n");
    return 1;
  }
  int passed = 0;
  int failed = 0;
  int skipped = 0;
  const auto operations = INGOT_FAMILY_OPERATIONS();
  for (const Operation* operation : operations) {
    if (!only.empty() && operation->name.find(only) == std::string_view::npos) continue;
    const std::vector<VerifyRow> rows = verifier.value().verify(*operation, operations);
    for (const VerifyRow& row : rows) {
      (row.status == VerifyStatus::passed ? passed : row.status == VerifyStatus::failed ? failed : skipped) += 1;
      print_row(row);
    }
    if (rows.empty()) continue;  // it has no row on this device
    const Result<MutationReport> mutated =
        device ? mutate_arguments(*operation, *device, options.seed, *workers.value())
               : Result(mutate_arguments(*operation, machine.features, options.seed, *workers.value()));
    if (!mutated.ok()) {
      std::fprintf(stderr, "%s\n", std::string(mutated.error().text()).c_str());
      return 1;
    }
    const MutationReport& report = mutated.value();
    const bool sound = report.failures.empty();
    (sound ? passed : failed) += 1;
    std::printf("%-8s %-40s %-12s %d wrong arguments: %d refused by a named constraint, %d harmless\n",
                sound ? "passed" : "failed", std::string(operation->name).c_str(), "constraints", report.mutations,
                report.refused, report.harmless);
    for (const std::string& text : report.failures) std::printf("         %s\n", text.c_str());
  }
  std::printf("%d passed, %d failed, %d skipped\n", passed, failed, skipped);
  return failed == 0 && passed > 0 ? 0 : 1;
}
