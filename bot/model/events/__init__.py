"""Events of runs and of pull request checks: what was recorded, as typed values. State is a fold over them."""
