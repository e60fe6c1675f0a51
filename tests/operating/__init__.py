"""Running an installation: settings, `up`, health."""
