"""What pages of decisions need besides their templates: the first page, the filter of the list."""
