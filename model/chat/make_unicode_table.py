#!/usr/bin/env python3
"""Writes unicode_table.inc: what Python's str methods know about code points, as ranges.

    python3 make_unicode_table.py > unicode_table.inc && clang-format -i unicode_table.inc
"""
import unicodedata

ALL = [chr(code) for code in range(0x110000)]


def ranges(name, holds):
    rows = []
    for code, character in enumerate(ALL):
        if holds(character):
            if rows and rows[-1][1] == code - 1:
                rows[-1][1] = code
            else:
                rows.append([code, code])
    emit("CodePointRange", name, ["{0x%X, 0x%X}" % tuple(row) for row in rows])


def mapping(name, convert, unless):
    """One row a run of code points with the same distance and stride; texts of several code points on their own."""
    rows, texts = [], []
    for code, character in enumerate(ALL):
        image = convert(character)
        if image == unless(character):
            continue
        if len(image) > 1:
            texts.append((code, [ord(part) for part in image] + [0] * (3 - len(image))))
            continue
        distance = ord(image) - code
        if rows and rows[-1][3] == distance:
            first, last, stride, _ = rows[-1]
            if first == last and code - last in (1, 2):
                stride = code - last
            if code - last == stride:
                rows[-1][1:3] = [code, stride]
                continue
        rows.append([code, code, 1, distance])
    emit("CaseRun", name + "_runs", ["{0x%X, 0x%X, %d, %d}" % tuple(row) for row in rows])
    emit("CaseText", name + "_texts", ["{0x%X, {0x%X, 0x%X, 0x%X}}" % (code, *parts) for code, parts in texts])


def emit(kind, name, rows):
    print("constexpr %s %s[] = {%s};" % (kind, name, ", ".join(rows)))


print("// Made by make_unicode_table.py from Unicode %s. Do not edit." % unicodedata.unidata_version)
ranges("alphabetic_ranges", str.isalpha)
ranges("decimal_ranges", str.isdecimal)
ranges("digit_ranges", str.isdigit)
ranges("numeric_ranges", str.isnumeric)
ranges("unprintable_ranges", lambda character: not character.isprintable())
ranges("lowercase_ranges", str.islower)
ranges("uppercase_ranges", str.isupper)
ranges("titlecase_ranges", lambda character: unicodedata.category(character) == "Lt")
mapping("upper", str.upper, lambda character: character)
mapping("lower", str.lower, lambda character: character)
mapping("title", str.title, str.upper)
mapping("fold", str.casefold, str.lower)
