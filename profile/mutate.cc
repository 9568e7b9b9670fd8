#include "profile/mutate.h"

#include <cmath>
#include <limits>

#include "kernels/contract/table.h"
#include "profile/guarded_call.h"

namespace ingot {
namespace {

enum class Verdict : std::uint8_t { must_refuse, may_accept };

AnyView as_mutable(const ConstAnyView& view) {
  return AnyView(const_cast<std::byte*>(view.data()), view.dtype(), view.shape(), view.byte_strides(), view.place());
}

// "norm.rms_norm C2: expected ..." -> true
bool names_constraint(std::string_view text, std::string_view operation) {
  if (!text.starts_with(operation)) return false;
  text.remove_prefix(operation.size());
  return text.size() > 3 && text.starts_with(" C") && text[2] >= '0' && text[2] <= '9' &&
         text.find(": ") != std::string_view::npos;
}

class Mutator {
 public:
  Mutator(const Operation& operation, const Processor& processor, std::uint64_t seed, Workers& workers,
          ProvingGround& ground, int case_index)
      : operation_(operation),
        processor_(processor),
        workers_(workers),
        ground_(ground),
        builder_(seed, Regime::ordinary, LayoutStyle::packed, 0xa5),
        original_(operation.build(case_index, builder_)) {}

  void run(MutationReport& report) {
    for (std::size_t index = 0; index < operation_.fields.size(); ++index) {
      const int field = static_cast<int>(index);
      if (operation_.fields[index].is_tensor) {
        mutate_tensor(field, report);
      } else {
        mutate_attribute(field, report);
      }
    }
  }

 private:
  void mutate_tensor(int field, MutationReport& report) {
    const FieldInformation& information = operation_.fields[static_cast<std::size_t>(field)];
    const AnyView view = as_mutable(original_->tensor(field));
    if (!is_present(view)) return;
    if (information.presence == Presence::required)
      try_tensor(field, AnyView(), "left out", Verdict::must_refuse, report);
    if (!view.empty()) {
      try_tensor(field, AnyView(nullptr, view.dtype(), view.shape(), view.byte_strides()), "null data",
                 Verdict::must_refuse, report);
    }
    if (!view.empty() && !is_block_format(view.dtype()) && block_bytes(view.dtype()) > 1) {
      try_tensor(field, AnyView(view.data() + 1, view.dtype(), view.shape(), view.byte_strides()), "misaligned data",
                 Verdict::must_refuse, report);
    }
    for (int axis = 0; axis < view.rank(); ++axis) mutate_axis(field, view, axis, report);
    mutate_rank(field, view, report);
    mutate_dtype(field, view, report);
    mutate_overlap(field, view, report);
  }

  void mutate_axis(int field, const AnyView& view, int axis, MutationReport& report) {
    const std::string where = " on axis " + std::to_string(axis);
    const int step = axis == view.rank() - 1 ? block_elements(view.dtype()) : 1;
    Shape shape = view.shape();
    shape[axis] = -1;
    try_tensor(field, AnyView(view.data(), view.dtype(), shape, view.byte_strides()), "negative size" + where,
               Verdict::must_refuse, report);
    shape[axis] = std::int64_t{1} << 62;
    Strides strides = view.byte_strides();
    strides[axis] = 64;
    if (!view.empty()) {
      try_tensor(field, AnyView(view.data(), view.dtype(), shape, strides), "overflowing size" + where,
                 Verdict::must_refuse, report);
    }
    shape = view.shape();
    shape[axis] += step;
    try_tensor(field, builder_.filled_any(view.dtype(), shape, tame()), "a larger size" + where, Verdict::may_accept,
               report);
    if (view.size(axis) >= step) {
      shape = view.shape();
      shape[axis] -= step;
      try_tensor(field, builder_.filled_any(view.dtype(), shape, tame()), "a smaller size" + where, Verdict::may_accept,
                 report);
    }
    const bool written = is_written(operation_.fields[static_cast<std::size_t>(field)].role);
    if (written && view.size(axis) > step) {
      strides = view.byte_strides();
      strides[axis] = 0;
      try_tensor(field, AnyView(view.data(), view.dtype(), view.shape(), strides), "stride 0" + where,
                 Verdict::must_refuse, report);
    }
  }

  void mutate_rank(int field, const AnyView& view, MutationReport& report) {
    Shape longer = {1};
    for (std::int64_t size : view.shape()) {
      if (longer.rank() < max_rank) longer.push_back(size);
    }
    try_tensor(field, builder_.filled_any(view.dtype(), longer, tame()), "a further axis", Verdict::may_accept, report);
    Shape shorter;
    for (int axis = 1; axis < view.rank(); ++axis) shorter.push_back(view.size(axis));
    if (view.rank() > 0 && (shorter.rank() > 0 || !is_block_format(view.dtype()))) {
      try_tensor(field, builder_.filled_any(view.dtype(), shorter, tame()), "an axis less", Verdict::may_accept,
                 report);
    }
  }

  void mutate_dtype(int field, const AnyView& view, MutationReport& report) {
    for (const DTypeInformation& row : dtype_table) {
      if (row.dtype == view.dtype()) continue;
      if (view.rank() == 0 ? row.block_elements > 1 : view.shape().last() % row.block_elements != 0) continue;
      try_tensor(field, builder_.filled_any(row.dtype, view.shape(), tame()), "type " + std::string(row.name),
                 Verdict::may_accept, report);
    }
  }

