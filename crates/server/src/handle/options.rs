//! The query options of writes: dryRun, fieldManager, fieldValidation.

use masthead_api::{FieldError, Query, Status};

/// The longest name of a field manager.
const FIELD_MANAGER_CHARS_MAX: usize = 128;

/// Refuses options that mean nothing. `kind` is what upstream calls them: `CreateOptions`,
/// `UpdateOptions`, `PatchOptions`.
pub(crate) fn check(query: &Query, kind: &str) -> Result<(), Status> {
    let mut errors = Vec::new();
    if let Some(manager) = query.get("fieldManager") {
        field_manager(manager, &mut errors);
    }
    if let Some(dry_run) = query.get("dryRun")
        && dry_run != "All"
    {
        let value = serde_json::json!([dry_run]);
        errors.push(FieldError::not_supported("dryRun", value, &["All"]));
    }
    if let Some(validation) = query.get("fieldValidation")
        && !matches!(validation, "" | "Ignore" | "Warn" | "Strict")
    {
        let supported = ["", "Ignore", "Strict", "Warn"];
        errors.push(FieldError::not_supported(
            "fieldValidation",
            validation,
            &supported,
        ));
    }
    if errors.is_empty() {
        Ok(())
    } else {
        Err(Status::invalid("meta.k8s.io", kind, "", &errors))
    }
}

fn field_manager(manager: &str, errors: &mut Vec<FieldError>) {
    if manager.chars().count() > FIELD_MANAGER_CHARS_MAX {
        errors.push(FieldError::too_long(
            "fieldManager",
            FIELD_MANAGER_CHARS_MAX,
        ));
    }
    if let Some((at, c)) = manager.char_indices().find(|(_, c)| c.is_control()) {
        let detail = format!(
            "should only contain printable characters: found {:?} at position {at}",
            u32::from(c)
        );
        errors.push(FieldError::invalid("fieldManager", manager, detail));
    }
}
