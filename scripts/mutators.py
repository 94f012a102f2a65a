"""One-token changes of C++ lines that clang-format has laid out."""

import re

# A binary operator stands between spaces; brackets of templates do not.
SWAPS = (
    (r" < ", " <= "), (r" <= ", " < "), (r" > ", " >= "), (r" >= ", " > "),
    (r" == ", " != "), (r" != ", " == "), (r" && ", " || "), (r" \|\| ", " && "),
    (r" \+ ", " - "), (r" - ", " + "), (r" \+= ", " -= "), (r" -= ", " += "),
)
# Lines that say nothing at run time, or say it to who reads an error; what
# another build or machine compiles; and how much room a container asks for
# beforehand.
SKIPPED = re.compile(
    r"^\s*(#|static_assert|NEAP_ASSERT|using |template|namespace|friend |"
    r"case |\[\[|public:|private:|virtual )|operator(==|!=|<|>|&&)|raise<|"
    r"fmt::format|= delete|= default|requires |std::hash|constinit const char|"
    r"if constexpr|^\s*[\w.]+\.reserve\([^;]*;$")
NUMBER = re.compile(r"(?<![\w.\"'])(\d[\d']*)([uUlL]*)(?![\w.\"'])")
NEGATION = re.compile(r"(?<![\w)\]])!(?=[\w(*])")
CONDITION = re.compile(r"^(\s*(?:\} else )?(?:if|while) \()(.+)(\) \{)$")
RETURNED = re.compile(r"^(\s*return )(.+);$")
IS_CONDITION = re.compile(r" (==|!=|<|>|<=|>=|&&|\|\|) |^!|\.empty\(\)$|\bis_\w+"
                          r"\(\)$|^(true|false)$")
STATEMENT = re.compile(r"^(\s*)[\w.>\-\[\]()*:]+ [-+|&*]= [^;]+;$")
STEP = re.compile(r"^(\s*)(\+\+|--)[\w.>\-\[\]()*]+;$")


def blank(lines):
    """The lines with spaces for comments, strings and characters."""
    text = "\n".join(lines)
    hidden = re.compile(
        r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|(?<![\w])\'(?:\\.|[^\'\\\n])+\'',
        re.DOTALL)
    return hidden.sub(lambda found: re.sub(r"[^\n]", " ", found.group()),
                      text).split("\n")


def continued(lines, shown):
    """Numbers of the lines inside a static_assert, an assertion or a message
    that began on a line above."""
    inside = set()
    depth = 0
    for number, line in enumerate(shown):
        if depth > 0:
            inside.add(number)
        elif not SKIPPED.search(line):
            continue
        depth = max(0, depth + line.count("(") - line.count(")"))
    return inside


def balanced(text):
    depth = 0
    for letter in text:
        depth += {"(": 1, ")": -1}.get(letter, 0)
        if depth < 0:
            return False
    return depth == 0


def changes_of(line, shown):
    """Yields the line with one token changed, each once."""
    for pattern, new in SWAPS:
        for found in re.finditer(pattern, shown):
            yield line[:found.start()] + new + line[found.end():]
    for found in NEGATION.finditer(shown):
        yield line[:found.start()] + line[found.end():]
    for found in NUMBER.finditer(shown):
        digits = found.group(1).replace("'", "")
        is_octal = len(digits) > 1 and digits[0] == "0"
        value = int(digits, 8 if is_octal else 10)
        # -1 says that there is none, and so would -2.
        is_none = value == 1 and re.search(r"(?<![\w)\]] )-$",
                                           shown[:found.start()])
        for changed in (0,) if is_none else (value + 1, value - 1):
            if changed >= 0:
                text = f"0{changed:o}" if is_octal else str(changed)
                yield (line[:found.start()] + text + found.group(2)
                       + line[found.end():])
    if (found := CONDITION.match(line)) and balanced(found.group(2)) and (
            ";" not in found.group(2) and "=" not in re.sub(
                r"[=!<>]=", "", blank([found.group(2)])[0])):
        yield f"{found.group(1)}!({found.group(2)}){found.group(3)}"
    if (found := RETURNED.match(line)) and balanced(found.group(2)):
        value = found.group(2)
        if value in ("true", "false"):
            other = "false" if value == "true" else "true"
            yield f"{found.group(1)}{other};"
        elif IS_CONDITION.search(blank([value])[0]) and "?" not in value:
            yield f"{found.group(1)}!({value});"
    if (found := STATEMENT.match(line)) or (found := STEP.match(line)):
        yield f"{found.group(1)};"


def mutate(lines):
    """Yields (number of the line from 0, the line changed)."""
    shown = blank(lines)
    skipped = continued(lines, shown)
    for number, line in enumerate(lines):
        if number in skipped or SKIPPED.search(shown[number]):
            continue
        for changed in dict.fromkeys(changes_of(line, shown[number])):
            yield number, changed
