#!/usr/bin/env python3
"""Writes all tables of Unicode that the tree has: category_tables.cc, case_tables.cc and normalization_tables.cc.

    pip install unicodedata2==16.0.0 regex==2024.11.6
    python3 make_tables.py [FOLDER]

The version is pinned because the patterns of published tokenizers are run by their authors with Unicode 16 classes; the
unicodedata of another Python gives tables that differ in the code points assigned since. Cases are those of Python
3.11's str, with what Unicode added since.
"""
import pathlib
import sys

import regex
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
# Pairs of cases added by Unicode 15 and 16, which str of an older Python lacks.
ADDED_LOWERCASE = {0x1C89: 0x1C8A, 0xA7CB: 0x264, 0xA7CC: 0xA7CD, 0xA7DA: 0xA7DB, 0xA7DC: 0x19B,
                   **{code: code + 0x20 for code in range(0x10D50, 0x10D66)}}
ADDED_UPPERCASE = {lower: upper for upper, lower in ADDED_LOWERCASE.items()}
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


def ranges(holds):
    rows = []
    for code in EVERY:
        if holds(chr(code)):
            if rows and rows[-1][1] == code - 1:
                rows[-1][1] = code
            else:
                rows.append([code, code])
    return rows


def lower(letter):
    return chr(ADDED_LOWERCASE[ord(letter)]) if ord(letter) in ADDED_LOWERCASE else letter.lower()


def upper(letter):
    return chr(ADDED_UPPERCASE[ord(letter)]) if ord(letter) in ADDED_UPPERCASE else letter.upper()


def title(letter):
    return upper(letter) if ord(letter) in ADDED_UPPERCASE else letter.title()


def fold(letter):
    return lower(letter) if ord(letter) in ADDED_LOWERCASE else letter.casefold()


def case_ranges(convert, unless):
    """(first, last, step, distance): every step-th code point of first..last becomes itself plus `distance`."""
    found = []
    for code in EVERY:
        image = convert(chr(code))
        if len(image) != 1 or image == unless(chr(code)):
            continue
        distance = ord(image) - code
        if found and found[-1][3] == distance:
            first, last, step, _ = found[-1]
            gap = code - last
            if gap <= 2 and (step in (0, gap)):
                found[-1] = (first, code, gap, distance)
                continue
        found.append((code, code, 0, distance))
    return [(first, last, step or 1, distance) for first, last, step, distance in found]


def case_texts(convert, unless):
    """(code point, text): where one code point becomes two or three."""
    for code in EVERY:
        image = convert(chr(code))
        if len(image) > 1 and image != unless(chr(code)):
            parts = [ord(part) for part in image] + [0] * (3 - len(image))
            yield code, "{" + ",".join(map(str, parts)) + "}"


def numeric_kind(letter):
    """What str.isdecimal, isdigit and isnumeric would say of this version's code points."""
    return (unicodedata.decimal(letter, None) is not None, unicodedata.digit(letter, None) is not None,
            unicodedata.numeric(letter, None) is not None)


def other_properties():
    """Code points that have a property although their category does not say so."""
    category = unicodedata.category
    lowercase, uppercase = regex.compile(r"\p{Lowercase}"), regex.compile(r"\p{Uppercase}")
    for code in EVERY:
        letter = chr(code)
        decimal, digit, numeric = numeric_kind(letter)
        assert decimal == (category(letter) == "Nd") and (digit or not decimal)
        assert numeric or category(letter)[0] != "N"
        assert category(letter) != "Ll" or lowercase.match(letter)
        assert category(letter) != "Lu" or uppercase.match(letter)
    yield "other_digits", ranges(lambda letter: numeric_kind(letter)[1] and category(letter) != "Nd")
    yield "other_numbers", ranges(lambda letter: numeric_kind(letter)[2] and category(letter)[0] != "N")
    yield "other_lowercase", ranges(lambda letter: lowercase.match(letter) and category(letter) != "Ll")
    yield "other_uppercase", ranges(lambda letter: uppercase.match(letter) and category(letter) != "Lu")


def combining_classes():
    found = []
    for code in EVERY:
        order = unicodedata.combining(chr(code))
        if order == 0:
            continue
        if found and found[-1][1] == code - 1 and found[-1][2] == order:
            found[-1][1] = code
        else:
            found.append([code, code, order])
    return found


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
    text = (f"// Unicode {VERSION}, written by make_tables.py: do not edit.\n// clang-format off\n"
            f'#include "model/unicode/tables.h"\n\n#include <iterator>\n\nnamespace ingot::unicode_tables {{\n\n'
            f"{body}\n}}  // namespace ingot::unicode_tables\n")
    (folder / name).write_text(text)


def main():
    if unicodedata.unidata_version != VERSION:
        sys.exit(f"expected unicodedata2 {VERSION}, found {unicodedata.unidata_version}")
    folder = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).parent)

    body = array("std::uint32_t", "category_starts", category_starts())
    for name, rows in [*other_properties(), *SCRIPTS.items()]:
        body += array("CodePointRange", name, braced(rows))
    write(folder, "category_tables.cc", body)

    itself = lambda letter: letter  # noqa: E731
    body = ""
    for name, convert, unless in (("lower", lower, itself), ("upper", upper, itself), ("title", title, upper), ("fold", fold, lower)):
        body += array("CaseRange", f"{name}_ranges", braced(case_ranges(convert, unless)))
        body += array("CaseText", f"{name}_texts", braced(case_texts(convert, unless)))
    write(folder, "case_tables.cc", body)

    pool, positions, code_points, offsets = [], {}, [], []
    for code, is_compatibility, parts in decompositions():
        if parts not in positions:
            positions[parts] = len(pool)
            pool += [len(parts) << 24 | parts[0], *parts[1:]]
        code_points.append(code << 1 | is_compatibility)
        offsets.append(positions[parts])
    assert len(pool) < 65536
    body = array("std::uint32_t", "decomposition_code_points", code_points)
    body += array("std::uint16_t", "decomposition_offsets", offsets)
    body += array("std::uint32_t", "decomposition_pool", pool)
    body += array("Composition", "compositions", braced(sorted(compositions())))
    body += array("CombiningRange", "combining_ranges", braced(combining_classes()))
    write(folder, "normalization_tables.cc", body)


if __name__ == "__main__":
    main()
