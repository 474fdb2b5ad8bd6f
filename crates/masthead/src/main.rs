//! List-Watch, exact and fast: a Kubernetes-compatible API server in one binary.
fn main() {}
