"""Changes of files, at random with a seed: bytes, and the structure of what is in them."""

import json
import re

# Numbers at the edges of types, and beyond them.
EDGES = [0, 1, -1, 2, 7, 127, 128, 255, 65536, (1 << 31) - 1, 1 << 31, -(1 << 31), (1 << 32) - 1]
EDGES += [1 << 32, 1 << 40, (1 << 53) + 1, (1 << 62), (1 << 63) - 1, -(1 << 63), 1 << 63]
EDGES += [(1 << 64) - 1, 1 << 64, 10**30]
REALS = ["1e308", "1e999", "-1e999", "1e-400", "-0.0", "0.5", "1e18", "nan", "inf", "-inf"]
STRINGS = ["", "x", "../../x", "/dev/zero", "\x00", "a\x00b", "\x1b[2J", "\u202ex", "n" * 70000]
STRINGS += ["\ud800", "%s%n", "$capture", "server", "trainer", "dp", "float32", "-1", "int64"]


def change_bytes(rng, content):
    """A few bytes are replaced, flipped, taken out or repeated."""
    content = bytearray(content)
    for _ in range(rng.choice((1, 1, 1, 2, 4, 8))):
        if not content:
            break
        at = rng.randrange(len(content))
        how = rng.randrange(6)
        if how == 0:
            content[at] = rng.randrange(256)
        elif how == 1:
            del content[at : at + rng.randint(1, 40)]
        elif how == 2:
            content[at:at] = content[at : at + rng.randint(1, 200)]
        elif how == 3:
            content[at : at + 8] = (rng.choice(EDGES) & (1 << 64) - 1).to_bytes(8, "little")
        elif how == 4:
            content[at : at + 4] = (rng.choice(EDGES) & (1 << 32) - 1).to_bytes(4, "little")
        else:
            content[at] ^= 1 << rng.randrange(8)
    return bytes(content)


def cut(rng, content):
    return content[: rng.randrange(len(content))] if content else content


def grow(rng, content):
    more = rng.choice((b"\0", b"\n", b"}", bytes(rng.randrange(256) for _ in range(300)), content))
    return content + more


# JSON ---------------------------------------------------------------------------------------------


class Raw(str):
    """Text that is put in as it is."""


def json_text(value):
    """Like json.dumps; lists of pairs are objects, so that a key can be there twice."""
    if isinstance(value, Raw):
        return str(value)
    if isinstance(value, Pairs):
        return "{%s}" % ", ".join(json.dumps(k) + ": " + json_text(v) for k, v in value)
    if isinstance(value, list):
        return "[%s]" % ", ".join(map(json_text, value))
    return json.dumps(value)


class Pairs(list):
    pass


def nodes_of(value, found):
    """(container, index) of everything in it."""
    for i, item in enumerate(value):
        found.append((value, i))
        inner = item[1] if isinstance(value, Pairs) else item
        if isinstance(inner, list):
            nodes_of(inner, found)
    return found


def odd_json(rng):
    how = rng.randrange(8)
    if how < 3:
        return Raw(str(rng.choice(EDGES)))
    if how == 3:
        return Raw(rng.choice(REALS))
    if how == 4:
        return rng.choice(STRINGS)
    if how == 5:
        return rng.choice((None, True, False, [], Pairs(), Pairs([("x", 1)]), [[]], [None], [1, -1]))
    if how == 6:
        return Raw("[" * 100000)
    return Raw("[" * 400 + "]" * 400)


def change_json(rng, content):
    try:
        tree = json.loads(content, object_pairs_hook=Pairs)
    except ValueError:
        return change_bytes(rng, content)
    for _ in range(rng.choice((1, 1, 1, 1, 2, 3))):
        found = nodes_of(tree, [])
        if not found:
            break
        container, i = rng.choice(found)
        how = rng.randrange(10)
        if how == 0:
            del container[i]
        elif how == 1:
            container.insert(i, container[i])
        elif isinstance(container, Pairs):
            key, value = container[i]
            if how == 2:
                container[i] = (rng.choice(STRINGS + [key + "s"]), value)
            elif how == 3:
                container.insert(i, (rng.choice(("unknown", key.upper())), odd_json(rng)))
            else:
                container[i] = (key, odd_json(rng) if how < 9 else alike(rng, value))
        else:
            container[i] = odd_json(rng) if how < 8 else alike(rng, container[i])
    return json_text(tree).encode(errors="surrogatepass")


def alike(rng, value):
    """Another value of the same type."""
    if isinstance(value, bool):
        return not value
    if isinstance(value, int):
        return value + rng.choice((-1, 1, 7, 1 << 20))
    if isinstance(value, str):
        return value[:-1] if value else "x"
    return value


# Wire format of protocol buffers ----------------------------------------------------------------


