"""How tests look in the syntax trees of each language: the roles of nodes, and the names that frameworks give to
tests, assertions and skips."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

Role = Literal[
    "function", "class", "call", "member", "comment", "mark", "assert", "return", "handler", "loop", "named", "if",
    "word", "dead", "import",
]  # fmt: skip

_ROLES: Mapping[Role, str] = {
    "function": """function_definition function_declaration generator_function_declaration method_definition
        method_declaration function_item method singleton_method arrow_function function_expression lambda func_literal
        closure_expression lambda_expression anonymous_function""",
    "class": "class_definition class_declaration class mod_item record_declaration",
    "call": """call call_expression method_invocation function_call_expression member_call_expression
        nullsafe_member_call_expression scoped_call_expression macro_invocation""",
    "member": """member_expression attribute selector_expression field_expression field_access
        member_access_expression non_null_expression""",
    "comment": "comment line_comment block_comment",
    "mark": "decorator attribute_item annotation marker_annotation attribute_list inner_attribute_item",
    "assert": "assert_statement",
    "return": "return_statement return_expression return",
    "handler": "except_clause catch_clause rescue rescue_modifier",
    "loop": """for_statement for_in_clause for_in_statement range_clause for_expression enhanced_for_statement
        foreach_statement for""",
    "named": """assignment variable_declarator short_var_declaration var_spec const_spec let_declaration const_item
        static_item assignment_expression const_element""",
    "if": "if_statement if_expression if while_statement",
    "word": "identifier",
    "import": "import_statement",
}
ROLES: Mapping[str, Role] = {name: role for role, names in _ROLES.items() for name in names.split()}
_ARRAY_TYPES = """
list tuple set dictionary array object array_creation_expression literal_value element_value_array_initializer
array_initializer array_expression
"""
ARRAYS = frozenset(_ARRAY_TYPES.split())

_ASSERT = (
    r"(?:[a-z]+_)?(?<![\w$])[Aa]ssert\w*!?(?:(?:\.|::|->)\w+){0,2}|(?:[a-z]+_)(?:assert|expect)\w*!?"
    r"|(?:is_|and)?[eE]xpect(?:ed|[A-Z_]\w*)?(?:\.(?:soft|poll|element|assertions|hasAssertions|fail))?"
    r"|verify|refute\w*|should\w*(?:\.\w+){0,6}|(?:must|wont)_\w+|flunk|fail"
)


@dataclass(frozen=True, slots=True)
class Language:
    """The names of one language. All patterns are searched in the text of a callee, a mark or a call."""

    asserts: re.Pattern[str]
    skip_call: re.Pattern[str]
    skip_mark: re.Pattern[str]
    exits: re.Pattern[str]
    case_function: re.Pattern[str]
    case_mark: re.Pattern[str]
    case_call: re.Pattern[str]
    """The callee of a test that is a call with a title."""
    group_call: re.Pattern[str]
    case_skip: re.Pattern[str]
    """Marks that skip where they stand before a test."""
    table_call: re.Pattern[str]
    table_mark: re.Pattern[str]
    """Marks each of which is one case of a test."""


_NEVER = "(?!)"


def _language(
    *,
    asserts: str = _NEVER,
    skip_call: str = _NEVER,
    skip_mark: str = _NEVER,
    exits: str = _NEVER,
    case_function: str = _NEVER,
    case_mark: str = _NEVER,
    **rest: str,
) -> Language:
    return Language(
        asserts=re.compile(rf"(?:^|[^\w$])(?:{_ASSERT}|{asserts})$"),
        skip_call=re.compile(rf"(?:^|[^\w$])(?:{skip_call})$"),
        skip_mark=re.compile(skip_mark),
        exits=re.compile(rf"(?:^|[^\w$.])(?:{exits})"),
        case_function=re.compile(rf"^(?:{case_function})$"),
        case_mark=re.compile(case_mark),
        case_call=re.compile(rf"^(?:{rest.get('case_call', _NEVER)})$", re.DOTALL),
        group_call=re.compile(rf"^(?:{rest.get('group_call', _NEVER)})$", re.DOTALL),
        case_skip=re.compile(rest.get("case_skip", _NEVER)),
        table_call=re.compile(rf"(?:^|\.)(?:{rest.get('table_call', _NEVER)})$"),
        table_mark=re.compile(rest.get("table_mark", _NEVER)),
    )


_VARIANT = r"(?:\.(?:only|skip|todo|each|concurrent|failing|fails|fixme|serial|sequential|skipIf|runIf|for|if|slow|cb))"
_TABLE = r"(?:\s*[(`<].*)?"
_JS_GROUP = "describe|suite|context"
_PYTHON = _language(
    asserts=r"pytest\.(?:raises|warns|deprecated_call)|raises|AssertionError",
    skip_call=r"pytest\.(?:skip|xfail|importorskip)|skipTest|(?<![\w.])(?:skip|xfail|importorskip)|SkipTest"
    r"|mark\.(?:skip|skipif|xfail)|unittest\.(?:skip\w*|expectedFailure)",
    skip_mark=r"^@(?:skip(?:If|Unless)?|expectedFailure)\b",
    exits=r"sys\.exit\((?:0|None)?\)|os\._exit\(0\)|SystemExit(?:\((?:0|None)?\))?$",
    case_function=r"test\w*",
    table_call="parametrize|expand|fixture|subTest",
)
_JAVASCRIPT = _language(
    asserts=r"require\(['\"](?:node:)?assert(?:/strict)?['\"]\)(?:\.strict)?(?:\.\w+)?"
    r"|(?:t|st|tt|tap)\.(?:is|not|equals?|deepEqual|notEqual|true|false|truthy|falsy|ok|notOk|throws|notThrows|rejects"
    r"|resolves|same|notSame|like|regex|match|has|strictSame|strictEqual|hasStrict|error|doesNotThrow)\w*",
    skip_call=rf"(?:it|test|specify|t|tap|{_JS_GROUP})(?:\.\w+)*\.(?:skip|only|todo|failing|fails|fixme|skipIf|runIf)"
    r"|(?<!\.)(?:x(?:it|test|specify|describe|context|suite)|f(?:it|describe|context))|(?:this|ctx|context)\.(?:skip|todo)",
    exits=r"(?:process|Deno)\.exit\(0?\)|process\.exitCode\s*=\s*0\b",
    case_call=rf"(?:[xf]?it|x?test|x?specify|Deno\.test|(?:t|st|tt|tap|ctx|child|sub)\.test){_VARIANT}*{_TABLE}",
    group_call=rf"(?:[xf]?(?:{_JS_GROUP})|test\.describe){_VARIANT}*{_TABLE}",
    table_call="each|for",
)
_LANGUAGES: Mapping[str, Language] = {
    "python": _PYTHON,
    "javascript": _JAVASCRIPT,
    "typescript": _JAVASCRIPT,
    "tsx": _JAVASCRIPT,
    "go": _language(
        asserts=r"require\.\w+|(?:[tbf]|T\(\))\.(?:Error|Fatal|Fail)\w*|Expect|Ω|Eventually|Consistently"
        r"|(?:s|suite|is|Require\(\)|Assert\(\)|r|a|c)\.(?:Not)?(?:Equal|True|False|Nil|NoError|Error|Len|Empty|Contains"
        r"|Panics|Greater|Less|Zero|Same|ElementsMatch|JSONEq|InDelta|Exactly|Regexp|FailNow)\w*",
        skip_call=r"(?:[tbf]|T\(\))\.Skip(?:Now|f)?",
        skip_mark=r"^//(?:go:build|\s*\+build)\b",
        exits=r"os\.Exit\(0\)",
        case_function=r"(?:Test(?!Main$)|Fuzz|Example)\w*",
        case_call=r"\w+\.Run",
    ),
    "rust": _language(
        asserts=r"panic!|unreachable!",
        skip_mark=r"^#!?\[\s*(?:ignore\b|cfg_attr\([^\]]*\bignore\b)",
        exits=r"(?:std::)?process::exit\(0\)",
        case_mark=r"#\[\s*(?:\w+::)*(?:test|rstest|test_case)\b",
        case_skip=r"#\[\s*cfg\((?!\s*test\s*\))",
        table_mark=r"^#\[\s*(?:\w+::)*(?:test_)?case\b",
    ),
    "java": _language(
        skip_call=r"assume\w*",
        skip_mark=r"^@(?:\w+\.)*(?:Disabled\w*|Ignore|Enabled\w*)\b|\benabled\s*=\s*false",
        exits=r"System\.exit\(0\)",
        case_mark=r"@(?:\w+\.)*(?:\w*Test|TestFactory|TestTemplate|Property)\b",
        table_call="of|asList",
    ),
    "ruby": _language(
        asserts=r"_\([^()]*\)\.\w+",
        skip_call=r"(?<!\.)(?:x(?:it|describe|context|specify|example)|f(?:it|describe|context|specify|example)|skip|pending)",
        exits=r"exit!?(?:\((?:0|true)?\))?$",
        case_function=r"test_\w+",
        case_call=r"[xf]?(?:it|specify|example|test|scenario)",
        group_call=r"(?:RSpec\.)?[xf]?(?:describe|context|feature)",
        table_call="each|each_with_index|map",
    ),
    "php": _language(
        skip_call=r"markTest(?:Skipped|Incomplete)|expectNotToPerformAssertions|->(?:skip|todo|only)",
        skip_mark=r"#\[\s*\\?(?:\w+\\)*(?:Requires\w*|DoesNotPerformAssertions)\b|@requires\b|@doesNotPerformAssertions\b",
        exits=r"(?:exit|die)\(0?\)",
        case_function=r"test\w+",
        case_mark=r"#\[\s*\\?(?:\w+\\)*Test\b|\*\s*@test\b",
        case_call=r"it|test",
        group_call="describe",
        table_mark=r"#\[\s*\\?(?:\w+\\)*TestWith\w*\b",
    ),
}


def language_of(grammar: str) -> Language:
    """The names of the language with that grammar."""
    return _LANGUAGES[grammar]
