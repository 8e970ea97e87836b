"""Models that open and then crash the runtime, never end, take all memory or fail; as text."""

from __future__ import annotations

import onnx
import onnx.parser

_HEAD = '<ir_version: 8, opset_import: ["" : 17]>\n'
#: The smallest integer divided by -1 is beyond the range of integers: the processor stops the process (SIGFPE).
_CONSTANTS = (
    "int64 low = {-9223372036854775808}, int64 minus = {-1}, int64 one = {1}, int64 seven = {7}, bool yes = {1}"
)

CRASH = f"""g (int64[4] x) => (int64[4] y) <{_CONSTANTS}> {{
    [zero] z = Sub (x, x)
    [smallest] a = Add (z, low)
    [negative] b = Add (z, minus)
    [divide] d = Div (a, b)
    [last] y = Add (d, one)
}}"""

#: Fails in round 7 of the loop.
CRASH_IN_LOOP = f"""g (int64[1] x) => (int64[1] y) <{_CONSTANTS}, int64 ten = {{10}}> {{
    [first] p = Add (x, one)
    [loop] y = Loop <body = b (int64 i, bool before, int64[1] v) => (bool after, int64[1] w) {{
        [again] after = Identity (before)
        [count] k = Sub (i, seven)
        [nothing] q = Sub (v, v)
        [smallest] s = Add (q, low)
        [divide] w = Div (s, k)
    }}> (ten, yes, p)
}}"""

CRASH_IN_BRANCH = f"""g (int64[1] x) => (int64[1] y) <{_CONSTANTS}> {{
    [nothing] z = Sub (x, x)
    [choose] y = If (yes) <
        then_branch = t () => (int64[1] p) {{
            [smallest] s = Add (z, low) [n] m = Add (z, minus) [divide] p = Div (s, m)
        }},
        else_branch = e () => (int64[1] q) {{ [same] q = Identity (z) }}
    >
}}"""

CRASH_IN_SCAN = f"""g (int64[9] x) => (int64[9] y)
<{_CONSTANTS}, int64[9] counts = {{-7, -6, -5, -4, -3, -2, -1, 0, 1}}>
{{
    [nothing] z = Sub (x, x)
    [list] c = Add (z, counts)
    [start] e = Sub (one, one)
    [scan] last, y = Scan <num_scan_inputs = 1, body = b (int64 state, int64 v) => (int64 kept, int64 w) {{
        [keep] kept = Add (state, v)
        [smallest] s = Add (low, e)
        [divide] w = Div (s, v)
    }}> (e, c)
}}"""

ENDLESS = f"""g (int64[1] x) => (int64[1] y) <{_CONSTANTS}> {{
    [first] p = Add (x, one)
    [loop] y = Loop <body = b (int64 i, bool before, int64[1] v) => (bool after, int64[1] w) {{
        [again] after = Identity (before)
        [count] w = Add (v, i)
    }}> (, yes, p)
}}"""

LONG_LOOP = ENDLESS.replace("(, yes, p)", "(many, yes, p)").replace(
    "int64 low", "int64 many = {900000000000}, int64 low"
)

HUNGRY = """g (int64[1] x) => (float y) <int64 size = {25000000000}> {
    [nothing] z = Sub (x, x)
    [shape] s = Add (z, size)
    [fill] e = ConstantOfShape (s)
    [sum] y = ReduceSum <keepdims = 0> (e)
}"""

#: Doubles its tensor in every round.
GROWING = """g (float[1000000] x) => (float[n] y) <int64 many = {100000}, bool yes = {1}> {
    [loop] y = Loop <body = b (int64 i, bool before, float[m] v) => (bool after, float[k] w) {
        [again] after = Identity (before)
        [double] w = Concat <axis = 0> (v, v)
    }> (many, yes, x)
}"""

FAILING = """g (int64[4] x, float[5] t) => (float[4] y) <int64 far = {1000000000000}> {
    [shift] a = Add (x, far)
    [look_up] y = Gather (t, a)
}"""

FAILING_IN_LOOP = """g (float[4] x) => (float[4] y) <int64 ten = {10}, bool yes = {1}> {
    [loop] y = Loop <body = b (int64 i, bool before, float[4] v) => (bool after, float[4] w) {
        [again] after = Identity (before)
        [bad] c = Gather <axis = 0> (v, i)
        [add] w = Add (v, c)
    }> (ten, yes, x)
}"""

#: The runtime has no such kernel in this element type.
REFUSED = """g (float[4] x) => (float[4] y) {
    [down] a = Cast <to = 16> (x)
    [arc] b = Asin (a)
    [up] y = Cast <to = 1> (b)
}"""


def bad_run(text: str) -> bytes:
    """The model's bytes."""
    return bytes(onnx.parser.parse_model(_HEAD + text).SerializeToString())
