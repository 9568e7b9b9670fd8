#include "kernels/contract/told_outputs.h"

#include <algorithm>
#include <charconv>
#include <limits>
#include <optional>

namespace ingot {
namespace {

constexpr std::int64_t most_size = std::numeric_limits<std::int64_t>::max();
constexpr std::array plain_dtypes = {DType::f32, DType::i32, DType::i64, DType::f16, DType::bf16, DType::u8, DType::i8};

// Where no object can lie, a place of its own for each field: nothing is ever read or written there.
std::byte* nowhere(int field) {
  // NOLINTNEXTLINE(performance-no-int-to-ptr): an address that nobody looks behind
  return reinterpret_cast<std::byte*>((std::uintptr_t{1} << 62) + (static_cast<std::uintptr_t>(field) << 55));
}

// What stands behind "expected y of " in the words of kernels/contract/constraints.h.
std::optional<std::string_view> expected_of(std::string_view text, std::string_view field, std::string_view what) {
  std::string words = "expected ";
  words.append(field).append(" of ").append(what).append(" ");
  const std::size_t at = text.find(words);
  if (at == std::string_view::npos) return {};
  return text.substr(at + words.size());
}

std::optional<Shape> expected_shape(std::string_view text, std::string_view field) {
  const std::optional<std::string_view> found = expected_of(text, field, "shape");
  if (!found || !found->starts_with('[')) return {};
  Shape shape;
  std::string_view rest = found->substr(1);
  while (!rest.starts_with(']')) {
    if (rest.starts_with(", ")) rest.remove_prefix(2);
    std::int64_t size = 0;
    const auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), size);
    if (error != std::errc() || shape.rank() == max_rank) return {};
    shape.push_back(size);
    rest.remove_prefix(static_cast<std::size_t>(end - rest.data()));
  }
  return shape;
}

std::optional<DType> expected_dtype(std::string_view text, std::string_view field) {
  const std::optional<std::string_view> found = expected_of(text, field, "type");
  if (!found) return {};
  return dtype_by_name(found->substr(0, found->find_first_of(" ,")));
}

// What an output may look like before anybody has said so: as something that is given, or any rank of ones.
std::vector<Shape> first_guesses(const Operation& operation, const Invocation& invocation) {
  std::vector<Shape> shapes;
  for (std::size_t index = 0; index < operation.fields.size(); ++index) {
    if (!operation.fields[index].is_tensor) continue;
    const ConstAnyView view = invocation.tensor(static_cast<int>(index));
    if (is_present(view) && std::ranges::find(shapes, view.shape()) == shapes.end()) shapes.push_back(view.shape());
  }
  Shape ones;
  for (int rank = 0; rank <= max_rank; ++rank) {
    shapes.push_back(ones);
    if (rank < max_rank) ones.push_back(1);
  }
  return shapes;
}

DType first_dtype(const Operation& operation, const Invocation& invocation) {
  for (std::size_t index = 0; index < operation.fields.size(); ++index) {
    if (!operation.fields[index].is_tensor) continue;
    const ConstAnyView view = invocation.tensor(static_cast<int>(index));
    if (is_present(view)) return is_block_format(view.dtype()) ? DType::f32 : view.dtype();
  }
  return DType::f32;
}

class Asking {
 public:
  Asking(const Operation& operation, Invocation& invocation)
      : operation_(operation), invocation_(invocation), guesses_(first_guesses(operation, invocation)) {}

  Result<std::vector<ToldOutput>> ask() {
    const DType usual = first_dtype(operation_, invocation_);
    for (std::size_t index = 0; index < operation_.fields.size(); ++index) {
      const FieldInformation& field = operation_.fields[index];
      const int number = static_cast<int>(index);
      const bool is_wanted = field.role == Role::output && field.presence == Presence::required;
      if (!is_wanted || is_present(invocation_.tensor(number))) continue;
      outputs_.push_back({number, usual, guesses_.front()});
      next_guess_.push_back(1);
    }
    for (ToldOutput& output : outputs_) TRY(bind_first(output));
    TRY(settle());
    for (std::size_t index = 0; index < outputs_.size(); ++index) TRY(require_told(index));
    return outputs_;
  }

 private:
  Result<void> bind(const ToldOutput& output) { return bind_told(output, invocation_); }

