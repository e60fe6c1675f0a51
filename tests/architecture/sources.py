"""Where the project's own files are, for the tests that read them."""

from pathlib import Path

from config.environment import ROOT

# Read on its own, away from the site: a report that is kept, mailed, downloaded.
DOCUMENTS = {ROOT / "runs" / "examples" / "templates" / "examples" / "report.html"}
PACKAGES = ("config", "runs", "approvals", "monitors")


def project_modules() -> list[Path]:
    found = [path for package in PACKAGES for path in (ROOT / package).rglob("*.py")]
    return sorted(path for path in found if "migrations" not in path.parts)


def view_modules() -> list[Path]:
    return [path for path in project_modules() if "views" in path.parts or path.stem == "views"]


def templates() -> list[Path]:
    places = [ROOT / "templates", *(ROOT / package for package in PACKAGES)]
    found = {path for place in places for path in place.rglob("*.html")}
    return sorted(found - DOCUMENTS)


def own_static_files() -> list[Path]:
    """Stylesheets and scripts written here; what is vendored stands below static/vendor."""
    found = [*(ROOT / "static").rglob("*.css"), *(ROOT / "static").rglob("*.js")]
    return sorted(path for path in found if "vendor" not in path.parts)


def commands() -> list[Path]:
    found = [
        path for package in PACKAGES for path in (ROOT / package).glob("management/commands/*.py")
    ]
    return sorted(path for path in found if path.stem != "__init__")
