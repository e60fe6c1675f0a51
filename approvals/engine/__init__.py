"""What takes its time, outside of any transaction: receivers that are asked once more."""
