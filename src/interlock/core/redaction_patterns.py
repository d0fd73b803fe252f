"""What a secret looks like: the names of keys that hold one, and the shapes that credentials have.

Each shape has two expressions. `trigger` is searched in serialized JSON, once for a whole value, so it must be found
wherever `find` would match a decoded string: it has no word boundary on its left, since a line break before a word
is `\\n` there, and it meets only characters that JSON does not escape. `find` is exact and runs only after a hit.
Both run on bytes in RE2: linear time, whatever the input.
"""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import lru_cache

import re2

from interlock.core.errors import RedactionInvalid
from interlock.core.frozen import frozen

Confirm = Callable[[bytes], bool]

GAP = r"[ _.\-]{0,2}"
_BLANK = r"(?:\s|\\[fnrt])*"
_SEPARATOR = "(?:[:=]|：)"
_QUOTED = (
    # A string in JSON that is itself a string in JSON.
    r"\\\"(?:[^\"\\]|\\[^\"\\]|\\\\(?:\\.|[^\"\\]))*"
    r"|\"(?:[^\"\\]|\\.)*"
    r"|'(?:[^'\\]|\\.)*"
)


@frozen
class Rule:
    """One shape. Group 1 of `find` is what gets masked, or the whole match where there is no group.

    An empty `trigger` means that nothing cheaper than `find` can tell: every string is then searched.
    """

    name: str
    trigger: str
    find: str
    confirm: Confirm | None = None


@frozen
class Vocabulary:
    """What is redacted without knowing the value.

    `heads` are the words that a secret's name ends with (`a b` stands for a_b, a-b, aB, ab); `words` count only where
    they stand alone or after a separator; `spared` are endings of names that hold no secret although a head says so.
    """

    heads: tuple[str, ...] = ()
    words: tuple[str, ...] = ()
    spared: tuple[str, ...] = ()
    rules: tuple[Rule, ...] = ()

    def extended(self, keys: Iterable[str], patterns: Iterable[str]) -> Vocabulary:
        """This vocabulary with key names and RE2 expressions of the user's own."""
        rules = (Rule(f"pattern {number}", "", pattern) for number, pattern in enumerate(patterns, 1))
        words = tuple(" ".join(re.findall(r"[^\W_]", key)).lower() for key in keys)
        return replace(self, words=(*self.words, *filter(None, words)), rules=(*self.rules, *rules))

    @property
    def has_names(self) -> bool:
        """Whether any key name counts."""
        return bool(self.heads or self.words)


def is_secret_name(name: str, vocabulary: Vocabulary) -> bool:
    """Whether a key of this name holds a secret: `apiKey`, `new_password2`; not `max_tokens`, `next_page_token`."""
    secret, spared = _name_patterns(vocabulary)
    end = name[-80:].lower()
    return secret.search(end) is not None and spared.search(end) is None


@frozen
class Expressions:
    """A vocabulary, compiled. `unscanned`: there are rules that `scan` cannot speak for."""

    scan: re2.Set
    finds: tuple[tuple[re2._Regexp, Confirm | None], ...]
    assignments: tuple[re2._Regexp, ...]
    unscanned: bool


@lru_cache(maxsize=64)
def expressions(vocabulary: Vocabulary) -> Expressions:
    """The compiled vocabulary; RedactionInvalid where a rule of the user's is no usable RE2 expression."""
    rules = vocabulary.rules
    names = vocabulary.has_names
    triggers = [rule.trigger for rule in rules if rule.trigger] + ([name_trigger(vocabulary)] if names else [])
    forms = (assignment(vocabulary), option(vocabulary)) if names else ()
    return Expressions(
        scan=compile_set([trigger.encode() for trigger in triggers]),
        finds=tuple((_compile_find(rule), rule.confirm) for rule in rules),
        assignments=tuple(compile_bytes(form.encode()) for form in forms),
        unscanned=any(not rule.trigger for rule in rules),
    )


def compile_bytes(expression: bytes) -> re2._Regexp:
    """An expression over bytes."""
    return re2.compile(expression, _options(len(expression)))


def finder(scan: re2.Set) -> Callable[[bytes], Sequence[int] | None]:
    """What a set finds in bytes, without the layer around it that would encode texts, where there is one."""
    finds: Callable[[bytes], Sequence[int] | None] = getattr(scan, "_set", scan).Match
    return finds


def compile_set(alternatives: list[bytes]) -> re2.Set:
    """A quick search over bytes that says whether any alternative is there."""
    scan = re2.Set.SearchSet(_options(sum(map(len, alternatives))))
    for each in alternatives:
        scan.Add(each)
    scan.Compile()
    return scan


