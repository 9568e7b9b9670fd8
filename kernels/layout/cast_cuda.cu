// Conversions. Those that models ask for (16 and 32 bits) have functions of their own; the others share one, in which
// what is read and what is written are questions that all threads answer alike.
#include "kernels/layout/cast_cuda.h"

#include "kernels/device/elements.h"
#include "kernels/device/map.h"
#include "kernels/layout/convert_element.h"

namespace ingot::device {
namespace {

// Numbers on their way: floats, or integers.
template <unsigned Count>
struct Numbers {
  float floats[Count] = {};
  std::int64_t integers[Count] = {};
  bool are_integers = false;
};

template <class Element>
constexpr bool is_integer = std::is_integral_v<Element>;

template <class Element, unsigned Count>
INGOT_ON_DEVICE void read_elements(const std::byte* from, Numbers<Count>& numbers) {
  Elements<Element, Count> elements;
  elements.load(from);
  numbers.are_integers = is_integer<Element>;
  INGOT_UNROLL
  for (unsigned i = 0; i < Count; ++i) {
    if constexpr (is_integer<Element>) {
      numbers.integers[i] = elements.values[i];
    } else {
      numbers.floats[i] = to_float(elements.values[i]);
    }
  }
}

template <class Element, unsigned Count>
INGOT_ON_DEVICE void write_elements(const Numbers<Count>& numbers, std::byte* to) {
  Elements<Element, Count> elements;
  INGOT_UNROLL
  for (unsigned i = 0; i < Count; ++i) {
    if constexpr (is_integer<Element>) {
      elements.values[i] = numbers.are_integers ? convert_element<Element>(numbers.integers[i])
                                                : convert_element<Element>(numbers.floats[i]);
    } else {
      elements.values[i] =
          from_float<Element>(numbers.are_integers ? static_cast<float>(numbers.integers[i]) : numbers.floats[i]);
    }
  }
  elements.store(to);
}

template <class From, class To>
struct KnownCast {
  template <unsigned Count>
  INGOT_ON_DEVICE void read(const std::byte* from, Numbers<Count>& numbers) const {
    read_elements<From>(from, numbers);
  }
  template <unsigned Count>
  INGOT_ON_DEVICE void write(const Numbers<Count>& numbers, std::byte* to) const {
    write_elements<To>(numbers, to);
  }
};

struct AnyCast {
  DType from_type;
  DType to_type;

