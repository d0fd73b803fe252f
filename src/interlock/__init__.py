"""Interlock takes the authority to execute back from AI models: they propose, the gate decides, a runner executes."""
