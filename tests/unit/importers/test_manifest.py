"""A manifest registers what the decorator would, and says where it is wrong."""

from pathlib import Path

import pytest

from interlock.core.canonical import decode
from interlock.core.effect import Effect
from interlock.core.errors import SpecInvalid
from interlock.core.functions import Functions
from interlock.core.http_template import Credential, HttpError
from interlock.core.program import Program, SandboxLimits
from interlock.core.tool import ApprovalFloor, Document, ErrorContract, Localized, Risk
from interlock.declare import tool
from interlock.declare.http import http_tool
from interlock.declare.http_options import HttpLookUp
from interlock.declare.http_request import HttpParameter
from interlock.importers.manifest import declared, load_function, load_manifest
from tests.unit.importers import drafts

MANIFEST = """
tools:
  - handler: tests.unit.importers.drafts:save_draft
    effect: write
    key: [draft_id]
    resource: {type: Draft, id: draft_id}
    reconcile: tests.unit.importers.drafts:find_draft
    owner: research
    risk: high
    timeout_ms: 5000
    roles: [writer]
    approval_floor: {roles: [approver], quorum: 2}
    errors:
      - {code: STALE, nothing_happened: true}
    localized:
      zh-CN: {title: 保存草稿}
    examples:
      A draft: {draft_id: r1}
  - handler: tests.unit.importers.drafts:read_draft
    effect: read
    name: fetch_draft
    description: Fetch the draft of this id.
"""


@pytest.mark.requirement("TOOL-5")
def test_a_manifest_declares_what_the_decorator_would() -> None:
    write, read = load_manifest(MANIFEST)
    same = tool(
        effect="write",
        key=["draft_id"],
        resource=("Draft", "draft_id"),
        reconcile=drafts.find_draft,
        owner="research",
        risk=Risk.HIGH,
        timeout_ms=5_000,
        roles=["writer"],
        approval_floor=ApprovalFloor(frozenset({"approver"}), 2),
        errors=[ErrorContract("STALE", nothing_happened=True)],
        localized={"zh-CN": Localized("保存草稿")},
        examples={"A draft": {"draft_id": "r1"}},
    )(drafts.save_draft)
    assert write.spec() == same.spec()
    assert write.code == same.code
    assert (read.name, read.spec().effect) == ("fetch_draft", Effect.READ)
    assert isinstance(read.code, Functions)
    assert read.code.handler is drafts.read_draft.functions.handler


def test_a_schema_in_the_manifest_holds_and_the_function_must_fit_it() -> None:
    text = """
handler: tests.unit.importers.drafts:save_draft
effect: write
input_schema: {type: object, properties: {draft_id: {type: string, maxLength: 9}, content: {}}, required: [draft_id]}
output_schema: null
"""
    (found,) = load_manifest(text)
    schema = decode(found.spec().input_schema.text)
    assert isinstance(schema, dict)
    assert schema["properties"] == {"draft_id": {"type": "string", "maxLength": 9}, "content": {}}
    assert found.spec().output_schema is None
    with pytest.raises(SpecInvalid, match=r"tool: save_draft: the schema has other"):
        load_manifest(text.replace("content: {}", "content: {}, other: {}"))


@pytest.mark.requirement("TOOL-5")
@pytest.mark.parametrize(
    ("change", "says"),
    [
        (("effect: write", "efect: write"), r"tools\[0\]: there is no 'efect'; is it 'effect'"),
        (("effect: write", "effect: wild"), r"tools\[0\].effect: it must be one of read"),
        (("risk: high", "risk: 2"), r"tools\[0\].risk: it must be one of low"),
        (("timeout_ms: 5000", "timeout_ms: soon"), r"tools\[0\].timeout_ms: it must be a whole number"),
        (("timeout_ms: 5000", "timeout_ms: true"), "a whole number"),
        (("code: STALE", "cod: STALE"), r"tools\[0\].errors\[0\]: there is no 'cod'; is it 'code'"),
        (("code: STALE, ", ""), r"errors\[0\]: code is missing"),
        (("key: [draft_id]", "key: draft_id"), r"tools\[0\].key: it must be a list"),
        (("key: [draft_id]", "key: [draft]"), "key names 'draft'"),
        (("id: draft_id}", "ids: draft_id}"), "there is no 'ids'"),
        (("{type: Draft, id: draft_id}", "{type: Draft}"), "needs type and id"),
        (("drafts:save_draft", "drafts:save"), "cannot be loaded"),
        (("drafts:save_draft", "drafts:constant"), "is no function"),
        (("drafts:save_draft", "drafts"), "module:function"),
        (("handler: tests.unit.importers.drafts:save_draft\n    ", ""), "handler is missing"),
        (("tools:", "tool:"), "there is no 'tool'"),
    ],
)
def test_what_is_wrong_is_said_with_its_place(change: tuple[str, str], says: str) -> None:
    with pytest.raises(SpecInvalid, match=says):
        load_manifest(MANIFEST.replace(*change, 1))


