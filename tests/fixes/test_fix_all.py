"""All safe repairs of a file: the same result in any order, once and for all, and nothing else touched."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from shardlint.check import Snapshot, check
from shardlint.files import SourceFile, read, write
from shardlint.fixes.edits import apply
from shardlint.fixes.repair import fix_all, fixed, repairs
from shardlint.model import Safety
from shardlint.text import Text

Snap = Callable[..., Snapshot]

OLD = '''\
"""A bridge.  # not a comment"""
import jax, torch   # both
import jax.numpy as jnp
from jax import dlpack as jax_dlpack
from jax.dlpack import from_dlpack, to_dlpack  # to_dlpack is gone
from torch.utils import dlpack as torch_dlpack
from torch.utils.dlpack import to_dlpack as torch_to


def to_torch(array):
\treturn torch_dlpack.from_dlpack(jax_dlpack.to_dlpack(array))   # 1


def to_jax(tensor, *, again=lambda t: from_dlpack(torch_to(t))):
    return from_dlpack(torch_dlpack.to_dlpack(tensor.contiguous()));


x = jnp.arange(16.0)
a = [torch.from_dlpack(
    # the array
    to_dlpack(x),  # as a capsule
), to_dlpack(x)]; b = to_torch(x)
c = torch.from_dlpack(jax.dlpack.to_dlpack(from_dlpack(torch_to(to_torch(x)))))
text = f"{to_dlpack(x)} é"
'''

NEW = '''\
"""A bridge.  # not a comment"""
import jax, torch   # both
import jax.numpy as jnp
from jax.dlpack import from_dlpack  # to_dlpack is gone
from torch.utils import dlpack as torch_dlpack


def to_torch(array):
\treturn torch_dlpack.from_dlpack(array)   # 1


def to_jax(tensor, *, again=lambda t: from_dlpack(t.detach())):
    return from_dlpack(tensor.contiguous().detach());


