"""The text of the policies that `interlock init` writes: a safe start that teaches by its comments."""

STARTER_POLICY = """\
// Who may do what with which tool, in Cedar (https://docs.cedarpolicy.com).
// What no policy permits is denied. A forbid beats every permit, and a permit that asks beats one that does not.
// A change of this file is in force once it is saved with `interlock policy save`, and not before. Until then
// `interlock policy check` says what it would change, `interlock policy explain NAME --unsaved` how it would decide.

// Reads: allowed to members of the group that owns the tool.
// A tool names its owner when it is registered; a principal brings its groups from the authenticated channel.
@id("owners-read")
permit (principal, action in Action::"read", resource)
when { principal.groups.contains(context.tool.owner) };

// Writes: the same people may propose them, and somebody else with the role "approver" decides within eight hours.
// @approval is what makes this permit an ask. More of it: @quorum("2"), @self_approval("allowed"), several roles
// with commas between them. A tool can be singled out by its name: action == Action::"save_draft".
@id("owners-write-after-approval")
@approval("approver")
@lifetime("8h")
@reason("It changes something outside; somebody else looks at it first.")
permit (principal, action in [Action::"write", Action::"idempotent_write"], resource)
when { principal.groups.contains(context.tool.owner) };

// What cannot be undone: nobody, until you decide otherwise. Then write a permit with @approval and @quorum,
// and narrow this forbid with `unless`.
@id("nothing-destructive")
@reason("Destructive tools are switched off.")
forbid (principal, action in Action::"destructive", resource);

// Further examples, to be taken out of their comments:
//
// Nothing leaves the house once confidential data was read in the run (0 public ... 3 restricted):
//   @id("no-leak")
//   forbid (principal, action, resource)
//   when { context.tool.external && context.run.confidentiality >= 2 };
"""
