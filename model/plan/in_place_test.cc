// Plans let a step write over what it reads for the last time wherever the operation's contract allows it. Here every
// operation that says so is run both ways: the bits are the same.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <set>

#include "kernels/all_operations.h"
#include "kernels/contract/table.h"
#include "machine/machine.h"
#include "machine/memory.h"
#include "machine/workers.h"

namespace ingot {
namespace {

std::vector<std::byte> elements_of(const ConstAnyView& view) {
  if (view.is_contiguous()) return {view.data(), view.data() + row_bytes(view.dtype(), view.count())};
  const auto size = static_cast<std::size_t>(block_bytes(view.dtype()));
  std::vector<std::byte> bytes;
  std::vector<std::int64_t> index(static_cast<std::size_t>(view.rank()), 0);
  for (std::int64_t element = 0; element < view.count(); ++element) {
    std::int64_t offset = 0;
    for (int axis = 0; axis < view.rank(); ++axis) {
      offset += index[static_cast<std::size_t>(axis)] * view.byte_stride(axis);
    }
    bytes.insert(bytes.end(), view.data() + offset, view.data() + offset + size);
    for (int axis = view.rank() - 1; axis >= 0; --axis) {
      if (++index[static_cast<std::size_t>(axis)] < view.size(axis)) break;
      index[static_cast<std::size_t>(axis)] = 0;
    }
  }
  return bytes;
}

class InPlaceTest : public testing::Test {
 protected:
  struct Run {
    std::unique_ptr<CaseBuilder> builder;  // owns the memory
    std::unique_ptr<Invocation> invocation;
  };

  static Run build(const Operation& operation, int case_index) {
    auto builder = std::make_unique<CaseBuilder>(7 + static_cast<std::uint64_t>(case_index), Regime::ordinary,
                                                 LayoutStyle::packed, std::uint8_t{0x5a});
    auto invocation = operation.build(case_index, *builder);
    return {std::move(builder), std::move(invocation)};
  }

  // Binds the pairs' written fields to what they read. Returns how many of them fit this case.
  static int bind_in_place(const Operation& operation, std::span<const InPlace> pairs, Invocation& invocation) {
    int count = 0;
    for (const InPlace& pair : pairs) {
      const int written = operation.field_index(pair.written);
      const int read = operation.field_index(pair.read);
      if (written < 0 || read < 0) continue;
      const ConstAnyView target = invocation.tensor(written);
      const ConstAnyView source = invocation.tensor(read);
      const bool fits = is_present(target) && is_present(source) && target.data() != source.data() &&
                        target.dtype() == source.dtype() && target.shape() == source.shape();
      if (!fits) continue;
      const AnyView same(const_cast<std::byte*>(source.data()), source.dtype(), source.shape(), source.byte_strides());
      EXPECT_TRUE(invocation.set_tensor(written, same).ok());
      ++count;
    }
    return count;
  }

  std::vector<std::vector<std::byte>> outputs(const Operation& operation, int variant, const Invocation& invocation) {
    const std::size_t needed = invocation.scratch_bytes(variant, workers_->count());
    if (scratch_.size() < needed) scratch_ = Memory::allocate(Bytes(needed)).value();
    Context context{*workers_, scratch_.bytes()};
    invocation.run(variant, context);
    std::vector<std::vector<std::byte>> all;
    for (std::size_t field = 0; field < operation.fields.size(); ++field) {
      const ConstAnyView view = invocation.tensor(static_cast<int>(field));
      if (is_written(operation.fields[field].role) && is_present(view)) all.push_back(elements_of(view));
    }
    return all;
  }

  void compare(const Operation& operation, int case_index, std::span<const InPlace> pairs) {
    const Run usual = build(operation, case_index);
    for (const int variant : {table_.choose(operation, *usual.invocation), operation.reference()}) {
      const Run together = build(operation, case_index);
      if (bind_in_place(operation, pairs, *together.invocation) < static_cast<int>(pairs.size())) return;
      // An input may be laid out in a way that an output must not be, and two outputs must not be one input.
      if (!together.invocation->check().ok()) return;
      const Run apart = build(operation, case_index);
      if (!apart.invocation->accepts(variant)) continue;
      const std::string where = std::string(operation.name) + " " +
                                std::string(operation.variants[static_cast<std::size_t>(variant)].name) + " case '" +
                                operation.cases[static_cast<std::size_t>(case_index)].name + "', " +
                                std::string(pairs[0].written) + " over " + std::string(pairs[0].read);
      ASSERT_EQ(outputs(operation, variant, *together.invocation), outputs(operation, variant, *apart.invocation))
          << where;
      if (pairs.size() == 1)
        seen_.insert(std::string(operation.name) + ": " + std::string(pairs[0].written) + " over " +
                     std::string(pairs[0].read));
    }
  }

  KernelTable table_ = KernelTable::select(all_operations(), Machine::detect().features).value();
  std::unique_ptr<Workers> workers_ = Workers::create({.threads = 2}).value();
  Memory scratch_;
  std::set<std::string> seen_;  // pairs that ran
};

TEST_F(InPlaceTest, WritesTheSameBits) {
  std::size_t pairs = 0;
  for (const Operation* operation : all_operations()) {
    for (const InPlace& pair : operation->in_place) {
      pairs += operation->field_index(pair.written) >= 0 && operation->field_index(pair.read) >= 0;
    }
    for (std::size_t index = 0; index < operation->cases.size() && !operation->in_place.empty(); ++index) {
      const int case_index = static_cast<int>(index);
      if (operation->cases[index].purpose == CasePurpose::benchmark) continue;
      for (const InPlace& first : operation->in_place) {
        compare(*operation, case_index, std::array{first});
        for (const InPlace& second : operation->in_place) {
          if (&first < &second) compare(*operation, case_index, std::array{first, second});
        }
      }
      if (HasFatalFailure()) return;
    }
  }
  EXPECT_EQ(seen_.size(), pairs);  // every pair that a contract names was tried, each in some case
}

}  // namespace
}  // namespace ingot