def read_varint(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        value |= (byte & 127) << shift
        at, shift = at + 1, shift + 7
        if byte < 128:
            return value, at
        if shift > 63:
            raise ValueError


def varint(value):
    value &= (1 << 64) - 1
    out = bytearray()
    while value > 127:
        out.append(value & 127 | 128)
        value >>= 7
    out.append(value)
    return bytes(out)


def parse(data):
    """Fields [number, wire type, value] or None; messages are lists where their bytes parse."""
    fields, at = [], 0
    try:
        while at < len(data):
            tag, at = read_varint(data, at)
            number, kind = tag >> 3, tag & 7
            if number == 0 or number > 1000:
                return None
            if kind == 0:
                value, at = read_varint(data, at)
            elif kind in (1, 5):
                size = 8 if kind == 1 else 4
                value, at = data[at : at + size], at + size
            elif kind == 2:
                size, at = read_varint(data, at)
                value, at = data[at : at + size], at + size
                inner = parse(value) if size > 1 else None
                if inner is not None and not printable(value):
                    value = inner
            else:
                return None
            if at > len(data):
                return None
            fields.append([number, kind, value])
    except (IndexError, ValueError):
        return None
    return fields


def printable(value):
    return all(32 <= byte < 127 for byte in value)


def serialize(fields):
    out = b""
    for number, kind, value in fields:
        out += varint(number << 3 | kind)
        if kind == 0:
            out += varint(value)
        elif kind == 2:
            value = serialize(value) if isinstance(value, list) else value
            out += varint(len(value)) + value
        else:
            out += value
    return out


def all_fields(fields, found):
    for i, (_, kind, value) in enumerate(fields):
        found.append((fields, i))
        if kind == 2 and isinstance(value, list):
            all_fields(value, found)
    return found


def change_wire(rng, content):
    """Fields of a message: other numbers and texts, gone, twice, elsewhere."""
    tree = parse(content)
    if not tree:
        return change_bytes(rng, content)
    for _ in range(rng.choice((1, 1, 1, 2, 3))):
        found = all_fields(tree, [])
        if not found:
            break
        fields, i = rng.choice(found)
        number, kind, value = fields[i]
        how = rng.randrange(8)
        if how == 0:
            del fields[i]
        elif how == 1:
            fields.insert(i, list(fields[i]))
        elif how == 2:
            other, j = rng.choice(found)
            if j < len(other):
                fields[i], other[j] = list(other[j]), list(fields[i])
                if nested(tree):
                    return change_bytes(rng, content)
        elif how == 3:
            fields[i][0] = rng.randint(1, 20)
        elif kind == 0:
            fields[i][2] = rng.choice(EDGES + [value + 1, value - 1])
        elif kind == 2 and isinstance(value, list):
            rng.shuffle(value)
        elif kind == 2:
            fields[i][2] = other_text(rng, value, found)
        else:
            fields[i][2] = rng.choice((b"\xff", b"\0", b"\x7f\x80")) * 8
            fields[i][2] = fields[i][2][: len(value)]
    return serialize(tree)


def nested(fields, depth=0):
    """Whether a message has come into itself."""
    if depth > 60:
        return True
    return any(kind == 2 and isinstance(v, list) and nested(v, depth + 1) for _, kind, v in fields)


def other_text(rng, value, found):
    texts = [f[i][2] for f, i in found if f[i][1] == 2 and isinstance(f[i][2], bytes)]
    how = rng.randrange(4)
    if how == 0:
        return rng.choice(STRINGS).encode(errors="surrogatepass")
    if how == 1:
        return change_bytes(rng, value)
    return rng.choice(texts)


# Text -------------------------------------------------------------------------------------------

TOKEN = re.compile(rb"[A-Za-z_][\w.@]*|-?\d+(?:\.\d*)?(?:[eE][-+]?\d+)?|\"[^\"\n]*\"|[^\s\w]")


def change_tokens(rng, content):
    """Words, numbers and signs of a text: others, gone, twice, swapped; whole lines too."""
    for _ in range(rng.choice((1, 1, 1, 2, 3))):
        how = rng.randrange(9)
        if how == 0:
            lines = content.split(b"\n")
            i = rng.randrange(len(lines))
            how = rng.randrange(3)
            if how == 0:
                del lines[i]
            elif how == 1:
                lines.insert(i, lines[rng.randrange(len(lines))])
            else:
                j = rng.randrange(len(lines))
                lines[i], lines[j] = lines[j], lines[i]
            content = b"\n".join(lines)
            continue
        found = list(TOKEN.finditer(content))
        if not found:
            break
        if how < 5:  # numbers, which are few
            numbers = [m for m in found if m.group()[:1].isdigit() or m.group()[:1] == b"-"]
            one = rng.choice(numbers or found)
        else:
            one = rng.choice(found)
        content = content[: one.start()] + other_token(rng, one, found) + content[one.end() :]
    return content


def other_token(rng, one, found):
    text = one.group()
    how = rng.randrange(6)
    if text[:1].isdigit() or text[:1] == b"-":
        if how < 2 and text.isdigit():
            return str(max(0, int(text) + rng.choice((-2, -1, 1, 2, 5)))).encode()
        if how < 4:
            return str(rng.choice(EDGES[:14] + EDGES)).encode()
        if how == 4:
            return rng.choice(REALS).encode()
    if how == 0:
        return b""
    if how == 1:
        return text + b" " + text
    if how == 2 and text[:1] == b'"':
        return json.dumps(rng.choice(STRINGS)).encode()
    return rng.choice([m.group() for m in found if kind_of(m.group()) == kind_of(text)])


def kind_of(token):
    return "name" if token[:1].isalpha() or token[:1] == b"_" else token[:1] == b'"' or token[:1].isdigit()
