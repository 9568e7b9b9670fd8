// Loops over registers. Part of a source, inside its target attributes and an unnamed namespace of its own.

// function(0) to function(count - 1), each with its own constant: arrays indexed by it stay in registers.
template <int count, class Function>
HWY_INLINE void unrolled(Function function) {
  [&]<int... i>(std::integer_sequence<int, i...>) __attribute__((always_inline)) {
    (function(std::integral_constant<int, i>()), ...);
  }(std::make_integer_sequence<int, count>());
}
#define INGOT_UNROLLED(i) [&](auto i) __attribute__((always_inline))