@pytest.mark.parametrize("text", ["[]", "tools: {}", "tools: [1]", "", "tools: []\nmore: 1"])
def test_a_document_of_another_form_is_refused(text: str) -> None:
    with pytest.raises(SpecInvalid):
        load_manifest(text)


def test_a_file_is_named_where_it_is_wrong(tmp_path: Path) -> None:
    path = tmp_path / "tools.yaml"
    path.write_text(MANIFEST, encoding="utf-8")
    assert len(declared(path)) == 2
    path.write_text(MANIFEST.replace("effect: read", "effect: wild"), encoding="utf-8")
    with pytest.raises(SpecInvalid, match=r"tools.yaml: tools\[1\].effect"):
        declared(path)


def test_a_function_is_found_by_its_dotted_name() -> None:
    assert load_function("json.decoder:JSONDecoder.decode").__name__ == "decode"
    with pytest.raises(SpecInvalid, match="cannot be loaded"):
        load_function("no.such.module:f")


def test_a_schema_is_kept_as_it_was_written() -> None:
    (found,) = load_manifest(
        "{handler: 'm:f', effect: read, description: Do it., input_schema: {type: object, properties: {}}}",
        load=lambda _: lambda: None,
    )
    assert found.spec().input_schema == Document.of({"type": "object", "properties": {}})


PROGRAM = """
tools:
  - command: [/usr/bin/python3, count.py]
    folder: programs
    name: count_words
    description: Count the words of a page.
    effect: read
    input_schema: {type: object, properties: {page: {type: string}}}
    limits: {cpu_s: 2, memory_bytes: 268435456}
    environment: {MODE: fast}
    secret_environment: {TOKEN: api_token}
    files_in: {page: pages}
    errors: [{code: MISSING}]
    exit_codes: {"3": MISSING}
"""


@pytest.mark.requirement("TOOL-5")
def test_a_manifest_declares_a_program(tmp_path: Path) -> None:
    (tmp_path / "programs").mkdir()
    (tmp_path / "programs" / "count.py").write_text("print(1)")
    (tmp_path / "tools.yaml").write_text(PROGRAM)
    (found,) = declared(tmp_path / "tools.yaml")
    spec, code = found.spec(), found.code
    assert (spec.name, spec.effect, spec.handler.kind) == ("count_words", Effect.READ, "sandbox")
    assert spec.secrets == ("api_token",)
    assert isinstance(code, Program)
    assert (code.folder, [each.place for each in code.files]) == (str(tmp_path / "programs"), ["count.py"])
    assert (code.limits, code.exit_codes) == (SandboxLimits(cpu_s=2, memory_bytes=268_435_456), {3: "MISSING"})
    assert (code.environment, code.files_in) == ({"MODE": "fast"}, {"page": "pages"})


@pytest.mark.parametrize(
    ("was", "is_", "sentence"),
    [
        ("limits: {cpu_s", "limits: {cpu", "there is no 'cpu'; is it 'cpu_s'?"),
        ("effect: read", "effect: write", "tools[0]: count_words: nothing leaves its sandbox"),
        ("effect: read", "effect: read\n    handler: a:b", "there is no 'handler'"),
        ('"3": MISSING', "three: MISSING", "the exit code -1"),
        ("count.py]", "count.py, 3]", "count_words: command[2]: it must be text"),
        ("folder: programs", "folder: none", "count_words: there is no count.py in"),
    ],
)
def test_a_program_that_is_wrong_is_named_with_its_place(tmp_path: Path, was: str, is_: str, sentence: str) -> None:
    (tmp_path / "programs").mkdir()
    (tmp_path / "programs" / "count.py").write_text("print(1)")
    with pytest.raises(SpecInvalid) as refused:
        load_manifest(PROGRAM.replace(was, is_), folder=tmp_path)
    assert sentence in str(refused.value)