def _options(size: int) -> re2.Options:
    options = re2.Options()
    options.encoding = re2.Options.Encoding.LATIN1
    options.log_errors = False
    options.max_mem = (32 << 20) + 512 * size
    return options


def _compile_find(rule: Rule) -> re2._Regexp:
    if rule.trigger:
        return compile_bytes(rule.find.encode())
    options = _options(len(rule.find))
    options.encoding = re2.Options.Encoding.UTF8
    try:
        found = re2.compile(rule.find.encode(), options)
    except re2.error as fault:
        raise RedactionInvalid(f"The redaction {rule.name} is not an RE2 expression: {fault}") from None
    if found.search(b"") is not None:
        raise RedactionInvalid(f"The redaction {rule.name} matches an empty text, so it would mask everything.")
    return found


def name_expression(vocabulary: Vocabulary) -> str:
    """The names, as an expression without groups, to be followed by what comes after a name."""
    heads = "|".join(map(_spaced, vocabulary.heads))
    words = "|".join(map(_spaced, vocabulary.words))
    either = (heads, rf"(?:^|[^a-z0-9]|\\[bfnrt])(?:{words})" if words else "")
    tails = "|".join(_TAILS)
    return rf"(?:{'|'.join(filter(None, either))})(?:{GAP}(?:{tails}))?{GAP}[0-9]{{0,4}}[ _.\-\]]{{0,2}}"


def name_trigger(vocabulary: Vocabulary) -> str:
    """A name followed by a separator, or a command-line option with a value, in text or serialized JSON."""
    name = name_expression(vocabulary)
    return rf"(?i)(?:{name}(?:\\*[\"'])?{_BLANK}{_SEPARATOR}|--[a-z0-9\-]*{name}{_BLANK})"


def assignment(vocabulary: Vocabulary) -> str:
    """A name, a separator, and a value in text: group 1 ends with the name, group 2 is the value and its open quote."""
    name = name_expression(vocabulary)
    bare = r"[^\s\"'&;,)}\]>\\{\[][^\s\"'&;,)}\]>\\]*"
    return rf"(?is)({name})(?:\\*[\"'])?\s*{_SEPARATOR}\s*({_QUOTED}|{bare})"


def option(vocabulary: Vocabulary) -> str:
    """A command-line option and its value, with the groups of an assignment."""
    return rf"(?is)(--[a-z0-9\-]*{name_expression(vocabulary)})[ \t]+({_QUOTED}|[^\s\"'\-\[][^\s\"']*)"


def _spaced(words: str) -> str:
    return GAP.join(map(re.escape, words.split()))


@lru_cache(maxsize=64)
def _name_patterns(vocabulary: Vocabulary) -> tuple[re.Pattern[str], re.Pattern[str]]:
    never = r"(?!)"
    spared = "|".join(map(_spaced, vocabulary.spared)) or never
    secret = name_expression(vocabulary) if vocabulary.has_names else never
    return re.compile(rf"{secret}\Z"), re.compile(rf"(?:{spared})[ _.\-\]]{{0,2}}\Z")


def _has_digit(found: bytes) -> bool:
    return any(48 <= byte <= 57 for byte in found)


def _is_bearer(found: bytes) -> bool:
    """Tells a token from the next word of a sentence about bearer authentication."""
    return _has_digit(found) or len(found) >= 24


def _is_user_and_password(found: bytes) -> bool:
    try:
        return b":" in base64.b64decode(found + b"=" * (-len(found) % 4), validate=True)
    except binascii.Error:
        return False


def passes_luhn(found: bytes) -> bool:
    """Whether the digits carry the check digit of a payment card."""
    digits = [byte - 48 for byte in reversed(found) if 48 <= byte <= 57]
    doubled = (sum(divmod(2 * digit, 10)) for digit in digits[1::2])
    return (sum(digits[::2]) + sum(doubled)) % 10 == 0


_TAILS = (
    *("value", "string", "plain", "plaintext", "hash", "raw", "base64", "b64", "pem", "header", "bytes"),
    *("confirm", "confirmation", "again", "repeat", "old", "new", "current"),
)
_TOKEN_KINDS = "access refresh auth api bearer id session csrf xsrf oauth device security personal".split()
_HEADS = (
    *("pass word", "pass words", "passwd", "pwd", "pass phrase", "pass code", "secret", "secrets", "credential"),
    *("credentials", "creds", "authorization", "cookie", "cookies", "bearer", "token"),
    *(f"{kind} tokens" for kind in _TOKEN_KINDS),
    *("api key", "api keys", "access key", "secret key", "private key", "private keys", "signing key"),
    *("encryption key", "account key", "shared key", "master key", "subscription key", "auth key", "ssh key"),
    *("session key", "deploy key", "connection string", "client assertion", "seed phrase", "mcp session id"),
    *(f"{owner} pass" for owner in ("db", "user", "root", "admin", "smtp", "ftp", "ssh", "redis", "my")),
    *("密码", "口令", "密钥", "令牌"),
)
# Cursors, places in a model's vocabulary, and counts.
_SPARED = tuple(
    f"{kind} token"
    for kind in (
        *("page", "next", "previous", "prev", "continuation", "continue", "pagination", "sync", "cursor", "progress"),
        *("cancel", "cancellation", "fencing", "eos", "bos", "pad", "unk", "sep", "cls", "mask", "stop", "special"),
        *("max", "min", "per", "num", "total"),
    )
)

