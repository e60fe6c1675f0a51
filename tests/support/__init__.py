"""What tests stand on: servers, programs, a browser, and waiting without sleeping."""