HTTP = """
tools:
  - name: place_order
    description: Place an order by its number.
    effect: write
    owner: sales
    key: [order_id]
    resource: {type: Order, id: order_id}
    method: POST
    url: https://api.example.com/v1/orders/{order_id}
    parameters:
      - {name: order_id, place: path}
      - {name: tags, place: query, schema: {type: array, items: {type: string}}, style: pipeDelimited, required: false}
      - {name: note, place: body}
    body: json
    credentials: [{secret: api_token}]
    errors: [{status: 404, code: NO_SUCH_ORDER, nothing_happened: true}]
    reconcile: {url: "https://api.example.com/v1/orders/{order_id}", parameters: [{name: order_id, place: path}]}
"""


def test_a_manifest_declares_an_http_tool_as_python_would() -> None:
    (found,) = load_manifest(HTTP)
    same = http_tool(
        name="place_order",
        description="Place an order by its number.",
        effect="write",
        owner="sales",
        key=["order_id"],
        resource=("Order", "order_id"),
        method="POST",
        url="https://api.example.com/v1/orders/{order_id}",
        parameters=[
            HttpParameter("order_id", "path"),
            HttpParameter(
                "tags", "query", {"type": "array", "items": {"type": "string"}}, required=False, style="pipeDelimited"
            ),
            HttpParameter("note", "body"),
        ],
        body="json",
        credentials=[Credential("api_token")],
        errors=[HttpError(404, "NO_SUCH_ORDER", nothing_happened=True)],
        reconcile=HttpLookUp(
            "https://api.example.com/v1/orders/{order_id}", parameters=(HttpParameter("order_id", "path"),)
        ),
    )
    assert found.spec() == same.spec()
    assert found.code == same.code


@pytest.mark.parametrize(
    ("was", "is_", "sentence"),
    [
        ("place: query", "place: nowhere", "place_order: parameters[1].place: it must be one of path, query"),
        ("status: 404", "state: 404", "there is no 'state'"),
        ("https://api.example.com/v1/orders/{order_id}\n", "https://{host}/{order_id}\n", "must be literal"),
        ("body: json", "body: json\n    handler: a:b", "there is no 'handler'"),
        ("resource: {type: Order, id: order_id}", "resource: Order", "tools[0].resource"),
    ],
)
def test_an_http_tool_that_is_wrong_is_named_with_its_place(was: str, is_: str, sentence: str) -> None:
    with pytest.raises(SpecInvalid) as refused:
        load_manifest(HTTP.replace(was, is_))
    assert sentence in str(refused.value)
    assert str(refused.value).startswith("tools[0]")


def test_a_tool_with_a_server_is_one_of_mcp(tmp_path: Path) -> None:
    (tmp_path / "server.py").write_text("x")
    text = """
tools:
  - name: find
    description: Find it.
    effect: read
    server: {url: "https://mcp.example.com/mcp", credentials: [{secret: token}]}
    tool: search
    input_schema: {type: object}
  - name: keep
    description: Keep it.
    effect: write
    resource: {type: Note, id: note}
    server: {command: [python3, server.py]}
    tool: save
    input_schema: {type: object, properties: {note: {type: string}}, required: [note]}
"""
    far, near = [each.spec() for each in load_manifest(text, folder=tmp_path)]
    assert (far.handler.kind, far.handler.target) == ("mcp", "CALL https://mcp.example.com/mcp search")
    assert near.handler.target.endswith("/python3 save")
    with pytest.raises(SpecInvalid, match="tool: find: say its server"):
        load_manifest("{name: find, description: Find it., effect: read, server: {}, tool: x, input_schema: {}}")
