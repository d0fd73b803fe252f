-- Questions and unused grants by their key: whoever asks the same again is told of these, and nobody is asked twice.
CREATE INDEX approvals_standing ON approvals (tenant, key) WHERE state IN ('pending', 'granted');
