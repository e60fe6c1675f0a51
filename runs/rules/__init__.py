"""What is true of runs: pure functions, enums and tables of moves."""
