"""What a person is asked, who may answer, and what an answer binds."""