  template <unsigned Count>
  INGOT_ON_DEVICE void read(const std::byte* from, Numbers<Count>& numbers) const {
    switch (from_type) {
      case DType::f16: return read_elements<Half>(from, numbers);
      case DType::bf16: return read_elements<BFloat16>(from, numbers);
      case DType::i8: return read_elements<std::int8_t>(from, numbers);
      case DType::u8: return read_elements<std::uint8_t>(from, numbers);
      case DType::i32: return read_elements<std::int32_t>(from, numbers);
      case DType::i64: return read_elements<std::int64_t>(from, numbers);
      default: return read_elements<float>(from, numbers);
    }
  }
  template <unsigned Count>
  INGOT_ON_DEVICE void write(const Numbers<Count>& numbers, std::byte* to) const {
    switch (to_type) {
      case DType::f16: return write_elements<Half>(numbers, to);
      case DType::bf16: return write_elements<BFloat16>(numbers, to);
      case DType::i8: return write_elements<std::int8_t>(numbers, to);
      case DType::u8: return write_elements<std::uint8_t>(numbers, to);
      case DType::i32: return write_elements<std::int32_t>(numbers, to);
      case DType::i64: return write_elements<std::int64_t>(numbers, to);
      default: return write_elements<float>(numbers, to);
    }
  }
};

// Items of Width elements; rows that end within one end element by element.
template <unsigned Width, unsigned Turns, class Way>
INGOT_ON_DEVICE void cast_items(const DeviceCast& cast, const Way& way) {
  const ThreadItems items(cast.items);
  Numbers<Width> numbers[Turns];
  for (unsigned round = 0; round < most_turns; round += Turns) {
    const std::byte* sources[Turns] = {};
    std::byte* targets[Turns] = {};
    unsigned counts[Turns] = {};
    INGOT_UNROLL
    for (unsigned turn = 0; turn < Turns; ++turn) {
      const ItemPlace place = items[round + turn];
      if (place.row >= cast.walk.rows) continue;
      std::int64_t offsets[2];
      cast.walk.find_row(place.row, offsets);
      const unsigned at = Width * place.number;
      sources[turn] = cast.from + offsets[0] + at * cast.walk.steps[0];
      targets[turn] = cast.to + offsets[1] + at * cast.walk.steps[1];
      counts[turn] = cast.walk.length - at;
      if (counts[turn] >= Width) way.read(sources[turn], numbers[turn]);
    }
    INGOT_UNROLL
    for (unsigned turn = 0; turn < Turns; ++turn) {
      if (counts[turn] >= Width) {
        way.write(numbers[turn], targets[turn]);
        continue;
      }
      for (unsigned i = 0; i < counts[turn]; ++i) {
        Numbers<1> number;
        way.read(sources[turn] + i * cast.walk.steps[0], number);
        way.write(number, targets[turn] + i * cast.walk.steps[1]);
      }
    }
  }
}

// Several loads under way where the way is short.
template <unsigned Turns, class Way>
INGOT_ON_DEVICE void cast_all(const DeviceCast& cast, const Way& way) {
  if (cast.is_grouped) {
    cast_items<group_floats, Turns>(cast, way);
  } else {
    cast_items<1, Turns>(cast, way);
  }
}

// One row that is packed on both sides, in groups that can be moved at once, which is what most casts are: without
// the walk there are registers for as many threads as a multiprocessor has. Turns: of items that a thread has at most.
template <class From, class To, unsigned Turns>
INGOT_ON_DEVICE void cast_packed(const DeviceCast& cast) {
  const std::uint32_t groups = cast.walk.length / group_floats;
  const std::uint32_t first = block_index() * (thread_count() * cast.items.turns) + thread_index();
  const auto is_there = [&](unsigned turn) {
    return turn < cast.items.turns && first + turn * thread_count() < groups;
  };
  const auto begin = [&](unsigned turn) { return std::uint64_t{first + turn * thread_count()} * group_floats; };
  Elements<From, group_floats> from[Turns];
  INGOT_UNROLL
  for (unsigned turn = 0; turn < Turns; ++turn) {
    if (is_there(turn)) from[turn].load(cast.from + begin(turn) * sizeof(From));
  }
  INGOT_UNROLL
  for (unsigned turn = 0; turn < Turns; ++turn) {
    if (!is_there(turn)) continue;
    Elements<To, group_floats> to;
    INGOT_UNROLL
    for (unsigned i = 0; i < group_floats; ++i) to.values[i] = from_float<To>(to_float(from[turn].values[i]));
    to.store(cast.to + begin(turn) * sizeof(To));
  }
  const std::uint32_t last = groups * group_floats + thread_index();  // of what is less than a group
  if (block_index() != 0 || last >= cast.walk.length) return;
  const auto value = to_float(load_unit<From>(cast.from + std::uint64_t{last} * sizeof(From)));
  store_unit(cast.to + std::uint64_t{last} * sizeof(To), from_float<To>(value));
}

}  // namespace

INGOT_DEVICE_FUNCTION(layout_cast_packed_f32_to_f16, DeviceCast, 256) {
  cast_packed<float, Half, narrowing_turns>(parameters);
}
INGOT_DEVICE_FUNCTION(layout_cast_packed_f32_to_bf16, DeviceCast, 256) {
  cast_packed<float, BFloat16, narrowing_turns>(parameters);
}
INGOT_DEVICE_FUNCTION(layout_cast_packed_f16_to_f32, DeviceCast, 256) {
  cast_packed<Half, float, widening_turns>(parameters);
}
INGOT_DEVICE_FUNCTION(layout_cast_packed_bf16_to_f32, DeviceCast, 256) {
  cast_packed<BFloat16, float, widening_turns>(parameters);
}
INGOT_DEVICE_FUNCTION(layout_cast_f32_to_f16, DeviceCast, 256) {
  cast_all<most_turns>(parameters, KnownCast<float, Half>{});
}
INGOT_DEVICE_FUNCTION(layout_cast_f32_to_bf16, DeviceCast, 256) {
  cast_all<most_turns>(parameters, KnownCast<float, BFloat16>{});
}
INGOT_DEVICE_FUNCTION(layout_cast_f16_to_f32, DeviceCast, 256) {
  cast_all<most_turns>(parameters, KnownCast<Half, float>{});
}
INGOT_DEVICE_FUNCTION(layout_cast_bf16_to_f32, DeviceCast, 256) {
  cast_all<most_turns>(parameters, KnownCast<BFloat16, float>{});
}
INGOT_DEVICE_FUNCTION(layout_cast_any, DeviceCast, 256) {
  cast_all<1>(parameters, AnyCast{parameters.from_type, parameters.to_type});
}

}  // namespace ingot::device
