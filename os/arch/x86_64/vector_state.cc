// Intel SDM volume 1, chapters 10.5 (FXSAVE) and 13 (XSAVE). Assembly: the compiler has builtins for these instructions
// only where it may use vector registers itself.
#include "os/arch/x86_64/vector_state.h"

#include <utility>

#include "os/arch/x86_64/cpu.h"
#include "os/schedule/scheduler.h"

namespace ingot::os::arch {

namespace {

constexpr std::size_t area_alignment = 64;
constexpr std::uint64_t fxsave_bit = 1u << 9, vector_exceptions_bit = 1u << 10, xsave_bit = 1u << 18;  // of CR4

// A program that touches such a part all the same is interrupted (SDM volume 1, 13.14). The register is there where a
// part can be asked for: elsewhere nothing is ever forbidden.
void forbid_parts(ProcessorTables& cpu, std::uint32_t parts) {
  constexpr std::uint32_t forbidden_parts_register = 0x1c4;
  if (cpu.forbidden_parts == parts) return;
  write_model_register(forbidden_parts_register, parts);
  cpu.forbidden_parts = parts;
}

}  // namespace

void enable_vector_registers() {
  ProcessorTables& cpu = current_processor().part;
  cpu.vectors = VectorLayout::read([](std::uint32_t leaf, std::uint32_t part) { return cpuid(leaf, part); });
  const bool has_xsave = cpu.vectors.instruction != VectorLayout::Instruction::fxsave;
  write_control_register_4(read_control_register_4() | fxsave_bit | vector_exceptions_bit |
                           (has_xsave ? xsave_bit : 0));
  struct alignas(16) {
    std::uint32_t words[VectorLayout::legacy_bytes / sizeof(std::uint32_t)];
  } legacy{};
  asm volatile("fxsave64 %0" : "=m"(legacy));
  cpu.vectors.set_control_bits(legacy.words[7]);
  if (!has_xsave) return;
  asm volatile("xsetbv" : : "c"(0), "a"(cpu.vectors.parts), "d"(0));
  forbid_parts(cpu, cpu.vectors.parts & VectorLayout::on_request);
}

Result<VectorState> VectorState::create(Allocator& heap) {
  return create(heap, current_processor().part.vectors.usual_parts());
}

Result<VectorState> VectorState::create(Allocator& heap, std::uint32_t parts) {
  VectorState state = TRY(allocate(heap, parts));
  state.clear();
  return state;
}

Result<VectorState> VectorState::allocate(Allocator& heap, std::uint32_t parts) {
  const VectorLayout& layout = current_processor().part.vectors;
  const std::size_t bytes = layout.bytes_of(parts);
  auto* area = static_cast<std::byte*>(TRY(heap.allocate(bytes, area_alignment)));
  return VectorState(heap, area, bytes, parts, layout.instruction);
}

// All zero is the state after a reset, but for two control words that mask the exceptions.
void VectorState::clear() {
  __builtin_memset(area_, 0, bytes_);
  constexpr std::uint16_t x87_control = 0x37f;
  constexpr std::uint32_t vector_control = 0x1f80;
  __builtin_memcpy(area_, &x87_control, sizeof x87_control);
  __builtin_memcpy(area_ + 24, &vector_control, sizeof vector_control);
}

VectorState::VectorState(VectorState&& other) noexcept
    : heap_(other.heap_),
      area_(std::exchange(other.area_, nullptr)),
      bytes_(other.bytes_),
      parts_(other.parts_),
      instruction_(other.instruction_) {}

VectorState::~VectorState() {
  if (area_ != nullptr) heap_->free(area_, bytes_, area_alignment);
}

void VectorState::save() {
  switch (instruction_) {
    case Instruction::fxsave: asm volatile("fxsave64 (%0)" : : "r"(area_) : "memory"); return;
    case Instruction::xsave: asm volatile("xsave64 (%0)" : : "r"(area_), "a"(parts_), "d"(0) : "memory"); return;
    case Instruction::xsaveopt: asm volatile("xsaveopt64 (%0)" : : "r"(area_), "a"(parts_), "d"(0) : "memory"); return;
  }
}

// All parts that are enabled, every bit of edx:eax: one that this thread does not have becomes as after a reset,
// without a look at memory, so that nothing of another thread's is left.
void VectorState::restore() const {
  if (instruction_ == Instruction::fxsave) {
    asm volatile("fxrstor64 (%0)" : : "r"(area_) : "memory");
    return;
  }
  ProcessorTables& cpu = current_processor().part;
  forbid_parts(cpu, cpu.vectors.parts & ~parts_);
  asm volatile("xrstor64 (%0)" : : "r"(area_), "a"(~0u), "d"(~0u) : "memory");
}

}  // namespace ingot::os::arch
