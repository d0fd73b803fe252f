"""Where the parts of a schema are: its subschemas, their addresses, and what each reference points to.

The validator library resolves references for itself. This map is what it does not tell: needed to bound the work of a
schema before it is compiled, to carry defaults along references, and to explain a failure part by part.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TypeAlias
from urllib.parse import quote, unquote, urldefrag, urljoin

from interlock.core.canonical import Json
from interlock.core.errors import SchemaInvalid

Node: TypeAlias = "dict[str, Json]"

ROOT_ADDRESS = "interlock:/schema"
"""The address under which a schema is known to itself; its own `$id`, if any, comes on top."""

_ONE = frozenset(
    "additionalProperties additionalItems contains else if items not propertyNames then unevaluatedItems "
    "unevaluatedProperties contentSchema".split()
)
_LIST = frozenset("allOf anyOf items oneOf prefixItems".split())
_NAMED = frozenset("$defs definitions dependencies dependentSchemas patternProperties properties".split())
_REFERENCES = ("$ref", "$dynamicRef", "$recursiveRef")
_STANDARD = ("https://json-schema.org/", "http://json-schema.org/")


def subschemas(node: Node) -> Iterator[tuple[str, str, Json]]:
    """(keyword, JSON pointer below the node, subschema) of every direct subschema, definitions included."""
    for keyword, value in node.items():
        if isinstance(value, dict) and keyword in _NAMED:
            for name, item in value.items():
                yield keyword, f"/{escaped(keyword)}/{escaped(name)}", item
        elif isinstance(value, list) and keyword in _LIST:
            for index, item in enumerate(value):
                yield keyword, f"/{keyword}/{index}", item
        elif keyword in _ONE:
            yield keyword, f"/{keyword}", value


def escaped(token: str) -> str:
    """A name as one token of a JSON pointer (RFC 6901)."""
    return token.replace("~", "~0").replace("/", "~1")


class References:
    """The map of one schema and the documents given with it. `levels_max` bounds how deep subschemas may nest."""

    def __init__(self, root: Json, documents: Mapping[str, Json], *, levels_max: int) -> None:
        self._levels_max = levels_max
        self._resources: dict[str, Json] = {}
        self._anchors: dict[str, Node] = {}
        self._dynamic: dict[str, list[Node]] = {}
        self._bases: dict[int, str] = {}
        self._addresses: dict[int, str] = {}
        for address, document in ((ROOT_ADDRESS, root), *documents.items()):
            uri = urldefrag(address).url
            self._resources[uri] = document
            self._enter(document, base=uri, address=f"{uri}#", levels=levels_max)
        self.root = root

    def address(self, node: Node) -> str:
        """The absolute reference by which the library finds this subschema."""
        return self._addresses[id(node)]

    def known_address(self, value: Json) -> str | None:
        """The address of a value that stands in the schema as a subschema; None for any other value."""
        return self._addresses.get(id(value)) if isinstance(value, dict) else None

    def target(self, node: Node, keyword: str = "$ref") -> Json:
        """The subschema that the node's reference points to; None where it has none or it is a standard meta-schema.

        Raises SchemaInvalid for a reference that leads outside the schema and the documents given with it.
        """
        reference = node.get(keyword)
        return self._resolve(reference, self._bases[id(node)]) if isinstance(reference, str) else None

    def targets(self, node: Node) -> list[Json]:
        """Everything the node's references may point to: for a dynamic one every anchor of its name."""
        found: list[Json] = [target for keyword in _REFERENCES if (target := self.target(node, keyword)) is not None]
        dynamic = node.get("$dynamicRef")
        if isinstance(dynamic, str):
            others = self._dynamic.get(unquote(urldefrag(dynamic).fragment), [])
            found.extend(other for other in others if not any(other is one for one in found))
        return found

    def nodes(self) -> Iterator[Node]:
        """Every subschema of the schema itself, reachable or not."""
        waiting = [self.root]
        while waiting:
            node = waiting.pop()
            if isinstance(node, dict):
                yield node
                waiting.extend(child for _, _, child in subschemas(node))

    def _enter(self, node: Json, *, base: str, address: str, levels: int) -> None:
        if not isinstance(node, dict):
            return
        if levels < 0:
            raise SchemaInvalid(f"The schema nests subschemas deeper than {self._levels_max} levels.")
        base = self._named(node, base)
        self._bases[id(node)] = base
        self._addresses[id(node)] = address
        for _, pointer, child in subschemas(node):
            self._enter(child, base=base, address=address + quote(pointer), levels=levels - 1)

    def _named(self, node: Node, base: str) -> str:
        """Note the names that the node gives itself; the base for references inside it."""
        identity = node.get("$id")
        if isinstance(identity, str):
            uri, fragment = urldefrag(_joined(base, identity))
            if fragment:
                self._anchors[f"{uri}#{fragment}"] = node
            else:
                base = uri
                self._resources[base] = node
        for keyword in ("$anchor", "$dynamicAnchor"):
            name = node.get(keyword)
            if isinstance(name, str):
                self._anchors[f"{base}#{name}"] = node
                if keyword == "$dynamicAnchor":
                    self._dynamic.setdefault(name, []).append(node)
        return base

    def _resolve(self, reference: str, base: str) -> Json:
        uri, fragment = urldefrag(_joined(base, reference))
        fragment = unquote(fragment)
        if uri in self._resources:
            if fragment and not fragment.startswith("/"):
                if (anchor := self._anchors.get(f"{uri}#{fragment}")) is not None:
                    return anchor
                raise SchemaInvalid(f"The reference {shown(reference)} points to no anchor of the schema.")
            return self._pointed(uri, fragment, reference)
        if uri.startswith(_STANDARD):
            return None
        raise SchemaInvalid(
            f"The reference {shown(reference)} leads outside the schema, and nothing is fetched. "
            "Put the definition under $defs and refer to it as #/$defs/name."
        )

    def _pointed(self, uri: str, pointer: str, reference: str) -> Json:
        node = self._resources[uri]
        base = uri
        address = self._addresses.get(id(node), f"{uri}#") if isinstance(node, dict) else f"{uri}#"
        for token in pointer.split("/")[1:]:
            name = token.replace("~1", "/").replace("~0", "~")
            if isinstance(node, dict) and name in node:
                node = node[name]
            elif isinstance(node, list) and name.isascii() and name.isdigit() and int(name) < len(node):
                node = node[int(name)]
            else:
                raise SchemaInvalid(f"The reference {shown(reference)} points to nothing in the schema.")
            address = f"{address}/{quote(token)}"
            base = self._bases.get(id(node), base)
        if not isinstance(node, dict | bool):
            raise SchemaInvalid(f"The reference {shown(reference)} points to something that is no schema.")
        if isinstance(node, dict) and id(node) not in self._bases:  # it stands under a keyword that we do not know
            self._enter(node, base=base, address=address, levels=self._levels_max)
        return node


def shown(text: str) -> str:
    """A name or reference from a schema for a message: printable ASCII, at most 80 characters."""
    clean = "".join(char if char.isascii() and char.isprintable() else "?" for char in text[:80])
    return f"{clean!r}" if len(text) <= 80 else f"{clean!r} (cut)"


def _joined(base: str, reference: str) -> str:
    # urljoin drops the base of schemes that it does not know, such as urn.
    if reference.startswith("#"):
        return base + reference
    try:
        return urljoin(base, reference)
    except ValueError:
        raise SchemaInvalid(f"The reference {shown(reference)} is not a URI reference.") from None