x = jnp.arange(16.0)
a = [torch.from_dlpack(
    # the array
    x,  # as a capsule
), x.__dlpack__()]; b = to_torch(x)
c = torch.from_dlpack(from_dlpack(to_torch(x).detach()))
text = f"{x.__dlpack__()} é"
'''


@pytest.mark.parametrize("newline", ["\n", "\r\n", "\r"])
def test_everything_safe_is_repaired(snapshot: Snap, newline: str) -> None:
    """Removed functions go from everywhere, and the imports that they alone needed; the rest stays byte for byte."""
    text, fixes = fix_all(snapshot(OLD.replace("\n", newline)))
    assert text == NEW.replace("\n", newline)
    assert {fix.safety for fix in fixes} == {Safety.SAFE}


def test_a_second_time_changes_nothing(snapshot: Snap) -> None:
    """What is repaired stays as it is, and has no finding."""
    assert fix_all(snapshot(NEW)) == (NEW, ())
    assert check(snapshot(NEW)).findings == ()


def one_by_one(program: Snapshot, choose: random.Random) -> str:
    """The text after the best safe repair of one finding after another, whichever comes next, until there is none."""
    while True:
        found = list(check(program).findings)
        choose.shuffle(found)
        safe = (fix for finding in found for fix in repairs(program, finding) if fix.safety is Safety.SAFE)
        fix = next(safe, None)
        if fix is None:
            return program.text.source
        program = replace(program, text=Text(apply(program.text.source, fix.edits)))


@pytest.mark.parametrize("seed", range(8))
def test_the_order_does_not_matter(snapshot: Snap, seed: int) -> None:
    """Whoever applies the safe repairs one by one, whichever comes next, ends with the same text."""
    assert one_by_one(snapshot(OLD), random.Random(seed)) == NEW


def test_what_costs_is_left(snapshot: Snap) -> None:
    """A copy or a move is nobody's choice but the user's."""
    source = (
        "import jax\nimport jax.numpy as jnp\nimport torch\n"
        "x = jax.device_put(jnp.arange(16.0), jax.NamedSharding(jax.make_mesh((8,), ('d',)), jax.P('d')))\n"
        "t = torch.from_dlpack(x)\nu = jax.dlpack.from_dlpack(jnp.arange(3), device=jax.devices()[1], copy=False)\n"
    )
    assert len(check(snapshot(source)).findings) == 2
    assert fix_all(snapshot(source)) == (source, ())


def test_what_costs_is_made_if_it_is_asked_for(snapshot: Snap) -> None:
    """The best repair of every finding, whatever it costs, also where it needs an import or a variable; nothing is left to make."""
    put = "jax.device_put(x, jax.local_devices()[0])"
    head = (
        "import jax\nimport torch\nfrom jax.dlpack import to_dlpack\n"
        "x = jax.device_put(jax.numpy.arange(16.0), jax.NamedSharding(jax.make_mesh((8,), ('d',)), jax.P('d')))\n"
    )
    source = head + (
        "t = torch.from_dlpack(x); u = memoryview(x)  # é\n"
        "p = x.unsafe_buffer_pointer()\nq = x.unsafe_buffer_pointer()\n"
        "def f(y):\n\treturn torch.from_dlpack(to_dlpack(y))\n"
    )
    text, fixes = fixed(snapshot(source), frozenset(Safety))
    assert text.source == head.replace("from jax.dlpack import to_dlpack", "import numpy as np") + (
        f"t = torch.from_dlpack({put}); u = memoryview(np.asarray(x))  # é\n"
        f"gathered = jax.block_until_ready({put})\np = gathered.unsafe_buffer_pointer()\n"
        f"gathered_2 = jax.block_until_ready({put})\nq = gathered_2.unsafe_buffer_pointer()\n"
        "def f(y):\n\treturn torch.from_dlpack(y)\n"
    )
    assert sorted(fix.safety for fix in fixes) == ["copies", "moves-data", "moves-data", "moves-data", "safe"]
    assert check(snapshot(text.source)).findings == ()
    assert fixed(snapshot(text.source), frozenset(Safety)) == (text, ())


def test_the_first_repair_that_holds_is_made(with_example: Callable[..., Snapshot]) -> None:
    """A repair that costs something is proven like any other: one that leaves the finding is passed over for the next."""
    put = "jax.device_put(x, jax.devices()[0])"
    head = (
        "import jax\nimport torch\n"
        "x = jax.device_put(jax.numpy.arange(16.0), jax.NamedSharding(jax.make_mesh((8,), ('d',)), jax.P('d')))\n"
    )
    useless = "# before\nt = torch.from_dlpack(x)\n# after\nt = torch.from_dlpack(jax.numpy.sin(x))\n"
    program = with_example(useless, head + "t = torch.from_dlpack(x)\nu = torch.from_dlpack(x)\n")
    assert fixed(program, frozenset(Safety)) == (program.text, ())
    rule = program.catalogue.rules["own"]
    good = replace(rule.fixes[0], example=useless.replace("jax.numpy.sin(x)", put), safety=Safety.COPIES)
    catalogue = replace(program.catalogue, rules={"own": replace(rule, fixes=(*rule.fixes, good))})
    text, fixes = fixed(replace(program, catalogue=catalogue), frozenset(Safety))
    assert text.source == head + f"t = torch.from_dlpack({put})\nu = torch.from_dlpack({put})\n"
    assert [fix.safety for fix in fixes] == ["copies", "copies"]


def test_many_are_repaired_at_once(snapshot: Snap) -> None:
    """There is no number of repairs behind which it stops."""
    head = "import jax\nimport torch\n"
    source = head + "".join(f"a{n} = torch.from_dlpack(jax.dlpack.to_dlpack(x{n}))\n" for n in range(60))
    text, fixes = fix_all(snapshot(source))
    assert text == head + "".join(f"a{n} = torch.from_dlpack(x{n})\n" for n in range(60))
    assert len(fixes) == 60


@pytest.mark.parametrize("depth", [1, 2, 5])
def test_one_in_another_is_repaired(snapshot: Snap, depth: int) -> None:
    """Hand-offs in hand-offs are peeled one after another."""
    code = "x"
    for _ in range(depth):
        code = f"jax.dlpack.from_dlpack(torch.from_dlpack(jax.dlpack.to_dlpack({code})).__dlpack__())"
    text, _ = fix_all(snapshot(f"import jax\nimport jax.numpy as jnp\nimport torch\nx = jnp.ones(3)\ny = {code}\n"))
    assert text.endswith("y = " + "jax.dlpack.from_dlpack(torch.from_dlpack(" * depth + "x" + "))" * depth + "\n")


def test_new_variables_do_not_meet(with_example: Callable[..., Snapshot]) -> None:
    """A rule of a user's own may call a repair with a new variable safe: each gets a name of its own."""
    put = "jax.device_put(x, jax.devices()[0])"
    head = (
        "import jax\nimport jax.numpy as jnp\nimport torch\n"
        "x = jax.device_put(jnp.arange(16.0), jax.NamedSharding(jax.make_mesh((8,), ('d',)), jax.P('d')))\n"
    )
    example = f"# before\nt = torch.from_dlpack(x)\n# after\nx = {put}\nt = torch.from_dlpack(x)\n"
    program = with_example(example, head + "t = torch.from_dlpack(x)\nu = torch.from_dlpack(x)\n", Safety.SAFE)
    text, _ = fix_all(program)
    one, two = (f"x_{n} = {put}\n{name} = torch.from_dlpack(x_{n})\n" for n, name in ((2, "t"), (3, "u")))
    assert text == head + one + two


def test_broken_code_elsewhere_does_not_matter(snapshot: Snap) -> None:
    """A statement that does not parse stays as it is, and what it may use stays imported."""
    head = "import torch\nfrom jax import dlpack as jd\n"
    broken = "\n\ndef g(:\n    return jd.to_dlpack(\n"
    text, _ = fix_all(snapshot(f"{head}\n\ndef f(x):\n    return torch.from_dlpack(jd.to_dlpack(x))\n{broken}"))
    assert text == f"{head}\n\ndef f(x):\n    return torch.from_dlpack(x)\n{broken}"


@pytest.mark.parametrize(
    "source", ["", "import jax", "x = " + "(" * 150 + "1" + ")" * 150, "a = " + "-" * 5000 + "1\n"]
)
def test_nothing_to_repair_is_no_trouble(snapshot: Snap, source: str) -> None:
    """Empty, short and absurd files come back as they are."""
    assert fix_all(snapshot(source)) == (source, ())


SCOPES = {
    "another scope keeps the name": (
        (
            "from jax import dlpack as jd\na = torch.from_dlpack(jd.to_dlpack(jd.from_dlpack(t)))\n"
            "def f(x):\n    from jax import dlpack as jd\n    return torch.from_dlpack(jd.to_dlpack(x))\n"
        ),
        "from jax import dlpack as jd\na = torch.from_dlpack(jd.from_dlpack(t))\ndef f(x):\n    return torch.from_dlpack(x)\n",
    ),
    "a class has the name too": (
        (
            "from torch.utils.dlpack import to_dlpack as tt\nclass C:\n    from torch.utils.dlpack import to_dlpack as tt\n"
            "    a = jax.dlpack.from_dlpack(tt(t))\nb = jax.dlpack.from_dlpack(tt(t))\n"
        ),
        (
            "class C:\n    from torch.utils.dlpack import to_dlpack as tt\n"
            "    a = jax.dlpack.from_dlpack(t.detach())\nb = jax.dlpack.from_dlpack(t.detach())\n"
        ),
    ),
    "an attribute of a class": (
        (
            "class C:\n    from torch.utils.dlpack import to_dlpack as tt\n    a = jax.dlpack.from_dlpack(tt(t))\n"
            "    def f(self, t):\n        return self.tt(t)\n"
        ),
        (
            "class C:\n    from torch.utils.dlpack import to_dlpack as tt\n    a = jax.dlpack.from_dlpack(t.detach())\n"
            "    def f(self, t):\n        return self.tt(t)\n"
        ),
    ),
    "a default is of the scope around": (
        (
            "from torch.utils.dlpack import to_dlpack as tt\ndef f(t, k=jax.dlpack.from_dlpack(tt(s))):\n"
            "    from torch.utils.dlpack import to_dlpack as tt\n    return jax.dlpack.from_dlpack(tt(t))\n"
        ),
        "def f(t, k=jax.dlpack.from_dlpack(s.detach())):\n    return jax.dlpack.from_dlpack(t.detach())\n",
    ),
    "two on one line": (
        (
            "from jax import dlpack as jd; from jax.dlpack import to_dlpack  # both\n"
            "a = torch.from_dlpack(jd.to_dlpack(x)), torch.from_dlpack(to_dlpack(x))\n"
        ),
        "a = torch.from_dlpack(x), torch.from_dlpack(x)\n",
    ),
    "all of a block": (
        (
            "def f(x):\n    if x:\n        from jax import dlpack as jd\n        from torch.utils import dlpack as td\n"
            "    return torch.from_dlpack(jd.to_dlpack(x)), jax.dlpack.from_dlpack(td.to_dlpack(x))\n"
        ),
        "def f(x):\n    if x:\n        pass\n    return torch.from_dlpack(x), jax.dlpack.from_dlpack(x.detach())\n",
    ),
}


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize(("before", "after"), SCOPES.values(), ids=SCOPES)
def test_imports_go_by_their_scopes(snapshot: Snap, before: str, after: str, seed: int) -> None:
    """An import goes with the last use of what it binds in its scope, and not with that of another of its name."""
    program = snapshot("import jax\nimport torch\n" + before)
    assert fix_all(program)[0] == "import jax\nimport torch\n" + after
    assert one_by_one(program, random.Random(seed)) == "import jax\nimport torch\n" + after


def test_a_class_in_a_class_does_not_see_its_names(snapshot: Snap) -> None:
    """What a repair needs is imported where the class around has it alone."""
    head = "import jax\nx = jax.device_put(jax.numpy.arange(16.0), jax.NamedSharding(jax.make_mesh((8,), ('d',)), jax.P('d')))\n"
    nested = "class A:\n    import numpy as np\n    class B:\n        p = memoryview(x)\n"
    text, _ = fixed(snapshot(head + nested), frozenset(Safety))
    assert text.source == head.replace("jax\n", "jax\nimport numpy as np\n", 1) + nested.replace(
        "(x)", "(np.asarray(x))"
    )


IMPORTS = (
    "import jax.dlpack as jm{n}",
    "from jax import dlpack as jm{n}  # old",
    "from jax import dlpack as jm{n}, numpy as jn{n}",
    "from jax.dlpack import to_dlpack as jt{n}",
    "from jax.dlpack import (\n{i}  to_dlpack as jt{n},  # goes\n{i}\tfrom_dlpack as jf{n},\n{i})",
    "from torch.utils import dlpack as tm{n}; from torch.utils.dlpack import to_dlpack as tt{n}",
    "from torch.utils.dlpack import from_dlpack as tf{n}, \\\n{i}  to_dlpack as tt{n}",
)
CALLS = ("{f}({a})", "{f}( {a} )", "{f}({a},)", "({f})({a})", "{f}(\n {a},  # in {n}\n)", "{f}(  # in {n}\n\t{a})")
ARRAYS = ("x", "(x)", "x[0]", "x + y", "x if y else x", "-x", "self.x", "g(x)", "[x][0]", "jax.numpy.ones(3)")
LINES = (
    "v<n> = <e>",
    "<e>; v<n> = <e> ;\t<c>",
    "v<n>: object = h(<e>, k=<e>)",
    "if x is None: v<n> = <e>",
    "for z in y: <e>; <e>",
    "c<n> = <c>; t<n> = <f>(c<n>)",
    "c<n> = <c>\n<i>t<n> = <f>(c<n>)",
    "v<n> = [<e> for z in y], lambda z: <l>",
    "v<n> = f'{<l>} é' f\"{<l>!r:>{3}} {{}}\"",
    "assert (w<n> := <e>), '''\n'''",
    "try: <e>\n<i>except ValueError: <e>",
    "@d(<l>)\n<i>def f<n>(x, *, k=<e>): return <e>",
)
TAILS = ("", "  # e<n>", "\t# e<n> é \t", ";", " ;  # e<n> ")
QUIET = (
    "# q<n> é \t",
    "q<n> = 'a\tb'   ",
    "q<n> = '''\n \t\n'''",
    "\x0c",
    "",
    "q<n> \\\n<i>\t; q<n> ;",
    "# q<n> to_dlpack(x)",
)
HEADS = ("def f<n>(x, y, t, k=<e>):", "class C<n>:", "if x:")
KINDS = {"m": ("t", "f"), "t": ("t",), "f": ("f",)}

Sight = dict[str, tuple[str, ...]]
"""How a place can write the functions that make capsules and take them: "jt" and "jf" of JAX, "tt" and "tf" of PyTorch."""

PLAIN: Sight = {
    "jt": ("jax.dlpack.to_dlpack",),
    "jf": ("jax.dlpack.from_dlpack",),
    "tt": ("torch.utils.dlpack.to_dlpack",),
    "tf": ("torch.from_dlpack",),
}


class Writer:
    """Writes programs full of removed functions. A line that no repair may touch has a word with q and a number, or a form feed, the
    end of one that a repair may touch has one with e.
    """

    def __init__(self, draw: Callable[[st.SearchStrategy[str]], str], indent: str) -> None:
        self.draw, self.indent, self.number = draw, indent, 0

    def pick(self, choices: Sequence[str]) -> str:
        return self.draw(st.sampled_from(choices))

    def imports(self, indent: str, sight: Sight) -> tuple[list[str], Sight]:
        """Up to two imports, of names that other scopes may have too, and what is in sight with them."""
        lines: list[str] = []
        for template in filter(None, (self.pick((*IMPORTS, "")), self.pick((*IMPORTS, "")))):
            self.number += 1
            lines.append(indent + template.format(n=self.pick(("0", "0", str(self.number))), i=indent))
        for name in re.findall(r"\b[jt][mtf]\d+\b", "\n".join(lines)):
            for kind in KINDS[name[1]]:
                written = f"{name}.{'to' if kind == 't' else 'from'}_dlpack" if name[1] == "m" else name
                sight = {**sight, name[0] + kind: (*sight[name[0] + kind], written, written)}
        return lines, sight

    def expression(self, kind: str, depth: int, sight: Sight, calls: Sequence[str]) -> str:
        """An array ("j"), a tensor ("t"), or a capsule of one ("jc", "tc")."""
        if depth == 0:
            return self.pick(ARRAYS) if kind[0] == "j" else self.pick(("t", "t.contiguous()"))
        function = kind[0] + ("t" if kind.endswith("c") else "f")
        inner = kind[0] if kind.endswith("c") else self.pick(("jc", "tc", "t"))
        argument = self.expression(inner, depth - 1, sight, calls)
        self.number += 1
        return self.pick(calls).format(f=self.pick(sight[function]), a=argument, n=self.number)

    def filled(self, template: str, indent: str, sight: Sight) -> str:
        self.number += 1
        fixed = {"n": str(self.number), "i": indent, "f": self.pick(sight["tf"])}

        def part(match: re.Match[str]) -> str:
            if match[1] in fixed:
                return fixed[match[1]]
            kind = "jc" if match[1] == "c" else self.pick(("t", "jc", "j", "tc"))
            depth = int(self.pick(("1", "2", "3")))
            return self.expression(kind, depth, sight, CALLS[:4] if match[1] == "l" else CALLS)

        return re.sub("<([nifcel])>", part, template)

    def block(self, indent: str, sight: Sight, depth: int) -> list[str]:
        lines: list[str] = []
        for _ in range(int(self.pick(("1", "2", "3")))):
            template = self.pick((*LINES, *QUIET, *(HEADS * 2 if depth else ())))
            lines.append(indent + self.filled(template, indent, sight))
            if template in HEADS:
                inner = indent + self.indent
                made, seen = self.imports(inner, sight) if template != "if x:" else ([], sight)
                lines += [*made, *self.block(inner, seen, depth - 1), f"{inner}pass"]
            elif template in LINES:
                lines[-1] += self.filled(self.pick(TAILS), indent, sight)
        return lines


@st.composite
def programs(draw: Callable[[st.SearchStrategy[str]], str]) -> str:
    """Programs with nested hand-offs in every place, several on a line, and names that are imported where they are used."""
    writer = Writer(draw, draw(st.sampled_from(["    ", "\t", " "])))
    made, sight = writer.imports("", PLAIN)
    certain = ["q0 = torch\t", "t = torch.from_dlpack(jax.dlpack.to_dlpack(x))  # e0 "]
    text = "\n".join(["import jax", "import torch.utils.dlpack", *made, *certain, *writer.block("", sight, 2)])
    ends = draw(st.sampled_from(["\n", "\r\n", "\r", "\n \r\n"])).split(" ")
    lines = text.split("\n")
    return "".join(line + ends[number % len(ends)] for number, line in enumerate(lines[:-1])) + lines[-1]


GENERATED = settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


@GENERATED
@given(source=programs())
def test_generated_programs_are_repaired_once(snapshot: Snap, source: str) -> None:
    """What is repaired has nothing more to repair, whatever it was."""
    text, fixes = fix_all(snapshot(source))
    assert fixes
    assert fix_all(snapshot(text)) == (text, ())


@GENERATED
@given(source=programs(), choose=st.randoms(use_true_random=False))
def test_generated_programs_are_repaired_in_any_order(snapshot: Snap, source: str, choose: random.Random) -> None:
    """Repairs that bring no import and no variable of their own can be made one by one, whichever comes next."""
    assert one_by_one(snapshot(source), choose) == fix_all(snapshot(source))[0]


QUIET_LINE = re.compile(rb"[^\r\n]*(?:\bq\d+\b|\x0c)[^\r\n]*(?:\r\n|\r|\n|$)")
END = re.compile(rb"[ \t;]*# e\d+[^\r\n]*(?:\r\n|\r|\n|$)")
COMMENT = re.compile(rb"# in \d+")


@GENERATED
@given(source=programs(), encoding=st.sampled_from(["utf-8", "utf-8-sig", "latin-1"]))
def test_what_is_not_repaired_stays_byte_for_byte(tmp_path: Path, snapshot: Snap, source: str, encoding: str) -> None:
    """Lines without a hand-off and the ends of those with one, and comments in calls, with all white space and line ends."""
    file = tmp_path / "program.py"
    file.write_bytes(f"# coding: {encoding.removesuffix('-sig')}\n{source}".encode(encoding))
    before = read(file)
    assert isinstance(before, SourceFile)
    assert write(before, fix_all(snapshot(before.text.source))[0]) is None
    for pattern in (QUIET_LINE, END, COMMENT):
        assert pattern.findall(file.read_bytes()) == pattern.findall(before.raw)
    assert file.read_bytes().startswith(b"\xef\xbb\xbf") == (encoding == "utf-8-sig")