  // A written tensor laid one element into another one of its type.
  void mutate_overlap(int field, const AnyView& view, MutationReport& report) {
    if (!is_written(operation_.fields[static_cast<std::size_t>(field)].role) || view.count() < 2) return;
    for (std::size_t index = 0; index < operation_.fields.size(); ++index) {
      const int other = static_cast<int>(index);
      if (other == field || !operation_.fields[index].is_tensor) continue;
      const ConstAnyView victim = original_->tensor(other);
      if (!is_present(victim) || victim.dtype() != view.dtype() || victim.count() < 2) continue;
      auto* inside = const_cast<std::byte*>(victim.data()) + block_bytes(view.dtype());
      try_tensor(field, AnyView(inside, view.dtype(), view.shape(), view.byte_strides()),
                 "overlap with " + std::string(operation_.fields[index].name), Verdict::must_refuse, report);
    }
  }

  void mutate_attribute(int field, MutationReport& report) {
    const AttributeValue original = original_->attribute(field);
    std::vector<AttributeValue> values;
    if (std::holds_alternative<bool>(original)) {
      values = {true, false};
    } else if (std::holds_alternative<double>(original)) {
      values = {std::nan(""), HUGE_VAL, -HUGE_VAL, -1.0, 0.0, 1e30};
    } else {
      values = {std::int64_t{-1},
                std::int64_t{0},
                std::int64_t{1},
                std::int64_t{77},
                std::int64_t{1} << 31,
                std::numeric_limits<std::int64_t>::max(),
                std::numeric_limits<std::int64_t>::min()};
    }
    for (const AttributeValue& value : values) {
      const auto mutated = original_->clone();
      mutated->set_attribute(field, value);
      judge(*mutated, field, "another value", Verdict::may_accept, report);
    }
  }

  void try_tensor(int field, const AnyView& view, const std::string& what, Verdict verdict, MutationReport& report) {
    const auto mutated = original_->clone();
    if (!mutated->set_tensor(field, view).ok()) return;  // the member's C++ type rules it out
    judge(*mutated, field, what, verdict, report);
  }

  void judge(const Invocation& mutated, int field, const std::string& what, Verdict verdict, MutationReport& report) {
    ++report.mutations;
    const std::string where = std::string(operation_.name) + ": " +
                              std::string(operation_.fields[static_cast<std::size_t>(field)].name) + " with " + what;
    const Result<void> checked = mutated.check();
    if (!checked.ok()) {
      ++report.refused;
      if (!names_constraint(checked.error().text(), operation_.name)) {
        report.failures.push_back(where +
                                  ": refused without naming a constraint: " + std::string(checked.error().text()));
      }
      return;
    }
    if (verdict == Verdict::must_refuse) {
      report.failures.push_back(where + ": expected to be refused, found that it was accepted");
      return;
    }
    const std::size_t failures = report.failures.size();
    for (std::size_t index = 0; index < operation_.variants.size(); ++index) {
      const int variant = static_cast<int>(index);
      if (availability(operation_.variants[index], processor_) != Availability::available) continue;
      const Result<void> run = run_guarded(mutated, variant, report.mutations, where);
      if (run.ok()) continue;
      report.failures.push_back(where + ", variant " + std::string(operation_.variants[index].name) + ": " +
                                std::string(run.error().text()));
    }
    if (report.failures.size() == failures) ++report.harmless;
  }

  Result<void> run_guarded(const Invocation& mutated, int variant, int turn, const std::string& where) {
    const Placement placement = turn % 2 == 0 ? Placement::behind : Placement::before;
    GuardedCall call = TRY(GuardedCall::make(ground_, operation_, mutated, placement, where));
    if (!call.invocation().accepts(variant)) return {};
    return call.run(variant, workers_);
  }

  // Small non-negative integers are valid as most things: sizes, indices, values.
  static Fill tame() { return Fill::integers(0, 2); }

  const Operation& operation_;
  Processor processor_;
  Workers& workers_;
  ProvingGround& ground_;
  CaseBuilder builder_;
  std::unique_ptr<Invocation> original_;
};

MutationReport mutate_all(const Operation& operation, const Processor& processor, std::uint64_t seed, Workers& workers,
                          ProvingGround& ground) {
  MutationReport report;
  int used = 0;
  for (std::size_t index = 0; index < operation.cases.size() && used < 3; ++index) {
    if (operation.cases[index].purpose != CasePurpose::parity) continue;
    Mutator(operation, processor, seed, workers, ground, static_cast<int>(index)).run(report);
    ++used;
  }
  return report;
}

}  // namespace

MutationReport mutate_arguments(const Operation& operation, FeatureSet features, std::uint64_t seed, Workers& workers) {
  ProvingGround ground;
  return mutate_all(operation, features, seed, workers, ground);
}

Result<MutationReport> mutate_arguments(const Operation& operation, Device& device, std::uint64_t seed,
                                        Workers& workers) {
  ProvingGround ground;
  ground.device = &device;
  ground.queue = TRY(device.make_queue());
  const DeviceInformation& information = device.information();
  return mutate_all(operation, processor_of(information), seed, workers, ground);
}

}  // namespace ingot
