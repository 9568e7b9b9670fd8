#include "accelerator/rehearsal.h"

#include "kernels/contract/case_builder.h"
#include "kernels/contract/table.h"
#include "machine/memory.h"

namespace ingot {
namespace {

constexpr int cases_each = 3;

Result<void> rehearse_case(const Operation& operation, int case_index, const KernelTable& table, Workers& workers) {
  CaseBuilder builder(1, Regime::ordinary, LayoutStyle::packed, 0);
  const std::unique_ptr<Invocation> call = operation.build(case_index, builder);
  TRY(call->check());
  const int row = table.choose(operation, *call);
  if (row < 0) return {};
  const std::size_t bytes = call->scratch_bytes(row, workers.count());
  const Memory scratch = TRY(Memory::allocate(Bytes(bytes)));
  Context context{workers, scratch.bytes()};
  call->run(row, context);
  return {};
}

}  // namespace

Result<void> rehearse(const WorkerTask& task) {
  const KernelTable table = TRY(KernelTable::select(task.operations, task.features));
  const std::unique_ptr<Workers> alone = TRY(Workers::create({.threads = 1}));  // forks have no threads of ours
  for (const Operation* operation : task.operations) {
    int left = cases_each;
    for (std::size_t index = 0; index < operation->cases.size() && left > 0; ++index) {
      if (operation->cases[index].purpose != CasePurpose::parity) continue;
      TRY(rehearse_case(*operation, static_cast<int>(index), table, *alone));
      --left;
    }
  }
  return {};
}

}  // namespace ingot
