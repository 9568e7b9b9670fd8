// Proves the variants of one contract that this machine can run: the kernels, without a model.
#include <cstdio>
#include <string>

#include "kernels/all_operations.h"
#include "machine/machine.h"
#include "profile/verify.h"

using namespace ingot;

int main() {
  VerifyOptions options;
  options.reduced = true;
  auto verifier = Verifier::create(Machine::detect().features, options);
  if (!verifier.ok()) return 1;
  int failed = 0;
  for (const VerifyRow& row : verifier.value().verify(*find_operation("norm.rms_norm"), all_operations())) {
    std::printf("%-8s %s\n", std::string(name_of(row.status)).c_str(), row.variant.c_str());
    failed += row.status == VerifyStatus::failed ? 1 : 0;
  }
  return failed;
}
