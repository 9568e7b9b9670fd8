#include "kernels/contract/call_arguments.h"

#include <bit>
#include <cstring>
#include <string>

#include "base/siphash.h"
#include "kernels/contract/footprint.h"

namespace ingot {
namespace {

using accelerator::Access;
using accelerator::ArgumentBlock;
using accelerator::ArgumentHeader;
using accelerator::ArgumentKind;
using accelerator::ArgumentRecord;

static_assert(accelerator::most_axes == max_rank);

// Any key will do: nobody gains by two contracts that agree.
constexpr SipHashKey digest_key = {0x696e676f742d6163, 0x63656c657261746f};

std::uint64_t digest_of(std::string_view text) {
  return siphash(digest_key, std::as_bytes(std::span(text.data(), text.size())));
}

ArgumentKind kind_of(const AttributeValue& value) {
  if (std::holds_alternative<bool>(value)) return ArgumentKind::flag;
  return std::holds_alternative<double>(value) ? ArgumentKind::number : ArgumentKind::integer;
}

ArgumentRecord attribute_record(const AttributeValue& value) {
  ArgumentRecord record;
  record.kind = kind_of(value);
  if (const bool* flag = std::get_if<bool>(&value)) record.value = *flag ? 1 : 0;
  if (const std::int64_t* integer = std::get_if<std::int64_t>(&value))
    record.value = static_cast<std::uint64_t>(*integer);
  if (const double* number = std::get_if<double>(&value)) record.value = std::bit_cast<std::uint64_t>(*number);
  return record;
}

AttributeValue attribute_of(const ArgumentRecord& record) {
  if (record.kind == ArgumentKind::flag) return record.value != 0;
  if (record.kind == ArgumentKind::number) return std::bit_cast<double>(record.value);
  return static_cast<std::int64_t>(record.value);
}

ArgumentRecord tensor_record(const ConstAnyView& view) {
  ArgumentRecord record;
  if (!is_present(view)) return record;
  record.kind = ArgumentKind::tensor;
  record.dtype = static_cast<std::uint8_t>(view.dtype());
  record.rank = static_cast<std::uint8_t>(view.rank());
  record.value = reinterpret_cast<std::uintptr_t>(view.data());
  for (int axis = 0; axis < view.rank(); ++axis) {
    record.sizes[static_cast<std::size_t>(axis)] = view.size(axis);
    record.byte_strides[static_cast<std::size_t>(axis)] = view.byte_stride(axis);
  }
  return record;
}

// Tensors without elements lie here: they have an address, and nobody touches it.
alignas(64) constinit std::byte no_elements[64] = {};

// Far more than any memory has, and far less than overflows where a few are added.
constexpr std::int64_t most_reach = std::int64_t{1} << 48;

Result<AnyView> tensor_of(const ArgumentRecord& record, Access access, const FindBytes& find, Place place) {
  if (record.dtype >= dtype_table.size()) {
    return Error::of(ErrorCode::invalid_argument, "expected an element type below ", dtype_table.size(), ", found ",
                     static_cast<int>(record.dtype));
  }
  const auto dtype = static_cast<DType>(record.dtype);
  const Shape shape(std::span(record.sizes).first(record.rank));
  const Strides strides(std::span(record.byte_strides).first(record.rank));
  const OffsetRange reach = TRY(offset_range(shape, strides));
  if (reach.begin < -most_reach || reach.end > most_reach) {
    return Error::of(ErrorCode::overflow, "expected bytes within 2^48 of the first, found shape ", shape,
                     " byte strides ", strides);
  }
  const bool is_empty = reach.begin == reach.end;
  if (!is_empty && (record.value == 0 || record.value >= accelerator::end_of_addresses)) {
    return Error::of(ErrorCode::invalid_argument, "expected an address below 2^56 for shape ", shape, ", found ",
                     record.value);
  }
  // With the other side's address, which is never followed: what makes a view usable does not depend on whose it is.
  std::byte* const there =
      is_empty ? no_elements : std::bit_cast<std::byte*>(static_cast<std::uintptr_t>(record.value));
  const AnyView view(there, dtype, shape, strides, place);
  TRY(check_well_formed(view));
  if (is_empty) return view;
  const Footprint footprint = footprint_of(view);
  std::byte* const here = TRY(find(footprint.begin, footprint.size(), access));
  return AnyView(here + (record.value - footprint.begin), dtype, shape, strides, place);
}

Result<void> set_field(const Operation& operation, int field, const ArgumentRecord& record, const FindBytes& find,
                       Place place, Invocation& invocation) {
  const FieldInformation& information = operation.fields[static_cast<std::size_t>(field)];
  if (!information.is_tensor) {
    const ArgumentKind expected = kind_of(invocation.attribute(field));
    if (record.kind != expected) {
      return Error::of(ErrorCode::invalid_argument, "expected an attribute of kind ", static_cast<int>(expected),
                       ", found ", static_cast<int>(record.kind));
    }
    invocation.set_attribute(field, attribute_of(record));
    return {};
  }
  if (record.kind == ArgumentKind::absent) return {};  // as an empty call has it; check() asks for what must be there
  if (record.kind != ArgumentKind::tensor) {
    return Error::of(ErrorCode::invalid_argument, "expected a tensor, found an attribute of kind ",
                     static_cast<int>(record.kind));
  }
  return invocation.set_tensor(
      field, TRY(tensor_of(record, is_written(information.role) ? Access::write : Access::read, find, place)));
}

}  // namespace

std::uint64_t contract_digest(const Operation& operation) {
  std::string text(operation.name);
  text.append("\n").append(operation.equation);
  const std::unique_ptr<Invocation> empty = operation.empty();
  for (std::size_t index = 0; index < operation.fields.size(); ++index) {
    const FieldInformation& field = operation.fields[index];
    text.append("\n").append(field.name).append(" ").append(name_of(field.role));
    if (field.presence == Presence::optional) text.append(" optional");
    if (!field.is_tensor)
      text += static_cast<char>('0' + static_cast<int>(kind_of(empty->attribute(static_cast<int>(index)))));
  }
  for (const DTypeInformation& dtype : dtype_table) text.append("\n").append(dtype.name);
  return digest_of(text);
}

std::uint64_t contracts_digest(std::span<const Operation* const> operations) {
  std::string text;
  for (const Operation* operation : operations) text.append(std::to_string(contract_digest(*operation))).append("\n");
  return digest_of(text);
}

std::size_t call_bytes(const Operation& operation) { return accelerator::block_bytes_of(operation.fields.size()); }

Result<void> encode_call(const Operation& operation, const Invocation& invocation, std::span<std::byte> bytes) {
  if (operation.fields.size() > accelerator::most_fields || bytes.size() != call_bytes(operation)) {
    return Error::of(ErrorCode::out_of_range, operation.name, ": expected at most ", accelerator::most_fields,
                     " fields and ", call_bytes(operation), " bytes for them, found ", operation.fields.size(), " and ",
                     bytes.size());
  }
  ArgumentHeader header;
  header.bytes = static_cast<std::uint32_t>(bytes.size());
  header.fields = static_cast<std::uint32_t>(operation.fields.size());
  std::memcpy(bytes.data(), &header, sizeof header);
  for (std::size_t field = 0; field < operation.fields.size(); ++field) {
    const int index = static_cast<int>(field);
    const ArgumentRecord record = operation.fields[field].is_tensor ? tensor_record(invocation.tensor(index))
                                                                    : attribute_record(invocation.attribute(index));
    std::memcpy(bytes.data() + accelerator::block_bytes_of(field), &record, sizeof record);
  }
  return {};
}

Result<std::unique_ptr<Invocation>> decode_call(const Operation& operation, std::span<const std::byte> bytes,
                                                const FindBytes& find, Place place) {
  const Result<ArgumentBlock> block = ArgumentBlock::over(bytes);
  if (!block.ok()) return block.error().within(operation.name);
  if (block.value().fields() != operation.fields.size()) {
    return Error::of(ErrorCode::invalid_argument, operation.name, ": expected arguments for ", operation.fields.size(),
                     " fields, found ", block.value().fields());
  }
  std::unique_ptr<Invocation> invocation = operation.empty();
  for (std::size_t field = 0; field < operation.fields.size(); ++field) {
    const Result<void> set =
        set_field(operation, static_cast<int>(field), block.value().record(field), find, place, *invocation);
    if (!set.ok()) return error_of_field(set.error(), operation.name, operation.fields[field].name);
  }
  return invocation;
}

}  // namespace ingot