_RULES = (
    Rule(
        "header line",
        r"(?i)(?:authorization|cookie)(?:\s|\\[fnrt])*[:=]",
        r"(?i)(?:authorization|cookie)[ \t]*[:=][ \t]*([^\s\"'\\][^\r\n\"]*)",
    ),
    Rule(
        "private key",
        r"-----BEGIN [A-Z0-9 ]*PRIVATE KEY",
        r"(?s)-----BEGIN [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----.*?(?:-----END [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----|\z)",
    ),
    Rule(
        "bearer",
        r"(?i)bearer(?:[\s:]|\\[fnrt])+[a-z0-9\-._~+/]{8}",
        r"(?i)\bbearer[\s:]+([a-z0-9\-._~+/]{8,}=*)",
        _is_bearer,
    ),
    Rule(
        "basic",
        r"(?i)basic(?:[\s:]|\\[fnrt])+[a-z0-9+/]{8}",
        r"(?i)\bbasic[\s:]+([a-z0-9+/]{8,}=*)",
        _is_user_and_password,
    ),
    Rule("url", r"://[^/\s\"@]*:[^/\s\"@]+@", r"://[^/\s\"@:\\]*:([^/\s\"@]+)@"),
    Rule(
        "jwt",
        r"eyJ[A-Za-z0-9_\-]{8,}\.[A-Za-z0-9_\-]",
        r"eyJ[A-Za-z0-9_\-]{8,}\.[A-Za-z0-9_\-]+(?:\.[A-Za-z0-9_\-]*){0,3}",
    ),
    Rule("aws", r"A(?:KIA|SIA|BIA|CCA)[A-Z0-9]{16}", r"\bA(?:KIA|SIA|BIA|CCA)[A-Z0-9]{16}\b"),
    *(
        Rule(name, shape, shape)
        for name, shape in (
            ("github", r"gh[pousr]_[A-Za-z0-9]{20,}|github_pat_[A-Za-z0-9_]{20,}"),
            ("gitlab", r"glpat-[A-Za-z0-9_\-]{16,}"),
            ("slack", r"xox[abceoprs]-[A-Za-z0-9\-]{10,}|xapp-[0-9]-[A-Za-z0-9\-]{10,}"),
            ("slack hook", r"hooks\.slack\.com/services/[A-Za-z0-9/]{20,}"),
            ("stripe", r"[srp]k_(?:live|test)_[A-Za-z0-9]{10,}|whsec_[A-Za-z0-9+/]{16,}=*"),
            ("google", r"AIza[A-Za-z0-9_\-]{35}|GOCSPX-[A-Za-z0-9_\-]{20,}|ya29\.[A-Za-z0-9_\-]{20,}"),
            ("registry", r"npm_[A-Za-z0-9]{36}|pypi-[A-Za-z0-9_\-]{16,}|hf_[A-Za-z0-9]{30,}"),
            ("sendgrid", r"SG\.[A-Za-z0-9_\-]{16,}\.[A-Za-z0-9_\-]{16,}"),
        )
    ),
    Rule("model provider", r"sk-[A-Za-z0-9_\-]{20,}", r"\bsk-[A-Za-z0-9_\-]{20,}", _has_digit),
)

STANDARD = Vocabulary(
    heads=_HEADS,
    words=("auth", "otp", "totp", "cvv", "cvc", "jwt", "mnemonic"),
    spared=_SPARED,
    rules=_RULES,
)
NOTHING = Vocabulary()
PAYMENT_CARD = Rule(
    "payment card",
    r"[3-6][0-9]{3}[ \-]?[0-9]{4,6}[ \-]?[0-9]{4,5}",
    r"\b(?:(?:4[0-9]{3}|5[1-5][0-9]{2}|2[2-7][0-9]{2}|6011)(?:[ \-]?[0-9]{4}){3}"
    r"|3[47][0-9]{2}[ \-]?[0-9]{6}[ \-]?[0-9]{5})\b",
    passes_luhn,
)
