#include "os/arch/x86_64/signal_frame.h"

#include <algorithm>

#include "os/arch/x86_64/cpu.h"
#include "os/arch/x86_64/user_vectors.h"
#include "os/memory/user_memory.h"
#include "os/schedule/scheduler.h"

namespace ingot::os::arch {

namespace {

// struct sigcontext.
struct Registers {
  std::uint64_t r8, r9, r10, r11, r12, r13, r14, r15, rdi, rsi, rbp, rbx, rdx, rax, rcx, rsp, rip, rflags;
  std::uint16_t cs, gs, fs, ss;
  std::uint64_t error_code, vector, blocked, fault_address;
  std::uint64_t vectors;  // where their state lies; 0: nowhere
  std::uint64_t reserved[8];
};
static_assert(sizeof(Registers) == 256);

// struct ucontext.
struct Context {
  static constexpr std::uint64_t has_extended_state = 1, has_ss = 2, restores_ss = 4;
  std::uint64_t flags, link;
  AlternateStack stack;
  Registers registers;
  SignalSet blocked;
};
static_assert(sizeof(Context) == 304);

struct SignalFrame {
  std::uint64_t return_address;
  Context context;
  SignalInformation information;
};
static_assert(sizeof(SignalFrame) == 440);

// In the bytes that FXSAVE leaves to software: how much of the extended state follows (struct _fpx_sw_bytes).
struct ExtendedState {
  static constexpr std::size_t place = 464;
  static constexpr std::uint32_t begins = 0x46505853, ends = 0x46505845;
  std::uint32_t magic, all_bytes;
  std::uint64_t parts;
  std::uint32_t state_bytes, padding[7];
};
static_assert(sizeof(ExtendedState) == 48);

constexpr std::uint64_t red_zone_bytes = 128, vectors_alignment = 64, stack_alignment = 16;
// Flags of rflags that are a program's own: arithmetic, single steps, direction, alignment checks, resuming, CPUID.
constexpr std::uint64_t program_flags = 0x0025'0dd5, interrupts = 1u << 9, always_one = 1u << 1;
constexpr std::uint64_t direction = 1u << 10, trap_flag = 1u << 8, resume = 1u << 16;

bool write_vectors(std::uint64_t place, VectorState& vectors) {
  save_whole_vectors(vectors);
  const std::span<std::byte> state = vectors.memory();
  ExtendedState facts{};
  if (vectors.has_header()) {
    facts = {.magic = ExtendedState::begins,
             .all_bytes = static_cast<std::uint32_t>(state.size() + sizeof ExtendedState::ends),
             .parts = vectors.parts(),
             .state_bytes = static_cast<std::uint32_t>(state.size()),
             .padding = {}};
  }
  const VirtualAddress to(place);
  if (!copy_to_user(to, state.data(), state.size()).ok()) return false;
  if (!copy_to_user(to + ExtendedState::place, &facts, sizeof facts).ok()) return false;
  return !vectors.has_header() ||
         copy_to_user(to + state.size(), &ExtendedState::ends, sizeof ExtendedState::ends).ok();
}

// A handler may have asked for more parts than its frame holds: those are as after a reset then. Where the frame does
// not say what it holds, it is what FXSAVE stores.
bool read_vectors(std::uint64_t place, VectorState& vectors, VectorState& read) {
  if (place == 0) {
    reset_vectors(vectors);
    return true;
  }
  const std::span<std::byte> state = read.memory();
  const VirtualAddress from(place);
  if (!copy_from_user(state.data(), from, VectorLayout::legacy_bytes).ok()) return false;
  constexpr std::uint64_t legacy_parts = VectorLayout::x87 | VectorLayout::sse;
  std::uint64_t parts = legacy_parts;
  ExtendedState facts{};
  __builtin_memcpy(&facts, &state[ExtendedState::place], sizeof facts);
  std::uint32_t end = 0;
  if (read.has_header()) {
    std::uint32_t bytes = facts.state_bytes;
    const bool is_whole = facts.magic == ExtendedState::begins &&
                          bytes >= VectorLayout::legacy_bytes + VectorLayout::header_bytes && bytes <= state.size() &&
                          copy_from_user(&end, from + bytes, sizeof end).ok() && end == ExtendedState::ends;
    if (is_whole) {
      if (!copy_from_user(state.data(), from, bytes).ok()) return false;
      parts = facts.parts;
    } else {
      __builtin_memcpy(&state[VectorLayout::legacy_bytes], &legacy_parts, sizeof legacy_parts);
      bytes = VectorLayout::legacy_bytes + sizeof legacy_parts;
    }
    // What is behind it was another's: the heap's, or that of a frame before.
    __builtin_memset(state.data() + bytes, 0, state.size() - bytes);
  }
  make_loadable(state, static_cast<std::uint32_t>(parts) & vectors.parts(), current_processor().part.vectors);
  take_vectors(vectors, read);
  return true;
}

// Below what the program uses of its stack, or on the other one. 0: no room.
std::uint64_t place_of_frame(const TrapFrame& frame, const SignalFrameRequest& request, std::uint64_t vector_bytes,
                             std::uint64_t& vectors) {
  std::uint64_t pointer = frame.rsp - red_zone_bytes;
  const AlternateStack& stack = request.stack;
  const bool already_there = stack.is_set() && stack.holds(frame.rsp);
  const bool goes_there = request.action.has(SignalAction::on_alternate_stack) && stack.is_set() && !already_there;
  if (goes_there) pointer = stack.begin + stack.bytes;
  vectors = round_down(pointer - vector_bytes, vectors_alignment);
  // As after a call: 8 bytes off a multiple of 16.
  const std::uint64_t place = round_down(vectors - sizeof(SignalFrame), stack_alignment) - 8;
  if ((goes_there || already_there) && !stack.holds(place)) return 0;
  return place > frame.rsp && !goes_there ? 0 : place;
}

Registers registers_of(const TrapFrame& frame, const SignalFrameRequest& request, std::uint64_t vectors) {
  const bool is_fault = frame.vector < exception::count;
  return {.r8 = frame.r8,
          .r9 = frame.r9,
          .r10 = frame.r10,
          .r11 = frame.r11,
          .r12 = frame.r12,
          .r13 = frame.r13,
          .r14 = frame.r14,
          .r15 = frame.r15,
          .rdi = frame.rdi,
          .rsi = frame.rsi,
          .rbp = frame.rbp,
          .rbx = frame.rbx,
          .rdx = frame.rdx,
          .rax = frame.rax,
          .rcx = frame.rcx,
          .rsp = frame.rsp,
          .rip = frame.rip,
          .rflags = frame.rflags,
          .cs = Selector::user_code,
          .gs = 0,
          .fs = 0,
          .ss = Selector::user_data,
          .error_code = is_fault ? frame.error_code : 0,
          .vector = is_fault ? frame.vector : 0,
          .blocked = request.blocked.bits(),
          .fault_address = frame.vector == exception::page_fault ? request.information.fields[0] : 0,
          .vectors = vectors,
          .reserved = {}};
}

}  // namespace

std::uint64_t signal_frame_bytes(std::uint64_t parts) {
  const VectorLayout& layout = current_processor().part.vectors;
  return layout.bytes_of(static_cast<std::uint32_t>(parts)) + sizeof ExtendedState::ends + (vectors_alignment - 1) +
         sizeof(SignalFrame) + (stack_alignment - 1) + 8;
}

bool push_signal_frame(TrapFrame& frame, VectorState& vectors, const SignalFrameRequest& request) {
  const std::uint64_t end_bytes = vectors.has_header() ? sizeof ExtendedState::ends : 0;
  std::uint64_t vectors_place = 0;
  const std::uint64_t place = place_of_frame(frame, request, vectors.memory().size() + end_bytes, vectors_place);
  const std::optional<UserAddress> handler = UserAddress::of(request.action.handler);
  if (place == 0 || !handler || !request.action.has(SignalAction::has_restorer)) return false;
  SignalFrame made{};
  made.return_address = request.action.restorer;
  made.context.flags =
      Context::has_ss | Context::restores_ss | (vectors.has_header() ? Context::has_extended_state : 0);
  made.context.stack = request.stack;
  made.context.registers = registers_of(frame, request, vectors_place);
  made.context.blocked = request.blocked;
  made.information = request.information;
  if (!write_vectors(vectors_place, vectors) || !copy_to_user(VirtualAddress(place), &made, sizeof made).ok()) {
    return false;
  }
  reset_vectors(vectors);
  frame.rdi = static_cast<std::uint64_t>(request.information.number);
  frame.rsi = place + offsetof(SignalFrame, information);
  frame.rdx = place + offsetof(SignalFrame, context);
  frame.rax = 0;
  frame.rsp = place;
  frame.rip = handler->value();
  frame.rflags &= ~(direction | trap_flag | resume);
  return true;
}

std::optional<ReturnedSignalFrame> pop_signal_frame(TrapFrame& frame, VectorState& vectors, VectorState& room) {
  Context context;
  // The handler's return took the return address off.
  const VirtualAddress place(frame.rsp - sizeof(std::uint64_t) + offsetof(SignalFrame, context));
  if (!copy_from_user(&context, place, sizeof context).ok()) return {};
  const Registers& from = context.registers;
  const std::optional<UserAddress> instruction = UserAddress::of(from.rip);
  if (!instruction || !read_vectors(from.vectors, vectors, room)) return {};
  frame = {.r15 = from.r15,
           .r14 = from.r14,
           .r13 = from.r13,
           .r12 = from.r12,
           .r11 = from.r11,
           .r10 = from.r10,
           .r9 = from.r9,
           .r8 = from.r8,
           .rbp = from.rbp,
           .rdi = from.rdi,
           .rsi = from.rsi,
           .rdx = from.rdx,
           .rcx = from.rcx,
           .rbx = from.rbx,
           .rax = from.rax,
           .vector = frame.vector,
           .error_code = frame.error_code,
           .rip = instruction->value(),
           .cs = Selector::user_code,
           .rflags = (from.rflags & program_flags) | always_one | interrupts,
           .rsp = from.rsp,
           .ss = Selector::user_data};
  return ReturnedSignalFrame{context.blocked, context.stack};
}

}  // namespace ingot::os::arch
