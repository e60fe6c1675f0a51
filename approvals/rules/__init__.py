"""What is true of decisions: who may answer, what an answer must hold, what is shown of it."""
