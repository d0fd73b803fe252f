"""What users test with: contracts for implementers, fakes and simulation."""
