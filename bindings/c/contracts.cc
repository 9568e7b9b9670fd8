// Compute kernels: what there is, and proof of it.
#include <algorithm>
#include <atomic>

#include "bindings/c/boundary.h"
#include "kernels/all_operations.h"
#include "kernels/pick.h"
#include "machine/machine.h"
#include "profile/report_json.h"
#include "profile/verify.h"

using namespace ingot;

namespace {

// A proof takes over the program's signals, so there is one at a time.
class Proof {
 public:
  Proof() : is_first_(!is_under_way_.exchange(true)) {}
  ~Proof() {
    if (is_first_) is_under_way_ = false;
  }
  Proof(const Proof&) = delete;
  Proof& operator=(const Proof&) = delete;

  Result<void> require_alone() const {
    if (is_first_) return {};
    return Error::of(ErrorCode::would_block, "expected one verification at a time, found another under way");
  }

 private:
  static inline std::atomic<bool> is_under_way_ = false;
  bool is_first_;
};

Result<std::vector<const Operation*>> operations_named(const char* name) {
  return pick_operations(name == nullptr ? std::string() : std::string(TRY(c::text_at(name, "a name"))));
}

}  // namespace

ingot_status ingot_contracts(const char* name, ingot_text** json, ingot_error* error) {
  c::clear(json);
  return c::answer(error, [&]() -> Result<void> {
    TRY(c::require_place(json, "the list"));
    const std::vector<const Operation*> operations = TRY(operations_named(name));
    const Processor processor = Machine::detect().features;
    const KernelTable table = TRY(KernelTable::select(operations, processor));
    c::give_text(json, operations_json(operations, table, processor));
    return {};
  });
}

ingot_status ingot_verify(const char* name, const ingot_verify_options* options, int64_t* failed, ingot_text** json,
                          ingot_error* error) {
  c::clear(failed, json);
  return c::answer(error, [&]() -> Result<void> {
    const ingot_verify_options asked = TRY(c::read_options<ingot_verify_options>(options, INGOT_VERIFY_OPTIONS));
    const std::vector<const Operation*> operations = TRY(operations_named(name));
    VerifyOptions verify;
    verify.seed = asked.seed;
    verify.reduced = asked.reduced != 0;
    if (asked.variant != nullptr) {
      verify.variant = TRY(c::text_at(asked.variant, "a variant"));
      TRY(require_variant(operations, verify.variant));
    }
    const Proof proof;
    TRY(proof.require_alone());
    Verifier verifier = TRY(Verifier::create(Machine::detect().features, std::move(verify)));
    std::vector<VerifyRow> rows;
    for (const Operation* operation : operations) {
      std::ranges::move(verifier.verify(*operation, all_operations()), std::back_inserter(rows));
    }
    if (failed != nullptr) *failed = count_rows(rows).failed;
    c::give_text(json, verify_json(rows, asked.seed));
    return {};
  });
}
