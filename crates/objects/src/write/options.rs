//! [`WriteOptions`]: the query parameters of a create, an update or a patch.

use masthead_api::{FieldError, PatchType, Query, Status};
use serde_json::Value;

/// Longest name of a field manager.
const MANAGER_BYTES_MAX: usize = 128;

/// Which kind of write the options are of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OptionsOf {
    /// POST
    Create,
    /// PUT
    Update,
    /// PATCH
    Patch(PatchType),
}

/// What to do about members that are unknown or there twice.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum FieldValidation {
    /// Drop them.
    Ignore,
    /// Drop them and warn.
    #[default]
    Warn,
    /// Refuse the object.
    Strict,
}

/// How a write is to be done.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WriteOptions {
    /// Is nothing to be stored?
    pub dry_run: bool,
    /// Who writes; empty if it is not said.
    pub field_manager: String,
    /// What to do about strange members.
    pub field_validation: FieldValidation,
    /// Does an apply take over fields that others own?
    pub force: bool,
}

impl WriteOptions {
    /// Reads the options of a write from its query.
    ///
    /// # Errors
    /// 422 for options that make no sense.
    pub fn decode(of: OptionsOf, query: &Query) -> Result<Self, Status> {
        let mut errors = Vec::new();
        let manager = query.get("fieldManager").unwrap_or_default();
        let force = query.boolean("force");
        match of {
            OptionsOf::Create | OptionsOf::Update => {}
            OptionsOf::Patch(PatchType::Apply) => {
                if manager.is_empty() {
                    errors.push(FieldError::required(
                        "fieldManager",
                        "is required for apply patch",
                    ));
                }
            }
            OptionsOf::Patch(_) => {
                if force.is_some() {
                    let detail = "may not be specified for non-apply patch";
                    errors.push(FieldError::forbidden("force", detail));
                }
            }
        }
        check_manager(manager, &mut errors);
        let dry_run: Vec<&str> = query
            .get_all("dryRun")
            .filter(|value| !value.is_empty())
            .collect();
        if dry_run.iter().any(|value| *value != "All") {
            let given: Vec<Value> = dry_run.iter().map(|value| Value::from(*value)).collect();
            errors.push(FieldError::not_supported("dryRun", given, &["All"]));
        }
        let given = query.get("fieldValidation").unwrap_or_default();
        let field_validation = match given {
            "" | "Warn" => FieldValidation::Warn,
            "Ignore" => FieldValidation::Ignore,
            "Strict" => FieldValidation::Strict,
            other => {
                let known = ["", "Ignore", "Strict", "Warn"];
                errors.push(FieldError::not_supported("fieldValidation", other, &known));
                FieldValidation::default()
            }
        };
        if !errors.is_empty() {
            return Err(Status::invalid("meta.k8s.io", of.kind(), "", &errors));
        }
        Ok(Self {
            dry_run: !dry_run.is_empty(),
            field_manager: manager.to_owned(),
            field_validation,
            force: force.unwrap_or(false),
        })
    }
}

impl OptionsOf {
    const fn kind(self) -> &'static str {
        match self {
            Self::Create => "CreateOptions",
            Self::Update => "UpdateOptions",
            Self::Patch(_) => "PatchOptions",
        }
    }
}

fn check_manager(manager: &str, errors: &mut Vec<FieldError>) {
    if manager.len() > MANAGER_BYTES_MAX {
        errors.push(FieldError::too_long("fieldManager", MANAGER_BYTES_MAX));
    }
    if let Some((at, letter)) = manager
        .char_indices()
        .find(|(_, letter)| letter.is_control())
    {
        let number = u32::from(letter);
        let detail = format!("invalid character U+{number:04X} (at position {at})");
        errors.push(FieldError::invalid("fieldManager", manager, detail));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(of: OptionsOf, query: &str, message: &str) {
        let refusal = WriteOptions::decode(of, &Query::parse(query).unwrap()).unwrap_err();
        assert_eq!(
            (refusal.code, refusal.message.as_str()),
            (422, message),
            "{query}"
        );
    }

    #[test]
    fn options_that_make_no_sense_are_refused_all_together() {
        let create = "CreateOptions.meta.k8s.io \"\" is invalid:";
        let patch = "PatchOptions.meta.k8s.io \"\" is invalid:";
        check(
            OptionsOf::Create,
            "dryRun=yes",
            &format!("{create} dryRun: Unsupported value: [\"yes\"]: supported values: \"All\""),
        );
        check(
            OptionsOf::Create,
            "fieldValidation=Perhaps",
            &format!(
                "{create} fieldValidation: Unsupported value: \"Perhaps\": supported values: \"\", \"Ignore\", \"Strict\", \"Warn\""
            ),
        );
        check(
            OptionsOf::Create,
            &format!("fieldManager={}", "x".repeat(129)),
            &format!("{create} fieldManager: Too long: may not be more than 128 bytes"),
        );
        check(
            OptionsOf::Create,
            "fieldManager=a%01b",
            &format!(
                "{create} fieldManager: Invalid value: \"a\\x01b\": invalid character U+0001 (at position 1)"
            ),
        );
        check(
            OptionsOf::Patch(PatchType::Merge),
            "force=true",
            &format!("{patch} force: Forbidden: may not be specified for non-apply patch"),
        );
        check(
            OptionsOf::Patch(PatchType::Apply),
            "",
            &format!("{patch} fieldManager: Required value: is required for apply patch"),
        );
    }

    #[test]
    fn options_that_are_not_said_have_their_defaults() {
        let read =
            |query| WriteOptions::decode(OptionsOf::Update, &Query::parse(query).unwrap()).unwrap();
        assert_eq!(read(""), WriteOptions::default());
        let said = read("dryRun=All&fieldManager=m&fieldValidation=Strict");
        assert_eq!(
            (
                said.dry_run,
                said.field_manager.as_str(),
                said.field_validation
            ),
            (true, "m", FieldValidation::Strict)
        );
    }
}
