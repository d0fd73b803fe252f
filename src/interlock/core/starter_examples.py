"""The text of the examples that `interlock init` writes: of each kind that its two tools have, one or two."""

STARTER_EXAMPLES = """\
# Examples of the tools: what comes of a call, in a world that each of them describes. `interlock tools test` runs them
# against a gate of their own, where nothing real is called; so should your tests.
examples:
  - name: a note that is there
    tool: read_note
    kind: typical
    task: Look up what was written down.
    caller: {id: alice, groups: [notes]}
    arguments: {title: hello}
    world:
      answers: [{gives: Good morning.}]
    expected: {status: ok, data: Good morning., effects: 0}

  - name: a note that is not there
    tool: read_note
    kind: typical
    caller: {id: alice, groups: [notes]}
    arguments: {title: nowhere}
    world:
      answers: [{gives: null}]
    expected: {status: ok, data_schema: {type: "null"}}

  - name: somebody of another group
    tool: read_note
    kind: permission_denied
    caller: {id: mallory, groups: []}
    arguments: {title: hello}
    expected: {status: refused, code: TOOL_NOT_FOUND}

  - name: a title with a path in it
    tool: read_note
    kind: wrong
    caller: {id: alice, groups: [notes]}
    arguments: {title: ../secrets}
    expected: {status: refused, code: TOOL_ARGUMENT_INVALID}

  - name: no title
    tool: read_note
    kind: missing_argument
    caller: {id: alice, groups: [notes]}
    expected: {status: refused, code: TOOL_ARGUMENT_INVALID}

  - name: the folder does not answer
    tool: read_note
    kind: timeout
    caller: {id: alice, groups: [notes]}
    arguments: {title: hello}
    world:
      answers: [{hangs: true}]
    expected: {status: failed, code: TOOL_TIMEOUT}

  - name: under maintenance
    tool: read_note
    kind: degraded
    caller: {id: alice, groups: [notes]}
    arguments: {title: hello}
    world: {health: maintenance}
    expected: {status: failed, code: TOOL_UNAVAILABLE}

  - name: a note waits until somebody else has looked at it
    tool: save_note
    kind: approval
    task: Write something down.
    caller: {id: alice, groups: [notes]}
    arguments: {title: hello, text: Good morning.}
    expected: {status: waiting, code: APPROVAL_REQUIRED, roles: [approver], effects: 0}

  - name: a note that was approved
    tool: save_note
    kind: typical
    caller: {id: alice, groups: [notes]}
    arguments: {title: hello, text: Good morning.}
    approve: true
    world:
      answers: [{gives: hello}]
    expected: {status: ok, data: hello, effects: 1}

  - name: the same note twice is saved once
    tool: save_note
    kind: replay
    caller: {id: alice, groups: [notes]}
    arguments: {title: hello, text: Good morning.}
    approve: true
    world:
      answers: [{gives: hello}]
    expected: {status: ok, replayed: true, effects: 1}

  - name: a title that another note has
    tool: save_note
    kind: wrong
    caller: {id: alice, groups: [notes]}
    arguments: {title: hello, text: Good evening.}
    approve: true
    world:
      answers: [{fails: TITLE_TAKEN}]
    expected: {status: failed, code: TOOL_ERROR, tool_code: TITLE_TAKEN}

  - name: whether it was saved is not known
    tool: save_note
    kind: timeout
    caller: {id: alice, groups: [notes]}
    arguments: {title: hello, text: Good morning.}
    approve: true
    world:
      answers: [{hangs: true}]
    expected: {status: unknown, code: OUTCOME_UNKNOWN, effects: 1}

# What a user says, and where it has to lead. `interlock tools test --selection` tries it.
selection:
  - {words: "Read the note with the title hello.", tool: read_note}
  - {words: "Save a note that says good morning.", tool: save_note}
  - {words: "Read me the note that is called hello.", tool: save_note, kind: risk, chooses: read_note}
"""
