// Hostile arguments for every operation: a case is built, some of its tensors and attributes are replaced by what the
// bytes say, and whatever the contract's check lets through is run on the reference and the selected variant.
#include <memory>
#include <vector>

#include "kernels/all_operations.h"
#include "kernels/contract/table.h"
#include "machine/machine.h"
#include "tests/fuzz/byte_source.h"

using namespace ingot;

namespace {

constexpr std::int64_t largest_tensor = 1 << 14;

void replace_tensor(ByteSource& source, Invocation& invocation, int field, CaseBuilder& builder) {
  const ConstAnyView view = invocation.tensor(field);
  if (!is_present(view)) return;
  const DType dtype = source.take_between(0, 7) == 0
                          ? dtype_table[static_cast<std::size_t>(
                                            source.take_between(0, static_cast<std::int64_t>(dtype_table.size()) - 1))]
                                .dtype
                          : view.dtype();
  Shape shape;
  const int rank = static_cast<int>(source.take_between(0, 7) == 0 ? source.take_between(0, max_rank) : view.rank());
  for (int axis = 0; axis < rank; ++axis) {
    std::int64_t size = axis < view.rank() ? view.size(axis) : 1;
    if (source.take_between(0, 1) == 0) size = source.take_between(0, 20);
    if (axis == rank - 1) size = size / block_elements(dtype) * block_elements(dtype);
    shape.push_back(size);
  }
  if (rank == 0 && is_block_format(dtype)) return;
  if (element_count(shape) > largest_tensor) return;
  const Fill fill = source.take_between(0, 1) == 0 ? Fill::values() : Fill::integers(-1, source.take_between(1, 20));
  (void)invocation.set_tensor(field, builder.filled_any(dtype, shape, fill));
}

void replace_attribute(ByteSource& source, Invocation& invocation, int field) {
  const AttributeValue old = invocation.attribute(field);
  if (std::holds_alternative<bool>(old)) {
    invocation.set_attribute(field, source.take_between(0, 1) == 1);
  } else if (std::holds_alternative<double>(old)) {
    invocation.set_attribute(field, static_cast<double>(source.take<float>()));
  } else {
    const bool is_wild = source.take_between(0, 3) == 0;
    invocation.set_attribute(field, is_wild ? source.take<std::int64_t>() : source.take_between(-2, 40));
  }
}

void run_if_accepted(const Invocation& invocation, int variant, Workers& workers) {
  if (variant < 0 || !invocation.accepts(variant)) return;
  std::vector<std::byte> scratch(invocation.scratch_bytes(variant, workers.count()) + 64);
  const auto address = reinterpret_cast<std::uintptr_t>(scratch.data());
  Context context{workers, std::span(scratch).subspan(align_up(address, 64) - address)};
  invocation.run(variant, context);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const Machine machine = Machine::detect();
  static const KernelTable table = KernelTable::select(all_operations(), machine.features).value();
  static const std::unique_ptr<Workers> workers = Workers::create({.threads = 1}).value();
  ByteSource source(data, size);
  const auto operations = all_operations();
  const Operation& operation = *operations[source.take<std::uint16_t>() % operations.size()];
  const int case_index = static_cast<int>(source.take<std::uint8_t>() % operation.cases.size());
  if (operation.cases[static_cast<std::size_t>(case_index)].purpose == CasePurpose::benchmark) return 0;
  CaseBuilder builder(source.take<std::uint16_t>(), Regime::ordinary, LayoutStyle::packed, 0xa5);
  const std::unique_ptr<Invocation> invocation = operation.build(case_index, builder);
  for (int change = 0; change < 4 && !source.empty(); ++change) {
    const int field = static_cast<int>(source.take<std::uint8_t>() % operation.fields.size());
    if (operation.fields[static_cast<std::size_t>(field)].is_tensor) {
      replace_tensor(source, *invocation, field, builder);
    } else {
      replace_attribute(source, *invocation, field);
    }
  }
  if (!invocation->check().ok()) return 0;
  run_if_accepted(*invocation, operation.reference(), *workers);
  run_if_accepted(*invocation, table.choose(operation, *invocation), *workers);
  return 0;
}
