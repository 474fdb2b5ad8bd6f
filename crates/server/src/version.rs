//! `/version`: which API this server speaks.

use serde_json::{Value, json};

/// The Kubernetes release whose API is spoken; clients compare `major` and `minor` with theirs.
const RELEASE: &str = "v1.36.2";

/// The release and this program's own version, e.g. `v1.36.2+masthead-0.1.0`.
pub fn git_version() -> String {
    format!("{RELEASE}+masthead-{}", env!("CARGO_PKG_VERSION"))
}

/// The body of `/version`.
pub fn version() -> Value {
    json!({
        "major": "1",
        "minor": "36",
        "emulationMajor": "1",
        "emulationMinor": "36",
        "minCompatibilityMajor": "1",
        "minCompatibilityMinor": "35",
        "gitVersion": git_version(),
        "gitCommit": option_env!("MASTHEAD_GIT_COMMIT").unwrap_or_default(),
        "gitTreeState": "",
        "buildDate": option_env!("MASTHEAD_BUILD_DATE").unwrap_or("1970-01-01T00:00:00Z"),
        // No Go here; the member must be there and be a string.
        "goVersion": "",
        "compiler": "rustc",
        "platform": format!("{}/{}", std::env::consts::OS, architecture()),
    })
}

/// The processor as Go spells it.
const fn architecture() -> &'static str {
    if cfg!(target_arch = "x86_64") {
        "amd64"
    } else if cfg!(target_arch = "aarch64") {
        "arm64"
    } else {
        std::env::consts::ARCH
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_members_are_there_and_text() {
        let version = version();
        let members = version.as_object().unwrap();
        assert_eq!(members.len(), 13);
        assert!(members.values().all(Value::is_string));
        assert!(git_version().starts_with("v1.36.2+masthead-"));
    }
}
