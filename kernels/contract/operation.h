// Operation: a contract with its type erased. Everything that is written once over all operations (listing, selecting,
// verifying, benchmarking, gradient-checking, explaining) sees only this.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "kernels/contract/context.h"
#include "kernels/contract/contract.h"
#include "kernels/contract/cost.h"
#include "kernels/contract/tolerance.h"
#include "machine/features.h"

namespace ingot {

using AttributeValue = std::variant<bool, std::int64_t, double>;

template <class Member>
AttributeValue attribute_value(Member value) {
  if constexpr (std::is_same_v<Member, bool>)
    return value;
  else if constexpr (std::is_floating_point_v<Member>)
    return static_cast<double>(value);
  else
    return static_cast<std::int64_t>(value);
}

struct FieldInformation {
  std::string_view name;
  Role role;
  Presence presence;
  bool is_tensor;
};

struct VariantInformation {
  std::string_view name;
  FeatureSet needs;
  bool built;
  bool is_of_device = false;  // see Variant::device_function
  bool is_emulated = false;   // an emulated device can run it, built or not
};

// One call's arguments, type-erased. Tensors and attributes are addressed by their index in Operation::fields.
class Invocation {
 public:
  virtual ~Invocation() = default;

  virtual Result<void> check() const = 0;  // C0 (every view well formed), then the contract's own constraints
  virtual Cost cost() const = 0;
  virtual Tolerance tolerance() const = 0;
  virtual bool accepts(int variant) const = 0;
  virtual bool accepts_alone(int variant) const = 0;  // see Variant
  virtual std::size_t scratch_bytes(int variant, int threads) const = 0;
  // Preconditions: check() succeeded, the variant is built, accepts (alone or not) and runs on this machine, scratch is
  // large enough.
  virtual void run(int variant, Context& context) const = 0;

  virtual ConstAnyView tensor(int field) const = 0;
  // Fails where the member's element type differs. Binding constant data to a written field is the caller's mistake.
  virtual Result<void> set_tensor(int field, const AnyView& view) = 0;
  virtual AttributeValue attribute(int field) const = 0;
  virtual void set_attribute(int field, const AttributeValue& value) = 0;
  virtual std::unique_ptr<Invocation> clone() const = 0;
};

struct Operation {
  std::string_view name;      // "norm.rms_norm"
  std::string_view equation;  // the sum as a formula
  std::vector<FieldInformation> fields;
  std::vector<VariantInformation> variants;  // best first, reference last
  std::vector<InPlace> in_place;             // written fields that may be the very elements of read ones
  std::vector<std::string_view> backward;    // names of backward operations; empty: see no_backward
  std::string_view no_backward;              // why there is none
  std::vector<CaseInformation> cases;
  std::vector<ExcludedRegime> excluded_regimes;

  std::unique_ptr<Invocation> (*empty)();
  std::unique_ptr<Invocation> (*build)(int case_index, CaseBuilder& builder);

  std::string_view family() const { return name.substr(0, name.find('.')); }
  int field_index(std::string_view field) const;      // -1 where there is none
  int variant_index(std::string_view variant) const;  // -1 where there is none
  int reference() const { return static_cast<int>(variants.size()) - 1; }
};

// What an operation's own source says of it; the rest of its descriptor is made the same way for all.
struct OperationParts {
  std::string_view name;
  std::string_view equation;
  std::span<const FieldInformation> fields;
  std::vector<VariantInformation> variants;
  std::span<const InPlace> in_place;
  const Backward& backward;
  const AnyCaseList& cases;
  std::unique_ptr<Invocation> (*empty)();
  std::unique_ptr<Invocation> (*build)(int case_index, CaseBuilder& builder);
};
Operation make_operation(OperationParts parts);
VariantInformation variant_information(std::string_view name, FeatureSet needs, bool is_built,
                                       const DeviceFunction* device_function);
// An error about a field, said with its operation's name and its own.
Error error_of_field(const Error& error, std::string_view operation, std::string_view field);

// The descriptor of an operation; defined where the operation's table is (see describe.h).
template <class Op>
const Operation& describe_operation();

// "x [4, 64] f32, gamma [64] f32 -> y [4, 64] f32"
std::string shapes_text(const Operation& operation, const Invocation& invocation);

}  // namespace ingot
