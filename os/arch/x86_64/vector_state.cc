// Intel SDM volume 1, chapters 10.5 (FXSAVE) and 13 (XSAVE). Assembly: the compiler has builtins for these instructions
// only where it may use vector registers itself.
#include "os/arch/x86_64/vector_state.h"

#include <utility>

#include "os/arch/x86_64/cpu.h"

namespace ingot::os::arch {

namespace {

constexpr std::uint32_t state_leaf = 0xd;  // of CPUID: the parts of the state, and how much memory they take
constexpr std::size_t area_alignment = 64;
// x87, SSE, AVX; the three parts of AVX-512; the two of AMX. Protection keys are not a thread's registers.
constexpr std::uint32_t used_parts = 0x7 | 0xe0 | 0x60000;
constexpr std::uint64_t fxsave_bit = 1u << 9, vector_exceptions_bit = 1u << 10, xsave_bit = 1u << 18;  // of CR4

bool has_xsave() { return (cpuid(1).ecx & 1u << 26) != 0; }

}  // namespace

void enable_vector_registers() {
  write_control_register_4(read_control_register_4() | fxsave_bit | vector_exceptions_bit |
                           (has_xsave() ? xsave_bit : 0));
  if (!has_xsave()) return;
  asm volatile("xsetbv" : : "c"(0), "a"(cpuid(state_leaf).eax & used_parts), "d"(0));
}

Result<VectorState> VectorState::create(Allocator& heap) {
  Instruction instruction = Instruction::fxsave;
  std::size_t bytes = 512;
  if (has_xsave()) {
    instruction = (cpuid(state_leaf, 1).eax & 1) != 0 ? Instruction::xsaveopt : Instruction::xsave;
    bytes = cpuid(state_leaf).ebx;  // for the parts that are enabled
  }
  auto* area = static_cast<std::byte*>(TRY(heap.allocate(bytes, area_alignment)));
  VectorState state(heap, area, bytes, instruction);
  state.clear();
  return state;
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
      instruction_(other.instruction_) {}

VectorState::~VectorState() {
  if (area_ != nullptr) heap_->free(area_, bytes_, area_alignment);
}

// All parts that are enabled: every bit of edx:eax.
void VectorState::save() {
  switch (instruction_) {
    case Instruction::fxsave: asm volatile("fxsave64 (%0)" : : "r"(area_) : "memory"); return;
    case Instruction::xsave: asm volatile("xsave64 (%0)" : : "r"(area_), "a"(~0u), "d"(~0u) : "memory"); return;
    case Instruction::xsaveopt: asm volatile("xsaveopt64 (%0)" : : "r"(area_), "a"(~0u), "d"(~0u) : "memory"); return;
  }
}

void VectorState::restore() const {
  if (instruction_ == Instruction::fxsave) {
    asm volatile("fxrstor64 (%0)" : : "r"(area_) : "memory");
  } else {
    asm volatile("xrstor64 (%0)" : : "r"(area_), "a"(~0u), "d"(~0u) : "memory");
  }
}

}  // namespace ingot::os::arch
