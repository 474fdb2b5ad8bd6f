//! The limit of open files: each connection is one.

use rustix::io::Errno;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// How many this process may have open; `None` for any number.
pub(crate) fn allowed() -> Option<u64> {
    getrlimit(Resource::Nofile).current
}

/// Takes all that the system allows.
pub(crate) fn raise() -> Result<(), Errno> {
    let Rlimit { current, maximum } = getrlimit(Resource::Nofile);
    if current == maximum {
        return Ok(());
    }
    let most = Rlimit {
        current: maximum,
        maximum,
    };
    setrlimit(Resource::Nofile, most)
}
