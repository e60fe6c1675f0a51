"""The tests, by capability: each says what Milepost does."""
