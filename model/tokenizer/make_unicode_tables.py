#!/usr/bin/env python3
"""Writes unicode_category_tables.cc and unicode_normalization_tables.cc.

    pip install unicodedata2==16.0.0
    python3 make_unicode_tables.py [FOLDER]

The version is pinned because the patterns of published tokenizers are run by their authors with Unicode 16 classes; the
unicodedata of another Python gives tables that differ in the code points assigned since.
"""
import pathlib
import sys

import unicodedata2 as unicodedata

VERSION = "16.0.0"
CATEGORIES = ("Cn Lu Ll Lt Lm Lo Mn Mc Me Nd Nl No Pc Pd Ps Pe Pi Pf Po Sm Sc Sk So Zs Zl Zp Cc Cf Cs Co").split()

# Scripts.txt of Unicode 16, for the scripts that patterns of tokenizers name (unicodedata knows no scripts).
SCRIPTS = {
    "han": [(0x2E80, 0x2E99), (0x2E9B, 0x2EF3), (0x2F00, 0x2FD5), (0x3005, 0x3005), (0x3007, 0x3007), (0x3021, 0x3029),
            (0x3038, 0x303B), (0x3400, 0x4DBF), (0x4E00, 0x9FFF), (0xF900, 0xFA6D), (0xFA70, 0xFAD9),
            (0x16FE2, 0x16FE3), (0x16FF0, 0x16FF1), (0x20000, 0x2A6DF), (0x2A700, 0x2B739), (0x2B740, 0x2B81D),
            (0x2B820, 0x2CEA1), (0x2CEB0, 0x2EBE0), (0x2EBF0, 0x2EE5D), (0x2F800, 0x2FA1D), (0x30000, 0x3134A),
            (0x31350, 0x323AF)],
    "hiragana": [(0x3041, 0x3096), (0x309D, 0x309F), (0x1B001, 0x1B11F), (0x1B132, 0x1B132), (0x1B150, 0x1B152),
                 (0x1F200, 0x1F200)],
    "katakana": [(0x30A1, 0x30FA), (0x30FD, 0x30FF), (0x31F0, 0x31FF), (0x32D0, 0x32FE), (0x3300, 0x3357),
                 (0xFF66, 0xFF6F), (0xFF71, 0xFF9D), (0x1AFF0, 0x1AFF3), (0x1AFF5, 0x1AFFB), (0x1AFFD, 0x1AFFE),
                 (0x1B000, 0x1B000), (0x1B120, 0x1B122), (0x1B155, 0x1B155), (0x1B164, 0x1B167)],
    "hangul": [(0x1100, 0x11FF), (0x302E, 0x302F), (0x3131, 0x318E), (0x3200, 0x321E), (0x3260, 0x327E),
               (0xA960, 0xA97C), (0xAC00, 0xD7A3), (0xD7B0, 0xD7C6), (0xD7CB, 0xD7FB), (0xFFA0, 0xFFBE),
               (0xFFC2, 0xFFC7), (0xFFCA, 0xFFCF), (0xFFD2, 0xFFD7), (0xFFDA, 0xFFDC)],
}
# Lower cases added by Unicode 15 and 16, which str.lower() of an older Python lacks.
ADDED_LOWERCASE = {0x1C89: 0x1C8A, 0xA7CB: 0x264, 0xA7CC: 0xA7CD, 0xA7DA: 0xA7DB, 0xA7DC: 0x19B,
                   **{code: code + 0x20 for code in range(0x10D50, 0x10D66)}}
HANGUL_SYLLABLES = range(0xAC00, 0xD7A4)
EVERY = range(0x110000)


def category_starts():
    """start << 5 | category, for each code point where the category changes."""
    previous = None
    for code in EVERY:
        category = CATEGORIES.index(unicodedata.category(chr(code)))
        if category != previous:
            yield code << 5 | category
        previous = category


def lowercase_runs():
    """(first, last, step, distance): every step-th code point of first..last lies `distance` below its lower case."""
    runs = []
    for code in EVERY:
        lower = chr(ADDED_LOWERCASE[code]) if code in ADDED_LOWERCASE else chr(code).lower()
        if len(lower) != 1 or ord(lower) == code:
            continue
        distance = ord(lower) - code
        if runs and runs[-1][3] == distance:
            first, last, step, _ = runs[-1]
            gap = code - last
            if gap <= 2 and (step in (0, gap)):
                runs[-1] = (first, code, gap, distance)
                continue
        runs.append((code, code, 0, distance))
    return [(first, last, step or 1, distance) for first, last, step, distance in runs]


def combining_classes():
    runs = []
    for code in EVERY:
        order = unicodedata.combining(chr(code))
        if order == 0:
            continue
        if runs and runs[-1][1] == code - 1 and runs[-1][2] == order:
            runs[-1][1] = code
        else:
            runs.append([code, code, order])
    return runs


def decompositions():
    """(code point, is compatibility, parts): one level, as UnicodeData.txt has it."""
    for code in EVERY:
        if code in HANGUL_SYLLABLES:
            continue
        fields = unicodedata.decomposition(chr(code)).split()
        if fields:
            is_compatibility = fields[0].startswith("<")
            yield code, is_compatibility, tuple(int(field, 16) for field in fields[is_compatibility:])


def compositions():
    for code, is_compatibility, parts in decompositions():
        if not is_compatibility and len(parts) == 2 and unicodedata.normalize("NFC", chr(code)) == chr(code):
            yield parts[0], parts[1], code


def list_of(values, width=118):
    lines, line = [], ""
    for value in values:
        text = f"{value},"
        if len(line) + len(text) > width:
            lines.append(line)
            line = ""
        line += text
    return "\n".join(lines + [line])


def array(kind, name, values):
    return f"extern const {kind} {name}[] = {{\n{list_of(values)}\n}};\nextern const std::size_t {name}_size = std::size({name});\n"


def braced(rows):
    return ["{" + ",".join(map(str, row)) + "}" for row in rows]


def write(folder, name, body):
    text = (f"// Unicode {VERSION}, written by make_unicode_tables.py: do not edit.\n// clang-format off\n"
            f'#include "model/tokenizer/unicode_tables.h"\n\n#include <iterator>\n\nnamespace ingot::unicode_tables {{\n\n'
            f"{body}\n}}  // namespace ingot::unicode_tables\n")
    (folder / name).write_text(text)


def main():
    if unicodedata.unidata_version != VERSION:
        sys.exit(f"expected unicodedata2 {VERSION}, found {unicodedata.unidata_version}")
    folder = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).parent)

    body = array("std::uint32_t", "category_starts", category_starts())
    body += array("LowercaseRun", "lowercase_runs", braced(lowercase_runs()))
    for script, ranges in SCRIPTS.items():
        body += array("CodeRange", script, braced(ranges))
    write(folder, "unicode_category_tables.cc", body)

    pool, positions, codes, offsets = [], {}, [], []
    for code, is_compatibility, parts in decompositions():
        if parts not in positions:
            positions[parts] = len(pool)
            pool += [len(parts) << 24 | parts[0], *parts[1:]]
        codes.append(code << 1 | is_compatibility)
        offsets.append(positions[parts])
    assert len(pool) < 65536
    body = array("std::uint32_t", "decomposition_codes", codes)
    body += array("std::uint16_t", "decomposition_offsets", offsets)
    body += array("std::uint32_t", "decomposition_pool", pool)
    body += array("Composition", "compositions", braced(sorted(compositions())))
    body += array("CombiningRun", "combining_runs", braced(combining_classes()))
    write(folder, "unicode_normalization_tables.cc", body)


if __name__ == "__main__":
    main()
