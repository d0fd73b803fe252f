"""Writes a document of version 2.0 as one of 3.0, as far as it maps; what does not stays where its operation says so.

Definitions keep their places, so references and pointers still lead where they led.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from interlock.core.canonical import Json

Object = dict[str, Json]

_METHODS = ("get", "put", "post", "delete", "options", "head", "patch")
_OF_PARAMETER = frozenset("name in description required collectionFormat allowEmptyValue $ref schema".split())
_STYLES: Mapping[str, tuple[str, bool]] = {
    "csv": ("form", False),
    "ssv": ("spaceDelimited", False),
    "pipes": ("pipeDelimited", False),
    "multi": ("form", True),
    "tsv": ("tabDelimited", False),
}
_JSON = "application/json"
_FORM = "application/x-www-form-urlencoded"
_MULTIPART = "multipart/form-data"


def as_openapi(root: Object) -> Object:
    """The same API in the words of 3.0."""
    schemes = {name: _scheme(each) for name, each in _object(root.get("securityDefinitions")).items()}
    paths = {path: _item(item, root) for path, item in _object(root.get("paths")).items()}
    components: Object = {"securitySchemes": dict(schemes)}
    return {**root, "paths": {**paths}, "components": components, "servers": _servers(root)}


def _servers(root: Object) -> Json:
    host, base = root.get("host"), root.get("basePath")
    path = base if isinstance(base, str) else ""
    if not isinstance(host, str):
        return [{"url": path}] if path else []
    schemes = [each for each in _list(root.get("schemes")) if each in ("https", "http")] or ["https"]
    return [{"url": f"{scheme}://{host}{path}"} for scheme in schemes]


def _scheme(given: Json) -> Json:
    if isinstance(given, dict) and given.get("type") == "basic":
        return {**given, "type": "http", "scheme": "basic"}
    return given


def _item(item: Json, root: Object) -> Json:
    """A path with its operations. Its own parameters go to each of them, since a body is none in 3.0."""
    if not isinstance(item, dict) or "$ref" in item:
        return item
    shared = _list(item.get("parameters"))
    others = {name: each for name, each in item.items() if name not in _METHODS and name != "parameters"}
    operations = {
        method: _operation(item[method], shared, root) if isinstance(item[method], dict) else item[method]
        for method in _METHODS
        if method in item
    }
    return {**others, **operations}


def _operation(operation: Json, shared: Iterable[Json], root: Object) -> Json:
    found = _object(operation)
    given = [*_resolved(_list(found.get("parameters")), root)]
    own = {(each.get("in"), each.get("name")) for each in given}
    given = [each for each in _resolved(shared, root) if (each.get("in"), each.get("name")) not in own] + given
    consumes = _texts(found.get("consumes", root.get("consumes")))
    produces = _texts(found.get("produces", root.get("produces"))) or [_JSON]
    body = _body(given, consumes)
    parameters: list[Json] = [_parameter(each) for each in given if each.get("in") not in ("body", "formData")]
    responses = {
        status: _response(_target(each, root), produces) for status, each in _object(found.get("responses")).items()
    }
    return {**found, "parameters": parameters, "responses": {**responses}, **({"requestBody": body} if body else {})}


def _parameter(given: Object) -> Object:
    if "$ref" in given:
        return given
    style: Object = {}
    form = given.get("collectionFormat", "csv")
    if given.get("type") == "array" and given.get("in") == "query":
        style["style"], style["explode"] = _STYLES.get(str(form), (str(form), False))
    elif given.get("type") == "array" and form != "csv":
        style["style"] = str(form)
    described: Object = {name: given[name] for name in ("name", "in", "description", "required") if name in given}
    return {**described, **style, "schema": _schema(given)}


def _schema(given: Object) -> Object:
    """What is said of the value of a parameter, which in 2.0 stands beside its name."""
    return {name: each for name, each in given.items() if name not in _OF_PARAMETER and not name.startswith("x-")}


def _body(given: Iterable[Object], consumes: list[str]) -> Object:
    for each in given:
        if each.get("in") == "body":
            content = {kind: {"schema": each.get("schema", {})} for kind in consumes or [_JSON]}
            described = {"description": each["description"]} if "description" in each else {}
            return {**described, "required": each.get("required", False), "content": {**content}}
    fields = [each for each in given if each.get("in") == "formData" and isinstance(each.get("name"), str)]
    if not fields:
        return {}
    has_file = any(each.get("type") == "file" for each in fields)
    kinds = [each for each in consumes if each == _MULTIPART or (each == _FORM and not has_file)]
    kind = kinds[0] if kinds else _MULTIPART if has_file else _FORM
    schema: Object = {
        "type": "object",
        "properties": {str(each["name"]): _field(each) for each in fields},
        "required": [each["name"] for each in fields if each.get("required") is True],
    }
    encoding = {
        str(each["name"]): dict[str, Json](zip(("style", "explode"), _STYLES[form], strict=True))
        for each in fields
        if each.get("type") == "array" and (form := str(each.get("collectionFormat", "csv"))) in _STYLES
    }
    required = any(each.get("required") is True for each in fields)
    return {"required": required, "content": {kind: {"schema": schema, "encoding": {**encoding}}}}


def _field(given: Object) -> Object:
    described = {"description": given["description"]} if "description" in given else {}
    schema = {**described, **_schema(given)}
    return {**schema, "type": "string", "format": "binary"} if given.get("type") == "file" else schema


def _response(given: Json, produces: list[str]) -> Json:
    if not isinstance(given, dict) or "schema" not in given:
        return given
    schema = given["schema"]
    if isinstance(schema, dict) and schema.get("type") == "file":
        schema = {"type": "string", "format": "binary"}
        produces = [kind for kind in produces if kind != _JSON] or ["application/octet-stream"]
    others = {name: each for name, each in given.items() if name != "schema"}
    return {**others, "content": {kind: {"schema": schema} for kind in produces}}


def _resolved(given: Iterable[Json], root: Object) -> list[Object]:
    found = [_target(each, root) for each in given]
    return [each for each in found if isinstance(each, dict)]


def _target(given: Json, root: Object) -> Json:
    """What a reference to a shared parameter or response means; any other is left to be refused where it stands."""
    reference = given.get("$ref") if isinstance(given, dict) else None
    if not isinstance(reference, str):
        return given
    for shared in ("parameters", "responses"):
        name = reference.removeprefix(f"#/{shared}/")
        if name != reference:
            return _object(root.get(shared)).get(name.replace("~1", "/").replace("~0", "~"), given)
    return given


def _object(value: Json) -> Object:
    return value if isinstance(value, dict) else {}


def _list(value: Json) -> list[Json]:
    return value if isinstance(value, list) else []


def _texts(value: Json) -> list[str]:
    return [each for each in _list(value) if isinstance(each, str)]