  // A member of one element type takes no other.
  Result<void> bind_first(ToldOutput& output) {
    Result<void> bound = bind(output);
    for (std::size_t index = 0; !bound.ok() && index < plain_dtypes.size(); ++index) {
      output.dtype = plain_dtypes[index];
      bound = bind(output);
    }
    return bound;
  }

  Result<void> settle() {
    constexpr int most_rounds = 100;
    for (int round = 0; round < most_rounds; ++round) {
      const Result<void> checked = invocation_.check();
      if (checked.ok()) return {};
      ToldOutput* refused = refused_in(checked.error().text());
      if (refused == nullptr) return checked.error();
      TRY(change(*refused, checked.error()));
      TRY(bind(*refused));
    }
    return untold(outputs_.front(), "");
  }

  ToldOutput* refused_in(std::string_view text) {
    for (ToldOutput& output : outputs_) {
      const std::string words = "expected " + std::string(name_of(output)) + " ";
      if (text.find(words) != std::string_view::npos) return &output;
    }
    return nullptr;
  }

  // As the contract said; else as the next guess.
  Result<void> change(ToldOutput& output, const Error& error) {
    const std::optional<Shape> shape = expected_shape(error.text(), name_of(output));
    if (shape && *shape != output.shape) {
      output.shape = *shape;
      return {};
    }
    const std::optional<DType> dtype = expected_dtype(error.text(), name_of(output));
    if (dtype && *dtype != output.dtype && !is_block_format(*dtype)) {
      output.dtype = *dtype;
      return {};
    }
    std::size_t& next = next_guess_[static_cast<std::size_t>(&output - outputs_.data())];
    if (next >= guesses_.size()) return untold(output, error.text());
    output.shape = guesses_[next++];
    return {};
  }

  // Shapes that are one longer or shorter somewhere must be refused, and one element in the place of several, as what
  // was spread over rows or copied may have had.
  Result<void> require_told(std::size_t index) {
    const std::vector<ToldOutput> found = outputs_;
    for (int axis = 0; axis < found[index].shape.rank(); ++axis) {
      const std::int64_t size = found[index].shape[axis];
      for (const std::int64_t other : {size - 1, std::int64_t{1}, size < most_size ? size + 1 : size}) {
        outputs_[index].shape[axis] = other;
        const bool is_taken = other >= 0 && other != size && takes(index);
        outputs_ = found;
        for (const ToldOutput& output : outputs_) TRY(bind(output));
        if (is_taken) return untold(found[index], "it may have several");
      }
    }
    return {};
  }

  // This output as it is now, where the others follow it.
  bool takes(std::size_t index) {
    if (!bind(outputs_[index]).ok()) return false;
    for (std::size_t round = 0; round < 2 * outputs_.size(); ++round) {
      const Result<void> checked = invocation_.check();
      if (checked.ok()) return true;
      ToldOutput* refused = refused_in(checked.error().text());
      if (refused == nullptr || refused == &outputs_[index]) return false;
      const std::optional<Shape> shape = expected_shape(checked.error().text(), name_of(*refused));
      if (!shape || *shape == refused->shape) return false;
      refused->shape = *shape;
      if (!bind(*refused).ok()) return false;
    }
    return false;
  }

  Error untold(const ToldOutput& output, std::string_view why) const {
    return Error::of(ErrorCode::invalid_argument, operation_.name, ": expected memory for ", name_of(output),
                     ", whose shape the other arguments do not tell, found none", why.empty() ? "" : ": ", why);
  }
  std::string_view name_of(const ToldOutput& output) const {
    return operation_.fields[static_cast<std::size_t>(output.field)].name;
  }

  const Operation& operation_;
  Invocation& invocation_;
  std::vector<Shape> guesses_;
  std::vector<ToldOutput> outputs_;
  std::vector<std::size_t> next_guess_;
};

}  // namespace

Result<void> bind_told(const ToldOutput& output, Invocation& invocation) {
  return invocation.set_tensor(output.field, AnyView(nowhere(output.field), output.dtype, output.shape));
}

Result<std::vector<ToldOutput>> told_outputs(const Operation& operation, Invocation& invocation) {
  return Asking(operation, invocation).ask();
}

}  // namespace ingot
